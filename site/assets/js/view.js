// What /explore/ and /compare/ do alike: nothing is fetched before the reader acts, unless the address says what to show.
import { fetched, once, page } from "./page.js";
import { isGiven } from "./state.js";

// A machine that the form does not offer: its reader names it, from a list of all that is loaded when they come to it.
// `isWanted` says of one whether the form may take it, and `choose` takes it. Returns what finds machines by their ids, such
// as those that an address names.
const offerOthers = (form, message, isWanted, choose) => {
  const field = form.querySelector(".other-machine");
  const all = () => fetched(page("/data/machines.json"));
  const lost = () => { message.textContent = "The list of machines could not be loaded."; };

  field?.addEventListener("focus", () => all().then((machines) => {
    field.list.replaceChildren(...machines.filter(isWanted).map(({ id, label }) => new Option(label, id)));
  }, lost));
  field?.addEventListener("change", () => all().then((machines) => {
    const id = field.value.trim();
    const found = machines.filter(isWanted).find((one) => one.id === id);
    field.setAttribute("aria-invalid", String(id !== "" && !found));
    message.textContent = id === "" || found ? "" : field.dataset.expected;
    if (!found) return undefined;
    field.value = "";
    return choose(found);
  }, lost));

  return async (ids) => (field && ids.length > 0 ? (await all()).filter(({ id }) => ids.includes(id)) : []);
};

// `connect` makes of the form's data what acts on an input, restores an address, and takes another machine; `isWanted`
// says which machines it may take. Returns what runs an act of the page, and what finds machines by their ids.
export const start = (form, connect, isWanted) => {
  const message = form.querySelector(".view-message");
  const load = once(async () => {
    const made = connect(await fetched(form.querySelector(".view-data").href));
    addEventListener("popstate", () => run(({ restore }) => restore()));
    return made;
  });

  // What fails leaves the page as it is without scripts.
  const run = async (does) => {
    try {
      await does(await load());
    } catch {
      form.dataset.state = "failed";
      message.textContent = "The numbers could not be loaded; what the page shows without them stays.";
    }
  };

  const others = offerOthers(form, message, isWanted, (machine) => run(({ take }) => take(machine)));
  form.addEventListener("input", ({ target }) => { if (target.name) run(({ act }) => act(target)); });
  form.addEventListener("submit", (event) => event.preventDefault());
  if (isGiven(form)) {
    // What an address asks for may be far below.
    if (form.getBoundingClientRect().top > innerHeight) form.scrollIntoView();
    run(({ restore }) => restore());
  }
  return { run, others };
};
