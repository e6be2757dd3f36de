// The parts of a program: attach points, predicates and blocks, as scripts/clauses.py of the generator reads them.
import { Tokens, failed, foundAt, reader, theEnd } from "./script-tokens.js";

const empty = new Tokens("", [], new Map());

export const own = (table, key) => (Object.hasOwn(table, key) ? table[key] : undefined);

export const clauses = (tables) => {
  const { tokenAt, afterLayout, bracketed, predicate } = reader(tables);
  const { bare, declarations, expected, faults, types, function_words: functionWords } = tables;
  const named = new RegExp(tables.named);
  const piece = new RegExp(tables.attach_point, "y");
  const word = /[A-Za-z_]+/y;

  const matchAt = (pattern, text, at) => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0] ?? "";
  };

  const providerOf = (attach) => {
    const [first] = attach.replace(named, "").split(":");
    const found = own(tables.aliases, first) ?? first.toLowerCase();
    return own(tables.kinds, found) && (attach.includes(":") || bare.includes(found)) ? found : "";
  };

  const resolved = (attach) => {
    const written = attach.replace(named, "");
    const provider = providerOf(attach);
    return provider === "" || bare.includes(provider) ? written : `${provider}${written.slice(written.indexOf(":"))}`;
  };

  const firstKind = (patterns, name) => patterns.find(([pattern]) => new RegExp(pattern).test(name))?.[1];

  const tracepointKind = (name) => firstKind(tables.tracepoints, name) ?? "tracepoint";

  const kindOf = (attach, language) => {
    if (language === "d") return firstKind(tables.d_kinds, attach) ?? "unknown";
    const provider = providerOf(attach);
    if (provider !== "tracepoint") return own(tables.kinds, provider) ?? "unknown";
    return tracepointKind(attach.slice(attach.indexOf(":") + 1));
  };

  // How often a timer fires on each CPU, events per second; null where its attach point does not say.
  const timers = tables.timers.map((one) => new RegExp(one));
  const timerHz = (attach) => {
    const [, ...groups] = timers.map((one) => one.exec(attach)).find(Boolean) ?? [];
    if (groups.length === 0) return null;
    const number = Number(groups.find((one) => /^[0-9]+$/.test(one)));
    const unit = groups.find((one) => !/^[0-9]+$/.test(one));
    if (tables.hz.includes(unit)) return number;
    const timesPerS = own(tables.times_per_s, unit);
    return timesPerS && number > 0 ? timesPerS / number : null;
  };

  const behindSemicolon = (text, start) => {
    for (let at = start, token; (token = tokenAt(text, at));) {
      at = token.end;
      if (token.text === ";") return at;
      if (token.text === "{") [, at] = bracketed(text, token.start);
    }
    throw failed(text, text.length, ...faults["open-statement"]);
  };

  const find = (text, start, signs) => {
    let token = tokenAt(text, start);
    while (token && !signs.includes(token.text)) token = tokenAt(text, token.end);
    return token;
  };

  const definition = (text, start) => {
    const token = find(text, start, ["{", ";"]);
    if (!token) throw failed(text, text.length, ...faults["open-definition"]);
    if (token.text === ";") return token.end;
    const [, at] = bracketed(text, token.start);
    const behind = afterLayout(text, at);
    if (matchAt(word, text, behind) === "__attribute__") return behindSemicolon(text, at);
    return text[behind] === ";" ? behind + 1 : at;
  };

  const functionAt = (text, start) => {
    const name = tokenAt(text, start + matchAt(word, text, start).length);
    const token = name && find(text, name.end, ["{"]);
    if (!token) throw failed(text, text.length, theEnd, `${expected["block-of"]}“${name?.text ?? ""}”`);
    return [name.text, ...bracketed(text, token.start)];
  };

  const attachPoint = (text, start) => {
    let provider = "";
    let at = start;
    for (;;) {
      let found = "";
      if (text[at] === '"') found = tokenAt(text, at).text;
      else if (text[at] === "/") {
        provider ||= providerOf(text.slice(start, at));
        found = tables.paths.includes(provider) ? "/" : "";
      } else found = matchAt(piece, text, at);
      if (found === "") break;
      at += found.length;
    }
    if (start === at) throw failed(text, at, foundAt(text, at), expected["attach-point"]);
    return [text.slice(start, at), at];
  };

  const attachPoints = (text, start) => {
    const points = [];
    for (let at = start; ;) {
      const [written, end] = attachPoint(text, at);
      points.push({ text: written, start: at });
      at = afterLayout(text, end);
      if (text[at] !== ",") return [points, at];
      at = afterLayout(text, at + 1);
      if (["/", "{"].includes(text[at])) return [points, at];
    }
  };

  const clause = (text, start) => {
    let [points, at] = attachPoints(text, start);
    let condition = empty;
    let hasPredicate = false;
    at = afterLayout(text, at);
    if (text[at] === "/") {
      hasPredicate = true;
      [condition, at] = predicate(text, at);
      at = afterLayout(text, at);
    }
    const made = { points, predicate: condition, hasPredicate, block: empty };
    if (text[at] === "{") {
      [made.block, at] = bracketed(text, at);
      return [made, at];
    }
    if (!hasPredicate && points.every((one) => one.text.split(":").length === 4)) return [made, at];
    throw failed(text, at, foundAt(text, at), expected["behind-point"]);
  };

  const program = (text) => {
    const found = [];
    const functions = new Map();
    for (let at = afterLayout(text, 0); at < text.length; at = afterLayout(text, at)) {
      const first = matchAt(word, text, at);
      const isConfig = first === "config" && text[afterLayout(text, at + first.length)] === "=";
      if (functionWords.includes(first)) {
        const [name, block, end] = functionAt(text, at);
        functions.set(name, block);
        at = end;
      } else if (types.includes(first) || isConfig) at = definition(text, at);
      else if (declarations.includes(first) && /^\s$/.test(text[at + first.length] ?? "")) at = behindSemicolon(text, at);
      else {
        const [one, end] = clause(text, at);
        found.push(one);
        at = end;
      }
    }
    if (found.length === 0) throw failed(text, text.length, ...faults["no-probe"]);
    return { clauses: found, functions };
  };

  return { program, providerOf, resolved, kindOf, timerHz, tracepointKind };
};
