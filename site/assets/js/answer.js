// An answer in words: the generator's guidance/sentences.py for one probe. The words themselves come with the data.
(() => {
  const { scales, quantity, interval, stated, count, missing, gap } = probeEffect.units;
  const { predict, multiplied, expectedLoss } = probeEffect.prediction;

  const fill = (template, values) => template.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  const ends = ([value, low, high]) => ({ value, low, high });
  const percent = (ratio) => quantity(ratio, scales.SHARE);
  const events = (hz) => quantity(hz, scales.EVENTS);

  // The factor for the fewest measured threads that are no fewer, or else for the most; none for one thread.
  const nearest = (factors, threads) => {
    if (threads === 1) return undefined;
    return factors.find(([level]) => level >= threads) ?? factors.at(-1);
  };

  const forecast = (entry, asked) => {
    const dearer = nearest(entry.contention, asked.threads);
    const cost = dearer ? multiplied(ends(entry.cost), ends(dearer[1])) : ends(entry.cost);
    const isClear = entry.clear && cost.value > 0 && (cost.low === null || cost.low > 0);
    return { entry, asked, dearer, cost, isClear, ...predict(cost, asked) };
  };

  const whom = ({ asked }, words) => {
    const key = (asked.threads === 1 ? "one" : "each") + (asked.busy === 1 ? "" : "-waiting");
    return fill(words[key], { threads: count(asked.threads), busy: stated(asked.busy, scales.SHARE) });
  };

  const sentence = (found, { words, machines }) => {
    const { entry, asked, slowdown, isClear } = found;
    const unclear = slowdown.high === null ? "unknown" : "unclear";
    const running = (written) => (asked.busy === 1 ? written : fill(words.running, { slowdown: written }));
    return fill(words[isClear ? "slows" : unclear], {
      rate: stated(asked.rate, scales.EVENTS),
      what: entry.case,
      tool: entry.tool,
      whom: whom(found, words),
      where: machines[entry.machine].where,
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

  const delay = (found, words) =>
    Math.max(found.delay.value, found.delay.high ?? 0) <= 0 ? words["no-delay"] : figure(found.delay, found, scales.SHARE);

  const loss = ({ entry, asked, ...found }, words) => {
    if (asked.rate === 0) return words["no-loss"];
    if (entry.loss === null || entry.rate === null) return words["uncounted-loss"];
    const share = expectedLoss(found.events.value, entry.rate, entry.loss);
    if (share === null) return words["unknown-loss"];
    return share ? fill(words["some-loss"], { loss: percent(share) }) : words["no-loss"];
  };

  const thresholds = (found, { words, thresholds: names }) =>
    [...found.thresholds].map(([limit, rate]) => [
      `${limit}${gap}% (${names[limit]})`,
      found.isClear && rate ? fill(words.threshold, { rate: interval(rate, scales.RATE) }) : words["no-threshold"],
    ]);

  const figures = (found, data) => [
    ["CPU", figure(found.cpu, found, scales.CPUS)],
    ...(found.asked.busy < 1 ? [["Delay of its work", delay(found, data.words)]] : []),
    ["Events lost", loss(found, data.words)],
    ...thresholds(found, data),
    ["Grade", found.entry.grade],
  ];

  const contending = ({ entry, asked, dearer }, words) => {
    if (asked.threads === 1) return words.single;
    const threads = count(asked.threads);
    if (!dearer) return fill(words.apart, { threads, what: entry.case });
    const [level, factor] = dearer;
    const said = fill(words.contend, { level, what: entry.case, factor: interval(ends(factor), scales.TIMES) });
    return level === asked.threads ? said : `${said} ${fill(words.nearest, { level, threads })}`;
  };

  const reach = ({ entry, events: happening }, words) => {
    const key = happening.value <= entry.rate ? "within" : "beyond";
    return fill(words[key], { what: entry.case, highest: events(entry.rate) });
  };

  const assumptions = (found, { words }) => [
    ...(found.cost.low === null ? [words["no-interval"]] : []),
    contending(found, words),
    ...(found.asked.busy < 1 ? [words.waits] : []),
    words.counted,
    words.hot,
    ...(found.entry.rate === null ? [] : [reach(found, words)]),
    found.entry.line,
  ];

  probeEffect.answer = { forecast, sentence, slowdown, figures, assumptions };
})();
