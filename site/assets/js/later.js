// Scripts that wait until a reader comes to what they are for: an element names their file in `data-scripts`, which is
// beside this one. An address that asks something is answered at once, and so is what a reader chose before, whose key is
// in `data-remembered`.
import { remembered } from "./memory.js";

const signs = ["pointerover", "focusin"];

document.querySelectorAll("[data-scripts]").forEach((part) => {
  const load = () => {
    signs.forEach((sign) => part.removeEventListener(sign, load));
    // What is asked before the script is here is answered late, and says so.
    part.addEventListener("input", () => {
      const status = part.querySelector("[role=status]");
      if (part.dataset.state !== "loading" || !status) return;
      part.setAttribute("aria-busy", "true");
      status.textContent = "Loading the costs.";
    });
    import(new URL(part.dataset.scripts, import.meta.url));
  };
  if (location.search || remembered(part.dataset.remembered)) load();
  else signs.forEach((sign) => part.addEventListener(sign, load));
});
