// /explore/: every number as the reader chooses and orders them, as a chart and as a table. Nothing is fetched before
// the reader acts, unless the address already says what to show; then the numbers of each machine that is shown.
import { given, mapped } from "./estimates.js";
import { charted, spec } from "./explore-chart.js";
import { cite, png, save } from "./files.js";
import { element, fetched, filled, link, once, page } from "./page.js";
import "./matrix.js";
import * as state from "./state.js";
import { fillTable, savers, sorted } from "./table.js";
import { count, interval, leveled, quantity, readRate, scales, stated } from "./units.js";
import { loadVega, options, wideScreen } from "./vega-loader.js";
import { start } from "./view.js";

const form = document.getElementById("explore");
const live = document.getElementById("explore-live");
const message = form.querySelector(".view-message");
const inputs = form.elements;
const source = form.querySelector(".view-data").href;
const metricOf = (q) => (q === "instructions" ? "instructions" : "time");

const connect = (data) => {
  const suites = new Map(data.suites.map((suite) => [suite.id, suite]));
  const cases = new Map(data.suites.flatMap((suite) => suite.cases.map((one) => [suite.id, ...one]))
    .map(([suite, id, title, caseHref], order) => [id, { suite, title, caseHref, order }]));
  const machines = new Map(data.machines.map((machine) => [machine.id, machine]));
  const named = (ids) => ids.map((id) => machines.get(id)?.label ?? id);
  const groups = data.suites.map(({ id, title, cases: own }) => {
    const group = Object.assign(element("optgroup", "", ...own.map(([value, name]) => new Option(name, value))), { label: title });
    group.dataset.suite = id;
    return group;
  });
  const follows = { time: true, instructions: true };   // whether the usual machine of the suite is ticked, and no other
  let records = [];
  let view = null;
  let turn = 0;

  const numbersOf = once(async (id) => {
    const { numbers } = await fetched(new URL(`explore/${id}.json`, source).href);
    return numbers.map((one) => ({ ...one, ...cases.get(one.case), cost: given(one.cost), machine: machines.get(id) }));
  });

  const isRate = (text) => {
    const rate = readRate(text);
    return rate !== null && rate >= data.limits.rate_hz[0] && rate <= data.limits.rate_hz[1];
  };
  const levels = ({ case: id, suite }) => suites.get(cases.get(id)?.suite ?? suite)?.levels ?? [];
  const fields = {
    q: { fallback: "cost", knows: (value) => Object.hasOwn(data.quantities, value) },
    rate: { fallback: "50k", knows: isRate },
    case: { fallback: "", knows: (value) => cases.has(value) },
    suite: {
      fallback: ({ case: id }) => cases.get(id)?.suite ?? data.suites[0].id,
      knows: (value, { case: id }) => value === "all" || (suites.has(value) && (!id || cases.get(id).suite === value)),
    },
    machine: {
      many: true,
      fallback: ({ q, suite }) => [data.usual[metricOf(q)][suite] ?? data.usual[metricOf(q)].all],
      knows: (value, { q }) => value === "all" || machines.get(value)?.metric === metricOf(q),
    },
    tracer: { many: true, fallback: [], knows: (value) => data.tracers.includes(value) },
    level: { fallback: "", knows: (value, values) => levels(values).includes(value) },
    sort: { fallback: "suite", knows: (value) => /^(suite|-?(case|level|tracer|machine|cost|grade))$/.test(value) },
    axis: { fallback: "log", knows: (value) => value === "log" || value === "linear" },
  };

  // What the form offered from the start of a quantity's machines.
  const offered = (q) => data.machines.filter(({ metric }) => metric === metricOf(q)).map(({ id }) => id);
  const boxes = (name) => [...form.querySelectorAll(`input[name="${name}"]`)];

  // What the form says now.
  const chosen = () => {
    const ticked = (name, among) => boxes(name).filter((one) => one.checked && among(one)).map((one) => one.value);
    const q = inputs.q.value;
    const own = ticked("machine", (one) => one.dataset.metric === metricOf(q));
    const isAll = own.length === 0 || (own.length > 1 && own.join() === offered(q).join());
    return {
      q,
      rate: inputs.rate.value.trim(),
      machine: isAll ? ["all"] : own,
      tracer: ticked("tracer", () => true),
      ...Object.fromEntries(["case", "suite", "level", "sort", "axis"].map((name) => [name, inputs[name].value])),
    };
  };

  // Offers only what goes with the other choices; a choice that does not is undone.
  const offer = (values) => {
    const isOffered = ({ dataset }) => values.suite === "all" || values.suite === dataset.suite;
    inputs.case.replaceChildren(inputs.case.options[0], ...groups.filter(isOffered));
    inputs.case.value = values.suite === "all" || cases.get(values.case)?.suite === values.suite ? values.case : "";
    const known = levels({ case: inputs.case.value, suite: values.suite });
    inputs.level.replaceChildren(inputs.level.options[0], ...known.map((level) => new Option(leveled(level), level)));
    inputs.level.value = known.includes(values.level) ? values.level : "";
    form.querySelector('[data-of="level"]').hidden = known.length === 0;
    form.querySelector('[data-of="slowdown"]').hidden = values.q !== "slowdown";
    form.querySelectorAll("label[data-metric]").forEach((one) => { one.hidden = one.dataset.metric !== metricOf(values.q); });
  };

  const fill = (values) => {
    ["q", "rate", "suite", "axis"].forEach((name) => { inputs[name].value = values[name]; });
    // A header may sort by what the list does not offer.
    if (![...inputs.sort.options].some(({ value }) => value === values.sort)) {
      inputs.sort.add(new Option(values.sort.replace(/^-(.*)/, "$1, descending"), values.sort));
    }
    inputs.sort.value = values.sort;
    boxes("tracer").forEach((one) => { one.checked = values.tracer.includes(one.value); });
    tick(values);
    offer(values);
  };

  const tick = ({ q, machine }) => boxes("machine").filter((one) => one.dataset.metric === metricOf(q))
    .forEach((one) => { one.checked = machine.includes(one.value); });

  // A machine that the form did not offer gets a box of its own.
  const add = (machine) => {
    if (machines.has(machine.id)) return;
    machines.set(machine.id, machine);
    const box = Object.assign(element("input"), { type: "checkbox", name: "machine", value: machine.id });
    const made = element("label", "", box, ` ${machine.label} `, element("span", "view-note", machine.tier));
    [box, made].forEach((one) => { one.dataset.metric = machine.metric; });
    boxes("machine").at(-1).parentElement.after(made);
  };

  const tell = (name, list) => {
    form.querySelector(`[data-chosen="${name}"]`).textContent = list.length === 0 || list[0] === "all" ? "all" : list.join(", ");
  };

  // What is shown of a number: the cost itself, or what it does at the rate.
  const shown = (one, { q, rate }) => {
    const flag = one.sound ? "" : ` ${data.flag}`;
    if (q !== "slowdown") return { shown: one.cost, text: one.text };
    const ratio = (ns) => (ns * readRate(rate)) / 1e9;
    const found = mapped(one.cost, ratio);
    if (one.clear) return { shown: found, text: interval(found, scales.SHARE) + flag };
    const most = quantity(ratio(Math.max(one.cost.high ?? 0, one.floor)), scales.SHARE);
    return { shown: found, text: filled(data.unclear, { most }) + flag };
  };

  const orders = {
    suite: (a, b) => a.order - b.order,
    case: (a, b) => a.title.localeCompare(b.title, "en"),
    level: (a, b) => Number(a.level) - Number(b.level),
    tracer: (a, b) => a.tool.localeCompare(b.tool, "en"),
    machine: (a, b) => a.machine.id.localeCompare(b.machine.id, "en"),
    cost: (a, b) => a.shown.value - b.shown.value,
    grade: (a, b) => (a.grade ?? "").localeCompare(b.grade ?? "", "en"),
  };

  // What is not ranked is last, whichever way the others are ordered.
  const ordered = (rows, sort) => sorted(rows, sort, orders, {
    first: (a, b) => (sort.endsWith("cost") ? Number(b.sound) - Number(a.sound) : 0),
    ties: [orders.suite, orders.level, orders.tracer],
  });

  const matching = async (values) => {
    const ids = values.machine[0] === "all" ? offered(values.q) : values.machine;
    return (await Promise.all(ids.map(numbersOf))).flat().filter((one) =>
      (values.tracer.length === 0 || values.tracer.includes(one.tracer))
      && (values.case ? one.case === values.case : values.suite === "all" || one.suite === values.suite)
      && (values.level === "" || one.level === values.level));
  };

  const titleOf = ({ q, rate }) => filled(data.quantities[q].title, { rate: stated(readRate(rate), scales.EVENTS) });

  const tableColumns = (rows, values) => {
    const column = (title, key, className, content) => ({ title, key, className, content });
    const differ = (key) => new Set(rows.map(key)).size > 1;
    const isRanked = rows.length > 1 && !differ((one) => `${one.machine.id} ${one.case} ${one.level}`) && rows.some(({ place }) => place);
    return [
      column("Case", "case", "", (one) => link(one.title, page(one.caseHref))),
      ...(rows.some((one) => one.level !== null) ? [column("Level", "level", "align-right", (one) => leveled(one.level))] : []),
      column("Tracer", "tracer", "", (one) => one.tool),
      ...(differ((one) => one.machine.id) ? [column("Machine", "machine", "", ({ machine }) => link(machine.label, page(machine.href)))] : []),
      column(titleOf(values), "cost", "align-right", (one) => link(one.text, page(one.href))),
      ...(isRanked ? [column("Place", null, "align-right", (one) => one.place ?? "")] : []),
      ...(values.q === "instructions" ? [] : [column("Grade", "grade", "align-center", (one) => one.grade ?? "")]),
    ];
  };

  const draw = async (rows, values) => {
    const own = turn;
    const box = live.querySelector(".view-drawing");
    const { points, lost } = charted(rows, values);
    const left = Object.entries(lost).filter(([, number]) => number > 0).map(([why, number]) => `${count(number)} ${why}`);
    live.querySelector(".chart-note").textContent = left.length > 0 ? `Not drawn: ${left.join("; ")}.` : "";
    live.querySelector(".chart-title").textContent = titleOf(values);
    box.setAttribute("aria-label", `Chart of ${numbered(points.length)}: ${titleOf(values)}. The table below has them.`);
    live.querySelectorAll('[data-save="svg"], [data-save="png"], [data-save="vl.json"]').forEach((one) => { one.disabled = points.length === 0; });
    try {
      const embed = await loadVega();
      if (own !== turn) return;
      view?.finalize();
      view = null;
      box.replaceChildren();
      if (points.length > 0) {
        const made = await embed(box, spec(points, values, data), options);
        if (own === turn) view = made; else made.finalize();
      }
    } catch {
      live.querySelector(".chart-note").textContent = "The chart could not be drawn; the table has its numbers.";
    }
  };

  const numbered = (number) => `${count(number)} number${number === 1 ? "" : "s"}`;

  const record = (one, q) => ({
    case: one.case, level: one.level, tracer: one.tracer, tool: one.tool, machine: one.machine.id, submission: one.submission,
    ...Object.fromEntries(data.quantities[q].columns.map((name, at) => [name, one.shown[["value", "low", "high"][at]]])),
    ...(q === "instructions" ? {} : { distinguishable: one.clear, grade: one.grade }),
    sound: one.sound, address: page(one.href),
  });

  const show = async (values, told = "") => {
    turn += 1;
    const own = turn;
    // Before anything is fetched: the next choice may come sooner than that.
    follows[metricOf(values.q)] = values.machine.join() === fields.machine.fallback(values).join();
    const found = await matching(values);
    if (own !== turn) return;                            // a later choice was faster
    const rows = ordered(found.map((one) => ({ ...one, ...shown(one, values) })), values.sort);
    records = rows.map((one) => record(one, values.q));
    live.hidden = false;
    tell("machine", named(values.machine));
    tell("tracer", values.tracer.map((one) => data.names[one]));
    fillTable(live, tableColumns(rows, values), rows, values.sort);
    const said = rows.length > 0 ? `${numbered(rows.length)} shown.` : "Nothing was measured with all of these choices.";
    message.textContent = `${told} ${said}`.trim();
    const of = [cases.get(values.case)?.title ?? suites.get(values.suite)?.title ?? "all suites", named(values.machine).join(", "), ...(values.tracer.length > 0 ? [values.tracer.join(", ")] : [])];
    cite(live, data.cite, `${titleOf(values)}: ${of.join("; ")}`);
    form.dataset.state = "ready";
    draw(rows, values);
  };

  const act = (target) => {
    offer(chosen());
    const values = chosen();
    if (follows[metricOf(values.q)] && target.name !== "machine") {
      values.machine = fields.machine.fallback(values);
      tick(values);
    }
    const isWrong = !isRate(values.rate);
    inputs.rate.setAttribute("aria-invalid", String(isWrong));
    if (isWrong && values.q === "slowdown") {
      message.textContent = inputs.rate.dataset.expected;
      return undefined;
    }
    if (isWrong) values.rate = fields.rate.fallback;
    state.write(values, fields, target === inputs.rate);
    return show(values);
  };

  const take = (machine) => {
    add(machine);
    boxes("machine").find(({ value }) => value === machine.id).checked = true;
    return act(boxes("machine")[0]);
  };

  const restore = async () => {
    (await others(state.given("machine").filter((id) => id !== "all" && !machines.has(id)))).forEach(add);
    const { values, told } = state.read(fields);
    fill(values);
    return show(values, told);
  };

  const saved = {
    ...savers("probe-effect", "numbers", () => records, data),
    svg: async () => save("probe-effect.svg", await view.view.toSVG(), "image/svg+xml"),
    png: async () => save("probe-effect.png", await png(view.view, data.chart.paper)),
    "vl.json": () => save("probe-effect.vl.json", JSON.stringify(view.spec, null, 1), "application/json"),
  };
  live.addEventListener("click", ({ target }) => {
    if (target.dataset.save && (view || /^(csv|json|copy)$/.test(target.dataset.save))) saved[target.dataset.save](live.querySelector("table"), message);
    if (target.dataset.sort) {
      fill({ ...chosen(), sort: target.dataset.sort });
      run(() => act(target));
    }
  });
  wideScreen.addEventListener("change", () => { if (!live.hidden) run(() => show(chosen())); });
  return { restore, act, take };
};

const { run, others } = start(form, connect, ({ metric }) => metric === metricOf(inputs.q.value));
