// How quantities are written and read: the rules of the generator's units.py and answer/question.py.
// Shared examples (tests/data/units.json) hold the two to each other.
const missing = "—";
const group = "\u202f";                       // between groups of three digits
export const gap = "\u00a0";                         // between a number and its unit
const minus = "\u2212";
const maxDigits = 5;
const statedDigits = 4;
const prefixes = { "": 1, k: 1e3, K: 1e3, M: 1e6, G: 1e9 };

const scale = (digits, ...units) => ({ digits, units: units.map(([below, size, name]) => ({ below, size, name })) });
const perSecond = (name, spaced = "") => [
  [1e3, 1, name], [1e6, 1e3, `k${spaced}${name}`], [1e9, 1e6, `M${spaced}${name}`], [Infinity, 1e9, `G${spaced}${name}`],
];
export const scales = {
  DURATION: scale(3, [1e4, 1, "ns"], [1e6, 1e3, "µs"], [1e9, 1e6, "ms"], [Infinity, 1e9, "s"]),
  RATE: scale(2, ...perSecond("/s")),
  EVENTS: scale(2, ...perSecond("events/s", gap)),
  SHARE: scale(2, [Infinity, 0.01, "%"]),
  TIMES: scale(3, [Infinity, 1, "times"]),
};

const tenTo = (power) => Number(`1e${power}`); // exact where a power computed by multiplication is not

const exponent = (value) => {
  const found = Math.floor(Math.log10(Math.abs(value)));
  if (Math.abs(value) < tenTo(found)) return found - 1;
  return found + (Math.abs(value) >= tenTo(found + 1) ? 1 : 0);
};

const steps = (value, place) => {
  const scaled = place <= 0 ? Math.abs(value) * tenTo(-place) : Math.abs(value) / tenTo(place);
  return BigInt(Math.floor(scaled + 0.5));
};

const atPlace = (value, place) => {
  const count = steps(value, place);
  const parts = 10n ** BigInt(Math.max(-place, 0));
  const whole = (count / parts) * 10n ** BigInt(Math.max(place, 0));
  let text = whole.toString().replace(/\B(?=(\d{3})+$)/g, group);
  if (place < 0) text += `.${(count % parts).toString().padStart(-place, "0")}`;
  return value < 0 && count > 0n ? minus + text : text;
};

export const significant = (value, digits) => {
  if (value === 0) return "0";
  const place = exponent(value) - digits + 1;
  return atPlace(value, place + (steps(value, place) >= 10n ** BigInt(digits) ? 1 : 0));
};

const trimmed = (value, digits) => {
  const text = significant(value, digits);
  return text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
};

const unitOf = (value, { units }, digits) =>
  units.find(({ below }) => Math.abs(value) < below * (1 - 0.5 * tenTo(-digits)));

export const quantity = (value, chosen) => {
  if (value === null) return missing;
  const unit = unitOf(value, chosen, chosen.digits);
  return `${significant(value / unit.size, chosen.digits)}${gap}${unit.name}`;
};

export const stated = (value, chosen) => {
  const unit = unitOf(value, chosen, statedDigits);
  return `${trimmed(value / unit.size, statedDigits)}${gap}${unit.name}`;
};

const halfWidth = ({ value, low, high }) => {
  if (low !== null && high !== null) return (high - low) / 2;
  return Math.max(0, ...[low, high].filter((end) => end !== null).map((end) => Math.abs(end - value)));
};

// Two digits of the half-width where they lie between 10 and 35, else one.
const placeFor = (value, half) => {
  const first = exponent(half);
  const place = first - (half < 3.55 * tenTo(first) ? 1 : 0);
  return value ? Math.max(place, exponent(value) - maxDigits + 1) : place;
};

export const interval = (found, chosen) => {
  if (found === null) return missing;
  const half = halfWidth(found);
  if (!half) return quantity(found.value, chosen);
  const unit = unitOf(found.value, chosen, chosen.digits);
  const place = placeFor(found.value / unit.size, half / unit.size);
  const write = (value) => atPlace(value / unit.size, place);
  const { low, high } = found;
  let within = `${write(low ?? high)} or ${low === null ? "less" : "more"}`;
  if (low !== null && high !== null) within = `${write(low)} to ${write(high)}`;
  return `${write(found.value)}${gap}${unit.name} (${within.replaceAll(" ", gap)})`;
};

// Both ends with two digits, in one unit unless the low end would be below 0.1; without both, the value.
const leastInSpan = 0.1;
const unitOfSpan = ({ low, high }, chosen) => {
  const unit = unitOf(high, chosen, 2);
  return unitOf(low, chosen, 2) === unit || Math.abs(low) >= leastInSpan * unit.size ? unit : undefined;
};
export const span = (found, chosen) => {
  const [short, { value, low, high }] = [{ ...chosen, digits: 2 }, found];
  if (low === null || high === null) return quantity(value, short);
  const [[from, to], unit] = [[low, high].map((end) => quantity(end, short)), unitOfSpan(found, chosen)];
  return from === to ? to : `${unit ? significant(low / unit.size, 2) : from} to ${to}`;
};

// The value beside its span: with two digits, in the unit of its high end unless it would be below 0.1 of it.
export const middle = (found, chosen) => {
  const unit = found.low === null || found.high === null ? undefined : unitOf(found.high, chosen, 2);
  const isIn = unit && (unitOfSpan(found, chosen) || Math.abs(found.value) >= leastInSpan * unit.size);
  return isIn ? `${significant(found.value / unit.size, 2)}${gap}${unit.name}` : quantity(found.value, { ...chosen, digits: 2 });
};

// Events per second as people write them: 50k, 1.5M, 200, 1e5, 50_000, 300,000. Null for anything else, and for 50.000,
// which is fifty or fifty thousand.
const rates = new RegExp("^((?:[0-9]{1,3}(?:[, \u00a0\u202f][0-9]{3})+|[0-9]+(?:_[0-9]+)*)(?:\\.[0-9]+)?(?:e[+-]?[0-9]{1,2})?)"
  + "[ \u00a0]?([kKMG]?)(?:/s)?$");
const unclear = /^[1-9][0-9]{0,2}\.[0-9]{3}(?:\/s)?$/;
export const readRate = (text) => {
  const found = unclear.test(text.trim()) ? null : rates.exec(text.trim());
  return found && Number(found[1].replace(/[_, \u00a0\u202f]/g, "")) * prefixes[found[2]];
};

export const count = (value) => atPlace(value, 0);

// A level of a suite: a number, or a word; "" without one.
export const leveled = (level) => (/^\d+$/.test(level) ? count(Number(level)) : level ?? "");
