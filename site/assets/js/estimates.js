// Intervals, {value, low, high} with null for an end that is not known: the generator's numbers/estimates.py. Shared examples
// (tests/data/prediction.json and comparison.json) hold the two to each other.

// An interval as the data have it; null stays.
export const given = (ends) => ends && { value: ends[0], low: ends[1], high: ends[2] };

const isBounded = ({ low, high }) => low !== null && high !== null;

export const mapped = ({ value, low, high }, change) => ({
  value: change(value),
  low: low === null ? null : change(low),
  high: high === null ? null : change(high),
});

export const times = (one, by) => mapped(one, (value) => value * by);

// The sum of intervals whose errors may point the same way: the ends add.
export const total = (all) => {
  const sum = (end) => all.reduce((whole, one) => whole + one[end], 0);
  const isKnown = all.every(isBounded);
  return { value: sum("value"), low: isKnown ? sum("low") : null, high: isKnown ? sum("high") : null };
};

// The first less the second, two independent estimates (Zou and Donner 2008).
export const difference = (a, b) => {
  const value = a.value - b.value;
  if (!isBounded(a) || !isBounded(b)) return { value, low: null, high: null };
  const down = Math.hypot(a.value - a.low, b.high - b.value);
  const up = Math.hypot(a.high - a.value, b.value - b.low);
  return { value, low: value - down, high: value + up };
};

// The product of two intervals, as wide as their ends make it.
export const multiplied = (a, b) => {
  const value = a.value * b.value;
  if (!isBounded(a) || !isBounded(b)) return { value, low: null, high: null };
  const corners = [a.low, a.high].flatMap((end) => [end * b.low, end * b.high]);
  return { value, low: Math.min(...corners), high: Math.max(...corners) };
};

// The greater of two at each end.
export const atLeast = (a, b) => {
  const isKnown = isBounded(a) && isBounded(b);
  const most = (end) => Math.max(a[end], b[end]);
  return { value: most("value"), low: isKnown ? most("low") : null, high: isKnown ? most("high") : null };
};

const opposite = ({ value, low, high }) => ({ value: -value, low: -high, high: -low });
const divided = (one, unit) => mapped(one, (value) => value / unit);

// The ratio at which the low end of `a` less ratio times `b` is 0; `b` is above 0 as a whole.
const lowRatio = (a, b) => {
  const end = a.low > 0 ? b.high : b.low;
  const product = a.value * b.value;
  const constant = a.low * (2 * a.value - a.low);
  const square = end * (2 * b.value - end);
  const root = Math.sqrt(Math.max(product ** 2 - constant * square, 0));
  return product > 0 ? constant / (product + root) : (product - root) / square;
};

// The first over the second, two independent estimates (Donner and Zou 2012); null where the second may be 0.
export const ratio = (a, b) => {
  if (isBounded(b) ? b.low <= 0 && b.high >= 0 : b.value === 0) return null;
  const value = a.value / b.value;
  if (!isBounded(a) || !isBounded(b)) return { value, low: null, high: null };
  const [over, under] = b.value < 0 ? [opposite(a), opposite(b)] : [a, b];
  const unitOver = Math.max(...[over.low, over.value, over.high].map(Math.abs)) || 1;
  const [c, d] = [divided(over, unitOver), divided(under, under.high)];
  const scale = unitOver / under.high;
  return { value, low: lowRatio(c, d) * scale, high: -lowRatio(opposite(c), d) * scale };
};
