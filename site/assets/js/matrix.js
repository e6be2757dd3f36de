// The machine that a reader chose on any page is the column of the matrices of /explore/ that a phone shows first. They
// work without this script; then nothing is remembered.
import { remember, remembered } from "./memory.js";

document.querySelectorAll(".matrix").forEach((matrix) => {
  const select = matrix.querySelector("select");
  const key = matrix.dataset.of;
  const before = [...select.options].find(({ value }) => value === remembered(key));
  if (before) before.selected = true;
  select.addEventListener("change", () => remember(key, select.value));
});
