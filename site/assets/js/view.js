// What /explore/ and /compare/ do alike: nothing is fetched before the reader acts, unless the address says what to show.
import { offerOthers } from "./machines.js";
import { fetched, once } from "./page.js";
import { isGiven } from "./state.js";

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
  if (isGiven(form)) run(({ restore }) => restore());
  return { run, others };
};
