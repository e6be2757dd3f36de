// Citations: addresses get their host where the site was built without one, and the line that a reader came for; both
// forms of a page's own citation can be copied.
(() => {
  const block = document.querySelector("details.cite");

  // Hugo made the wordmark's link relative, so it knows below which path the site lies.
  const root = document.querySelector(".wordmark").href.replace(/[?#].*$/, "").replace(/\/(index\.html)?$/, "");
  const whole = (address) => (address.startsWith("/") ? root + address : address);
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
      element.textContent = printed.replace(address, (found) => whole(found) + hash);
    }
  };
  addEventListener("hashchange", complete);
  complete();
  if (!block) return;

  const message = block.querySelector(".cite-message");
  for (const button of block.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", async () => {
      const wanted = block.querySelector(`.cite-${button.dataset.copy}`);
      try {
        await navigator.clipboard.writeText(wanted.textContent);
        message.textContent = "Copied.";
      } catch {
        getSelection().selectAllChildren(wanted);   // no clipboard at an insecure address: the reader's own keys copy
        message.textContent = "Selected: copy it with your keyboard.";
      }
    });
  }
})();
