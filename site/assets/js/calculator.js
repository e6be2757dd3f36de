// The calculator: its form and the state in the page's address. What it answers is in calculator-answer.js.
(() => {
  const { scales, stated, readRate, readShare, missing } = probeEffect.units;
  const { fetched, element, filled, remembered, remember } = probeEffect.page;
  const { show, refuse } = probeEffect.calculatorAnswer;
  const state = probeEffect.state;
  const choices = ["probe", "first", "case", "tracer", "machine"];   // each is offered what was measured with those before it
  const bases = ["measured", "composed", "estimated", "published"];
  const firsts = ["", "emulated", "stepped", "called", "unknown"];
  const further = ["threads", "busy", "calls"];                      // fields that few readers need
  const letters = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [0, ""]];

  const readThreads = (text, limit) => {
    const value = /^[0-9]+$/.test(text.trim()) ? Number(text) : 0;
    return value >= 1 && value <= limit ? value : null;
  };

  // A rate of two digits as people type it, for a place on the slider, which is a power of ten: 50k for 4.7.
  const rateAt = (power) => {
    const rate = Number((10 ** power).toPrecision(2));
    const [size, letter] = letters.find(([least]) => rate >= least);
    return `${Number((rate / (size || 1)).toPrecision(3))}${letter}`;
  };

  const connect = (form, data) => {
    const inputs = form.elements;
    const slider = form.querySelector("[type=range]");
    const message = form.querySelector(".calculator-message");
    const source = form.querySelector(".calculator-data").href;
    const [slowest, fastest] = data.limits.rate_hz;

    // A field's text as a number; null where it is none that can be meant.
    const readers = {
      rate: (text) => {
        const value = readRate(text);
        return value === 0 || (value >= slowest && value <= fastest) ? value : null;
      },
      threads: (text) => readThreads(text, data.limits.threads),
      busy: readShare,
      calls: (text) => (text.trim() === "" ? undefined : readRate(text)),   // undefined: as in the measured loop
    };

    // The costs that were measured with all of these choices; a kind of machine stands for all of that kind.
    const matching = (wanted) => data.costs.filter((entry) => Object.entries(wanted).every(([name, value]) =>
      value === undefined || entry[name] === value || (name === "machine" && entry.kind === value)));

    // What was measured is never put together with what is estimated.
    const ofOneBasis = (entries) => {
      const timed = entries.filter(({ basis }) => basis !== "estimated");
      return timed.length > 0 ? timed : entries;
    };

    const isMeasured = (id) => data.costs.some(({ machine, basis }) => machine === id && basis === "measured");

    const distinct = (entries, name) => [...new Set(entries.map((entry) => entry[name]))];

    const group = (label, options) =>
      (label ? [Object.assign(element("optgroup", "", ...options), { label })] : options);
    const asOptions = (pairs) => pairs.map(([value, text]) => new Option(text, value));
    const leading = (entries, name, order) => order.flatMap((one) => entries.filter((entry) => entry[name] === one))[0];

    // What readers want to see, in their words; what has none is the last.
    const probeOptions = (entries) => {
      const own = distinct(entries, "probe");
      return data.questions
        .map(([label, kinds]) => [label, kinds.filter(([kind]) => own.includes(kind))])
        .filter(([, kinds]) => kinds.length > 0)
        .flatMap(([label, kinds]) => group(label, asOptions(kinds)));
    };

    // Equal actions together, in the order of their first case; others that do the same have their names.
    const caseOptions = (entries) => distinct(entries, "action").flatMap((action) => {
      const does = data.actions[action] ?? action.replaceAll("-", " ");
      const own = entries.filter((entry) => entry.action === action);
      const cases = distinct(own, "case");
      return cases.map((id) => {
        const alike = own.filter((one) => one.case === id);
        const what = id !== cases[0] && alike[0].title ? `${does}: ${alike[0].title}` : does;
        const { basis, known } = leading(alike, "basis", bases);
        return new Option(filled(data.words[`is-${known || basis}`], { what }), id);
      });
    });

    const kindOption = (entries) => (kind) => {
      const alike = entries.filter((entry) => entry.kind === kind);
      const number = data.lacks(kind) ? `${alike.length} of ${data.kinds[kind]}` : alike.length;
      return new Option(`Any ${alike[0].alike} (${number} machines)`, kind);
    };

    const offers = {
      probe: probeOptions,
      first: (entries) => distinct(entries, "first").sort((one, other) => firsts.indexOf(one) - firsts.indexOf(other))
        .map((id) => new Option(data.words[`first-${id}`] ?? missing, id)),
      tracer: (entries) => distinct(entries, "tracer").map((id) => new Option(id, id)),
      case: caseOptions,
      machine: (entries) => {
        const own = entries.filter(({ basis }) => basis !== "published");
        const others = entries.filter(({ basis }) => basis === "published");
        const option = ({ where, machine }) => new Option(where, machine);
        return [
          ["A machine that was measured", own.map(option)],
          ["A machine like yours", distinct(own, "kind").map(kindOption(own))],
          ["Printed by others†", others.map(option)],
        ].filter(([, options]) => options.length > 0).flatMap(([label, options]) => group(label, options));
      },
    };

    // What was measured with the choices before, each value once; `kept` stays chosen where it is among them, and where
    // its case is not, its action.
    const offer = (kept) => {
      const before = {};
      const action = data.costs.find((one) => one.case === kept.case)?.action;
      choices.forEach((name) => {
        inputs[name].replaceChildren(...offers[name](matching(before)));
        const alike = name === "case" ? matching({ ...before, action })[0]?.case : undefined;
        const wanted = [kept[name], alike].find((value) => value !== undefined && matching({ ...before, [name]: value }).length > 0);
        if (wanted !== undefined) inputs[name].value = wanted;
        before[name] = inputs[name].value;
      });
      inputs.first.closest(".calculator-field").hidden = inputs.first.value === "";
    };

    const textOf = (name) => inputs[name].value.trim();
    const chosen = () => Object.fromEntries(choices.map((name) => [name, inputs[name].value]));

    // The address holds what differs from a first visit, so that an answer can be sent to somebody.
    const measured = (name) => ({ knows: (value, before) => matching({ ...before, [name]: value }).length > 0 });
    const typed = (name, fallback) => ({ fallback, knows: (text) => readers[name](text) !== null });
    const fields = {
      ...Object.fromEntries(["tracer", "case", "machine"].map((name) => [name, measured(name)])),   // a case has its probe
      rate: typed("rate"),
      threads: typed("threads", inputs.threads.defaultValue),
      busy: typed("busy", inputs.busy.defaultValue),
      calls: typed("calls", ""),
    };

    // The slider stands where the rate is, as far as it reaches.
    const follow = (rate) => {
      if (rate === null) return;
      if (document.activeElement !== slider) slider.value = rate > 0 ? Math.log10(rate) : slider.min;
      slider.setAttribute("aria-valuetext", stated(rate, scales.EVENTS));
    };

    // Whether there is an answer, and none of the fields has to be put right first.
    const answer = () => {
      const asked = Object.fromEntries(Object.entries(readers).map(([name, read]) => [name, read(inputs[name].value)]));
      const wrong = Object.keys(asked).filter((name) => asked[name] === null);
      Object.keys(asked).forEach((name) => inputs[name].setAttribute("aria-invalid", String(wrong.includes(name))));
      follow(asked.rate);
      if (wrong.length > 0) refuse(form, wrong.map((name) => inputs[name].dataset.expected).join(" "));
      else show(form, ofOneBasis(matching(chosen())), { ...asked, programs: data.programs }, data);
      return wrong.length === 0;
    };

    const act = (isTyping) => {
      const values = Object.fromEntries(Object.keys(fields).map((name) => [name, textOf(name)]));
      if (answer()) state.write(values, fields, isTyping);
    };

    const load = async ({ id }) => data.add(id, await fetched(new URL(`guidance/${id}.json`, source).href));

    // A machine that the form did not offer, with as much of what is chosen as was measured there.
    const take = async (machine) => {
      if (matching({ machine: machine.id }).length === 0) await load(machine);
      const now = chosen();
      const own = matching({ machine: machine.id });
      const like = (...names) => own.find((one) => names.every((name) => one[name] === now[name]));
      const entry = like("tracer", "case") ?? like("case") ?? like("tracer") ?? own[0];
      if (entry) offer(entry);
      if (entry) act(false);
      else message.textContent = `No cost that was measured on ${machine.id} is fit for guidance.`;
    };

    const isTimed = ({ metric }) => metric === "time";
    const others = probeEffect.machines.connect(form, message, isTimed, take);

    // Takes what the address says and somebody measured, and tells the rest.
    const restore = async () => {
      const named = state.given("machine").filter((id) => matching({ machine: id }).length === 0);
      await others(named).then((found) => Promise.all(found.filter(isTimed).map(load))).catch(() => {});   // told as not known
      const { values, told } = state.read(fields);
      Object.keys(readers).forEach((name) => { inputs[name].value = values[name] ?? inputs[name].defaultValue; });
      const isFurther = further.some((name) => inputs[name].value !== inputs[name].defaultValue);
      if (isFurther) form.querySelector(".calculator-further").open = true;
      const { tracer, case: id, machine } = values;
      const possible = matching({ tracer, case: id, machine });
      const first = data.costs.find(({ clear, basis }) => clear && basis === "measured");
      const entry = possible.find((one) => one.case === first?.case) ?? possible.find(({ clear }) => clear) ?? possible[0];
      offer({ ...entry, machine: machine ?? entry.machine });
      message.textContent = told;
      answer();
    };

    form.addEventListener("input", ({ target }) => {
      if (!target.name && target !== slider) return;
      message.textContent = "";
      if (target === slider) inputs.rate.value = rateAt(slider.value);
      if (target.name === "machine" && isMeasured(target.value)) remember("machine", target.value);
      offer(chosen());
      act(!choices.includes(target.name));
    });
    form.addEventListener("click", (event) => {
      const way = event.target.closest(".calculator-ways a");
      if (way === null || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      history.pushState(null, "", way.href);
      restore().then(() => form.querySelector("output").focus());
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    addEventListener("popstate", restore);
    // What is chosen by the time that the costs are here stays chosen, unless the address asks something.
    return async () => {
      if (state.isGiven(form)) return restore();
      const machine = remembered("machine");
      const isKept = isMeasured(machine);
      offer(isKept ? { ...chosen(), machine } : chosen());
      return isKept ? act(true) : answer();
    };
  };

  const start = async (form) => {
    try {
      const data = await fetched(form.querySelector(".calculator-data").href);
      await connect(form, probeEffect.costs.understood(data))();
      form.dataset.state = "ready";
    } catch {
      form.dataset.state = "failed";
      form.querySelector("output").textContent = "The costs could not be loaded; the table below has them too.";
    }
  };

  document.querySelectorAll("form.calculator").forEach(start);
})();
