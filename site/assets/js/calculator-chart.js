// The calculator's chart: slowdown by rate, both on logarithmic scales, so that a cost is a straight line, with its
// interval as a band; the thresholds, and the point that was asked about.
(() => {
  const { scales, quantity, gap } = probeEffect.units;
  const box = { left: 46, top: 10, right: 314, bottom: 222 };
  const slowdowns = [-4, 1];                    // powers of ten: 0.01 % to 1000 %
  const rates = [1, 7];                         // 10/s to 10 M/s, and further where the point lies there
  const nsPerSecond = 1e9;

  const made = (name, attributes, text) => {
    const one = document.createElementNS("http://www.w3.org/2000/svg", name);
    Object.entries(attributes).forEach(([key, value]) => one.setAttribute(key, value));
    if (text !== undefined) one.textContent = text;
    return one;
  };

  const powers = ([least, most]) => Array.from({ length: most - least + 1 }, (_, place) => least + place);
  const within = (value, [least, most]) => Math.min(most, Math.max(least, value));
  const power = (value, range) => (value > 0 ? within(Math.log10(value), range) : range[0]);
  const line = (name, x1, y1, x2, y2) => made("line", { class: name, x1, y1, x2, y2 });

  const axesFor = (rate) => {
    const asked = rate > 0 ? Math.log10(rate) : rates[0];
    const range = [Math.min(rates[0], Math.floor(asked)), Math.max(rates[1], Math.ceil(asked))];
    const place = (value, [least, most], start, end) => start + ((value - least) / (most - least)) * (end - start);
    return {
      range,
      x: (at) => place(at, range, box.left, box.right),
      y: (at) => place(at, slowdowns, box.bottom, box.top),
    };
  };

  const grid = ({ range, x, y }) => [
    ...powers(slowdowns).flatMap((at) => [
      line("grid", box.left, y(at), box.right, y(at)),
      made("text", { x: box.left - 6, y: y(at) + 4, "text-anchor": "end" }, `${10 ** (at + 2)}${gap}%`),
    ]),
    ...powers(range).filter((at) => at % 2 !== 0).map((at) =>
      made("text", { x: x(at), y: box.bottom + 17, "text-anchor": "middle" },
        quantity(10 ** at, { ...scales.RATE, digits: 1 }))),
    line("axis", box.left, box.bottom, box.right, box.bottom),
    made("text", { x: box.right, y: box.bottom + 33, "text-anchor": "end" }, "events per second"),
  ];

  const thresholds = ({ y }, names) => Object.entries(names).flatMap(([limit, name]) => {
    const at = y(Math.log10(limit / 100));
    return [
      line("threshold", box.left, at, box.right, at),
      made("text", { class: "limit", x: box.left + 5, y: at - 4 }, `${limit}${gap}% ${name}`),
    ];
  });

  // The slowdown of a cost at both ends of the range of rates, as points of a path; below 0 it is on the floor.
  const ends = (cost, busy, { range, x, y }) => range.map((at) => {
    const ratio = (10 ** at * cost) / nsPerSecond / busy;
    return `${x(at)},${y(ratio > 0 ? Math.log10(ratio) : slowdowns[0] - 9)}`;
  });

  const cost = ({ value, low, high }, busy, axes) => {
    const band = low === null || high === null ? [] : [
      made("polygon", { class: "band", points: [...ends(low, busy, axes), ...ends(high, busy, axes).reverse()].join(" ") }),
    ];
    return value > 0 ? [...band, made("polyline", { class: "cost", points: ends(value, busy, axes).join(" ") })] : band;
  };

  // What lies outside the axes is cut off.
  const cut = (parts) => {
    const { left, top, right, bottom } = box;
    const [width, height] = [right - left, bottom - top];
    const inner = made("svg", { x: left, y: top, width, height, viewBox: `${left} ${top} ${width} ${height}` });
    inner.append(...parts);
    return inner;
  };

  const point = (found, { range, x, y }) => {
    const ratio = found.isClear ? found.slowdown.value : found.slowdown.high ?? 0;
    const [cx, cy] = [x(power(found.asked.rate, range)), y(power(ratio, slowdowns))];
    const isLeft = cx > (box.left + box.right) / 2;
    const beside = isLeft ? [-9, -8, "end"] : [9, 16, "start"];       // never on the line, which rises to the right
    const y0 = Math.min(Math.max(cy + beside[1], box.top + 12), box.bottom - 6);
    const label = { class: "label", x: cx + beside[0], y: y0, "text-anchor": beside[2] };
    return [
      line("drop", cx, cy, cx, box.bottom),
      made("circle", { class: "point", cx, cy, r: 5 }),
      made("text", label, (found.isClear ? "" : "≤ ") + quantity(ratio, scales.SHARE)),
    ];
  };

  // Draws the lines of `all`, forecasts under one load, with the point of the first.
  const draw = (svg, all, names, label) => {
    const [{ asked }] = all;
    const axes = axesFor(asked.rate);
    svg.setAttribute("aria-label", label);
    svg.replaceChildren(...grid(axes), ...thresholds(axes, names),
      cut(all.flatMap((one) => cost(one.widened, asked.busy, axes))), ...point(all[0], axes));
  };

  probeEffect.calculatorChart = { draw };
})();
