// The calculator: its form and the state in the page's address. What it answers is in calculator-answer.js.
(() => {
  const { scales, stated, readRate, readShare } = probeEffect.units;
  const { show, refuse } = probeEffect.calculatorAnswer;
  const choices = ["tracer", "probe", "case", "machine"];   // each is offered what was measured with those before it
  const chosenInAddress = ["tracer", "case", "machine"];    // a case has its probe
  const letters = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [0, ""]];

  const spaced = (id) => id.replaceAll("-", " ");

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

  // The data as it was loaded, with what every cost is by its case and by its machine.
  const understood = (data) => {
    const cases = new Map(data.suites.flatMap((suite) => suite.cases.map((one) => [one[0], one])));
    const costs = data.costs.map((entry) => {
      const { tier, architecture } = data.machines[entry.machine];
      const [, , probe, action] = cases.get(entry.case);
      return { ...entry, probe, action, kind: `like.${tier.replaceAll(" ", "-")}.${architecture}` };
    });
    return { ...data, costs, titles: new Map([...cases].map(([id, [, title]]) => [id, title])) };
  };

  const connect = (form, loaded) => {
    const data = understood(loaded);
    const fields = form.elements;
    const slider = form.querySelector("[type=range]");
    const message = form.querySelector(".calculator-message");
    const [least, most] = data.limits.rate_hz;

    // A field's text as a number; null where it is none that can be meant.
    const readers = {
      rate: (text) => {
        const value = readRate(text);
        return value === 0 || (value >= least && value <= most) ? value : null;
      },
      threads: (text) => readThreads(text, data.limits.threads),
      busy: readShare,
    };

    // The costs that were measured with all of these choices; a kind of machine stands for all of that kind.
    const matching = (wanted) => data.costs.filter((entry) => Object.entries(wanted).every(([name, value]) =>
      entry[name] === value || (name === "machine" && entry.kind === value)));

    const group = (label, options) => {
      const made = document.createElement("optgroup");
      made.label = label;
      made.append(...options);
      return made;
    };

    const distinct = (entries, name) => [...new Set(entries.map((entry) => entry[name]))];

    // Equal actions together, in the order of their first case.
    const caseOptions = (entries) => distinct(entries, "action").flatMap((action) => {
      const ids = distinct(entries.filter((entry) => entry.action === action), "case");
      const does = action === "nothing" ? "none" : spaced(action);
      return ids.map((id) => new Option(`${does}: ${data.titles.get(id)} (${id})`, id));
    });

    const kindOption = (entries) => (kind) => {
      const alike = entries.filter((entry) => entry.kind === kind);
      const { tier, architecture } = data.machines[alike[0].machine];
      return new Option(`Any ${tier}, ${architecture} (${alike.length} measured)`, kind);
    };

    const offers = {
      tracer: (entries) => distinct(entries, "tracer").map((id) => new Option(id, id)),
      probe: (entries) => distinct(entries, "probe").map((id) => new Option(spaced(id), id)),
      case: caseOptions,
      machine: (entries) => [
        group("A machine that was measured", distinct(entries, "machine").map((id) => new Option(data.machines[id].where, id))),
        group("A machine like yours", distinct(entries, "kind").map(kindOption(entries))),
      ],
    };

    // What was measured with the choices before, each value once; `kept` stays chosen where it is among them.
    const offer = (kept) => {
      const before = {};
      choices.forEach((name) => {
        const entries = matching(before);
        fields[name].replaceChildren(...offers[name](entries));
        if (matching({ ...before, [name]: kept[name] }).length > 0) fields[name].value = kept[name];
        before[name] = fields[name].value;
      });
    };

    const chosen = () => Object.fromEntries(choices.map((name) => [name, fields[name].value]));

    const asked = () => {
      const values = Object.entries(readers).map(([name, read]) => [name, read(fields[name].value)]);
      values.forEach(([name, value]) => fields[name].setAttribute("aria-invalid", String(value === null)));
      return Object.fromEntries(values);
    };

    // The slider stands where the rate is, as far as it reaches.
    const follow = ({ rate }) => {
      if (rate === null) return;
      if (document.activeElement !== slider) slider.value = rate > 0 ? Math.log10(rate) : slider.min;
      slider.setAttribute("aria-valuetext", stated(rate, scales.EVENTS));
    };

    const answer = () => {
      const values = asked();
      follow(values);
      const wrong = Object.keys(values).filter((name) => values[name] === null);
      if (wrong.length > 0) refuse(form, wrong.map((name) => fields[name].dataset.expected).join(" "));
      else show(form, matching(chosen()), values, data);
    };

    // The address holds what differs from a first visit, so that an answer can be sent to somebody. A choice is a step
    // to go back from; a rate that is typed or pulled is not.
    const store = (isStep) => {
      const state = new URL(location.href);
      const put = (name, value, usual) =>
        value === usual ? state.searchParams.delete(name) : state.searchParams.set(name, value);
      chosenInAddress.forEach((name) => put(name, fields[name].value));
      Object.entries(readers).filter(([name, read]) => read(fields[name].value) !== null).forEach(([name]) =>
        put(name, fields[name].value.trim(), name === "rate" ? undefined : fields[name].defaultValue));
      if (state.href !== location.href) history[isStep ? "pushState" : "replaceState"](null, "", state);
    };

    // Takes what the address says and somebody measured, and tells the rest.
    const restore = () => {
      const wanted = new URLSearchParams(location.search);
      const known = {};
      const ignored = [];
      const take = (name, isKnown, keep) => {
        const value = wanted.get(name);
        if (value !== null && isKnown(value)) keep(value);
        else if (value !== null) ignored.push(`${name}=${value}`);
      };
      chosenInAddress.forEach((name) => {
        take(name, (value) => matching({ ...known, [name]: value }).length > 0, (value) => { known[name] = value; });
      });
      Object.entries(readers).forEach(([name, read]) => {
        fields[name].value = fields[name].defaultValue;
        take(name, (value) => read(value) !== null, (value) => { fields[name].value = value; });
      });
      const possible = matching(known);
      const first = data.costs.find(({ clear }) => clear);
      const entry = possible.find((one) => one.case === first?.case) ?? possible.find(({ clear }) => clear) ?? possible[0];
      offer({ ...entry, ...known });
      message.textContent = ignored.length > 0 ? `Ignored from the address, not known here: ${ignored.join(", ")}.` : "";
      answer();
    };

    restore();
    form.addEventListener("input", ({ target }) => {
      message.textContent = "";
      if (target === slider) fields.rate.value = rateAt(slider.value);
      offer(chosen());
      answer();
      store(choices.includes(target.name));
    });
    form.addEventListener("click", (event) => {
      const way = event.target.closest(".calculator-ways a");
      if (way === null || event.ctrlKey || event.metaKey || event.shiftKey) return;
      event.preventDefault();
      history.pushState(null, "", way.href);
      restore();
      form.querySelector("output").focus();
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    addEventListener("popstate", restore);
    form.dataset.state = "ready";
  };

  const load = async (form) => {
    try {
      const answer = await fetch(form.querySelector(".calculator-data").href);
      if (!answer.ok) throw new Error(String(answer.status));
      connect(form, await answer.json());
    } catch {
      form.dataset.state = "failed";
      form.querySelector("output").textContent = "The costs could not be loaded; the table below has them too.";
    }
  };

  document.querySelectorAll("form.calculator").forEach(load);
})();
