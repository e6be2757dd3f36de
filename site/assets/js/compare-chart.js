// The picture of /compare/: a dot for each case, the ratio of B to A on a logarithmic axis, with its interval.
import { scales, quantity } from "./units.js";
import { wideScreen } from "./vega-loader.js";

const widest = 760;
const mostRows = 60;             // what more cases have is in the table
const classes = { higher: "is-higher", lower: "is-lower" };

const made = (name, attributes, text) => {
  const one = document.createElementNS("http://www.w3.org/2000/svg", name);
  Object.entries(attributes).forEach(([key, value]) => one.setAttribute(key, value));
  if (text !== undefined) one.textContent = text;
  return one;
};

// Where things stand, in px, so that letters have their size: labels beside the dots, or above them on a phone.
const layout = (figure) => {
  const width = Math.min(figure.clientWidth, widest);
  return wideScreen.matches
    ? { width, left: 330, right: width - 20, step: 24, label: 320, drop: 4, anchor: "end", longest: 46 }
    : { width, left: 22, right: width - 22, step: 40, label: 0, drop: -13, anchor: "start", longest: 48 };
};

// Round numbers around all ends, 1 among them.
const axis = (rows) => {
  const ends = rows.flatMap(({ value, low, high }) => [value, low, high]).filter((end) => end > 0);
  const steps = Array.from({ length: 13 }, (_, power) => [1, 2, 5].map((digit) => Number(`${digit}e${power - 6}`))).flat();
  const [least, most] = [Math.min(...ends, 0.8), Math.max(...ends, 1.25)];
  const domain = [Math.max(...steps.filter((one) => one <= least), steps[0]), steps.find((one) => one >= most) ?? steps.at(-1)];
  const inside = steps.filter((one) => one >= domain[0] && one <= domain[1]);
  const powers = inside.filter((one) => /^1(e|$)/.test(one.toExponential()));
  return { domain, ticks: inside.length > 7 ? powers : inside };
};

const shortened = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

let last = null;

// Draws `rows`, [{label, value, low, high, outcome}] with the ratio of B to A, the largest first; ends may be null.
export const draw = (figure, rows) => {
  last = [figure, rows];
  const sorted = [...rows].filter(({ value }) => value > 0).sort((one, other) => other.value - one.value);
  const shown = sorted.slice(0, mostRows);
  const svg = figure.querySelector("svg");
  figure.hidden = shown.length === 0;
  if (figure.hidden) return;
  const at = layout(figure);
  const { domain, ticks } = axis(shown);
  const [from, to] = domain.map(Math.log);
  const x = (value) => at.left + ((Math.log(Math.min(Math.max(value, domain[0]), domain[1])) - from) / (to - from)) * (at.right - at.left);
  const top = 26;
  const bottom = top + at.step * shown.length;
  svg.setAttribute("viewBox", `0 0 ${at.width} ${bottom + 8}`);
  svg.setAttribute("width", at.width);
  svg.replaceChildren(
    ...ticks.flatMap((tick) => [
      made("line", { class: tick === 1 ? "same" : "grid", x1: x(tick), x2: x(tick), y1: top, y2: bottom }),
      made("text", { x: x(tick), y: top - 10, "text-anchor": "middle" }, quantity(tick, { ...scales.TIMES, digits: 1 }).replace(/.times/, "×")),
    ]),
    ...shown.map((one, place) => {
      const y = top + at.step * (place + (wideScreen.matches ? 0.5 : 0.72));
      const row = made("g", { class: classes[one.outcome] ?? "" });
      row.append(
        made("title", {}, `${one.label}: ${one.outcome}`),
        made("text", { x: at.label, y: y + at.drop, "text-anchor": at.anchor }, shortened(one.label, at.longest)),
        ...(one.low === null || one.high === null ? [] : [made("line", { class: "ends", x1: x(one.low), x2: x(one.high), y1: y, y2: y })]),
        made("circle", { cx: x(one.value), cy: y, r: 4.5 }),
      );
      return row;
    }),
  );
  const left = [
    ...(rows.length > sorted.length ? [`${rows.length - sorted.length} without a ratio above 0`] : []),
    ...(sorted.length > mostRows ? [`${sorted.length - mostRows} beyond the first ${mostRows}`] : []),
  ];
  figure.querySelector(".chart-note").textContent = "Right of 1 ×, B has the higher cost. Grey: not distinguishable, or not comparable."
    + (left.length > 0 ? ` In the table only: ${left.join(", ")}.` : "");
};

addEventListener("resize", () => { if (last) draw(...last); });
