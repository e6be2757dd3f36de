// From a script's text, or a command line, to what it probes and does: the generator's scripts/script.py. The tables come
// with the data; shared examples (tests/data/scripts.json) hold the two readers to each other.
import { doing, isEnclosed } from "./script-actions.js";
import { clauses as clausesOf } from "./script-clauses.js";
import { commands } from "./script-commands.js";
import { failed, ScriptError, shortened } from "./script-tokens.js";

export { ScriptError };

const pidOf = ({ tokens }) => {
  const words = tokens.map(({ text }) => text);
  if (![undefined, "&&"].includes(words[3]) || words.includes("||") || words[1] !== "==") return null;
  if (words[0] === "pid" && words.length > 2) return words[2];
  return words[2] === "pid" ? words[0] : null;
};

// What line a place is on, of places that are asked for in their order.
const lines = (text) => {
  let [at, line] = [0, 1];
  return (start) => {
    for (; at < start; at += 1) line += text[at] === "\n" ? 1 : 0;
    return line;
  };
};

// `standard`: names of ready-made tools to what they probe and do, each read as a script (answer/question.py). `others`: names
// of tools that are not read to what is known of them, in a sentence (answer/question.py).
export const connect = (tables, standard = {}, others = {}) => {
  const parts = clausesOf(tables);
  const { commandLine, commandName, readCommand } = commands(tables, parts);
  const [dOnly, dText, plainName] = [new RegExp(tables.d_only), new RegExp(tables.d_text, "m"), new RegExp(tables.plain_name)];

  const languageOf = (text, clauses) => {
    const points = clauses.flatMap((one) => one.points.map((point) => point.text));
    const isForeign = points.some((one) => dOnly.test(one) && parts.providerOf(one) === "");
    return isForeign || points.some((one) => one.includes("profile:::")) || dText.test(text) ? "d" : "bpftrace";
  };

  const readProgram = (text, pid, told) => {
    const { clauses, functions } = parts.program(text);
    const language = told ?? languageOf(text, clauses);
    const read = doing(tables, functions);
    clauses.forEach(read);   // what maps hold must be known before what is read from them
    const lineAt = lines(text);
    const named = new Set();
    const probes = clauses.flatMap((clause) => {
      const { actions, unknown, timing } = read(clause);
      const hasFilter = clause.hasPredicate || isEnclosed(clause.block, tables);
      const fallback = clause.block.length === 0 ? "print" : hasFilter ? "filter" : "nothing";
      const found = clause.points.map((point) => {
        const attach = language === "bpftrace" ? parts.resolved(point.text) : point.text;
        return {
          attach,
          kind: parts.kindOf(attach, language),
          actions: actions.length > 0 ? actions : [fallback],
          has_filter: hasFilter,
          timing,
          unknown,
          line: lineAt(point.start),
          hz: parts.timerHz(attach),
          every: 1,
        };
      });
      if (!found.every(({ kind }) => tables.no_events.includes(kind))) named.add(pidOf(clause.predicate));
      return found;
    });
    const pidFilter = pid ?? (named.size === 1 ? [...named][0] : null);
    return { language, tracer: tables.tracers[language], text, probes, pid_filter: pidFilter, options: [] };
  };

  // What a text probes and does. Throws a ScriptError with line, column, what was found and what was expected.
  return (given) => {
    const text = given.replace(/^\ufeff/, "");   // the mark of its byte order
    const name = commandName(text);
    if (Object.hasOwn(standard, name)) return standard[name];
    if (Object.hasOwn(others, name)) throw new ScriptError(others[name]);
    const command = commandLine(text);
    if (command === null) {
      if (plainName.test(name) && !tables.defines.includes(name) && !text.includes("{")) {
        throw failed(text, Math.max(0, text.indexOf(name)), `“${shortened(name)}”`, tables.expected.tool);
      }
      return readProgram(text, null);
    }
    return command.program === undefined ? readCommand(text, command) : readProgram(command.program, command.pid, command.language);
  };
};
