// /compare/: one machine with one tracer against another, case by case. The index is fetched at the reader's first act,
// or at once where the address says what to compare; then the file of each side.
(() => {
  const { scales, interval, spread, quantity, count, missing } = probeEffect.units;
  const { element, link, filled, csv, save, cite } = probeEffect.files;
  const { compared, changed, summary, chance } = probeEffect.comparison;
  const state = probeEffect.state;
  const home = new URL("../", document.currentScript.src);
  const form = document.getElementById("compare");
  const live = document.getElementById("compare-live");
  const message = form.querySelector(".view-message");
  const inputs = form.elements;
  const index = form.querySelector(".view-data").href;
  const given = ([value, low, high]) => ({ value, low, high });

  const fetched = async (address) => {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(String(answer.status));
    return answer.json();
  };

  const files = new Map();
  const shard = (subject) => {
    if (!files.has(subject)) {
      const made = fetched(new URL(`${subject.replace(":", "--")}.json`, index));
      made.catch(() => files.delete(subject));            // a later choice may try again
      files.set(subject, made);
    }
    return files.get(subject);
  };

  // Pairs of numbers of the same case and level: those of common blocks, where the two are of one machine, with their
  // difference; else the newest of each.
  const pairs = (a, b) => {
    const key = ({ case: id, level }) => `${id} ${level}`;
    if (a.machine === b.machine) {
      return (a.beside[b.tracer] ?? []).map(([first, second, paired]) => [a.numbers[first], b.numbers[second], paired && given(paired)]);
    }
    const newest = new Map(b.numbers.toReversed().map((one) => [key(one), one]));
    const own = new Map(a.numbers.toReversed().map((one) => [key(one), one]));
    return [...own].filter(([name]) => newest.has(name)).map(([name, one]) => [one, newest.get(name), null])
      .sort(([first], [second]) => (first.case < second.case ? -1 : Number(first.case > second.case))
        || Number(first.level) - Number(second.level));
  };

  const connect = (data) => {
    const subjects = new Map(data.machines.flatMap((machine) => machine.tracers.map(([tracer, tool]) =>
      [`${machine.id}:${tracer}`, { machine, tracer, tool }])));
    const isOf = (subject, q) => subjects.get(subject)?.machine.metric === q;
    const groups = Object.fromEntries(["a", "b"].map((side) => [side, [...inputs[side].querySelectorAll("optgroup")]]));
    const labels = new Map(data.machines.map(({ id, label }) => [id, label]));
    let records = [];
    let turn = 0;

    const fields = {
      q: { fallback: "time", knows: (value) => data.first[value] !== undefined },
      a: { fallback: ({ q }) => data.first[q]?.[0], knows: (value, { q }) => isOf(value, q) },
      b: { fallback: ({ q }) => data.first[q]?.[1], knows: (value, { q }) => isOf(value, q) },
    };

    const fill = (values) => {
      inputs.q.value = values.q;
      ["a", "b"].forEach((side) => {
        inputs[side].replaceChildren(...groups[side].filter(({ dataset }) => dataset.metric === values.q));
        inputs[side].value = values[side];
      });
    };

    const chosen = () => {
      const q = inputs.q.value;
      const own = (side, at) => (isOf(inputs[side].value, q) ? inputs[side].value : data.first[q]?.[at]);
      return { q, a: own("a", 0), b: own("b", 1) };
    };

    // How a sentence has the second side: by what is not the same on both.
    const side = (a, b) => [
      ...(a.tracer === b.tracer ? [] : [`with ${b.tracer}`]), ...(a.machine === b.machine ? [] : [`on ${labels.get(b.machine)}`]),
    ].join(" ");

    const cost = (one, q) => {
      if (q === "instructions") return spread(one.cost, scales.INSTRUCTIONS);
      if (one.clear !== false) return interval(one.cost, scales.DURATION);
      return filled(data.unclear, { floor: quantity(one.floor, { ...scales.DURATION, digits: 2 }) });
    };

    const numberLink = (one, file, q) => {
      const parts = [file.runs[one.run].id, one.case, file.tracer, ...(one.level === null ? [] : [one.level])];
      return link(cost(one, q), new URL(`results/${parts.join("/")}/#${q === "time" ? "cost" : "instructions"}`, home));
    };

    const signed = (value, text) => (value > 0 ? `+${text}` : text);

    const differenceCells = ({ difference, ratio }, q) => {
      if (q === "time") return [interval(difference, scales.DURATION), interval(ratio, scales.TIMES)];
      return [signed(difference, count(difference)), ratio === null ? missing : signed(ratio, quantity(ratio, scales.SHARE))];
    };

    const row = (cells, numeric) => {
      const made = document.createElement("tr");
      made.append(...cells.map((content, at) => {
        const cell = element(at === 0 ? "th" : "td", "", numeric.includes(at) ? "align-right" : "");
        if (at === 0) cell.scope = "row";
        cell.append(content);
        return cell;
      }));
      return made;
    };

    const table = (place, titles, rows, numeric = []) => {
      const head = titles.map((title, at) => {
        const made = element("th", title, numeric.includes(at) ? "align-right" : "");
        made.scope = "col";
        return made;
      });
      const heads = document.createElement("tr");
      heads.append(...head);
      place.querySelector("thead").replaceChildren(heads);
      place.querySelector("tbody").replaceChildren(...rows.map((cells) => row(cells, numeric)));
      place.hidden = rows.length === 0;
    };

    const showCases = (a, b, found, { q }) => {
      const hasLevels = found.some(({ first }) => first.level !== null);
      const rows = found.map((one) => [
        link(data.titles[one.first.case] ?? one.first.case, new URL(`costs/${one.first.case}/`, home)),
        ...(hasLevels ? [one.first.level ?? ""] : []),
        numberLink(one.first, a, q), numberLink(one.second, b, q), ...differenceCells(one, q), one.outcome,
      ]);
      const titles = ["Case", ...(hasLevels ? ["Level"] : []), "A", "B", "Difference", q === "time" ? "Ratio" : "Change", "Outcome"];
      table(live.querySelector(".table-scroll"), titles, rows, titles.map((_, at) => at).slice(1, -1));
      live.querySelector(".view-reasons").replaceChildren(...found.filter(({ reason }) => reason !== null)
        .map((one) => element("li", `${one.first.case}${one.first.level === null ? "" : ` at level ${one.first.level}`}: ${one.reason}.`)));
    };

    // Each trait of the runs that were compared, with every value that it has.
    const traits = (file, numbers) => {
      const made = new Map();
      [...new Set(numbers.map(({ run }) => run))].flatMap((run) => Object.entries(file.runs[run].traits))
        .forEach(([name, value]) => made.set(name, (made.get(name) ?? new Set()).add(value)));
      return new Map([...made].map(([name, found]) => [name, [...found].sort().join(", ")]));
    };

    const showTraits = (a, b, found) => {
      const [ours, others] = [traits(a, found.map(({ first }) => first)), traits(b, found.map(({ second }) => second))];
      const rows = [...new Set([...ours.keys(), ...others.keys()])].filter((name) => ours.get(name) !== others.get(name))
        .map((name) => [name, ours.get(name) ?? "", others.get(name) ?? ""]);
      table(live.querySelector(".compare-traits"), ["What", "A", "B"], rows);
    };

    const record = (one, a, b, q) => {
      const ends = (name, found, unit) => ({ [`${name}_${unit}`]: found?.value ?? null, [`${name}_low_${unit}`]: found?.low ?? null, [`${name}_high_${unit}`]: found?.high ?? null });
      const counts = (name, { value, low, high }) => ({ [`${name}_instructions`]: value, [`${name}_least_instructions`]: low, [`${name}_greatest_instructions`]: high });
      const values = q === "time"
        ? { ...ends("first_cost", one.first.cost, "ns"), ...ends("second_cost", one.second.cost, "ns"), ...ends("difference", one.difference, "ns"), ...ends("cost", one.ratio, "ratio") }
        : { ...counts("first", one.first.cost), ...counts("second", one.second.cost), difference_instructions: one.difference, change_ratio: one.ratio };
      return {
        case: one.first.case, level: one.first.level, first_tracer: a.tracer, second_tracer: b.tracer,
        first_submission: a.runs[one.first.run].id, second_submission: b.runs[one.second.run].id,
        ...values, outcome: one.outcome, reason: one.reason, paired: one.isPaired,
      };
    };

    const say = (name, text) => { live.querySelector(`[data-of="${name}"]`).textContent = text; };

    const showSentences = (a, b, found, words, values) => {
      const outcomes = found.map(({ outcome }) => outcome);
      say("summary", found.length > 0 ? summary(outcomes, side(a, b), words) : "No case was measured with both.");
      say("chance", found.length > 0 ? chance(outcomes, words) : "");
      const tiers = [values.a, values.b].map((one) => subjects.get(one).machine.tier);
      say("tiers", words.tiers && tiers[0] !== tiers[1] ? filled(words.tiers, { first: tiers[0], second: tiers[1] }) : "");
    };

    const against = (a, b, q) => {
      const words = data.words[q];
      const own = (one) => ({ ...one, cost: given(one.cost) });
      return pairs(a, b).map(([one, other, paired]) => {
        const [first, second] = [own(one), own(other)];
        const found = q === "time" ? compared(first, second, paired, words) : changed(first, second, words);
        return { first, second, isPaired: paired !== null, ...found };
      });
    };

    const show = async (values, ignored = []) => {
      turn += 1;
      const own = turn;
      const told = ignored.length > 0 ? `Ignored from the address, not known here: ${ignored.join(", ")}. ` : "";
      if (values.a === values.b) {
        live.hidden = true;
        message.textContent = `${told}Both sides are the same; choose two.`;
        return;
      }
      const [a, b] = await Promise.all([shard(values.a), shard(values.b)]);
      if (own !== turn) return;                            // a later choice was faster
      const found = against(a, b, values.q);
      records = found.map((one) => record(one, a, b, values.q));
      live.hidden = false;
      showSentences(a, b, found, data.words[values.q], values);
      showCases(a, b, found, values);
      showTraits(a, b, found);
      const [first, second] = [values.a, values.b].map((one) => `${subjects.get(one).tool}, ${subjects.get(one).machine.id}`);
      message.textContent = `${told}${count(found.length)} case${found.length === 1 ? "" : "s"}. A: ${first}. B: ${second}.`;
      cite(live, data.cite, `${second} against ${first}`);
      form.dataset.state = "ready";
    };

    const failed = () => {
      form.dataset.state = "failed";
      message.textContent = "The numbers could not be loaded; the tables below compare tracers too.";
    };

    const restore = () => {
      const { values, ignored } = state.read(fields);
      fill(values);
      return show(values, ignored).catch(failed);
    };

    const act = () => {
      const values = chosen();
      fill(values);
      state.write(values, fields, false);
      return show(values).catch(failed);
    };

    const swap = () => {
      const { a, b } = chosen();
      [inputs.a.value, inputs.b.value] = [b, a];
      return act();
    };

    live.addEventListener("click", ({ target }) => {
      if (target.dataset.save === "csv") save("probe-effect-comparison.csv", csv(records, data.formula), "text/csv");
      if (target.dataset.save === "json") {
        save("probe-effect-comparison.json", JSON.stringify({ version: data.version, address: location.href, comparisons: records }, null, 1), "application/json");
      }
    });
    addEventListener("popstate", restore);
    return { restore, act, swap };
  };

  let connected;
  const load = () => {
    connected ??= fetched(index).then(connect).catch((error) => {
      connected = undefined;
      form.dataset.state = "failed";
      message.textContent = "The numbers could not be loaded; the tables below compare tracers too.";
      throw error;
    });
    return connected;
  };

  form.addEventListener("input", () => { load().then(({ act }) => act(), () => {}); });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.querySelector(".compare-now").addEventListener("click", () => { load().then(({ act }) => act(), () => {}); });
  form.querySelector(".compare-swap").addEventListener("click", () => { load().then(({ swap }) => swap(), () => {}); });
  if (state.isGiven(form)) load().then(({ restore }) => restore(), () => {});
})();
