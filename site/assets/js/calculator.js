// The calculator: its form, the state in the page's address, and the answer on the page.
(() => {
  const { readRate, readShare } = probeEffect.units;
  const { forecast, sentence, slowdown, figures, assumptions } = probeEffect.answer;
  const home = new URL("../", document.currentScript.src);
  const defaults = { threads: "1", busy: "100%" };
  const choices = ["tracer", "case", "machine"];   // each is offered what was measured with those before it

  const element = (name, text, className) => {
    const made = document.createElement(name);
    made.textContent = text;
    if (className) made.className = className;
    return made;
  };

  const link = (text, path) => {
    const made = element("a", text);
    made.href = new URL(path, home);
    return made;
  };

  const readThreads = (text, limit) => {
    const value = /^[0-9]+$/.test(text.trim()) ? Number(text) : 0;
    return value >= 1 && value <= limit ? value : null;
  };

  const connect = (form, data) => {
    const fields = form.elements;
    const answer = form.querySelector("output");
    const message = form.querySelector(".calculator-message");
    const details = form.querySelector(".calculator-details");
    const titles = new Map(data.suites.flatMap(({ cases }) => cases));
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

    // The costs that were measured with all of these choices.
    const matching = (wanted) =>
      data.costs.filter((entry) => Object.entries(wanted).every(([name, value]) => entry[name] === value));

    const option = (value, text = value) => new Option(text, value);

    const caseGroups = (offered) => data.suites.map(({ title, cases }) => {
      const group = document.createElement("optgroup");
      group.label = title;
      group.append(...cases.filter(([id]) => offered.has(id)).map(([id, name]) => option(id, `${name} (${id})`)));
      return group;
    }).filter((group) => group.children.length > 0);

    // What was measured with the choices before, each value once; `kept` stays chosen where it is among them.
    const offer = (kept) => {
      const before = {};
      choices.forEach((name) => {
        const offered = new Set(matching(before).map((entry) => entry[name]));
        const options = name === "case" ? caseGroups(offered) : [...offered].map((value) => option(value));
        fields[name].replaceChildren(...options);
        if (offered.has(kept[name])) fields[name].value = kept[name];
        before[name] = fields[name].value;
      });
    };

    const chosen = () => Object.fromEntries(choices.map((name) => [name, fields[name].value]));

    const asked = () => {
      const values = Object.entries(readers).map(([name, read]) => [name, read(fields[name].value)]);
      values.forEach(([name, value]) => fields[name].setAttribute("aria-invalid", String(value === null)));
      return Object.fromEntries(values);
    };

    const definitions = (pairs) => {
      const list = document.createElement("dl");
      pairs.forEach(([term, text]) => list.append(element("dt", term), element("dd", text)));
      return list;
    };

    const origin = (entry) => {
      const made = element("p", "Measured on ");
      made.append(`${entry.date}: `, link(titles.get(entry.case), `costs/${entry.case}/`), ", ",
        link(entry.machine, `machines/${entry.machine}/`), ".");
      return made;
    };

    const comparable = (entry, values) => {
      const { tier, architecture } = data.machines[entry.machine];
      return matching({ case: entry.case, tracer: entry.tracer }).filter(({ machine }) => machine !== entry.machine
        && data.machines[machine].tier === tier && data.machines[machine].architecture === architecture)
        .map((other) => [other.machine, slowdown(forecast(other, values))]);
    };

    const section = (title, content) => {
      const made = document.createElement("details");
      made.append(element("summary", title), content);
      return made;
    };

    const list = (texts) => {
      const made = document.createElement("ul");
      made.append(...texts.map((text) => element("li", text)));
      return made;
    };

    const show = () => {
      const values = asked();
      const wrong = Object.keys(values).filter((name) => values[name] === null);
      if (wrong.length > 0) {
        answer.textContent = wrong.map((name) => fields[name].dataset.expected).join(" ");
        details.replaceChildren();
        return;
      }
      const [entry] = matching(chosen());
      const found = forecast(entry, values);
      const others = comparable(entry, values);
      const open = [...details.querySelectorAll("details")].map((one) => one.open);
      answer.textContent = sentence(found, data);
      details.replaceChildren(definitions(figures(found, data)), origin(entry),
        section("Assumed", list(assumptions(found, data))),
        ...(others.length > 0 ? [section("Comparable machines", definitions(others))] : []));
      details.querySelectorAll("details").forEach((one, index) => { one.open = open[index] ?? false; });
    };

    // The address holds what differs from a first visit, so that an answer can be sent to somebody.
    const store = () => {
      const state = new URL(location.href);
      [...choices, ...Object.keys(readers)].forEach((name) => {
        const value = fields[name].value.trim();
        if (value === defaults[name]) state.searchParams.delete(name);
        else state.searchParams.set(name, value);
      });
      history.replaceState(null, "", state);
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
      choices.forEach((name) => {
        take(name, (value) => matching({ ...known, [name]: value }).length > 0, (value) => { known[name] = value; });
      });
      Object.entries(readers).forEach(([name, read]) => {
        take(name, (value) => read(value) !== null, (value) => { fields[name].value = value; });
      });
      const possible = matching(known);
      const first = data.costs.find(({ clear }) => clear);
      offer(possible.find((entry) => entry.case === first?.case) ?? possible.find(({ clear }) => clear) ?? possible[0]);
      message.textContent = ignored.length > 0 ? `Ignored from the address, not known here: ${ignored.join(", ")}.` : "";
    };

    restore();
    show();
    form.addEventListener("input", () => {
      message.textContent = "";
      offer(chosen());
      show();
      store();
    });
    form.addEventListener("submit", (event) => event.preventDefault());
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
