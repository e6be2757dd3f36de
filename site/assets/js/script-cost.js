// What a script costs, as the generator's answer/cost_of.py, nearest.py, part.py, parts.py and advice.py have it,
// of what the data of the form hold: each probe with one action on each machine, and what each further action adds.
// Intervals are {value, low, high}. A cost also has its basis, and the ids of the machines whose range it is.
(() => {
  const { own } = probeEffect.scriptClauses;
  const { multiplied, moved, predict } = probeEffect.prediction;
  const given = ([value, low, high]) => ({ value, low, high });
  const systemCall = "system-call";

  const times = ({ value, low, high }, by) =>
    ({ value: value * by, low: low === null ? null : low * by, high: high === null ? null : high * by });

  // The sum of intervals whose errors may point the same way: the ends add.
  const total = (all) => {
    const sum = (end) => (all.some((one) => one[end] === null) ? null : all.reduce((whole, one) => whole + one[end], 0));
    const [low, high] = [sum("low"), sum("high")];
    return { value: sum("value"), low: high === null ? null : low, high: low === null ? null : high };
  };

  // Where events are filtered, none may pass: the low end is that of the filter alone.
  const fromFilter = (found, costs) => {
    const low = costs.filter?.[1] ?? null;
    return low === null || found.low === null ? found : { ...found, low: Math.min(found.low, low) };
  };

  // No action makes a probe cost less.
  const atLeast = (cost, plain) => {
    if (!plain || plain[3] === "estimated" || cost.value >= plain[0]) return cost;
    const { value, low, high } = given(plain);
    if ([cost.low, cost.high, low, high].includes(null)) return { value, low: null, high: null };
    return { value, low: Math.max(cost.low, low), high: Math.max(cost.high, high) };
  };

  // The cost of one event of a probe with a tracer on a machine; null where nothing tells.
  const costOf = (tracer, probe, mechanism) => {
    const costs = own(tracer.costs, mechanism ? `${probe.kind} ${mechanism}` : probe.kind);
    if (!costs) return null;
    const done = probe.actions.filter((one) => one !== "nothing" && !tracer.own.includes(one));
    const wanted = probe.has_filter && !done.includes("filter") ? ["filter", ...done] : done;
    const isMeasured = (one) => own(costs, one)?.[3] === "measured";
    const adds = (one) => own(tracer.adds, one);
    const known = wanted.filter((one) => own(costs, one));
    const first = known.find((one) => !adds(one)) ?? known.find(isMeasured) ?? known[0] ?? "nothing";
    const rest = wanted.filter((_, at) => at !== wanted.indexOf(first));
    const others = rest.filter((one) => known.includes(one) && adds(one));
    const unknown = [...rest.filter((one) => !others.includes(one)), ...probe.unknown];
    if (!own(costs, first) || (unknown.length > 0 && !tracer.highest)) return null;
    let cost = total([given(costs[first]), ...others.map((one) => given(tracer.adds[one]))]);
    unknown.forEach(() => {
      const { low } = cost;
      cost = total([cost, given(tracer.highest)]);
      cost.low = cost.high === null ? null : low;
    });
    const [, , , basis, note = null, hardware = null, path = null] = costs[first];
    const isWhole = others.length === 0 && unknown.length === 0;
    if (!isWhole && basis !== "estimated") cost = atLeast(cost, own(costs, "nothing"));
    if (probe.has_filter && done.some((one) => one !== "filter")) cost = fromFilter(cost, costs);
    return {
      cost,
      basis: isWhole || basis !== "measured" ? basis : "composed",
      note,
      hardware,
      path: path && { each: given(path), calls: path[3] },
      unknown,
      stops: tracer.stops,
    };
  };

  // A tool that stops a process at each system call spends most of the cost on that, whatever it does with the call.
  const onMachine = (tracer, probe, mechanism, words) => {
    const found = costOf(tracer, probe, mechanism);
    if (found || probe.kind !== systemCall) return found;
    const printed = costOf(tracer, { ...probe, actions: ["print"], has_filter: false, unknown: [] }, mechanism);
    return printed && { ...printed, note: words["as-printed"] };
  };

  // The range over machines, with the median one's value and the rest of what is known of that.
  const overMachines = (all) => {
    if (all.length === 0) return null;
    const preferred = (some, isBetter) => (some.some(isBetter) ? some.filter(isBetter) : some);
    const whole = preferred(all, ({ unknown }) => unknown.length === 0);
    const timed = preferred(whole, ({ basis }) => basis !== "estimated");
    const told = preferred(timed, ({ cost: { low, high } }) => low !== null && high !== null);
    const ordered = told.toSorted((one, other) => one.cost.value - other.cost.value || (one.machine < other.machine ? -1 : 1));
    const median = ordered[Math.floor((ordered.length - 1) / 2)];
    const range = (some, { value }) => (some.some(({ low, high }) => low === null || high === null)
      ? { value, low: null, high: null }
      : { value, low: Math.min(...some.map(({ low }) => low)), high: Math.max(...some.map(({ high }) => high)) });
    const paths = ordered.flatMap(({ path }) => (path ? [path.each] : []));
    return {
      ...median,
      cost: range(ordered.map(({ cost }) => cost), median.cost),
      path: median.path && { ...median.path, each: range(paths, median.path.each) },
      machines: [median.machine, ...ordered.map(({ machine }) => machine).filter((one) => one !== median.machine).toSorted()],
    };
  };

  // The tracer that runs a script: as the data call it where it was measured.
  const tracerOf = ({ tracer: usual }, { tracers }) =>
    tracers.find((one) => one === usual) ?? tracers.find((one) => one.startsWith(`${usual}-`)) ?? usual;

  const over = (machines, tracer, probe, mechanism, words) => overMachines(machines.flatMap((machine) => {
    const known = own(machine.tracers, tracer);
    const found = known && onMachine(known, probe, mechanism, words);
    return found ? [{ ...found, machine: machine.id }] : [];
  }));

  const printed = (tracer, { kind, actions }, data) => {
    const some = own(own(data.printed, tracer.replace(/(-[0-9]+)+$/, "")) ?? {}, kind);   // the tool, whatever its version
    if (!some) return null;
    const [, [value, low, high, basis, note]] = some.find(([action]) => actions.includes(action)) ?? some[0];
    return { cost: { value, low, high }, basis, note, hardware: null, path: null, unknown: [], machines: [] };
  };

  // The cost of a probe on one machine, or for "" on those of the data's kind; else on any other kind; else as printed.
  const nearest = (data, machine, tracer, probe, mechanism) => {
    const alike = data.machines.filter(({ id, kind }) => (machine === "" ? kind === data.kind : id === machine));
    const others = machine === "" ? data.machines.filter(({ kind }) => kind !== data.kind) : [];
    const near = over(alike, tracer, probe, mechanism, data.words);
    if (near) return near;
    const far = over(others, tracer, probe, mechanism, data.words);
    return far ? { ...far, isFar: true } : printed(tracer, probe, data);
  };

  // What system calls pay is paid once for all probes on them.
  const withCalls = (all) => {
    const onCalls = all.filter(({ path }) => path);
    const events = onCalls.reduce((sum, { rate }) => sum + rate, 0);
    if (onCalls.length < 2 || events === 0) return all;
    const calls = Math.max(...onCalls.map(({ rate, path }) => rate * path.calls)) / events;
    return all.map((one) => (one.path ? { ...one, cost: moved(one.cost, one.path.each, one.path.calls, calls) } : one));
  };

  // What probes with a cost and a rate do together to a busy thread, with how far real programs are from loops.
  const together = (all, programs) => {
    const paid = withCalls(all.filter(({ rate }) => rate > 0));
    const rate = paid.reduce((sum, one) => sum + one.rate, 0);
    const each = paid.map(({ cost, rate: its }) => times(programs ? multiplied(cost, given(programs.ratio)) : cost, its / rate));
    const cost = total(each);
    const stops = paid.some((one) => one.stops);
    return { rate, cost, ...predict(cost, { rate, threads: 1, busy: 1, stops }) };
  };

  probeEffect.scriptCost = { total, times, tracerOf, costOf, nearest, together };
})();
