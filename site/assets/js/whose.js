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

const change = (element, { where, costs }) => {
  const [, tracer, id, what] = /^([^.]+)\.([^.]+)\.(.+)$/.exec(element.dataset.number);
  const cost = costs.find((one) => one.basis === "measured" && one.tracer === tracer && one.case === id);
  const whole = cost && written(what, cost, element.closest("td"));
  if (!whole) {
    if (!/\([0-9a-z]{4}\)$/.test(element.textContent)) element.append(` (${line.dataset.place})`);
    return;
  }
  const isWhole = element.closest("td") && what === "cost" ? true : what === "cost-interval";
  element.textContent = isWhole ? whole : whole.split(" (")[0];
  element.href = page(`/costs/${id}/`);
  element.title = `${whole}; ${where}, ${cost.date}`;
};

const show = async (id) => {
  const machine = await fetched(page(`/data/guidance/${id}.json`));
  document.querySelectorAll("[data-number]").forEach((element) => change(element, machine));
  document.querySelectorAll(".measured-on").forEach((element) => {
    if (element.closest("p").previousElementSibling.querySelector("[data-number]")) element.textContent = machine.where;
  });
  status.textContent = `Costs are from ${machine.where}; one that it lacks has the short name of its machine behind it. `
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
