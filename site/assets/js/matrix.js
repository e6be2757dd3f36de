// The matrices of /explore/: the tracer whose table is open is in the address, and the machine that a reader chose on
// any page is the one that a phone shows first. Both work without this script; then nothing is remembered.
import { remember, remembered } from "./memory.js";

const named = document.getElementById(location.hash.slice(1))?.closest(".matrix > details");
if (named) named.open = true;                          // a browser that does not open what an address names

document.querySelectorAll(".matrix").forEach((matrix) => {
  const select = matrix.querySelector("select");
  const key = matrix.dataset.of;
  const before = [...select.options].find(({ value }) => value === remembered(key));
  if (before) before.selected = true;
  select.addEventListener("change", () => remember(key, select.value));
  matrix.addEventListener("click", ({ target }) => {
    const fold = target.closest("summary")?.parentElement;
    if (fold && !fold.open) history.replaceState(null, "", `#${fold.querySelector("[id]").id}`);
  });
});
