// What a script costs, as the generator's costs/table.py and answer/advice.py have it, by the cost tables that are in
// data/costs/ of the site: a sum over rows. A cost also has its basis, and the ids of the machines that it is of.
import { atLeast, given, multiplied, times, total } from "./estimates.js";
import { moved, predict } from "./prediction.js";
import { own } from "./script-clauses.js";

const [plain, filter, systemCall] = ["nothing", "filter", "system-call"];

// The tracer that runs a script: as the data call it where it was measured.
export const tracerOf = ({ tracer: usual }, { tracers }) =>
  tracers.find((one) => one === usual) ?? tracers.find((one) => one.startsWith(`${usual}-`)) ?? usual;

// A probe with one of its actions, and what each other one adds; of all these sums the greatest. null where nothing tells.
const summed = (table, rows, probe) => {
  const row = (action) => own(rows, action);
  const done = probe.actions.filter((one) => one !== plain && !table.does_anyway.includes(one));
  const wanted = probe.has_filter && !done.includes(filter) ? [filter, ...done] : done;
  const known = [...new Set(wanted)].filter(row);
  const bases = known.length > 0 ? known : [plain].filter(row);
  const adds = (one) => (own(table.adds, one) ? given(table.adds[one]) : row(one) && { ...given(row(one)), low: 0 });
  const sums = bases.flatMap((first) => {
    const rest = wanted.filter((_, at) => at !== wanted.indexOf(first)).map(adds);
    return rest.every(Boolean) ? [{ row: row(first), cost: total([given(row(first)), ...rest]) }] : [];
  });
  if (sums.length === 0 || (probe.unknown.length > 0 && !table.highest)) return null;
  const greatest = sums.reduce((one, other) => (other.cost.value > one.cost.value ? other : one));
  let cost = sums.reduce((whole, one) => atLeast(whole, one.cost), greatest.cost);
  probe.unknown.forEach(() => {
    const [, value, low, high] = table.highest;
    cost = total([cost, { value, low: low === null ? null : 0, high }]);
  });
  // Where events are filtered, none may pass: the low end is that of the filter alone.
  const least = probe.has_filter && done.some((one) => one !== filter) ? row(filter)?.[1] ?? null : null;
  if (least !== null && cost.low !== null) cost.low = Math.min(cost.low, least);
  const isWhole = wanted.length + probe.unknown.length < 2 && (known.length > 0 || wanted.length + probe.unknown.length === 0);
  return { row: greatest.row, cost, isWhole };
};

// The cost of one event of a probe with a tracer, on one machine or for "" on those of the data's kind. A tool that stops
// a process at each system call spends most of the cost on that, whatever it does with the call.
export const nearest = (data, machine, tracer, probe, mechanism) => {
  const scope = own(data.scopes, machine);
  const table = scope && (own(scope.tracers, tracer) ?? own(scope.tracers, tracer.replace(/(-[0-9]+)+$/, "")));
  const rows = table && own(table.rows, mechanism ? `${probe.kind} ${mechanism}` : probe.kind);
  if (!rows) return null;
  const printed = probe.kind === systemCall && own(rows, "print");
  const found = summed(table, rows, probe) ?? (printed ? { row: printed, cost: given(printed), isWhole: true, isPrinted: true } : null);
  if (!found) return null;
  const [, , , basis, machines, note = null, hardware = null, calls = null] = found.row;
  const { every = 1 } = probe;
  return {
    cost: every === 1 ? found.cost : times(found.cost, 1 / every),
    basis: found.isWhole || basis !== "measured" ? basis : "composed",
    note: found.isPrinted ? data.words["as-printed"] : note === null ? null : scope.notes[note],
    hardware,
    path: calls && { each: given(calls), calls: calls[3] },
    unknown: probe.unknown,
    stops: table.stops,
    machines: scope.machines[machines],
  };
};

// What system calls pay is paid once for all probes on them.
const withCalls = (all) => {
  const onCalls = all.filter(({ path }) => path);
  const events = onCalls.reduce((sum, { rate }) => sum + rate, 0);
  if (onCalls.length < 2 || events === 0) return all;
  const calls = Math.max(...onCalls.map(({ rate, path }) => rate * path.calls)) / events;
  return all.map((one) => (one.path ? { ...one, cost: moved(one.cost, one.path.each, one.path.calls, calls) } : one));
};

// How far real programs are from the prediction for a probe with its actions: the factor of its kind of script (the
// generator's answer/spread.py). null before programs were traced.
export const kindOf = ({ stopping }, tracer, { kind, actions }) => {
  if (kind === "profile") return "sample";
  if (stopping.some((one) => `${tracer}-`.startsWith(`${one}-`))) return "stop";
  if (actions.includes("print")) return "print";
  return actions.some((one) => one.includes("stack")) ? "stack" : "plain";
};
export const spreadOf = (programs, tracer, probe) => own(programs.kinds, kindOf(programs, tracer, probe)) ?? null;
export const widened = ({ cost, probe }, programs, tracer) => {
  const spread = programs && spreadOf(programs, tracer, probe);
  return spread ? multiplied(cost, given(spread.factor)) : cost;
};

// What probes with a cost and a rate do together to a busy thread, with how far real programs are from loops.
export const together = (all, programs, tracer) => {
  const paid = withCalls(all.filter(({ rate }) => rate > 0));
  const rate = paid.reduce((sum, one) => sum + one.rate, 0);
  const each = paid.map((one) => times(widened(one, programs, tracer), one.rate / rate));
  const cost = total(each);
  const stops = paid.some((one) => one.stops);
  return { rate, cost, ...predict(cost, rate, stops) };
};
