// From the text of a script to tokens and paired brackets: the generator's scripts/form.py, with its tables.
import { filled } from "./page.js";

const closers = { "(": ")", "[": "]", "{": "}" };
const closing = new Set(Object.values(closers));
const layouts = new Set(["space", "comment", "directive"]);
const short = 40;
export const theEnd = "the end of the script";

export class ScriptError extends Error {
  constructor(message, place = {}) {
    super(message);
    Object.assign(this, place);
  }
}

const counted = (text, sign) => text.split(sign).length - 1;

// The error for a place of a text; columns count characters, whatever their code.
export const failed = (text, at, found, expected) => {
  const before = text.slice(0, at);
  const column = [...before.slice(before.lastIndexOf("\n") + 1)].length + 1;
  const line = counted(before, "\n") + 1;
  const message = `Script, line ${line}, column ${column}: found ${found}, expected ${expected}.`;
  return new ScriptError(message, { line, column, found, expected });
};

const words = (text) => text.split(/\s+/).filter(Boolean);

export const shortened = (text) => {
  const line = [...words([...text.slice(0, 8 * short)].slice(0, 4 * short).join("")).join(" ")];
  return line.length <= short ? line.join("") : `${line.slice(0, short - 1).join("")}…`;
};

export const foundAt = (text, at) => {
  const [first] = words(text.slice(at, at + 200));
  return first === undefined ? theEnd : `“${shortened(first)}”`;
};

// What matches one of `patterns` at a place: its name and text; undefined where none does.
export const matcher = (patterns) => {
  const pattern = new RegExp(patterns.map(([, one]) => `(${one})`).join("|"), "y");
  return (text, at) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (!found) return undefined;
    return { sort: patterns[found.slice(1).findIndex((one) => one !== undefined)][0], text: found[0] };
  };
};

// The tokens of one part of a script, with the partner of each bracket.
export class Tokens {
  constructor(text, tokens, partner) { Object.assign(this, { text, tokens, partner }); }

  get length() { return this.tokens.length; }

  word(at) { return this.tokens[at]?.text ?? ""; }

  sort(at) { return this.tokens[at]?.sort ?? ""; }

  source(first, last) { return this.text.slice(this.tokens[first].start, this.tokens[last].end); }

  behindKey(at) { return this.word(at + 1) === "[" ? this.partner.get(at + 1) + 1 : at + 1; }

  until(first, end, stops) {
    let at = first;
    while (at < end && !stops.includes(this.word(at))) {
      if ((this.partner.get(at) ?? end) < at) break;
      at = (this.partner.get(at) ?? at) + 1;
    }
    return Math.min(at, end);
  }

  parts(first, end) {
    const found = [];
    for (let at = first; at < end;) {
      const comma = this.until(at, end, [","]);
      found.push([at, comma]);
      at = comma + 1;
    }
    return found;
  }
}

export const reader = (tables) => {
  const match = matcher(tables.tokens);
  const { expected, faults } = tables;

  const behindComment = (text, at) => {
    const closed = text.indexOf("*/", at + 2);
    if (closed < 0) throw failed(text, at, ...faults["open-comment"]);
    return closed + 2;
  };

  const tokenAt = (text, start) => {
    for (let at = start; at < text.length;) {
      const found = match(text, at);
      if (found?.sort === "open-comment") at = behindComment(text, at);
      else if (!found || found.sort === "open-string") {
        throw failed(text, at, foundAt(text, at), expected[found ? "string-end" : "statement"]);
      } else if (layouts.has(found.sort)) at += found.text.length;
      else return { ...found, start: at, end: at + found.text.length };
    }
    return null;
  };

  const afterLayout = (text, start) => {
    let at = start;
    while (at < text.length) {
      const found = match(text, at);
      if (found?.sort === "open-comment") at = behindComment(text, at);
      else if (found && layouts.has(found.sort)) at += found.text.length;
      else break;
    }
    return at;
  };

  const reading = (text) => {
    const read = [];
    const partner = new Map();
    const opened = [];
    const close = (token) => {
      const wanted = opened.length > 0 ? closers[read[opened.at(-1)].text] : expected.statement;
      if (wanted !== token.text) throw failed(text, token.start, `“${token.text}”`, `“${wanted}”`);
      const first = opened.pop();
      partner.set(first, read.length).set(read.length, first);
    };
    const add = (token) => {
      if (token.text in closers) {
        if (opened.length === tables.max_depth) {
          throw failed(text, token.start, `“${token.text}”`, expected.depth);
        }
        opened.push(read.length);
      } else if (closing.has(token.text)) close(token);
      read.push(token);
    };
    const ended = () => {
      const { text: sign, start } = read[opened.at(-1)];
      const line = counted(text.slice(0, start), "\n") + 1;
      return failed(text, text.length, theEnd, filled(expected.partner, { closer: closers[sign], opener: sign, line }));
    };
    return { opened, add, ended, tokens: () => new Tokens(text, read, partner) };
  };

  // The tokens from a bracket to its partner, and where the text behind them starts.
  const bracketed = (text, start) => {
    const made = reading(text);
    for (let at = start, token; (token = tokenAt(text, at));) {
      made.add(token);
      at = token.end;
      if (made.opened.length === 0) return [made.tokens(), at];
    }
    throw made.ended();
  };

  // The tokens between a slash and the one before a block, and where the text behind that slash starts.
  const predicate = (text, start) => {
    const made = reading(text);
    for (let at = start + 1, token; (token = tokenAt(text, at));) {
      at = token.end;
      if (made.opened.length === 0) {
        if (token.text === "/" && text[afterLayout(text, at)] === "{") return [made.tokens(), at];
        if (["{", ";"].includes(token.text)) {
          throw failed(text, token.start, `“${token.text}”`, expected["predicate-end"]);
        }
      }
      made.add(token);
    }
    if (made.opened.length > 0) throw made.ended();
    throw failed(text, text.length, ...faults["open-predicate"]);
  };

  return { tokenAt, afterLayout, bracketed, predicate };
};
