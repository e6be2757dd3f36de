// Machines that a form does not offer: its reader names one, from a list of all that is loaded when they come to it.
import { page, fetched } from "./page.js";

// `isWanted` says of a machine of the list whether the form may take it, and `choose` takes the one that was named.
// Returns what finds others by their ids, such as those that an address names.
export const offerOthers = (form, message, isWanted, choose) => {
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
