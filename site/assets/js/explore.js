// /explore/: every number as the reader chooses and orders them, as a chart and as a table. Nothing is fetched before
// the reader acts, unless the address already says what to show.
(() => {
  const { scales, interval, spread, quantity, stated, count, readRate } = probeEffect.units;
  const { element, link, filled, csv, save, png, cite } = probeEffect.files;
  const { columns, mostRows, charted, spec } = probeEffect.exploreChart;
  const state = probeEffect.state;
  const home = new URL("../", document.currentScript.src);
  const form = document.getElementById("explore");
  const live = document.getElementById("explore-live");
  const message = form.querySelector(".view-message");
  const inputs = form.elements;
  const metricOf = (q) => (q === "instructions" ? "instructions" : "time");

  // One object for each number, from the columns of the file.
  const unpacked = (data, metric) => {
    const suites = new Map(data.suites.flatMap((suite, place) => suite.cases.map(([id, title], at) =>
      [id, { suite: suite.id, title, place: place * 1000 + at }])));
    const labels = new Map(data.machines.map(({ id, label }) => [id, metric === "time" ? id : label]));
    const table = data[metric];
    return table.value.map((value, at) => {
      const [submission, id, tracer, tool, level] = ["submission", "case", "tracer", "tool", "level"]
        .map((name) => data.lists[name][table[name][at]]);
      return {
        ...suites.get(id), submission, case: id, tracer, tool, level, machine: submission.split("/")[0], label: labels.get(submission.split("/")[0]),
        cost: { value, low: table.low[at], high: table.high[at] }, floor: table.floor[at],
        isClear: table.clear[at] === 1, isSound: table.sound[at] === 1, grade: table.grade[at],
      };
    });
  };

  const connect = (data) => {
    const words = data.words;
    const numbers = { time: unpacked(data, "time"), instructions: unpacked(data, "instructions") };
    const suiteOf = new Map(numbers.time.concat(numbers.instructions).map((one) => [one.case, one.suite]));
    const machines = (q) => data.machines.filter(({ metric }) => metric === metricOf(q)).map(({ id }) => id);
    const groups = [...inputs.case.querySelectorAll("optgroup")];
    let records = [];
    let view = null;
    let drawn = 0;

    const isRate = (text) => {
      const rate = readRate(text);
      return rate !== null && rate >= data.limits.rate_hz[0] && rate <= data.limits.rate_hz[1];
    };
    const fields = {
      q: { fallback: "cost", knows: (value) => value in columns },
      rate: { fallback: "50k", knows: isRate },
      machine: {
        many: true,
        fallback: ({ q }) => [data.reference[metricOf(q)]],
        knows: (value, { q }) => value === "all" || machines(q).includes(value),
      },
      tracer: { many: true, fallback: [], knows: (value) => data.lists.tracer.includes(value) },
      case: { fallback: "", knows: (value) => suiteOf.has(value) },
      suite: {
        fallback: (values) => suiteOf.get(values.case) ?? data.suites[0].id,
        knows: (value, values) => (value === "all" || data.suites.some(({ id }) => id === value))
          && (!values.case || value === "all" || suiteOf.get(values.case) === value),
      },
      level: { fallback: "", knows: (value, { case: id, suite }) => levels(id, suite).includes(value) },
      sort: { fallback: "suite", knows: (value) => /^(suite|-?(case|level|tracer|machine|cost|grade))$/.test(value) },
      axis: { fallback: "log", knows: (value) => value === "log" || value === "linear" },
    };

    const levels = (id, suite) => [...new Set([...numbers.time, ...numbers.instructions]
      .filter((one) => one.level !== null && (id ? one.case === id : suite === one.suite)).map((one) => one.level))]
      .sort((a, b) => Number(a) - Number(b));

    // What the form says now.
    const chosen = () => {
      const ticked = (name, among) => [...inputs[name]].filter((one) => one.checked && among(one)).map((one) => one.value);
      const q = inputs.q.value;
      const own = ticked("machine", (one) => one.dataset.metric === metricOf(q));
      return {
        q,
        rate: inputs.rate.value.trim(),
        machine: own.length > 0 && (own.length < machines(q).length || own.length === 1) ? own : ["all"],
        tracer: ticked("tracer", () => true),
        case: inputs.case.value,
        suite: inputs.suite.value,
        level: inputs.level.value,
        sort: inputs.sort.value,
        axis: inputs.axis.value,
      };
    };

    // Offers only what goes with the other choices; a choice that does not is undone.
    const offer = (values) => {
      const isOffered = ({ dataset }) => values.suite === "all" || values.suite === dataset.suite;
      inputs.case.replaceChildren(inputs.case.options[0], ...groups.filter(isOffered));
      inputs.case.value = values.suite === "all" || suiteOf.get(values.case) === values.suite ? values.case : "";
      const known = levels(inputs.case.value, values.suite);
      inputs.level.replaceChildren(inputs.level.options[0], ...known.map((level) => new Option(level, level)));
      inputs.level.value = known.includes(values.level) ? values.level : "";
      form.querySelector('[data-of="level"]').hidden = known.length === 0;
      form.querySelector('[data-of="slowdown"]').hidden = values.q !== "slowdown";
      form.querySelectorAll("label[data-metric]").forEach((one) => { one.hidden = one.dataset.metric !== metricOf(values.q); });
    };

    const fill = (values) => {
      ["q", "rate", "suite", "axis"].forEach((name) => { inputs[name].value = values[name]; });
      // A header may sort by what the list does not offer.
      if (![...inputs.sort.options].some(({ value }) => value === values.sort)) {
        inputs.sort.add(new Option(values.sort.replace(/^-(.*)/, "$1, descending"), values.sort));
      }
      inputs.sort.value = values.sort;
      [...inputs.tracer].forEach((one) => { one.checked = values.tracer.includes(one.value); });
      [...inputs.machine].filter((one) => one.dataset.metric === metricOf(values.q))
        .forEach((one) => { one.checked = values.machine.includes(one.value); });
      offer(values);
    };

    const tell = (name, list) => {
      form.querySelector(`[data-chosen="${name}"]`).textContent = list.length === 0 || list[0] === "all" ? "all" : list.join(", ");
    };

    // What is shown of a number: the cost itself, or what it does at the rate.
    const shown = (one, { q, rate }) => {
      if (q !== "slowdown") return one.cost;
      const ratio = (ns) => (ns === null ? null : (ns * readRate(rate)) / 1e9);
      return { value: ratio(one.cost.value), low: ratio(one.cost.low), high: ratio(one.cost.high) };
    };

    const written = (one, { q, rate }) => {
      if (q === "instructions") return spread(one.shown, scales.INSTRUCTIONS);
      if (one.isClear) return interval(one.shown, q === "cost" ? scales.DURATION : scales.SHARE);
      const [floor, scale] = q === "cost" ? [one.floor, scales.DURATION] : [(one.floor * readRate(rate)) / 1e9, scales.SHARE];
      return filled(words.unclear, { floor: quantity(floor, { ...scale, digits: 2 }) });
    };

    const orders = {
      suite: (a, b) => a.place - b.place,
      case: (a, b) => a.title.localeCompare(b.title, "en"),
      level: (a, b) => Number(a.level) - Number(b.level),
      tracer: (a, b) => a.tool.localeCompare(b.tool, "en"),
      machine: (a, b) => a.machine.localeCompare(b.machine, "en"),
      cost: (a, b) => a.shown.value - b.shown.value,
      grade: (a, b) => (a.grade ?? "").localeCompare(b.grade ?? "", "en"),
    };

    // What is not ranked stands last, whichever way the others are ordered.
    const sorted = (rows, sort) => {
      const order = orders[sort.replace("-", "")];
      const way = sort.startsWith("-") ? -1 : 1;
      const byCost = sort.endsWith("cost");
      return [...rows].sort((a, b) => (byCost ? Number(b.isSound) - Number(a.isSound) : 0)
        || way * order(a, b) || orders.suite(a, b) || orders.level(a, b));
    };

    const matching = (values) => numbers[metricOf(values.q)].filter((one) =>
      (values.machine[0] === "all" || values.machine.includes(one.machine))
      && (values.tracer.length === 0 || values.tracer.includes(one.tracer))
      && (values.case ? one.case === values.case : values.suite === "all" || one.suite === values.suite)
      && (values.level === "" || one.level === values.level));

    // The places that a cost may hold among the others of its case, machine and level: ties are ties.
    const place = (one, ranked) => {
      if (!ranked.includes(one)) return "";
      const first = 1 + ranked.filter((other) => other.cost.high !== null && other.cost.high < one.cost.low).length;
      const last = ranked.length - ranked.filter((other) => other.cost.low !== null && one.cost.high < other.cost.low).length;
      return first === last ? String(first) : `${first} to ${last}`;
    };

    const isOneSubject = (rows) =>
      new Set(rows.map((one) => `${one.machine} ${one.case} ${one.level}`)).size === 1;

    const numberAddress = (one, q) => {
      const parts = [one.submission, one.case, one.tracer, ...(one.level === null ? [] : [one.level])];
      return new URL(`results/${parts.join("/")}/#${q === "instructions" ? "instructions" : "cost"}`, home);
    };

    // The table's columns: title, what sorts it, its class, and a cell's content.
    const tableColumns = (rows, values) => {
      const ranked = values.q !== "instructions" && rows.length > 1 && isOneSubject(rows)
        ? rows.filter((one) => one.isClear && one.isSound && one.cost.low !== null) : [];
      const page = metricOf(values.q) === "time" ? "machines" : "kernels";
      return [
        ["Case", "case", "", (one) => link(one.title, new URL(`costs/${one.case}/`, home))],
        ...(rows.some((one) => one.level !== null) ? [["Level", "level", "align-right", (one) => one.level ?? ""]] : []),
        ["Tracer", "tracer", "", (one) => one.tool],
        ...(new Set(rows.map(({ machine }) => machine)).size === 1 ? [] : [["Machine", "machine", "", (one) => link(one.machine, new URL(`${page}/${one.machine}/`, home))]]),
        [titleOf(values), "cost", "align-right", (one) => link(one.text, numberAddress(one, values.q))],
        ...(ranked.length > 1 ? [["Place", null, "align-right", (one) => place(one, ranked)]] : []),
        ...(values.q === "instructions" ? [] : [["Grade", "grade", "align-center", (one) => one.grade ?? ""]]),
      ];
    };

    const titleOf = ({ q, rate }) => filled(words[q], { rate: stated(readRate(rate), scales.EVENTS) });

    const header = ([title, key, className], sort) => {
      const made = element("th", "", className);
      made.scope = "col";
      if (key === null) return Object.assign(made, { textContent: title });
      const isOwn = sort.replace("-", "") === key;
      if (isOwn) made.setAttribute("aria-sort", sort.startsWith("-") ? "descending" : "ascending");
      const button = element("button", title, "sort");
      button.type = "button";
      button.dataset.sort = isOwn && !sort.startsWith("-") ? `-${key}` : key;
      made.append(button);
      return made;
    };

    const row = (one, found) => {
      const made = document.createElement("tr");
      made.append(...found.map(([, , className, content], at) => {
        const cell = element(at === 0 ? "th" : "td", "", className);
        if (at === 0) cell.scope = "row";
        cell.append(content(one));
        return cell;
      }));
      return made;
    };

    const showTable = (rows, values) => {
      const found = tableColumns(rows, values);
      const focused = document.activeElement?.dataset.sort?.replace("-", "");
      const heads = document.createElement("tr");
      heads.append(...found.map((one) => header(one, values.sort)));
      live.querySelector("thead").replaceChildren(heads);
      live.querySelector("tbody").replaceChildren(...rows.map((one) => row(one, found)));
      if (focused) live.querySelector(`[data-sort$="${focused}"]`)?.focus();
    };

    const draw = async (rows, values) => {
      const turn = drawn + 1;
      drawn = turn;
      const box = live.querySelector(".view-drawing");
      const { points, lost } = charted(rows, values);
      const left = Object.entries(lost).filter(([, number]) => number > 0)
        .map(([why, number]) => filled(words.not_drawn[why], { rows: count(number), most: mostRows }));
      live.querySelector(".chart-note").textContent = left.length > 0 ? `Not drawn: ${left.join("; ")}.` : "";
      live.querySelector(".chart-title").textContent = titleOf(values);
      box.setAttribute("aria-label", `Chart of ${numbered(points.length)}: ${titleOf(values)}. The table below has them.`);
      live.querySelectorAll('[data-save="svg"], [data-save="png"], [data-save="vl.json"]').forEach((one) => { one.disabled = points.length === 0; });
      try {
        const embed = await probeEffect.vega.load();
        if (turn !== drawn) return;
        view?.finalize();
        view = null;
        box.replaceChildren();
        if (points.length > 0) {
          const made = await embed(box, spec(points, values, data), probeEffect.vega.options);
          if (turn === drawn) view = made; else made.finalize();
        }
      } catch {
        live.querySelector(".chart-note").textContent = words.no_chart;
      }
    };

    const numbered = (number) => `${count(number)} ${words.row[number === 1 ? 0 : 1]}`;

    const record = (one, q) => ({
      case: one.case, level: one.level, tracer: one.tracer, tool: one.tool, machine: one.machine, submission: one.submission,
      ...Object.fromEntries(columns[q].map((name, at) => [name, one.shown[["value", "low", "high"][at]]])),
      ...(q === "instructions" ? {} : { distinguishable: one.isClear, grade: one.grade }),
      sound: one.isSound, address: numberAddress(one, q).href,
    });

    const show = (values, ignored = []) => {
      const rows = sorted(matching(values).map((one) => ({ ...one, shown: shown(one, values) })), values.sort)
        .map((one) => ({ ...one, text: `${written(one, values)}${one.isSound ? "" : ` ${words.flag}`}` }));
      records = rows.map((one) => record(one, values.q));
      live.hidden = false;
      tell("machine", values.machine);
      tell("tracer", values.tracer);
      showTable(rows, values);
      message.textContent = [
        ...(ignored.length > 0 ? [filled(words.ignored, { names: ignored.join(", ") })] : []),
        rows.length > 0 ? filled(words.shown, { rows: numbered(rows.length) }) : words.none,
      ].join(" ");
      const of = [values.case || `suite ${values.suite}`, values.machine.join(", "), ...(values.tracer.length > 0 ? [values.tracer.join(", ")] : [])];
      cite(live, data.cite, `${titleOf(values)}: ${of.join("; ")}`);
      form.dataset.state = "ready";
      return draw(rows, values);
    };

    const restore = () => {
      const { values, ignored } = state.read(fields);
      fill(values);
      show(values, ignored);
    };

    const act = (isTyping) => {
      offer(chosen());
      const values = chosen();
      const isWrong = !isRate(values.rate);
      inputs.rate.setAttribute("aria-invalid", String(isWrong));
      if (isWrong && values.q === "slowdown") {
        message.textContent = inputs.rate.dataset.expected;
        return;
      }
      if (isWrong) values.rate = fields.rate.fallback;
      state.write(values, fields, isTyping);
      show(values);
    };

    const savers = {
      csv: () => save("probe-effect.csv", csv(records, words.formula), "text/csv"),
      json: () => save("probe-effect.json", JSON.stringify({ version: data.version, address: location.href, numbers: records }, null, 1), "application/json"),
      svg: async () => save("probe-effect.svg", await view.view.toSVG(), "image/svg+xml"),
      png: async () => save("probe-effect.png", await png(view.view, data.chart.paper)),
      "vl.json": () => save("probe-effect.vl.json", JSON.stringify(view.spec, null, 1), "application/json"),
    };
    live.addEventListener("click", ({ target }) => {
      if (target.dataset.save && (view || /^(csv|json)$/.test(target.dataset.save))) savers[target.dataset.save]();
      if (target.dataset.sort) {
        fill({ ...chosen(), sort: target.dataset.sort });
        act(false);
      }
    });
    probeEffect.vega.wideScreen.addEventListener("change", () => { if (!live.hidden) show(chosen()); });
    addEventListener("popstate", restore);
    return { restore, act };
  };

  // The numbers are fetched once, at the first act; until then the page is what it is without scripts.
  let connected;
  const load = () => {
    connected ??= fetch(form.querySelector(".view-data").href).then((answer) => {
      if (!answer.ok) throw new Error(String(answer.status));
      return answer.json();
    }).then(connect).catch((error) => {
      connected = undefined;
      form.dataset.state = "failed";
      message.textContent = "The numbers could not be loaded; the tables below have them too.";
      throw error;
    });
    return connected;
  };

  form.addEventListener("input", ({ target }) => { load().then(({ act }) => act(target.name === "rate"), () => {}); });
  form.addEventListener("submit", (event) => event.preventDefault());
  if (state.isGiven(form)) load().then(({ restore }) => restore(), () => {});
})();
