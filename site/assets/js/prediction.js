// From the cost of probes and the rate of their events to what they do: the arithmetic of the generator's
// answer/prediction.py and costs/row.py. Shared examples (tests/data/prediction.json) hold the two to each other.
import { difference, mapped, times, total } from "./estimates.js";
import { filled } from "./page.js";
import { quantity, scales } from "./units.js";

const nsPerSecond = 1e9;
const percents = [1, 5, 30];
const mostStopped = 0.96;

// The rate at which a busy thread slows by so many per cent; null for a cost that is not above 0.
const threshold = ({ value, low, high }, percent, stops) => {
  if (value <= 0) return null;
  const budget = (percent / (100 + (stops ? percent : 0))) * nsPerSecond;
  const at = (cost) => (cost !== null && cost > 0 ? budget / cost : null);
  return { value: budget / value, low: at(high), high: at(low) };
};

// What probes of `cost` ns an event do to a thread that is always busy, at `rate` events per second: the slowdown as a ratio,
// and the rates by per cent. A tool that `stops` the program by a clock of its own takes a share of all time.
export const predict = (cost, rate, stops = false) => ({
  slowdown: mapped(cost, (ns) => {
    const used = (rate * ns) / nsPerSecond;
    if (!stops) return used;
    const share = Math.min(used, mostStopped);
    return share / (1 - share);
  }),
  thresholds: new Map(percents.map((percent) => [percent, threshold(cost, percent, stops)])),
});

// What to do about a slowdown, in one sentence: the generator's answer/prediction.py. Words and bands come with the data.
const bandOf = (ratio) => percents.filter((percent) => ratio >= percent / 100).length;
export const bandsOf = ({ value, low, high }) => [bandOf(low ?? value), bandOf(high ?? value)];
export const recommendation = (slowdown, { words, bands }) => {
  const [best, worst] = bandsOf(slowdown).map((place) => bands[place]);
  const said = filled(words[best === worst ? "band" : "bands"],
    { best: best.range, worst: worst.range, recommendation: worst.recommendation });
  return said[0].toUpperCase() + said.slice(1);
};

// What to do where nobody says how often: the rates at which the high end comes to the first threshold and to the last.
export const limits = ({ value, high }, { words, bands }) => {
  const [go, , stop] = percents.map((percent) => threshold({ value: high ?? value, low: null, high: null }, percent, false));
  if (!go) return words["no-limits"];
  return filled(words.limits, {
    go: quantity(go.value, scales.RATE),
    stop: quantity(stop.value, scales.RATE),
    best: bands[0].recommendation,
    worst: bands.at(-1).recommendation,
  });
};

// What an event costs that comes with `calls` system calls, each of which pays `each`, and not with as many as were
// measured (costs/row.py).
export const moved = (cost, each, measured, calls) => {
  const more = calls - measured;
  const paid = times(each, Math.abs(more));
  return more < 0 ? difference(cost, paid) : total([cost, paid]);
};
