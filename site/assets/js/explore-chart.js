// The chart of /explore/: which numbers it can show, and its specification in Vega-Lite.
import { leveled } from "./units.js";
import { wideScreen } from "./vega-loader.js";

const mostRows = 80;             // of the chart: more is a table
const few = 200;                 // span of a logarithmic axis, as a ratio, up to which 3 stands between powers of 10
const some = 20_000;             // likewise, up to which 2 and 5 do where there is room
const manyRows = 25;             // from here on the axis stands above them, where the reader begins
const longName = 34;             // characters of a line in the legend
const longLabel = 28;            // of a row, up to which the legend has room for two columns
const apart = { labelOverlap: "greedy", labelSeparation: 10 };   // pixels between labels of ticks

const differ = (rows, key) => new Set(rows.map(key)).size > 1;
const machineOf = (one) => one.machine.id;

// The rows that the chart can show, each with the label of its line and its series, and what is left out of it.
// Machines differ by more than tracers: where there are several, they have the colours, and a tracer its own lines.
export const charted = (rows, values) => {
  const isLog = values.axis === "log";
  const isCount = values.q === "instructions";
  const several = differ(rows, machineOf);
  const names = several && differ(rows, (one) => one.tool) ? (one) => [one.tool] : () => [];
  const label = (one) => [one.title, ...(one.level === null ? [] : [leveled(one.level)]), ...names(one)].join(", ");
  const series = (one) => (several ? one.machine.label : one.tool);
  const clear = rows.filter((one) => (isCount ? one.shown.value >= 1 : one.clear));
  const above = clear.filter((one) => !isLog || one.shown.value > 0);
  const labels = [...new Set(above.map(label))].slice(0, mostRows);
  const kept = above.filter((one) => labels.includes(label(one)));
  const lost = {
    [isCount ? "below 1 instruction" : "not distinguishable from 0"]: rows.length - clear.length,
    "not above 0, which a logarithmic axis does not have": clear.length - above.length,
    [`beyond the first ${mostRows} rows`]: above.length - kept.length,
  };
  return { points: kept.map((one) => ({ ...one, label: label(one), series: series(one) })), lost };
};

const folded = (text, width) => text.split(" ").reduce((lines, word) => {
  const joined = `${lines.at(-1)} ${word}`;
  return joined.length > width && lines.at(-1) ? [...lines, word] : [...lines.slice(0, -1), joined.trim()];
}, [""]);

// The colour and shape that each tracer has everywhere; of two with the same the later takes the next free shape.
const looks = (wishes, forms) => wishes.reduce((taken, [number, form]) => {
  const isUsed = (wish) => taken.some(([other, used]) => other === number && used === wish);
  const after = Array.from({ length: forms }, (_, step) => (form + step) % forms);
  return [...taken, [number, after.find((wish) => !isUsed(wish)) ?? form]];
}, []);

// The look of the site's other charts (site/charts/dots.py).
export const spec = (points, values, { chart: look, quantities }) => {
  const isWide = wideScreen.matches;
  const isShare = values.q === "slowdown";
  const [value, low, high] = quantities[values.q].columns.map((name) => (isShare ? name.replace("ratio", "percent") : name));
  const times = (number) => (number === null || !isShare ? number : number * 100);
  const lines = new Map(points.map((one) => [one.label, folded(one.label, isWide ? 52 : 24)]));
  const series = [...new Set(points.map((one) => one.series))];
  const names = new Map(series.map((name) => [name, folded(name, longName).join("\n")]));
  const found = differ(points, machineOf)
    ? series.map((_, at) => [1 + (at % look.series.length), at % look.shapes.length])
    : looks(series.map((name) => look.looks[points.find((one) => one.series === name).tracer]), look.shapes.length);
  const rows = points.map((one) => ({
    label: lines.get(one.label).join("\n"), series: names.get(one.series), text: one.text, sound: one.sound,
    [value]: times(one.shown.value), [low]: times(one.shown.low), [high]: times(one.shown.high),
  }));
  const x = { type: "quantitative", title: quantities[values.q].axis, ...axis(rows, [value, low, high], values.axis, isWide) };
  x.axis.orient = lines.size > manyRows ? "top" : "bottom";
  const split = "split(datum.label, '\\n')";
  const y = { field: "label", type: "nominal", sort: [...lines.values()].map((parts) => parts.join("\n")), title: null,
    axis: { labelLimit: 0, labelExpr: split, labelLineHeight: 14 } };
  const across = isWide && [...lines.values()].flat().every((line) => line.length <= longLabel) ? 2 : 1;
  const by = { field: "series", type: "nominal", legend: series.length > 1 ? { columns: across, symbolStrokeWidth: 1, labelExpr: split } : null };
  const color = { ...by, scale: { domain: [...names.values()], range: found.map(([number]) => look.series[number - 1]) } };
  const shape = { ...by, scale: { domain: [...names.values()], range: found.map(([, form]) => look.shapes[form]) } };
  const step = Math.max(25, ...[...lines.values()].map((parts) => 14 * parts.length + 10));
  const legend = [...names.values()].reduce((sum, name) => sum + 14 * name.split("\n").length + 6, 0);
  return {
    $schema: look.schema, width: look.widths[isWide ? "wide" : "narrow"], padding: 4, config: look.config,
    autosize: { type: "fit", contains: "padding" },
    height: 90 + step * lines.size + Math.ceil(legend / across),
    data: { values: rows },
    layer: [
      { mark: { type: "rule", strokeWidth: 2 }, transform: [{ filter: `isValid(datum.${low})` }],
        encoding: { x: { ...x, field: low }, x2: { field: high }, y, color } },
      { mark: { type: "point", filled: true, size: 70, opacity: 1, stroke: look.paper, strokeWidth: 1 },
        encoding: { x: { ...x, field: value }, y, color, shape,
          fillOpacity: { condition: { test: "datum.sound", value: 1 }, value: 0.3 },
          tooltip: ["label", "series", "text"].map((field) => ({ field })) } },
    ],
  };
};

// A logarithmic axis from the least to the greatest with few round ticks; what lies below it is cut off.
const axis = (rows, names, kind, isWide) => {
  if (kind === "linear") return { scale: { zero: true, nice: true }, axis: { format: ",~g", tickCount: isWide ? 6 : 3, ...apart } };
  const ends = rows.flatMap((one) => names.map((name) => one[name])).filter((end) => end !== null && end > 0);
  const least = Math.min(...rows.map((one) => one[names[0]]));
  const domain = [Math.max(Math.min(...ends), least / 10) / 1.3, Math.max(...ends) * 1.3];
  const ratio = domain[1] / domain[0];
  const steps = isWide && ratio < some ? [1, 2, 5] : [1, ...(ratio < few ? [3] : [])];
  const ticks = Array.from({ length: 24 }, (_, power) => steps.map((digit) => Number(`${digit}e${power - 8}`))).flat()
    .filter((tick) => tick >= domain[0] && tick <= domain[1])
    .filter((_, at, all) => isWide || all.length <= 5 || at % 2 === 0);
  return { scale: { type: "log", nice: false, domain, clamp: true }, axis: { format: ",~r", values: ticks, ...apart } };
};
