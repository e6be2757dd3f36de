// Citations: addresses get their host where the site was built without one, and the line that a reader came for; both
// forms of a page's own citation can be copied.
import { copy } from "./copy.js";
import { page } from "./page.js";

const block = document.querySelector("details.cite");

// The page's address ends the text, and the last entry of the BibTeX.
const patterns = [
  [".cite-text", /(?<=\s)(\/|https?:)\S*$/],
  [".cite-bibtex", /(?<=\n\s+url\s+= \{)[^}]*(?=\},\n\}$)/],
];
const forms = patterns.flatMap(([selector, address]) =>
  [...document.querySelectorAll(selector)].map((element) => ({ element, address, printed: element.textContent })));

// A line of a table that the address leads to: a figure of a source, a quantity of a number.
const line = () => {
  const place = location.hash && document.getElementById(location.hash.slice(1));
  return place && place.matches("a.place") ? location.hash : "";
};
const complete = () => {
  for (const { element, address, printed } of forms) {
    const hash = block?.contains(element) ? line() : "";
    element.textContent = printed.replace(address, (found) => (found.startsWith("/") ? page(found) : found) + hash);
  }
};
addEventListener("hashchange", complete);
complete();

block?.querySelectorAll("[data-copy]").forEach((button) => button.addEventListener("click", () => {
  const wanted = block.querySelector(`.cite-${button.dataset.copy}`);
  copy(wanted.textContent, wanted, block.querySelector(".cite-message"));
}));
