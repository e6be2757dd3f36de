// /compare/: one machine with one tracer against another, case by case: what the address says, or else the first pair
// of the index. The address has each side as `machine:tracer`; the form asks for both apart.
import { draw } from "./compare-chart.js";
import { chance, counts, summary, times } from "./comparison.js";
import { given } from "./estimates.js";
import { cite } from "./files.js";
import { element, fetched, filled, link, once, page } from "./page.js";
import * as state from "./state.js";
import { fillTable, savers, sorted } from "./table.js";
import { count, interval, leveled, quantity, scales } from "./units.js";
import { start } from "./view.js";

const form = document.getElementById("compare");
const live = document.getElementById("compare-live");
const message = form.querySelector(".view-message");
const inputs = form.elements;
const index = form.querySelector(".view-data").href;
const sides = ["a", "b"];

const shard = once(async (subject) => {
  const file = await fetched(new URL(`${subject.replace(":", "--")}.json`, index).href);
  return { ...file, numbers: file.numbers.map((one) => ({ ...one, cost: given(one.cost) })) };
});

// Pairs of numbers of the same case and level: those of the file, where the two are of one machine, with their
// difference over common blocks; else the current one of each.
const pairs = (a, b) => {
  if (a.machine === b.machine) {
    return (a.beside[b.tracer] ?? []).map(([first, second, paired]) => [a.numbers[first], b.numbers[second], given(paired)]);
  }
  const current = (file) => file.numbers.slice(0, file.current);
  const others = new Map(current(b).map((one) => [one.of, one]));
  return current(a).filter(({ of }) => others.has(of)).map((one) => [one, others.get(one.of), null]);
};

const connect = (data) => {
  const subjects = new Map();
  const know = (machine) => machine.tracers.forEach(([tracer, tool]) => subjects.set(`${machine.id}:${tracer}`, { machine, tracer, tool }));
  data.machines.forEach(know);
  const isOf = (subject, q) => subjects.get(subject)?.machine.metric === q;
  let records = [];
  let sort = "";
  let turn = 0;

  const fields = {
    q: { fallback: data.first.time ? "time" : Object.keys(data.first)[0], knows: (value) => Object.hasOwn(data.first, value) },
    a: { fallback: ({ q }) => data.first[q]?.[0], knows: (value, { q }) => isOf(value, q) },
    b: { fallback: ({ q }) => data.first[q]?.[1] ?? data.first[q]?.[0], knows: (value, { q }) => isOf(value, q) },
    sort: { fallback: "", knows: (value) => Object.hasOwn(orders, value.replace(/^-/, "")) },
  };

  const options = (select, known, value) => {
    select.replaceChildren(...known.map(([id, label]) => new Option(label, id, false, id === value)));
  };

  const fill = (values) => {
    inputs.q.value = values.q;
    sort = values.sort;
    const machines = [...new Set([...subjects.values()].map(({ machine }) => machine))].filter(({ metric }) => metric === values.q);
    sides.forEach((side) => {
      const [machine, tracer] = values[side].split(":");
      inputs[side].value = values[side];
      options(inputs[`${side}-machine`], machines.map(({ id, label }) => [id, label]), machine);
      options(inputs[`${side}-tracer`], machines.find(({ id }) => id === machine).tracers, tracer);
    });
  };

  // What the form says now; the tracer of before stays where the other machine has it.
  const chosen = () => {
    const q = inputs.q.value;
    const own = (side, at) => {
      const [machine, tracer] = ["machine", "tracer"].map((name) => inputs[`${side}-${name}`].value);
      const first = [...subjects].find(([, one]) => one.machine.id === machine && one.machine.metric === q)?.[0];
      return isOf(`${machine}:${tracer}`, q) ? `${machine}:${tracer}` : first ?? data.first[q]?.[at];
    };
    return { q, a: own("a", 0), b: own("b", 1), sort };
  };

  // How a sentence has the second side: by what is not the same on both.
  const side = (first, second) => [
    ...(first.tracer === second.tracer ? [] : [`with ${second.tool}`]),
    ...(first.machine === second.machine ? [] : [`on ${second.machine.label}`]),
  ].join(" ");

  const signed = (value, text) => (value > 0 ? `+${text}` : text);

  const differenceCells = ({ difference, ratio }, q) => {
    if (q === "time") return [interval(difference, scales.DURATION), interval(ratio, scales.TIMES)];
    return [signed(difference, count(difference)), signed(ratio, quantity(ratio, scales.SHARE))];
  };

  // B as a multiple of A, with its interval; counts have none, and only what is above 0 has a logarithm.
  const relative = ({ ratio }, q) => {
    if (q === "time") return ratio ?? { value: 0, low: null, high: null };
    return { value: ratio === null ? 0 : 1 + ratio, low: null, high: null };
  };

  // Ends of an interval, a count, or nothing.
  const size = (found) => found?.value ?? found ?? -Infinity;
  const by = (key) => (a, b) => size(key(a)) - size(key(b));
  const orders = {
    "": () => 0,
    case: (a, b) => data.cases[a.first.case][0].localeCompare(data.cases[b.first.case][0], "en"),
    level: by(({ first }) => Number(first.level)),
    a: by(({ first }) => first.cost),
    b: by(({ second }) => second.cost),
    difference: by(({ difference }) => difference),
    ratio: by(({ ratio }) => ratio),
    outcome: (a, b) => a.outcome.localeCompare(b.outcome, "en"),
  };

  const showCases = (found, { q, sort }) => {
    const numeric = (title, key, content) => ({ title, key, className: "align-right", content });
    const linked = ({ text, href }) => link(text, page(href));
    fillTable(live.querySelector(".table-scroll"), [
      { title: "Case", key: "case", content: ({ first }) => link(data.cases[first.case][0], page(data.cases[first.case][1])) },
      ...(found.some(({ first }) => first.level !== null) ? [numeric("Level", "level", ({ first }) => leveled(first.level))] : []),
      numeric(q === "time" ? "Ratio" : "Change", "ratio", (one) => differenceCells(one, q)[1]),   // what a phone has room for
      numeric("A", "a", ({ first }) => linked(first)),
      numeric("B", "b", ({ second }) => linked(second)),
      numeric("Difference", "difference", (one) => differenceCells(one, q)[0]),
      { title: "Outcome", key: "outcome", content: ({ outcome }) => outcome },
    ], found, sort);
    live.querySelector(".table-scroll").hidden = found.length === 0;
    live.querySelector(".view-reasons").replaceChildren(...found.filter(({ reason }) => reason !== null)
      .map((one) => element("li", "", `${one.first.of}: ${one.reason}.`)));
  };

  // Each trait of the runs that were compared, with every value that it has.
  const traits = (file, numbers) => {
    const made = new Map();
    [...new Set(numbers.map(({ run }) => run))].flatMap((run) => Object.entries(file.runs[run].traits))
      .forEach(([name, value]) => made.set(name, (made.get(name) ?? new Set()).add(value)));
    return new Map([...made].map(([name, found]) => [name, [...found].sort().join(", ")]));
  };

  const showTraits = (a, b, found) => {
    const [ours, others] = [traits(a, found.map(({ first }) => first)), traits(b, found.map(({ second }) => second))];
    const rows = [...new Set([...ours.keys(), ...others.keys()])].filter((name) => ours.get(name) !== others.get(name))
      .map((name) => [name, ours.get(name) ?? "", others.get(name) ?? ""]);
    const part = live.querySelector(".compare-traits");
    fillTable(part, ["What", "A", "B"].map((title, at) => ({ title, content: (row) => row[at] })), rows);
    part.hidden = rows.length === 0;
  };

  const record = (one, a, b, q) => {
    const ends = (found, ...names) => Object.fromEntries(["value", "low", "high"].map((end, at) => [names[at], found?.[end] ?? null]));
    const timed = (name, found, unit) => ends(found, `${name}_${unit}`, `${name}_low_${unit}`, `${name}_high_${unit}`);
    const counted = (name, found) => ends(found, `${name}_instructions`, `${name}_least_instructions`, `${name}_greatest_instructions`);
    const values = q === "time"
      ? { ...timed("first_cost", one.first.cost, "ns"), ...timed("second_cost", one.second.cost, "ns"), ...timed("difference", one.difference, "ns"), ...timed("cost", one.ratio, "ratio") }
      : { ...counted("first", one.first.cost), ...counted("second", one.second.cost), difference_instructions: one.difference, change_ratio: one.ratio };
    return {
      case: one.first.case, level: one.first.level, first_tracer: a.tracer, second_tracer: b.tracer,
      first_submission: a.runs[one.first.run].id, second_submission: b.runs[one.second.run].id,
      ...values, outcome: one.outcome, reason: one.reason, paired: one.isPaired,
    };
  };

  const say = (name, text) => { live.querySelector(`[data-of="${name}"]`).textContent = text; };

  const showSentences = (found, words, [first, second]) => {
    const outcomes = found.map(({ outcome }) => outcome);
    say("summary", found.length > 0 ? summary(outcomes, side(first, second), words) : "No case was measured with both. ");
    if (found.length === 0) live.querySelector('[data-of="summary"]').append(link("Which tracer for what", page("/guide/tracers/")), " sets tracers beside each other, per system call.");
    say("chance", found.length > 0 ? chance(outcomes, words) : "");
    const tiers = { first: first.machine.tier, second: second.machine.tier };
    say("tiers", words.tiers && tiers.first !== tiers.second ? filled(words.tiers, tiers) : "");
  };

  const show = async (values, told = "") => {
    turn += 1;
    const own = turn;
    if (values.a === values.b) {
      live.hidden = true;
      message.textContent = `${told} Both sides are the same; choose two.`.trim();
      return;
    }
    const [a, b] = await Promise.all([shard(values.a), shard(values.b)]);
    if (own !== turn) return;                            // a later choice was faster
    const words = data.words[values.q];
    const found = sorted(pairs(a, b).map(([first, second, paired]) => ({
      first, second, isPaired: paired !== null, ...(values.q === "time" ? times(first, second, paired, words) : counts(first, second, words)),
    })), sort, orders);
    records = found.map((one) => record(one, a, b, values.q));
    live.hidden = false;
    const both = sides.map((one) => subjects.get(values[one]));
    showSentences(found, words, both);
    showCases(found, values);
    draw(live.querySelector(".compare-chart"), found.map((one) => ({
      label: [data.cases[one.first.case][0], ...(one.first.level === null ? [] : [leveled(one.first.level)])].join(", "),
      outcome: one.outcome, ...relative(one, values.q),
    })));
    showTraits(a, b, found);
    const [first, second] = both.map(({ tool, machine }) => `${tool} on ${machine.label}`);
    message.textContent = `${told} ${count(found.length)} case${found.length === 1 ? "" : "s"}. A: ${first}. B: ${second}.`.trim();
    cite(live, data.cite, `${second} against ${first}`);
    form.dataset.state = "ready";
  };

  const restore = async () => {
    const named = sides.flatMap(state.given).filter((one) => !subjects.has(one));
    (await others(named.map((one) => one.split(":")[0]))).forEach(know);
    const { values, told } = state.read(fields);
    if (!values.a) return undefined;                     // no machine was measured
    fill(values);
    return show(values, told);
  };

  const go = (values) => {
    fill(values);
    state.write(values, fields, false);
    return show(values);
  };
  const act = () => go(chosen());
  const swap = () => {
    const { a, b, ...others } = chosen();
    return go({ ...others, a: b, b: a });
  };

  // Another machine becomes the second side, with the tracer of the first where it has that.
  const take = (machine) => {
    know(machine);
    const values = chosen();
    const like = `${machine.id}:${subjects.get(values.a).tracer}`;
    return go({ ...values, b: subjects.has(like) ? like : `${machine.id}:${machine.tracers[0][0]}` });
  };

  const saved = savers("probe-effect-comparison", "comparisons", () => records, data);
  live.addEventListener("click", ({ target }) => {
    saved[target.dataset.save]?.(live.querySelector("table"), message);
    if (target.dataset.sort) run(() => go({ ...chosen(), sort: target.dataset.sort }));
  });
  return { restore, act, swap, take };
};

const { run, others } = start(form, connect, ({ metric }) => metric === inputs.q.value);
form.querySelector(".compare-swap").addEventListener("click", () => run(({ swap }) => swap()));
if (!state.isGiven(form)) run(({ restore }) => restore());
