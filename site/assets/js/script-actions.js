// What a clause does each time that its probe fires, in the words of the suites: the generator's scripts/script.py.
import { own } from "./script-clauses.js";
import { failed, foundAt, shortened } from "./script-tokens.js";

const stores = ["map", "thread-local"];

const union = (...sets) => new Set(sets.flatMap((one) => [...one]));

// What a variable or map has of what it was given: bytes, but no stack, which it holds as a number.
const heldOf = (found) => {
  if (found.has("difference")) return new Set(["difference"]);
  return new Set([...found].filter((one) => ["name", "string", "time"].includes(one))
    .map((one) => (one === "string" ? "name" : one)));
};

// The most of each word that either list has.
const mostOf = (first, second) => {
  const count = (list, word) => list.filter((one) => one === word).length;
  return [...new Set([...first, ...second])].flatMap((one) =>
    Array(Math.max(count(first, one), count(second, one))).fill(one));
};

export const doing = (tables, functions) => {
  const { acts, assigned, keyed } = tables;
  const traits = [...keyed, "name", "time"];
  const nameField = new RegExp(tables.name_field);
  const held = new Map();
  const inside = new Set();
  const state = {};
  const effectOf = (word) => own(tables.effects, word);
  const heldBy = (name) => held.get(name) ?? new Set();

  const walk = (tokens) => {
    const isField = (at) => [".", "->"].includes(tokens.word(at - 1));
    const isArray = (at) => tokens.sort(at) === "word" && tokens.word(at + 1) === "[" && !isField(at)
      && assigned.includes(tokens.word(tokens.behindKey(at)));

    const operand = (start) => {
      let at = start;
      while (tokens.word(at) === "(") at += 1;
      return at;
    };

    const traitsOf = (at) => {
      const [word, sort] = [tokens.word(at), tokens.sort(at)];
      if (sort === "string") return new Set(["name"]);
      if (sort === "variable") return state.variables.get(word) ?? new Set();
      if (stores.includes(sort)) return heldBy(word);
      const effect = sort === "word" ? effectOf(word) : undefined;
      if (isField(at)) return new Set(nameField.test(word) ? ["name"] : []);
      return effect ? new Set(traits.includes(effect) ? [effect] : []) : heldBy(word);
    };

    const traitsIn = (first, end) => {
      const found = new Set();
      for (let at = first; at < end; at += 1) {
        const isMinus = tokens.word(at) === "-" && found.has("time");
        if (isMinus && traitsOf(operand(at + 1)).has("time")) found.add("difference");
        traitsOf(at).forEach((one) => found.add(one));
      }
      return found;
    };

    const rightSide = (first) => traitsIn(first, tokens.until(first, tokens.length, [";", "=", "{"]));

    const keyActions = ([start, stop]) => {
      if (start === stop) return ["count"];
      const isTuple = tokens.word(start) === "(" && tokens.partner.get(start) === stop - 1;
      const [first, end] = isTuple ? [start + 1, stop - 1] : [start, stop];
      const found = traitsIn(first, end);
      const copies = [];
      for (let at = first; at < end; at += 1) traitsOf(at).forEach((one) => keyed.includes(one) && copies.push(acts[one]));
      if (copies.length > 0) return copies;
      if (!found.has("name")) return ["count-by-pid"];
      const isName = tokens.parts(first, end).every((part) => traitsIn(...part).has("name"));
      return [isName ? "count-by-name" : "count-by-pid-and-name"];
    };

    const gather = (effect, keys, bracket) => {
      const inner = [bracket + 1, tokens.partner.get(bracket)];
      through(...inner);
      let found = keyActions(keys);
      if (effect === "histogram") {
        const what = traitsIn(...inner).has("difference") ? "histogram-of-time" : "histogram";
        const stacks = ["count-by-kernel-stack", "count-by-user-stack"];
        const both = stacks.every((one) => found.includes(one));
        const rest = found.filter((one) => !(both ? stacks : ["count"]).includes(one));
        found = [both ? "histogram-by-two-stacks" : what, ...rest];
      }
      state.actions.push(...found);
      return inner[1] + 1;
    };

    const store = (name, keys, behind) => {
      if (tokens.word(behind) === "=") {
        const found = heldOf(rightSide(behind + 1));
        held.set(name, union(heldBy(name), found));
        state.storesTime ||= found.has("time");
      }
      state.actions.push(...(name.startsWith("self->") ? ["count-by-pid"] : keyActions(keys)));
    };

    const map = (at) => {
      const name = tokens.word(at);
      const behind = tokens.behindKey(at);
      const keys = behind > at + 1 ? [at + 2, behind - 1] : [at, at];
      const gathers = tokens.word(behind) === "=" ? effectOf(tokens.word(behind + 1)) : undefined;
      if (["aggregation", "histogram"].includes(gathers) && tokens.word(behind + 2) === "(") {
        through(...keys, true);
        return gather(gathers, keys, behind + 2);
      }
      const written = assigned.includes(tokens.word(behind)) || ["++", "--"].includes(tokens.word(at - 1));
      const releases = tokens.word(behind) === "=" && tokens.word(behind + 1) === "0" && heldBy(name).has("time");
      if (written && !releases) store(name, keys, behind);
      through(...keys, written);
      state.seenTime ||= heldBy(name).has("time");
      return behind;
    };

    const bracketed = (at) => {
      const end = tokens.partner.get(at) ?? at;
      through(at + 1, end);
      return end > at ? end + 1 : at;
    };

    const branches = (start) => {
      let at = start;
      let before = state.actions;
      let most = [];
      while (tokens.word(at) === "if" && tokens.word(at + 1) === "(") {
        state.actions = before;
        at = bracketed(at + 1);
        before = state.actions;
        state.actions = [];
        at = bracketed(at);
        most = mostOf(most, state.actions);
        state.actions = [];
        if (tokens.word(at) !== "else") break;
        at += 1;
      }
      if (tokens.word(at - 1) === "else") {
        at = bracketed(at);
        most = mostOf(most, state.actions);
      }
      state.actions = [...before, ...most];
      return at;
    };

    const call = (at, isCall) => {
      const name = tokens.word(at);
      if (functions.has(name)) {
        if (inside.has(name)) return;
        state.calls += 1;
        if (state.calls > tables.max_calls) {
          const { start } = tokens.tokens[at];
          throw failed(tokens.text, start, foundAt(tokens.text, start), tables.expected.calls);
        }
        inside.add(name);
        walk(functions.get(name));
        inside.delete(name);
      } else if (isCall && name === "delete") {
        if (!heldBy(tokens.word(at + 2)).has("time")) state.actions.push("count-by-pid");
      } else if (isCall) {
        state.unknown.push(shortened(tokens.source(at, tokens.partner.get(at + 1))));
      }
    };

    const word = (at, isKey) => {
      const found = tokens.word(at);
      const isCall = tokens.word(at + 1) === "(";
      if (found === "if" && isCall) return branches(at);
      const effect = isField(at) ? undefined : effectOf(found);
      if (effect === "type" && isCall) return tokens.partner.get(at + 1) + 1;
      if (effect in acts && (isCall || effect !== "print") && !(isKey && keyed.includes(effect))) {
        state.actions.push(acts[effect]);
      } else if (effect === "loop") {
        state.unknown.push(shortened(tokens.source(at, tokens.partner.get(at + 1) ?? at)));
      } else if (effect === "time") state.seenTime = true;
      else if (effect === undefined && !isField(at)) call(at, isCall);
      return at + 1;
    };

    const through = (first, end, isKey = false) => {
      for (let at = first; at < end;) {
        const sort = tokens.sort(at);
        if (stores.includes(sort) || isArray(at)) at = map(at);
        else if (sort === "word") at = word(at, isKey);
        else {
          if (sort === "variable" && tokens.word(at + 1) === "=") {
            state.variables.set(tokens.word(at), heldOf(rightSide(at + 2)));
          }
          if (tokens.word(at) === "-" && state.seenTime) {
            state.takesDifference ||= traitsOf(operand(at + 1)).has("time");
          }
          at += 1;
        }
      }
    };

    through(0, tokens.length);
  };

  // What a clause does; what maps hold is known from all that were read before.
  return ({ predicate, block }) => {
    const fresh = { actions: [], unknown: [], storesTime: false, takesDifference: false, variables: new Map() };
    Object.assign(state, fresh, { seenTime: false, calls: 0 });
    walk(predicate);
    walk(block);
    const { actions, unknown, takesDifference, storesTime } = state;
    return { actions, unknown, timing: takesDifference ? "end" : storesTime ? "start" : null };
  };
};

// Whether all of a block that costs is inside an `if` without `else`, or behind one that returns.
export const isEnclosed = (block, { acts, effects }) => {
  let [at, hasBranch] = [1, false];
  while (at < block.length - 1) {
    if (block.word(at) === ";") at += 1;
    else if (block.sort(at) === "variable" && block.word(at + 1) === "=") {
      const end = block.until(at, block.length - 1, [";"]);
      for (let one = at; one < end; one += 1) if (own(effects, block.word(one)) in acts) return false;
      at = end;
    } else if (block.word(at) === "if" && block.word(at + 1) === "(") {
      const body = block.partner.get(at + 1) + 1;
      const end = block.partner.get(body) ?? body;
      if (block.word(body) !== "{" || block.word(end + 1) === "else") return false;
      if (block.word(body + 1) === "return") return true;
      [at, hasBranch] = [end + 1, true];
    } else return false;
  }
  return hasBranch;
};
