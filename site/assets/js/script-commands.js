// Command lines of tools that trace: the generator's scripts/commands.py.
import { own } from "./script-clauses.js";
import { failed, shortened, matcher } from "./script-tokens.js";

export const commands = (tables, { tracepointKind }) => {
  const { command_ends: ends, expected, faults, plugins } = tables;
  const [setting, modifiers, traced] = [tables.named, tables.modifiers, tables.traced].map((one) => new RegExp(one));
  const match = matcher(tables.shell);
  const events = new RegExp(tables.events, "g");

  const unquoted = ({ sort, text }) => {
    if (sort === "escape") return text.slice(1);
    if (sort === "double") return text.slice(1, -1).replace(/\\([\\"$`])/g, "$1");
    return sort === "single" ? text.slice(1, -1) : text;
  };

  const shellWords = function* shellWords(text) {
    let word = null;
    for (let at = 0; at < text.length;) {
      const part = match(text, at);
      if (!part) throw failed(text, at, `“${text[at]}” that is never closed`, expected.quote);
      at += part.text.length;
      if (part.sort !== "space" && !(part.sort === "escape" && part.text === "\\\n")) word = (word ?? "") + unquoted(part);
      else if (part.sort === "space" && word !== null) {
        if (ends.includes(word)) return;
        yield word;
        word = null;
      }
    }
    if (word !== null && !ends.includes(word)) yield word;
  };

  // Options, as getopt_long(3) reads them, and other words; all behind `--`, or so many words, are others. perf has
  // subcommands that are called `record` below two others.
  const split = (words, withValue, most) => {
    const options = [];
    const others = [];
    const waiting = [...words];
    const next = () => waiting.shift() ?? null;
    while (waiting.length > 0) {
      const word = waiting.shift();
      if (word === "--") others.push(...waiting.splice(0));
      else if (word.startsWith("--")) {
        const [name, ...value] = word.slice(2).split("=");
        if (value.length > 0) options.push([name, value.join("=")]);
        else options.push([name, withValue.includes(name) ? next() : null]);
      } else if (word.startsWith("-") && word.length > 1) {
        const letters = [...word.slice(1)];
        const last = letters.findIndex((letter) => withValue.includes(letter));
        options.push(...(last < 0 ? letters : letters.slice(0, last)).map((letter) => [letter, null]));
        if (last >= 0) options.push([letters[last], letters.slice(last + 1).join("") || next()]);
      } else others.push(word, ...(others.length >= most && word !== "record" ? waiting.splice(0) : []));
    }
    return { options, others };
  };

  const ofTool = (table, tool, subcommand) => table[`${tool} ${subcommand}`] ?? table[tool];

  // The first word that is no part of a command that starts another one, such as sudo with its options.
  const commandOf = (words) => {
    let [wrapper, left] = [null, 0];
    for (let { value, done } = words.next(); !done; { value, done } = words.next()) {
      if (tables.before_tools.includes(value) || setting.test(value)) continue;
      const found = own(tables.wrappers, value.split("/").at(-1));
      if (wrapper && value.startsWith("-")) {
        if (value.length === 2 && wrapper[0].includes(value[1])) words.next();
      } else if (left > 0) left -= 1;
      else if (found === undefined || value.startsWith("#!")) return value;
      else [wrapper, left] = [found, found[1]];
    }
    return "";
  };
  const [remark, noCommand] = [new RegExp(tables.remark), new RegExp(tables.no_command)];
  const wordsOf = (text) => {
    const shown = text.replace(remark, "");
    return shellWords(noCommand.test(shown) ? "" : shown);
  };
  const commandName = (text) => commandOf(wordsOf(text)).split("/").at(-1).replace(/\.py$/, "");

  // The tool and its options where a text is a command line of one that we read; null for any other text.
  const commandLine = (text) => {
    const words = wordsOf(text);
    const tool = commandOf(words).split("/").at(-1);
    const language = own(tables.languages, tool);
    if (language === undefined) return null;
    const rest = [...words];
    const { options, others } = split(rest, ofTool(tables.with_value, tool, rest[0]), tables.own_words[tool]);
    const all = (...names) => options.filter(([name, value]) => names.includes(name) && value !== null).map(([, value]) => value);
    const has = (...names) => options.some(([name]) => names.includes(name));
    const command = { tool, language, options, words: others, all, has, pid: all("p", "pid", "attach")[0] ?? null };
    return tool === "bpftrace" || tool === "dtrace" ? carrying(text, command) : command;
  };

  const carrying = (text, command) => {
    const option = command.tool === "bpftrace" ? "e" : "n";
    const programs = command.all(option);
    if (programs.length > 0) return { ...command, program: programs.join("\n") };
    const found = command.words.length > 0 ? `“${shortened(command.words[0])}”` : "no program";
    throw failed(text, 0, found, `-${option}${expected.program}`);
  };

  const written = (name, value) => `${name.length === 1 ? "-" : "--"}${name}${value === null ? "" : ` ${value}`}`;

  const probe = (attach, kind, action, { hasFilter = false, hz = null, every = 1 } = {}) => ({
    attach, kind, actions: [action], has_filter: hasFilter, timing: null, line: 1, hz, every,
  });

  const listed = (values, fallback) => {
    const found = values.flatMap((value) => value.replace(/[{}]/g, "").split(",")).filter(Boolean);
    return found.length > 0 ? found : [fallback];
  };

  const perfKind = (event, isSampled) => {
    const [group, name] = event.split(/:(.*)/s);
    if (!name || modifiers.test(name)) {
      const isSoftware = tables.software.includes(group);
      if (isSampled && (tables.clocks.includes(group) || !isSoftware)) return "profile";
      return isSoftware ? "software" : "hardware";
    }
    return tracepointKind(event);
  };

  // The number of an option, of its first nine digits where it has more; 0 for any other word.
  const numberOf = (word) => (/^[0-9]+$/.test(word) ? Number(word.slice(0, 9)) : 0);

  const recordAction = ({ has, all }) => {
    const [how, bytes] = all("call-graph").at(-1)?.split(",") ?? [];
    if (how === "dwarf") return `record-${numberOf(bytes) > tables.copied ? "large-" : ""}stack-copy`;
    if (has("g", "call-graph")) return "record-stack";
    return numberOf(all("m", "mmap-pages")[0]?.split(",")[0]) >= tables.large_pages ? "record-large-buffer" : "record";
  };

  // As often as was given last, or else as usual; null for perf's `-F max`, which is the system's.
  const sampledHz = ({ tool, all }, ...names) => {
    const last = all(...names).at(-1) ?? String(tables.usual_hz[tool]);
    return numberOf(last) || null;
  };

  const perf = (text, command) => {
    const { words: [subcommand = "", function_], has, all } = command;
    const hasFilter = has("filter");
    if (subcommand === "trace") {
      const action = has("s", "summary") ? "count-by-name" : "print";
      return listed(all("e", "event", "expr"), "all").map((event) =>
        probe(event, event.includes(":") ? tracepointKind(event) : "system-call", action, { hasFilter }));
    }
    if (subcommand === "probe") {
      const isNamed = has("x", "exec");
      const inFile = isNamed || Boolean(function_?.startsWith("/"));
      const wanted = [...all("a", "add"), ...command.words.slice(inFile && !isNamed ? 2 : 1).slice(0, 1)];
      if (wanted.length === 0) throw failed(text, 0, ...faults["perf-probe"]);
      return wanted.map((one) => {
        const [first] = one.split(" ");
        const name = first.slice(first.indexOf("=") + 1) || first;
        return probe(name, `${inFile ? "u" : "k"}${name.endsWith("%return") ? "ret" : ""}probe`, "nothing");
      });
    }
    if (!["record", "top", "stat"].includes(subcommand)) {
      throw failed(text, 0, `“perf ${shortened(subcommand)}”`, expected.perf);
    }
    const isStat = subcommand === "stat";
    const isSampled = !isStat && !has("c", "count");
    const period = numberOf(all("c", "count").at(-1)) || 1;
    const named = all("e", "event").flatMap((value) => value.replace(/[{}]/g, "").match(events) ?? []).filter(Boolean);
    const usual = isStat ? tables.usual_events : ["cycles"];
    return (named.length > 0 ? named : usual).map((event) => {
      const kind = perfKind(event, isSampled);
      const hz = kind === "profile" ? sampledHz(command, "F", "freq") : null;
      const every = ["hardware", "software"].includes(kind) && !tables.clocks.includes(event.split(":")[0]) ? period : 1;
      return probe(event, kind, isStat ? "count" : recordAction(command), { hasFilter, hz, every });
    });
  };

  // One probe, the clock by which py-spy reads stacks; a dump reads one, which is one in its second.
  const pySpy = (text, command) => {
    const { words: [subcommand = "", sampled], has, pid } = command;
    if (!["record", "top", "dump"].includes(subcommand)) {
      throw failed(text, 0, `“py-spy ${shortened(subcommand)}”`, expected["py-spy"]);
    }
    if (sampled === undefined && pid === null) throw failed(text, 0, ...faults["py-spy"]);
    const isDump = subcommand === "dump";
    const reading = has("nonblocking") ? "record-stack-running" : `record-stack${isDump ? "-once" : ""}`;
    const hz = isDump ? 1 : sampledHz(command, "r", "rate");
    return [probe("sample", "profile", has("n", "native") ? "record-stack-native" : reading, { hz })];
  };

  // Words behind the subcommand are those of the program that is traced, and decide nothing.
  const tracerOf = ({ tool, language, words, has, pid }) => {
    const isFiltered = has("seccomp-bpf") && has("f", "follow-forks") && pid === null;
    if (tool === "strace" && isFiltered) return "strace-seccomp";
    return tables.tracers[tool === "perf" ? `perf ${words[0]}` : language];
  };

  const strace = (text, command) => {
    const { words, options, has, pid } = command;
    const expressions = options.filter(([name, value]) => ["e", "trace"].includes(name) && value !== null)
      .map(([name, value]) => (name === "e" ? traced : /^([^=]*)$/).exec(value)?.[1]);
    const named = expressions.filter((one) => one !== undefined).slice(-1);   // the last one counts
    if (words.length === 0 && pid === null) throw failed(text, 0, ...faults.strace);
    const action = has("c", "summary-only") && !has("C", "summary") ? "count-by-name" : "print";
    // Without a filter of the kernel's the process stops at every call, shown or not.
    return listed(tracerOf(command) === "strace" ? [] : named, "all").map((name) =>
      probe(name, "system-call", action, { hasFilter: has("P", "trace-path") }));
  };

  const traceCmd = (text, { words: [subcommand], has, all }) => {
    if (!["record", "start", "stream", "profile", "set"].includes(subcommand)) {
      throw failed(text, 0, subcommand === undefined ? "no subcommand" : `“trace-cmd ${shortened(subcommand)}”`,
        expected["trace-cmd"]);
    }
    const action = has("T") ? "record-stack" : "record";
    const events = all("e").map((event) => (/[:/]/.test(event) ? event.replaceAll("/", ":") : `${event === "all" ? "*" : event}:*`));
    const functions = all("l", "g");
    const tracers = all("p").flatMap((plugin) => (functions.length > 0 ? functions : ["*"]).map((one) =>
      probe(one, own(plugins, plugin) ?? "unknown", action)));
    const found = [...events.map((one) => probe(one, tracepointKind(one), action, { hasFilter: has("f") })), ...tracers];
    if (found.length === 0) throw failed(text, 0, ...faults["trace-cmd"]);
    return found;
  };

  const readCommand = (text, command) => {
    const { tool, words, options, pid } = command;
    const costly = tables.costly[pid && `${tool} -p`] ?? tables.costly[tool];
    const unread = new RegExp(ofTool(tables.unread, tool, words[0]));
    const unknown = options.map((one) => written(...one)).filter((one) => unread.test(one)).map(shortened);
    return {
      language: command.language,
      tracer: tracerOf(command),
      text,
      probes: { perf, "py-spy": pySpy, strace, "trace-cmd": traceCmd }[tool](text, command).map((one) =>
        ({ ...one, unknown })),
      pid_filter: tool === "trace-cmd" ? command.all("P")[0] ?? null : pid,
      options: options.filter(([name]) => costly.includes(name)).map((one) => written(...one)),
    };
  };

  return { commandLine, commandName, readCommand };
};
