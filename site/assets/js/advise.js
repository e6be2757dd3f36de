// The page /advise/: a script is read, each probe gets a rate, and what they do to a busy thread is said. Whatever was
// pasted stays text: it is only ever the content of elements.
(() => {
  const { scales, interval, quantity, stated, readRate, gap, missing } = probeEffect.units;
  const { fetched, element, link, page, filled } = probeEffect.page;
  const { predict, recommendation: advice, multiplied } = probeEffect.prediction;
  const { total, tracerOf, costOf } = probeEffect.scriptCost;
  const { connect: connectReader, ScriptError } = probeEffect.scriptReader;
  const state = probeEffect.state;

  const timed = ["begin", "end", "interval"];   // no thread fires them
  const mostProbes = 50;
  const mostAddress = 1500;                     // of a script in the page's address
  const firstRate = "1k";
  const mechanisms = [
    ["", "not known"], ["emulated", "nop, jump or call; push on x86-64"], ["stepped", "any other"],
    ["called", "x86-64: nop of 5 bytes on Linux 6.18 to 7.2, of 10 from 7.3"],
  ];

  const spaced = (word) => word.replaceAll("-", " ");
  const given = (ends) => { const [value, low, high] = ends; return { value, low, high }; };

  const times = ({ value, low, high }, by) =>
    ({ value: value * by, low: low === null ? null : low * by, high: high === null ? null : high * by });

  // Where the low end is written as 0, only the high end says something.
  const isFromZero = (text) => /\((?:\u2212|[0.]+\u00a0to)/.test(text);

  const isClear = ({ value, low }) => value > 0 && (low === null || low > 0);

  // A rate of two digits as people type it, for a place on the slider, which is a power of ten.
  const rateAt = (power) => {
    const rate = Number((10 ** power).toPrecision(2));
    const [size, letter] = [[1e9, "G"], [1e6, "M"], [1e3, "k"]].find(([least]) => rate >= least) ?? [1, ""];
    return `${Number((rate / size).toPrecision(3))}${letter}`;
  };

  const labelled = (text, field) => element("div", "advise-field", Object.assign(element("label", "", text), { htmlFor: field.id }), field);

  const rateField = (id, value, attach) => {
    const field = Object.assign(element("input"), { id, value, autocapitalize: "off", spellcheck: false });
    field.dataset.expected = `${attach}: expected a rate such as 50k, 1.5M or 200.`;
    return field;
  };

  const sliderField = (id) => Object.assign(element("input"), { id, type: "range", min: 0, max: 7, step: 0.1 });

  const mechanismField = (id, value) => {
    const field = Object.assign(element("select"), { id });
    field.append(...mechanisms.map(([word, text]) => new Option(text, word)));
    field.value = value;
    return field;
  };

  const does = ({ actions }) => {
    const counted = [...new Set(actions)].map((one) => [one, actions.filter((other) => other === one).length]);
    return counted.map(([one, count]) => (count > 1 ? `${spaced(one)} (${count} times)` : spaced(one))).join(", ");
  };

  const definitions = (pairs) =>
    element("dl", "", ...pairs.flatMap(([term, text]) => [element("dt", "", term), element("dd", "", text)]));

  const connect = (form, data) => {
    const inputs = form.elements;
    const place = (name) => form.querySelector(`.advise-${name}`);
    const read = connectReader(data.tables);
    const [least, most] = data.limits.rate_hz;
    let shown = [];                             // each probe with its fields and the places of what is said of it
    let script = null;

    const rateOf = (text) => {
      const value = readRate(text);
      return value === 0 || (value >= least && value <= most) ? value : null;
    };
    const machine = () => data.machines.find(({ id }) => id === inputs.machine.value);

    // One probe as an item: what it is and does, its rate, and below it what an event costs.
    const item = (probe, at, rate, mechanism) => {
      const field = rateField(`advise-rate-${at}`, rate, probe.attach);
      const slider = sliderField(`advise-slider-${at}`);
      const first = data.user_probes.includes(probe.kind) ? mechanismField(`advise-first-${at}`, mechanism) : null;
      const said = element("div", "advise-cost");
      const made = element("li", "",
        element("p", "", element("code", "", probe.attach)),
        element("p", "advise-does", `${spaced(probe.kind)}: ${does(probe)}${probe.has_filter ? ", behind a filter" : ""}`),
        element("div", "advise-fields", labelled("Events per second", field),
          labelled("From 1/s to 10 M/s", slider), ...(first ? [labelled("First instruction", first)] : [])),
        said);
      const tell = () => slider.setAttribute("aria-valuetext", stated(rateOf(field.value) ?? 0, scales.EVENTS));
      const move = () => {
        slider.value = Math.log10(Math.max(1, rateOf(field.value) ?? 1));
        tell();
      };
      field.addEventListener("input", move);
      slider.addEventListener("input", () => {
        field.value = rateAt(slider.value);
        tell();
      });
      move();
      return { probe, field, first, said, made };
    };

    const costs = (tracer) => shown.map((one) => {
      const rate = rateOf(one.field.value);
      one.field.setAttribute("aria-invalid", String(rate === null));
      return { ...one, rate, found: tracer ? costOf(tracer, one.probe, one.first?.value) : null };
    });

    const within = (found, scale) => {
      const text = interval(found, scale);
      return isFromZero(text) ? filled(data.words["up-to"], { most: quantity(found.high, scale) }) : text;
    };

    // Where a cost may be 0, only the rate can be told below which its upper end does not matter.
    const atRate = (cost, rate) => {
      const text = interval(rate, scales.RATE);
      if (rate && isClear(cost) && !isFromZero(text)) return filled(data.words.threshold, { rate: text });
      if (rate && rate.low !== null) return filled(data.words.least, { rate: quantity(rate.low, scales.RATE) });
      return data.words["no-threshold"];
    };

    const thresholds = (cost) => [...predict(cost, { rate: 1, threads: 1, busy: 1 }).thresholds].map(([percent, rate]) =>
      [`${percent}${gap}% (${data.thresholds[percent]})`, atRate(cost, rate)]);

    const say = ({ probe, said, found, rate }, usual) => {
      if (found === null) {
        said.replaceChildren(element("p", "", filled(data.words["no-cost"], { tracer: usual })));
        return;
      }
      const cpu = rate === null ? missing : quantity((found.cost.value * rate) / 1e9, scales.SHARE);
      said.replaceChildren(
        definitions([
          ["An event", `${within(found.cost, scales.DURATION)}, ${found.basis}`],
          ["Of a CPU", cpu],
          ...(found.hardware ? [[data.words["hardware-row"], found.hardware]] : []),
          ...thresholds(found.cost),
        ]),
        ...probe.unknown.map((what) =>
          element("p", "advise-unknown", filled(data.words["not-understood"], { attach: probe.attach, what }))));
    };

    // The slowdown of a busy thread in which all of them fire, widened by what real programs differ from loops.
    const whole = (known) => {
      const used = total(known.map(({ found, rate }) => times(found.cost, rate)));
      const rate = known.reduce((sum, one) => sum + one.rate, 0);
      const cost = times(used, rate > 0 ? 1 / rate : 0);
      const widened = data.programs ? multiplied(cost, given(data.programs.ratio)) : cost;
      return { rate, isClear: isClear(cost), ...predict(widened, { rate, threads: 1, busy: 1 }) };
    };

    const sentence = ({ rate, slowdown, isClear: isTold }, tool) => {
      const { words } = data;
      const key = isTold ? "slows" : slowdown.high === null ? "unknown" : "unclear";
      return filled(words[key], {
        rate: stated(rate, scales.EVENTS),
        what: words.whole,
        tool,
        whom: words.one,
        where: machine().where,
        slowdown: within(slowdown, scales.SHARE),
        most: quantity(slowdown.high, scales.SHARE),
      });
    };

    const assumed = (all) => {
      const { words, programs } = data;
      const isUser = all.some(({ first }) => first);
      const notes = all.flatMap(({ probe, found }) => (found?.note ? [`${probe.attach}: ${found.note}`] : []));
      const isFiltered = all.some(({ probe }) => probe.has_filter);
      const list = [...(isUser ? [words.first] : []), ...notes, ...(isFiltered ? [words.filtered] : []),
        words.counted, words.hot, ...(programs ? [programs.said] : [])];
      return element("details", "", element("summary", "", "Assumed"),
        element("ul", "", ...[...new Set(list)].map((one) => element("li", "", one))));
    };

    // The command that measures on the reader's own machine, and how far from its answers those of the page are.
    const here = () => {
      const { words, calibrated_ratio: ratio } = data;
      const script = inputs.script.value.trim().replaceAll("'", "'\\''");
      const ends = ratio && Object.fromEntries(Object.entries(ratio).map(([end, value]) => [end, quantity(value, scales.TIMES)]));
      return element("div", "advise-here",
        element("p", "", words.here, ratio ? ` ${filled(words.calibrated, ends)}` : ""),
        element("pre", "", element("code", "", `sudo probe-effect advise -e '${script}' -- COMMAND`)));
    };

    const answerWith = (...parts) => form.querySelector("output").replaceChildren(...parts);

    const answer = () => {
      if (script === null) return false;
      const { usual, tracer } = tracerOf(script, machine().tracers);
      const all = costs(tracer);
      all.forEach((one) => say(one, usual));
      const wrong = all.filter(({ rate }) => rate === null);
      const known = all.filter(({ found, rate }) => found && rate !== null);
      if (wrong.length > 0) answerWith(wrong.map(({ field }) => field.dataset.expected).join(" "));
      else if (all.length === 0) answerWith(data.words["no-event"]);
      else if (known.length === 0) answerWith(filled(data.words[tracer ? "no-cost" : "no-tracer"], { tracer: usual }));
      else {
        const found = whole(known);
        const isWhole = known.length === all.length && (found.isClear || found.slowdown.high !== null);
        answerWith(sentence(found, tracer.tool), " ", element("strong", "", isWhole ? advice(found.slowdown, data) : ""));
      }
      const isOpen = place("details").querySelector("details")?.open ?? false;
      const details = assumed(all);
      details.open = isOpen;
      const from = element("p", "", "Costs of ", link(machine().id, page(machine().href)), ".");
      place("details").replaceChildren(here(), from, details);
      return wrong.length === 0;
    };

    // Reads the script again, and keeps the rates of probes that were there before.
    const understand = (rates, firsts) => {
      place("message").textContent = "";
      const before = new Map(shown.map((one) => [one.probe.attach, one]));
      try {
        script = read(inputs.script.value);
        inputs.script.removeAttribute("aria-invalid");
      } catch (error) {
        if (!(error instanceof ScriptError)) throw error;
        script = null;
        shown = [];
        inputs.script.setAttribute("aria-invalid", "true");
        answerWith(error.message);
        place("probes").replaceChildren();
        place("details").replaceChildren();
        return;
      }
      const events = script.probes.filter(({ kind }) => !timed.includes(kind));
      shown = events.slice(0, mostProbes).map((probe, at) => {
        const was = before.get(probe.attach);
        const rate = rates[at] || was?.field.value || (probe.hz && String(Number(probe.hz.toPrecision(3)))) || firstRate;
        return item(probe, at, rate, firsts[at] || was?.first?.value || "");
      });
      if (events.length > mostProbes) place("message").textContent = `The first ${mostProbes} of ${events.length} probes.`;
      place("probes").replaceChildren(...shown.map(({ made }) => made));
    };

    const fields = {
      script: { fallback: inputs.script.defaultValue, knows: (text) => text.length <= mostAddress },
      machine: { fallback: data.machines[0].id, knows: (id) => data.machines.some((one) => one.id === id) },
      rates: { fallback: "", knows: (text) => text.split(",").every((one) => one === "" || rateOf(one) !== null) },
      first: { fallback: "", knows: (text) => text.split(",").every((one) => mechanisms.some(([word]) => word === one)) },
    };

    const listed = (values) => (values.some(Boolean) ? values.join(",") : "");

    const act = (isTyping) => {
      if (!answer() || inputs.script.value.length > mostAddress) return;
      state.write({
        script: inputs.script.value,
        machine: inputs.machine.value,
        rates: listed(shown.map(({ field }) => field.value.trim())),
        first: listed(shown.map(({ first }) => first?.value ?? "")),
      }, fields, isTyping);
    };

    const restore = () => {
      const { values, told } = state.read(fields);
      inputs.script.value = values.script;
      inputs.machine.value = values.machine;
      shown = [];
      understand(values.rates.split(","), values.first.split(","));
      answer();
      if (told) place("message").textContent = told;
    };

    inputs.machine.append(...data.machines.map(({ id, where }) => new Option(where, id)));
    form.addEventListener("input", ({ target }) => {
      if (target === inputs.script) understand([], []);
      act(!["SELECT"].includes(target.tagName));
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    addEventListener("popstate", restore);
    return restore;
  };

  const start = async (form) => {
    try {
      connect(form, await fetched(form.querySelector(".advise-data").href))();
      form.dataset.state = "ready";
    } catch (error) {
      form.dataset.state = "failed";
      form.querySelector("output").textContent = "The costs could not be loaded.";
    }
  };

  document.querySelectorAll("form.advise").forEach(start);
})();
