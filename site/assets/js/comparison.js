// Two measurements of one case against each other: the rules of the generator's compare/comparison.py, and the summary of
// site/pages/comparison.py. Shared examples (tests/data/comparison.json) hold the two to each other.
import { difference, ratio } from "./estimates.js";
import { filled } from "./page.js";
import { count, significant } from "./units.js";

const reasons = (first, second, ...further) => [...new Set([...first.faults, ...second.faults, ...further])].sort().join("; ") || null;

const outcomeOf = (by, reason, isClear) => {
  if (reason !== null) return "not comparable";
  if (!isClear) return "no difference";
  return by > 0 ? "higher" : "lower";
};

// The second time against the first; `paired` is the difference over the blocks of both, null where they have none.
export const times = (first, second, paired, words) => {
  const found = paired ?? difference(second.cost, first.cost);
  const reason = reasons(first, second) ?? (found.low === null ? words.too_few : null);
  const isApart = (found.low ?? 0) > 0 || (found.high ?? 0) < 0;
  const isClear = isApart && Math.abs(found.value) > Math.max(first.floor, second.floor);
  return { difference: found, ratio: ratio(second.cost, first.cost), outcome: outcomeOf(found.value, reason, isClear), reason };
};

// The second count against the first: clear where the ranges are apart and the medians differ by enough. `ratio` is
// the share of the first by which the second differs.
export const counts = (first, second, words) => {
  const [before, after] = [first.cost, second.cost];
  const reason = reasons(first, second, ...(first.architecture === second.architecture ? [] : [words.another_architecture]));
  const by = after.value - before.value;
  const least = Math.max(words.limit_ratio * Math.min(Math.abs(before.value), Math.abs(after.value)),
    words.untraced_limit_ratio * Math.max(first.untraced, second.untraced));
  const isClear = (before.high < after.low || after.high < before.low) && Math.abs(by) > least;
  const isKnown = reason === null && Math.min(before.value, after.value) > 0;
  return { difference: by, ratio: isKnown ? after.value / before.value - 1 : null, outcome: outcomeOf(by, reason, isClear), reason };
};

const numbered = (number, forms) => `${count(number)} ${forms[number === 1 ? 0 : 1]}`;

// "Of 21 comparisons, 3 have higher overhead on B, 1 has lower overhead and 17 show no difference."
export const summary = (outcomes, side, words) => {
  let isSaid = false;
  const parts = Object.entries(words.outcomes).flatMap(([outcome, forms]) => {
    const number = outcomes.filter((one) => one === outcome).length;
    if (number === 0) return [];
    const takesSide = words.sided.includes(outcome);
    const text = `${numbered(number, forms)}${takesSide && !isSaid ? ` ${side}` : ""}`;
    isSaid ||= takesSide;
    return [text];
  });
  const whole = [parts.slice(0, -1).join(", "), parts.at(-1)].filter(Boolean).join(" and ");
  return filled(words.summary, { count: numbered(outcomes.length, words.counted), outcomes: whole });
};

// How many of so many would come out different by chance alone; nothing is said of counts, which hardly vary.
export const chance = (outcomes, words) => {
  if (!words.chance) return "";
  const able = outcomes.filter((one) => one !== "not comparable").length;
  const expected = significant(words.by_chance_ratio * able, 2);
  return filled(words.chance, { count: numbered(able, words.able), expected });
};
