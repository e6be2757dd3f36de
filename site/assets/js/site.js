// The theme button: names what it will do, does it, and remembers.
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const button = document.querySelector(".theme-button");
  const label = button.querySelector("[data-theme-label]");

  const shown = () => root.dataset.theme ?? (system.matches ? "dark" : "light");
  const other = () => (shown() === "dark" ? "light" : "dark");
  const word = () => { label.textContent = `Change to the ${other()} theme`; };

  button.addEventListener("click", () => {
    root.dataset.theme = other();
    try {
      localStorage.setItem("theme", root.dataset.theme);
    } catch {
      // Storage is blocked: the choice holds for this page.
    }
    word();
  });
  system.addEventListener("change", word);
  word();
})();
