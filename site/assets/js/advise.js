// The form of /advise/ and of the home page: a script is read, each probe gets a rate, and what they do to a busy thread is
// said. Whatever was pasted stays text: it is only ever the content of elements. Its first answer is in the page already
// (the generator's site/advising.py).
import { times } from "./estimates.js";
import { remember, remembered } from "./memory.js";
import { element, fetched, filled, link, page } from "./page.js";
import { limits, predict, recommendation as advice } from "./prediction.js";
import { nearest, spreadOf, together, tracerOf, widened } from "./script-cost.js";
import { connect as connectReader, ScriptError } from "./script-reader.js";
import * as state from "./state.js";
import { scales, interval, middle, significant, span, quantity, stated, readRate, gap } from "./units.js";

const mostProbes = 50;
const mostAddress = 1500;                     // of a script in the page's address

const spaced = (word) => word.replaceAll("-", " ");
const isClear = ({ value, low }) => value > 0 && (low === null || low > 0);

// Where the low end is written as 0, only the high end says something.
const isFromZero = (text) => /\((?:\u2212|[0.]+\u00a0to)/.test(text);

// A rate as the address has it, in which a comma is between two rates.
const plain = (text) => text.trim().replace(/(?<=[0-9])[, \u00a0\u202f](?=[0-9])/g, "").replaceAll(" ", "");

const labelled = (text, field) => element("div", "advise-field", Object.assign(element("label", "", text), { htmlFor: field.id }), field);

const textField = (id, value, expected) => {
  const field = Object.assign(element("input"), { id, value, autocapitalize: "off", spellcheck: false });
  field.dataset.expected = expected;
  return field;
};

const definitions = (pairs) =>
  element("dl", "", ...pairs.flatMap(([term, text]) => [element("dt", "", term), element("dd", "", text)]));

const connect = (form, data) => {
  const { words } = data;
  const inputs = form.elements;
  const place = (name) => form.querySelector(`.advise-${name}`);
  const read = connectReader(data.tables, data.standard, data.others);
  const isMany = new RegExp(data.tables.many);
  const [least, most] = data.limits.rate_hz;
  const early = [...place("probes").children].map((one) => ({
    probe: { attach: one.querySelector("code").textContent },
    field: one.querySelector("input"),
    first: one.querySelector("select"),
  }));

  const does = ({ actions }) => {
    const counted = [...new Set(actions)].map((one) => [spaced(one), actions.filter((other) => other === one).length]);
    return counted.map(([action, count]) => (count > 1 ? filled(words["several-times"], { action, count }) : action)).join(", ");
  };

  let shown = [];                             // each probe with its fields and the places of what is said of it
  let script = null;

  const machineOf = (id) => data.machines.find((one) => one.id === id);

  // The costs of a machine are loaded when somebody chooses it; those of its kind came with the form.
  const load = async (id) => {
    data.scopes[id] ??= await fetched(page(`/data/costs/${id}.json`));
  };

  // A rate; undefined of an empty field, and null of one that cannot be read.
  const rateOf = (text) => {
    if (text.trim() === "") return undefined;
    const value = readRate(text);
    return value === 0 || (value >= least && value <= most) ? value : null;
  };
  const countOf = (text) => {
    if (text.trim() === "") return undefined;
    return /^[0-9]{1,7}$/.test(plain(text)) && Number(plain(text)) > 0 ? Number(plain(text)) : null;
  };

  const mechanismField = (id, value) => {
    const field = Object.assign(element("select"), { id });
    field.append(...data.mechanisms.map(([word, text]) => new Option(text, word)));
    field.value = value;
    return field;
  };

  // One probe as an item: what it is and does, its rate, and below it what an event costs.
  const item = (probe, at, { rate, first: mechanism, many: count }) => {
    const field = textField(`advise-rate-${at}`, rate, filled(words["rate-expected"], probe));
    const many = isMany.test(probe.attach)
      ? textField(`advise-many-${at}`, count, filled(words["matched-expected"], probe)) : null;
    const first = data.user_probes.includes(probe.kind) ? mechanismField(`advise-first-${at}`, mechanism) : null;
    const said = element("div", "advise-cost");
    const made = element("li", "",
      element("p", "", element("code", "", probe.attach)),
      element("p", "advise-does", `${spaced(probe.kind)}: ${does(probe)}${probe.has_filter ? words["behind-filter"] : ""}`),
      element("div", "advise-fields", labelled(words.rate, field),
        ...(many ? [labelled(words.matched, many)] : []),
        ...(first ? [labelled(words["first-instruction"], first)] : [])),
      said);
    return { probe, field, first, many, said, made };
  };

  // Each probe with what was typed for it, and its cost.
  const asked = (tracer) => shown.map((one) => {
    const [rate, count] = [rateOf(one.field.value), one.many ? countOf(one.many.value) : 1];
    one.field.setAttribute("aria-invalid", String(rate === null));
    one.many?.setAttribute("aria-invalid", String(count === null));
    return { ...one, rate, count, ...nearest(data, inputs.machine.value, tracer, one.probe, one.first?.value) };
  });

  // A figure with its interval; of several machines their range and the median; from 0 on the high end alone.
  const written = (found, scale, machines) => {
    const text = interval(found, scale);
    const short = (value) => quantity(value, { ...scale, digits: 2 });
    if (machines.length < 2 && !isFromZero(text)) return text;
    if (found.high !== null && (found.low === null || found.low <= 0 || machines.length < 2)) {
      return filled(words["up-to"], { most: short(found.high) });
    }
    return filled(words["over-machines"], { range: span(found, scale), median: middle(found, scale) });
  };

  // Where a cost may be 0, only the rate can be told below which its upper end does not matter.
  const atRate = (rate, machines) => {
    if (!rate) return words["no-threshold"];
    const text = machines.length > 1 ? span(rate, scales.RATE) : interval(rate, scales.RATE);
    if (rate.low !== null && (rate.high === null || isFromZero(text))) {
      return filled(words.least, { rate: quantity(rate.low, scales.RATE) });
    }
    return filled(words.threshold, { rate: text });
  };

  const thresholds = (one, tracer) => {
    const { thresholds: rates } = predict(widened(one, data.programs, tracer), 1, one.stops);
    return [...rates].map(([percent, rate]) =>
      [`${percent}${gap}% (${data.thresholds[percent]})`, atRate(rate, one.machines)]);
  };

  const where = (machines) => {
    if (machines.length === 0) return words["by-others"];
    const [{ label, kind } = data] = machines.flatMap((id) => machineOf(id) ?? []);
    return machines.length === 1 ? label ?? machines[0] : filled(words["on-machines"], { count: machines.length, kind });
  };

  const chosen = () => machineOf(inputs.machine.value)?.label ?? filled(words["any-like"], { kind: data.kind });

  const say = (one, usual) => {
    const { probe, said, cost, basis, hardware, rate, machines } = one;
    const isFar = cost && inputs.machine.value === "" && machines.some((id) => machineOf(id)?.kind !== data.kind);
    if (!cost) {
      said.replaceChildren(element("p", "", filled(words["no-cost"], { tracer: named(usual), where: chosen() })));
      return;
    }
    said.replaceChildren(
      definitions([
        [words.event, `${written(cost, scales.DURATION, machines)}, ${basis}`],
        ...(rate ? [[words["of-cpu"], quantity((cost.value * rate) / 1e9, scales.SHARE)]] : []),
        ...(hardware ? [[words["hardware-row"], hardware]] : []),
        ...thresholds(one, usual),
      ]),
      ...(isFar ? [element("p", "advise-unknown", filled(words["far-from"], { count: machines.length }))] : []),
      ...probe.unknown.map((what) =>
        element("p", "advise-unknown", filled(words["not-understood"], { attach: probe.attach, what }))));
  };

  // Whose costs they are: every machine of all probes.
  const machinesOf = (all) => [...new Set(all.flatMap(({ machines }) => machines))];

  const named = (tracer) => tracer.replace(/(-\d+)+$/, (version) => ` ${version.slice(1).replaceAll("-", ".")}`);
  const toolOn = (tracer, machines) => (machines.length === 1 ? data.scopes[machines[0]]?.tracers[tracer]?.tool : null) ?? named(tracer);

  const inNs = (one) => times(one, 1e9);

  // Whether perf's events belong to processes: then each context switch takes time too, and nobody has said how many are.
  const isSwitched = (tracer) => data.switched.tracers.includes(tracer) && !script.options.some((one) => data.switched.spared.includes(one.split(" ")[0]));

  // Why it is not known how large a slowdown may be; "" where it is.
  const notBounded = ({ high }, all, tracer) => {
    if (isSwitched(tracer)) return words["switches-unknown"];
    const parts = new Set(all.flatMap(({ probe, rate }) => (rate === 0 ? [] : probe.unknown)));
    if (parts.size > 0) return filled(words["not-bounded"], { what: [...parts].join(", ") });
    if (high !== null) return "";
    return all.some(({ basis }) => basis === "published") ? words["printed-alone"] : words["no-interval"];
  };

  // The sentence where every rate is given, and where one is not.
  const slowed = (all, tracer) => {
    const { rate, cost, slowdown } = together(all, data.programs, tracer);
    const machines = machinesOf(all);
    const key = isClear(cost) ? "slows" : slowdown.high === null ? "unknown" : "unclear";
    const text = filled(words[key], {
      rate: stated(rate, scales.EVENTS),
      what: words.whole,
      tool: toolOn(tracer, machines),
      whom: words.one,
      where: where(machines),
      slowdown: written(slowdown, scales.SHARE, machines),
      most: quantity(slowdown.high, scales.SHARE),
    });
    // A lower bound says something where it is in the worst band already.
    const isWorst = slowdown.low * 100 >= Math.max(...Object.keys(data.thresholds));
    const why = notBounded(slowdown, all, tracer);
    return { text: `${text} ${why}`.trim(), slowdown, verdict: why && !isWorst ? "" : advice(slowdown, data) };
  };
  const each = (all, tracer) => {
    const once = all.map((one) => ({ ...one, rate: 1 }));
    const machines = machinesOf(all);
    const { slowdown } = together(once, null, tracer);
    const { slowdown: most } = together(once, data.programs, tracer);
    const text = filled(words[all.length > 1 ? "cost-together" : "costs"], {
      what: words.whole,
      count: all.length,
      tool: toolOn(tracer, machines),
      cost: written(inNs(slowdown), scales.DURATION, machines),
      where: where(machines),
    });
    // A busy CPU has billions of cycles a second, so a limit in cycles would be read as one of samples.
    const rule = all.some(({ probe }) => probe.kind === "hardware") ? "" : limits(inNs(most), data);
    return `${text} ${notBounded(most, all, tracer) || rule}`;
  };

  // The sentence, what to do, and the slowdown that both are from.
  const answerTo = (all, tracer) => {
    const wrong = all.flatMap(({ rate, count, field, many }) => [...(rate === null ? [field] : []), ...(count === null ? [many] : [])]);
    const open = all.find(({ count }) => count === undefined);
    if (wrong.length > 0) return { text: wrong.map(({ dataset }) => dataset.expected).join(" ") };
    if (all.length === 0) return { text: words["no-event"] };
    if (!all.every(({ cost }) => cost)) return { text: filled(words["no-cost"], { tracer: named(tracer), where: chosen() }) };
    if (open) return { text: filled(words.many, { attach: open.probe.attach }) };
    const silent = all.find(({ rate }) => rate === undefined);
    if (!silent) return slowed(all, tracer);
    return { text: all.length > 1 ? `${each(all, tracer)} ${filled(words["ask-rate"], { attach: silent.probe.attach })}` : each(all, tracer) };
  };

  const assumed = (all, tracer) => {
    const notes = all.flatMap(({ probe, note }) => (note ? [`${probe.attach}: ${note}`] : []));
    const list = [...(machinesOf(all).length > 1 ? [words.range] : []), ...(all.some(({ first }) => first) ? [words.first] : []), ...notes,
      ...(all.some(({ probe }) => probe.has_filter) ? [words.filtered] : []),
      words.counted, ...(isSwitched(tracer) ? [words.switches] : []),
      words.hot, ...all.flatMap(({ probe }) => spreadOf(data.programs, tracer, probe)?.said ?? [])];
    return element("details", "", element("summary", "", words.assumed),
      element("ul", "", ...[...new Set(list)].map((one) => element("li", "", one))));
  };

  // The command that measures on the reader's own machine, and how far from its answers those of the page are.
  const here = () => {
    const { calibrated_ratio: ratio } = data;
    const text = inputs.script.value.trim().replaceAll("'", "'\\''");
    const ends = ratio && Object.fromEntries(Object.entries(ratio).map(([end, value]) => [end, significant(value, 2)]));
    return element("div", "advise-here",
      element("p", "", words.here),
      element("pre", "", element("code", "", `sudo probe-effect advise -e '${text}' -- COMMAND`)),
      ...(ratio ? [element("p", "", filled(words.calibrated, ends))] : []));
  };

  // Where else there is something: machines that measured it, other tracers on this one, programs, the standard tools.
  const elsewhere = (all, tracer) => {
    const isKnown = all.every(({ cost }) => cost);
    const ranges = all.map((one) => nearest(data, "", tracer, one.probe, one.first?.value)?.machines ?? []);
    const others = isKnown ? [] : data.machines.filter(({ id }) => ranges.every((some) => some.includes(id)));
    const button = ({ id, label }) => Object.assign(element("button", "", label), { type: "button", value: id });
    const instead = isKnown ? [] : data.tracers.filter((other) => other !== tracer
      && all.every((one) => nearest(data, inputs.machine.value, other, one.probe, one.first?.value)));
    const placeOf = ({ kind, attach }) => (kind === "profile" ? kind : attach);
    const inPrograms = all.flatMap(({ probe }) =>
      probe.actions.flatMap((action) => [data.programs_of[`${tracer} ${placeOf(probe)} ${action}`] ?? []]));
    const programs = [...new Map(inPrograms.filter(([title]) => title).map((one) => [one[1], one])).values()];
    const row = Object.values(data.standard).includes(script) ? script.text : null;
    return [
      ...(others.length > 0 ? [element("p", "advise-nearest", words["measured-on"], " ", ...others.map(button))] : []),
      ...(instead.length > 0 ? [element("p", "", filled(words["with-others"], { tracers: instead.map(named).join(", ") }))] : []),
      ...programs.map(([title, href, text]) => element("p", "", words["in-programs"], link(title, page(href)), ". ", text)),
      ...(row ? [element("p", "", words.standard, link(row, page(`/tools/#${row.replaceAll(" ", "")}`)), ".")] : []),
    ];
  };

  // What a comparison finds lower on every machine that measured both, of a script of one probe with one action.
  const less = (all, tracer) => {
    const [{ probe } = {}] = all;
    const found = all.length === 1 && probe.actions.length === 1 ? data.less[`${tracer} ${probe.kind} ${probe.actions[0]}`] ?? [] : [];
    if (found.length === 0) return [];
    return [element("div", "advise-less", element("h3", "", words.less),
      element("ul", "", ...found.map(([name, href, but]) => element("li", "", link(name, page(href)), `: ${but}`))))];
  };

  const from = (all) => {
    const links = machinesOf(all).flatMap((id) => machineOf(id) ?? []).map(({ label, href }) => link(label, page(href)));
    return links.length > 0 ? [element("p", "", words["costs-of"], ...links.flatMap((one, at) => (at > 0 ? ["; ", one] : [one])), ".")] : [];
  };

  // Whether there is an answer, and no field has to be put right first.
  const answer = () => {
    if (script === null) return false;
    const tracer = tracerOf(script, data);
    const all = asked(tracer);
    all.forEach((one) => say(one, tracer));
    const known = all.filter(({ cost }) => cost);
    const { text, verdict = "", slowdown = null } = answerTo(all, tracer);
    const output = form.querySelector("output");
    output.replaceChildren(text, ...(verdict ? [" ", element("strong", "", verdict)] : []));
    output.dataset.slowdown = JSON.stringify(slowdown);
    const isOpen = place("details").querySelector("details")?.open ?? false;
    const details = assumed(known, tracer);
    details.open = isOpen;
    place("details").replaceChildren(...less(all, tracer), ...elsewhere(all, tracer), here(), ...from(known), details);
    return all.every(({ rate, count }) => rate !== null && count !== null);
  };

  // A script of the reader's own: an empty field, and no answer that is another's.
  const own = () => {
    form.querySelector(".advise-own").open = true;
    inputs.script.value = "";
    understand();
    form.querySelector("output").replaceChildren();
    inputs.script.removeAttribute("aria-invalid");
    inputs.script.focus();
  };

  // Reads the script again, and keeps what was typed for probes that were there before.
  const understand = (typed = { rates: [], first: [], many: [] }) => {
    place("message").textContent = "";
    const before = new Map(shown.map((one) => [one.probe.attach, one]));
    try {
      script = read(inputs.script.value);
      inputs.script.removeAttribute("aria-invalid");
    } catch (error) {
      if (!(error instanceof ScriptError)) throw error;
      script = null;
      shown = [];
      inputs.script.setAttribute("aria-invalid", "true");
      form.querySelector("output").replaceChildren(error.message);
      place("probes").replaceChildren();
      place("details").replaceChildren();
      return;
    }
    const events = script.probes.filter(({ kind }) => !data.tables.no_events.includes(kind));
    shown = events.slice(0, mostProbes).map((probe, at) => {
      const was = before.get(probe.attach);
      return item(probe, at, {
        rate: typed.rates[at] || (was && [undefined, probe.hz].includes(was.probe.hz) ? was.field.value : "") || (probe.hz ? String(Number(probe.hz.toPrecision(3))) : ""),
        first: typed.first[at] || was?.first?.value || "",
        many: typed.many[at] || was?.many?.value || "",
      });
    });
    if (events.length > mostProbes) place("message").textContent = filled(words["first-probes"], { most: mostProbes, count: events.length });
    const { id } = document.activeElement;
    place("probes").replaceChildren(...shown.map(({ made }) => made));
    if (id !== "" && id !== document.activeElement.id) document.getElementById(id)?.focus();
    if (inputs.question) inputs.question.value = [...inputs.question.options].find(({ value }) => value === inputs.script.value)?.value ?? "";
  };

  const every = (test) => (text) => text.split(",").every((one) => one === "" || test(one));
  const fields = {
    script: { fallback: inputs.script.defaultValue, knows: (text) => text.length <= mostAddress },
    machine: { fallback: "", knows: (id) => id === "" || machineOf(id) !== undefined },
    rates: { fallback: "", knows: every((one) => typeof rateOf(one) === "number") },
    first: { fallback: "", knows: every((one) => data.mechanisms.some(([word]) => word === one)) },
    many: { fallback: "", knows: every((one) => typeof countOf(one) === "number") },
  };

  const listed = (values) => (values.some(Boolean) ? values.join(",") : "");

  const act = (isTyping) => {
    if (!answer()) return;
    const isLong = inputs.script.value.length > mostAddress;
    if (isLong) place("message").textContent = words["too-long"];
    state.write({
      script: isLong ? inputs.script.defaultValue : inputs.script.value,
      machine: inputs.machine.value,
      rates: listed(shown.map(({ field }) => plain(field.value))),
      first: listed(shown.map(({ first }) => first?.value ?? "")),
      many: listed(shown.map(({ many }) => plain(many?.value ?? ""))),
    }, fields, isTyping);
  };

  const choose = async (id) => {
    inputs.machine.value = id;
    remember("machine", id);
    form.dataset.state = "loading";
    form.setAttribute("aria-busy", "true");
    await load(id);
    form.dataset.state = "ready";
    form.removeAttribute("aria-busy");
  };

  const restore = async () => {
    const { values, told } = state.read(fields);
    inputs.script.value = values.script;
    inputs.machine.value = values.machine;
    const kept = remembered("machine");
    if (state.given("machine").length === 0 && machineOf(kept)) inputs.machine.value = kept;
    await load(inputs.machine.value);
    shown = [];
    understand({ rates: values.rates.split(","), first: values.first.split(","), many: values.many.split(",") });
    answer();
    if (told) place("message").textContent = told;
  };

  form.addEventListener("input", async ({ target }) => {
    if (target === inputs.question && !target.value) {
      own();
      return;
    }
    if (target === inputs.question) inputs.script.value = target.value;
    if ([inputs.script, inputs.question].includes(target)) understand();
    if (target === inputs.machine) {
      const { value } = target;
      await choose(value);
      if (value !== inputs.machine.value) return;   // another was chosen meanwhile
    }
    act(target.tagName !== "SELECT");
  });
  form.addEventListener("click", async ({ target }) => {
    if (!target.matches(".advise-nearest button")) return;
    await choose(target.value);
    act(false);
    inputs.machine.focus();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("popstate", restore);
  // What is chosen or typed by the time that the costs are here stays, unless the address asks something.
  return async () => {
    const [{ value: question } = {}, { value: machine }] = [inputs.question, inputs.machine];
    await restore();
    if (state.isGiven(form)) return;
    if (question === "") {
      own();
      return;
    }
    if (question && question !== inputs.script.value) inputs.script.value = question;
    if (machine !== "") await choose(machine);
    shown = early;
    understand();
    act(true);
  };
};

const start = async (form) => {
  try {
    await connect(form, await fetched(form.querySelector(".advise-data").href))();
    form.dataset.state = "ready";
  } catch (error) {
    form.dataset.state = "failed";
    form.querySelector("output").textContent = "The costs could not be loaded; the tables of /costs/ have them too.";
  }
  form.removeAttribute("aria-busy");
};

document.querySelectorAll("form.advise").forEach(start);
