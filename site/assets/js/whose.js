// The machine whose times a chapter shows, if its reader chooses one: costs and what follows from them, from the file that
// the calculator has of it. A time that it lacks stays, with the short name of the machine that it is from.
import { given } from "./estimates.js";
import { remember, remembered } from "./memory.js";
import { fetched, page } from "./page.js";
import { predict } from "./prediction.js";
import { scales, interval, quantity } from "./units.js";

const rates = { "1k": 1e3, "10k": 1e4, "100k": 1e5, "1M": 1e6 };
const line = document.querySelector(".whose");
const choice = line.querySelector("select");
const status = line.querySelector("[role=status]");

// A scale with the only unit that a cell had: a column has one.
const inUnitOf = (cell, scale) => {
  const own = scale.units.filter(({ name }) => cell?.textContent.includes(`\u00a0${name}`));
  return own.length > 0 ? { ...scale, units: [{ ...own[0], below: Infinity }] } : scale;
};

// What a key asks of a cost, with its interval; null where the cost has no such.
const written = (what, { cost: ends, clear }, cell) => {
  const cost = given(ends);
  const [name, detail] = what.split(/[@-](?=\d)/);
  const { slowdown, thresholds } = predict(cost, rates[detail] ?? 0);
  if (name === "threshold") {
    const rate = clear ? thresholds.get(Number(detail)) : null;
    return rate && interval(rate, inUnitOf(cell, scales.RATE));
  }
  const [found, scale] = name === "slowdown" ? [slowdown, scales.SHARE] : [cost, inUnitOf(cell, scales.DURATION)];
  return clear ? interval(found, scale) : `less than ${quantity(found.high, scale)}`;
};

// What a number would say of that machine; null where it has no such cost.
const said = (element, { costs }) => {
  const [, tracer, id, what] = /^([^.]+)\.([^.]+)\.(.+)$/.exec(element.dataset.number);
  const cost = costs.find((one) => one.basis === "measured" && one.tracer === tracer && one.case === id);
  const whole = cost && written(what, cost, element.closest("td"));
  return whole ? { whole, id, what, date: cost.date } : null;
};

const change = (element, { where }, { whole, id, what, date }) => {
  const isWhole = element.closest("td") && what === "cost" ? true : what === "cost-interval";
  element.textContent = isWhole ? whole : whole.split(" (")[0];
  element.href = page(`/costs/${id}/`);
  element.title = `${whole}; ${where}, ${date}`;
};

const caption = (element) => element.closest(".table-scroll")?.nextElementSibling?.querySelector(".measured-on");

// Numbers one by one: one that the machine lacks stays, with the short name of the machine that it is of.
const changeAlone = (machine) => {
  const alone = [...document.querySelectorAll("[data-number]")].filter((element) => !caption(element));
  alone.forEach((element) => {
    const found = said(element, machine);
    if (found) change(element, machine, found);
    else if (!/\([0-9a-z]{4}\)$/.test(element.textContent)) element.append(` (${element.dataset.place})`);
  });
};

// A table with a caption is of the one machine that this names: all of it changes, or nothing.
const changeTable = (table, machine) => {
  const numbers = [...table.querySelectorAll("[data-number]")];
  const found = numbers.map((element) => said(element, machine));
  const place = caption(table);
  if (!place || numbers.length === 0 || found.includes(null)) return;
  numbers.forEach((element, at) => change(element, machine, found[at]));
  place.textContent = machine.where;
};

const show = async (id) => {
  const machine = await fetched(page(`/data/guidance/${id}.json`));
  changeAlone(machine);
  document.querySelectorAll("table").forEach((table) => changeTable(table, machine));
  status.textContent = `Costs are from ${machine.where}; one that it lacks has the short name of its machine behind it, `
    + "and a table that it cannot fill is of the machine below it. "
    + "The sentences were written about the machine named first.";
};

const offer = async () => {
  const machines = (await fetched(page("/data/machines.json"))).filter(({ metric }) => metric === "time");
  if (choice.length === 1) choice.append(...machines.map(({ id, label }) => new Option(`those of ${label}`, id)));
};

const lost = () => { status.textContent = "The times of that machine could not be loaded."; };

choice.addEventListener("change", () => {
  remember("machine", choice.value);
  location.reload();                 // every number begins as the page has it
});
offer().then(async () => {
  const wanted = remembered("machine");
  if (![...choice.options].some(({ value }) => value && value === wanted)) return;
  choice.value = wanted;
  await show(wanted);
}).catch(lost);
