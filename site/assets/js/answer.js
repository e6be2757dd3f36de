// An answer in words: the generator's answer/sentences.py and beside.py for one probe. The words come with the data.
(() => {
  const { scales, quantity, interval, stated, significant, count, missing, gap } = probeEffect.units;
  const { predict, recommendation: ofSlowdown, multiplied, moved, expectedLoss } = probeEffect.prediction;
  const { filled } = probeEffect.page;

  const ends = ([value, low, high]) => ({ value, low, high });
  const percent = (ratio) => quantity(ratio, scales.SHARE);
  const events = (hz) => quantity(hz, scales.EVENTS);

  // The factor for the fewest measured threads that are no fewer, or else for the most; none for one thread.
  const nearest = (factors, threads) => {
    if (threads === 1) return undefined;
    return factors.find(([level]) => level >= threads) ?? factors.at(-1);
  };

  // What each system call pays while the probe is attached, and how many of them come with an event: as many as in the
  // measured loop, or as the reader says.
  const pathOf = ({ path }, { rate, calls }) => {
    if (!path) return null;
    return { each: ends(path), calls: calls === undefined || calls === null || rate === 0 ? path[3] : calls / rate };
  };

  // A probe by its name, with what its cost rests on where nobody measured it whole.
  const named = ({ called: what, basis, known }, words) => filled(words[`is-${known || basis}`], { what });

  const forecast = (entry, asked) => {
    const several = nearest(entry.contention, asked.threads);
    const alone = several ? multiplied(ends(entry.cost), ends(several[1])) : ends(entry.cost);
    const path = pathOf(entry, asked);
    const cost = path ? moved(alone, path.each, entry.path[3], path.calls) : alone;
    const isClear = entry.clear && cost.value > 0 && (cost.low === null || cost.low > 0);
    const widened = asked.programs && entry.basis !== "published" ? multiplied(cost, ends(asked.programs.ratio)) : cost;
    return { entry, asked, several, path, cost, widened, isClear, ...predict(widened, asked) };
  };

  const whom = ({ asked }, words) => {
    const key = (asked.threads === 1 ? "one" : "each") + (asked.busy === 1 ? "" : "-waiting");
    return filled(words[key], { threads: count(asked.threads), busy: stated(asked.busy, scales.SHARE) });
  };

  const sentence = (found, { words }) => {
    const { entry, asked, slowdown, isClear } = found;
    const unclear = slowdown.high === null ? "unknown" : "unclear";
    const running = (written) => (asked.busy === 1 ? written : filled(words.running, { slowdown: written }));
    return filled(words[isClear ? "slows" : unclear], {
      rate: stated(asked.rate, scales.EVENTS),
      what: named(entry, words),
      tool: entry.tool,
      whom: whom(found, words),
      where: entry.where,
      slowdown: running(interval(slowdown, scales.SHARE)),
      most: running(percent(slowdown.high)),
    });
  };

  // A figure with its interval; of one that is not clear, how large it may be.
  const figure = (value, { isClear }, scale) => {
    if (isClear) return interval(value, scale);
    return value.high === null ? missing : `at most ${quantity(value.high, scale)}`;
  };

  const slowdown = (found) => figure(found.slowdown, found, scales.SHARE);

  // Of several machines, from the lowest end of all intervals to the highest.
  const across = (all) => {
    const ranges = all.map((found) => found.slowdown);
    return {
      low: Math.min(...ranges.map(({ value, low }) => low ?? value)),
      high: Math.max(...ranges.map(({ value, high }) => high ?? value)),
    };
  };

  // What to do; nothing is said where too few blocks tell nothing of the slowdown.
  const recommendation = (all, data) => {
    const isTold = all.every(({ isClear, slowdown: { high } }) => isClear || high !== null);
    return isTold ? ofSlowdown(across(all), data) : "";
  };

  // The same probe on several machines of one kind.
  const alike = (all, { words, kinds, lacks }) => {
    const [{ entry, asked }] = all;
    const { low, high } = across(all);
    const [least, greatest] = [percent(low), percent(high)];
    const range = filled(words[all.every(({ isClear }) => isClear) ? "alike-range" : "alike-most"], { least, greatest });
    return filled(words[lacks(entry.kind) ? "some-alike" : "alike"], {
      rate: stated(asked.rate, scales.EVENTS),
      what: named(entry, words),
      tool: entry.tracer,
      whom: whom(all[0], words),
      slowdown: asked.busy === 1 ? range : filled(words.running, { slowdown: range }),
      count: all.length,
      all: count(kinds[entry.kind]),
      kind: entry.alike,
    });
  };

  const isBelow = (one, other) => one.cost.high !== null && other.cost.low !== null && one.cost.high < other.cost.low;

  // What answers the same question and costs less: entry, name, figures and remarks of each.
  const ways = (found, { words, notes }) => found.entry.ways
    .map(({ entry, note, isPaired }) => ({ note, isPaired, other: forecast(entry, found.asked) }))
    .filter(({ other }) => found.asked.threads === 1 || isBelow(other, found))
    .map(({ note, isPaired, other }) => {
      const said = loss(other, words);
      const loses = ["no-loss", "unknown-loss", "uncounted-loss"].every((key) => said !== words[key]);
      return {
        entry: other.entry,
        name: filled(words.way, { what: other.entry.called, tool: other.entry.tracer }),
        figures: filled(words["way-figures"],
          { slowdown: slowdown(other), cost: figure(other.cost, other, scales.DURATION) }),
        remarks: [
          notes[note] ?? words["way-tracer"],
          ...(isPaired ? [] : [words["way-run"]]),
          ...(loses ? [filled(words["way-loss"], { loss: said })] : []),
        ].join(" "),
      };
    });

  const delay = (found, words) =>
    Math.max(found.delay.value, found.delay.high ?? 0) <= 0 ? words["no-delay"] : figure(found.delay, found, scales.SHARE);

  const loss = ({ entry, asked, ...found }, words) => {
    if (asked.rate === 0) return words["no-loss"];
    if (entry.loss === null || entry.rate === null) return words["uncounted-loss"];
    const share = expectedLoss(found.events.value, entry.rate, entry.loss);
    if (share === null) return words["unknown-loss"];
    return share ? filled(words["some-loss"], { loss: percent(share) }) : words["no-loss"];
  };

  const thresholds = (found, { words, thresholds: names }) =>
    [...found.thresholds].map(([limit, rate]) => [
      `${limit}${gap}% (${names[limit]})`,
      found.isClear && rate ? filled(words.threshold, { rate: interval(rate, scales.RATE) }) : words["no-threshold"],
    ]);

  // What others measured without a hypervisor, of a probe for which KVM has to be left: the generator's hardware.py.
  const outside = ({ entry: { hardware }, asked }, words) => [words["hardware-row"], filled(words["hardware-figures"], {
    slowdown: percent(predict(ends(hardware[0]), asked).slowdown.value),
    cost: hardware[1],
  })];

  const figures = (found, data) => [
    ["CPU", figure(found.cpu, found, scales.CPUS)],
    ...(found.asked.busy < 1 ? [["Delay of its work", delay(found, data.words)]] : []),
    ["Events lost", loss(found, data.words)],
    ...(found.entry.hardware ? [outside(found, data.words)] : []),
    ...thresholds(found, data),
    ["Grade", found.entry.grade],
  ];

  const contending = ({ entry, asked, several }, words) => {
    if (asked.threads === 1) return words.single;
    const threads = count(asked.threads);
    if (!several) return filled(words.apart, { threads, what: entry.called });
    const [level, factor] = several;
    const said = filled(words.contend, { level, what: entry.called, factor: interval(ends(factor), scales.TIMES) });
    return level === asked.threads ? said : `${said} ${filled(words.nearest, { level, threads })}`;
  };

  const reach = ({ entry, events: happening }, words) => {
    const key = happening.value <= entry.rate ? "within" : "beyond";
    return filled(words[key], { what: entry.called, highest: events(entry.rate) });
  };

  const assumptions = (found, { words }) => [
    ...(found.cost.low === null && found.entry.basis !== "published" ? [words["no-interval"]] : []),
    contending(found, words),
    ...(found.asked.busy < 1 ? [words.waits] : []),
    words.counted,
    ...(found.path ? [filled(words.calls, {
      what: found.entry.called, path: interval(found.path.each, scales.DURATION), calls: significant(found.path.calls, 2),
    })] : []),
    ...(found.asked.programs && found.entry.basis !== "published" ? [found.asked.programs.said] : []),
    words.hot,
    ...(found.entry.rate === null ? [] : [reach(found, words)]),
    found.entry.line,
    ...found.entry.said,
  ];

  probeEffect.answer = { forecast, sentence, alike, recommendation, slowdown, ways, figures, assumptions };
})();
