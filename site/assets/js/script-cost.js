// What a probe of a script costs: of the generator's answer/cost_of.py and advice.py what the data of /advise/ hold, the
// probe with one action and what each further action adds. Intervals are {value, low, high}.
(() => {
  const { own } = probeEffect.scriptClauses;
  const given = ([value, low, high]) => ({ value, low, high });

  // The sum of intervals whose errors may point the same way: the ends add.
  const total = (all) => {
    const sum = (end) => (all.some((one) => one[end] === null) ? null : all.reduce((whole, one) => whole + one[end], 0));
    const [low, high] = [sum("low"), sum("high")];
    return { value: sum("value"), low: high === null ? null : low, high: low === null ? null : high };
  };

  // The tracer that runs a script, of those that a machine was measured with: the name of its data, or undefined.
  const tracerOf = ({ tracer: usual }, tracers) => {
    const name = Object.keys(tracers).find((one) => one === usual) ?? Object.keys(tracers).find((one) => one.startsWith(`${usual}-`));
    return { usual, tracer: tracers[name] };
  };

  // Where events are filtered, none may pass: the low end is that of the filter alone.
  const fromFilter = (found, costs) => {
    const low = costs.filter?.[1] ?? null;
    return low === null || found.low === null ? found : { ...found, low: Math.min(found.low, low) };
  };

  // The cost of one event of a probe: its interval, what it rests on, and what was assumed; null where nothing tells.
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
    if (!own(costs, first) || (unknown.length > 0 && !tracer.dearest)) return null;
    let cost = total([given(costs[first]), ...others.map((one) => given(tracer.adds[one]))]);
    unknown.forEach(() => { cost = { ...total([cost, given(tracer.dearest)]), low: cost.low }; });
    if (probe.has_filter && done.some((one) => one !== "filter")) cost = fromFilter(cost, costs);
    const [, , , basis, note, hardware] = costs[first];
    const isWhole = others.length === 0 && unknown.length === 0;
    return { cost, basis: isWhole || basis !== "measured" ? basis : "composed", note, hardware, unknown };
  };

  probeEffect.scriptCost = { total, tracerOf, costOf };
})();
