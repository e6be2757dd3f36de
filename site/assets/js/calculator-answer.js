// What the calculator's page shows as an answer: sentence, chart, figures, and what would cost less.
(() => {
  const { scales, stated, quantity } = probeEffect.units;
  const { forecast, sentence, alike, recommendation, slowdown, ways, figures, assumptions } = probeEffect.answer;
  const { draw } = probeEffect.calculatorChart;
  const { page, element, link, filled } = probeEffect.page;
  const shownWays = 3;

  const list = (items, className) => element("ul", className, ...items.map((one) => element("li", "", one)));

  const definitions = (pairs) =>
    element("dl", "", ...pairs.flatMap(([term, text]) => [element("dt", "", term), element("dd", "", text)]));

  // A part that stays open or closed, by its name, when the answer changes.
  const section = (name, title, ...content) => {
    const made = element("details", "", element("summary", "", title), ...content);
    made.dataset.name = name;
    return made;
  };

  const origins = { measured: "Measured on", composed: "Measured on", estimated: "Calibrated on", published: "Printed on" };

  const origin = ({ entry }) => element("p", "", `${origins[entry.basis]} ${entry.date}: `,
    ...(entry.caseHref ? [link(entry.title, page(entry.caseHref))] : [entry.case]), ", ",
    link(entry.where, page(entry.href)), ".");

  // The calculator's own address with another choice in it.
  const addressOf = ({ tracer, case: id, machine }) => {
    const state = new URL(location.href);
    Object.entries({ tracer, case: id, machine }).forEach(([name, value]) => state.searchParams.set(name, value));
    return state;
  };

  const way = ({ entry, name, figures: said, remarks }) =>
    element("span", "", link(name, addressOf(entry)), element("b", "", said), element("small", "", remarks));

  const less = (found, data) => {
    const all = ways(found, data).map(way);
    const title = element("h3", "", "What would cost less");
    if (all.length === 0) return element("div", "calculator-ways", title, element("p", "", data.words["no-way"]));
    const rest = all.slice(shownWays);
    const more = rest.length > 0 ? [section("more", filled(data.words["more-ways"], { count: rest.length }), list(rest))] : [];
    return element("div", "calculator-ways", title, list(all.slice(0, shownWays)), ...more);
  };

  const onEach = (all) => definitions(all.map((one) => [one.entry.where, slowdown(one)]));

  // Each machine of a kind, and whose the figures after them are.
  const machines = (all, { words }) =>
    [onEach(all), element("p", "", filled(words.greatest, { machine: all[0].entry.where }))];

  // The same probe on a function that begins otherwise: what a user probe costs hangs on that most.
  const firsts = ({ entry, asked }, data) => {
    if (entry.first === "") return [];
    const others = data.costs.filter((other) => other.first !== entry.first && other.first !== "unknown"
      && ["probe", "action", "tracer", "machine"].every((name) => other[name] === entry[name]));
    const each = new Map(others.toReversed().map((other) => [other.first, other]));
    return [...each].map(([first, other]) =>
      [`If it is ${data.words[`first-${first}`]}`, slowdown(forecast(other, asked))]);
  };

  const comparable = ({ entry, asked }, data) => {
    const others = data.costs.filter((other) => other.machine !== entry.machine
      && ["case", "tracer", "kind", "basis"].every((name) => other[name] === entry[name]));
    const all = others.map((other) => forecast(other, asked));
    const values = [forecast(entry, asked), ...all].map((one) => one.slowdown.value);
    const [least, greatest] = [Math.min(...values), Math.max(...values)].map((one) => quantity(one, scales.SHARE));
    const title = filled(data.words.comparable, { count: values.length, least, greatest });
    return all.length > 0 ? [section("comparable", title, onEach(all))] : [];
  };

  const describe = (found, words) =>
    filled(words.chart, { slowdown: slowdown(found), rate: stated(found.asked.rate, scales.EVENTS) });

  // Shows what `entries`, the same probe on one machine or on several of a kind, do under the load that was asked about.
  const show = (form, entries, asked, data) => {
    const details = form.querySelector(".calculator-details");
    const all = entries.map((entry) => forecast(entry, asked)).sort((one, other) => other.cost.value - one.cost.value);
    const [greatest] = all;
    const open = [...details.querySelectorAll("details")].filter((one) => one.open).map((one) => one.dataset.name);
    form.querySelector("output").replaceChildren(all.length > 1 ? alike(all, data) : sentence(greatest, data), " ",
      element("strong", "", recommendation(all, data)));
    draw(form.querySelector(".calculator-chart"), all, data.thresholds, describe(greatest, data.words));
    form.querySelector(".calculator-figures").replaceChildren(...(all.length > 1 ? machines(all, data) : []),
      definitions([...firsts(greatest, data), ...figures(greatest, data)]), origin(greatest));
    details.replaceChildren(less(greatest, data),
      section("assumed", "Assumed", list(assumptions(greatest, data))),
      ...(all.length > 1 ? [] : comparable(greatest, data)));
    details.querySelectorAll("details").forEach((one) => { one.open = open.includes(one.dataset.name); });
  };

  // Instead of an answer: what has to be put right first.
  const refuse = (form, text) => {
    form.querySelector("output").textContent = text;
    [".calculator-figures", ".calculator-details", ".calculator-chart"].forEach((part) =>
      form.querySelector(part).replaceChildren());
  };

  probeEffect.calculatorAnswer = { show, refuse };
})();
