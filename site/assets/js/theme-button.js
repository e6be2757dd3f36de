// The theme button: names what it will do, does it, and remembers.
import { remember } from "./memory.js";

const root = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)");
const button = document.querySelector(".theme-button");
const label = button.querySelector("[data-theme-label]");

const other = () => ((root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark" ? "light" : "dark");
const word = () => { label.textContent = `Change to the ${other()} theme`; };

button.addEventListener("click", () => {
  root.dataset.theme = other();
  remember("theme", root.dataset.theme);
  word();
});
system.addEventListener("change", word);
word();
