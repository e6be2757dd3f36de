// The costs that the calculator has: of some machines from the start, and of another once its reader names it.
(() => {
  // What most costs have that are composed, estimated or published, and so is not in the data.
  const usual = { said: [], first: "", rate: null, loss: null, path: null, contention: [], ways: [] };

  // The data as it was loaded, with a list of costs in the order in which the form offers them. `add` takes the file of
  // one more machine, and `lacks` says whether machines of a kind are not loaded.
  const understood = (data) => {
    const cases = new Map(data.suites.flatMap((suite) => suite.cases).map(([id, title, probe, action, href], order) =>
      [id, { title, probe, action, caseHref: href, order }]));
    const tracers = [...data.tracers, ...Object.values(data.others).flatMap(({ costs }) => costs.map((one) => one.tracer))];
    // What was measured stands before what was not.
    const rank = ({ basis }) => ["measured", "composed", "estimated", "published"].indexOf(basis);
    const order = (one) => (tracers.indexOf(one.tracer) * 4 + rank(one)) * (cases.size + 1) + (one.order ?? cases.size);
    // What a sentence calls a cost: a case by its name, anything else in its own words.
    const called = (id) => (cases.has(id) ? `“${cases.get(id).title}”` : id);
    const kinds = [];
    const made = { ...data, costs: [], lacks: (kind) => kinds.filter((one) => one === kind).length < data.kinds[kind] };

    made.add = (id, { costs, ...machine }) => {
      const own = costs.map((one) =>
        ({ ...usual, line: data.words["no-line"], called: called(one.case), ...one, ...cases.get(one.case), ...machine, machine: id }));
      own.forEach((one) => { one.ways = one.ways.map(([place, note, isPaired]) => ({ entry: own[place], note, isPaired })); });
      made.costs = [...made.costs, ...own].sort((a, b) => order(a) - order(b));
      kinds.push(machine.kind);
    };

    Object.entries({ ...data.machines, ...data.others }).forEach(([id, machine]) => made.add(id, machine));
    return made;
  };

  probeEffect.costs = { understood };
})();
