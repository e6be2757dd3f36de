// Two measurements of one case against each other: the arithmetic and the rules of the generator's stats/estimates.py and
// compare/comparison.py, and the summary of pages/comparison.py. Shared examples (tests/data/comparison.json) hold the
// two to each other. An interval is {value, low, high}; ends may be null.
(() => {
  const { filled } = probeEffect.page;
  const isBounded = ({ low, high }) => low !== null && high !== null;
  const opposite = ({ value, low, high }) => ({ value: -value, low: -high, high: -low });
  const divided = ({ value, low, high }, unit) => ({ value: value / unit, low: low / unit, high: high / unit });

  // The first less the second, two independent estimates (Zou and Donner 2008).
  const difference = (a, b) => {
    const value = a.value - b.value;
    if (!isBounded(a) || !isBounded(b)) return { value, low: null, high: null };
    const down = Math.hypot(a.value - a.low, b.high - b.value);
    const up = Math.hypot(a.high - a.value, b.value - b.low);
    return { value, low: value - down, high: value + up };
  };

  // The ratio at which the low end of `a` less ratio times `b` is 0; `b` lies above 0 as a whole.
  const lowRatio = (a, b) => {
    const end = a.low > 0 ? b.high : b.low;
    const product = a.value * b.value;
    const constant = a.low * (2 * a.value - a.low);
    const square = end * (2 * b.value - end);
    const root = Math.sqrt(Math.max(product ** 2 - constant * square, 0));
    return product > 0 ? constant / (product + root) : (product - root) / square;
  };

  // The first over the second, two independent estimates (Donner and Zou 2012); null where the second may be 0.
  const ratio = (a, b) => {
    if (isBounded(b) ? b.low <= 0 && b.high >= 0 : b.value === 0) return null;
    const value = a.value / b.value;
    if (!isBounded(a) || !isBounded(b)) return { value, low: null, high: null };
    const [over, under] = b.value < 0 ? [opposite(a), opposite(b)] : [a, b];
    const unitOver = Math.max(...[over.low, over.value, over.high].map(Math.abs)) || 1;
    const [c, d] = [divided(over, unitOver), divided(under, under.high)];
    const scale = unitOver / under.high;
    return { value, low: lowRatio(c, d) * scale, high: -lowRatio(opposite(c), d) * scale };
  };

  const reasons = (first, second, ...further) => [...new Set([...first.faults, ...second.faults, ...further])].sort().join("; ") || null;

  const outcomeOf = (by, reason, isClear) => {
    if (reason !== null) return "not comparable";
    if (!isClear) return "no difference";
    return by > 0 ? "higher" : "lower";
  };

  // The second time against the first; `paired` is the difference over the blocks of both, null where they have none.
  const times = (first, second, paired, words) => {
    const found = paired ?? difference(second.cost, first.cost);
    const reason = reasons(first, second) ?? (found.low === null ? words.too_few : null);
    const isApart = (found.low ?? 0) > 0 || (found.high ?? 0) < 0;
    const isClear = isApart && Math.abs(found.value) > Math.max(first.floor, second.floor);
    return { difference: found, ratio: ratio(second.cost, first.cost), outcome: outcomeOf(found.value, reason, isClear), reason };
  };

  // The second count against the first: clear where the ranges are apart and the medians differ by enough. `ratio` is
  // the share of the first by which the second differs.
  const counts = (first, second, words) => {
    const [before, after] = [first.cost, second.cost];
    const reason = reasons(first, second, ...(first.architecture === second.architecture ? [] : [words.another_architecture]));
    const by = after.value - before.value;
    const least = Math.max(words.limit_ratio * Math.min(Math.abs(before.value), Math.abs(after.value)),
      words.untraced_limit_ratio * Math.max(first.untraced, second.untraced));
    const isClear = (before.high < after.low || after.high < before.low) && Math.abs(by) > least;
    const isKnown = reason === null && Math.min(before.value, after.value) > 0;
    return { difference: by, ratio: isKnown ? after.value / before.value - 1 : null, outcome: outcomeOf(by, reason, isClear), reason };
  };

  const numbered = (number, forms) => `${probeEffect.units.count(number)} ${forms[number === 1 ? 0 : 1]}`;

  // "Of 21 comparisons, 3 have higher overhead on B, 1 has lower overhead and 17 show no difference."
  const summary = (outcomes, side, words) => {
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
  const chance = (outcomes, words) => {
    if (!words.chance) return "";
    const able = outcomes.filter((one) => one !== "not comparable").length;
    const expected = probeEffect.units.significant(words.by_chance_ratio * able, 2);
    return filled(words.chance, { count: numbered(able, words.able), expected });
  };

  probeEffect.comparison = { difference, ratio, times, counts, summary, chance };
})();
