// Scripts that wait until a reader comes to what they are for: an element names their file in `data-scripts`, which lies
// beside this one. An address that asks something is answered at once, and so is what a reader chose before, whose key is
// in `data-remembered`.
(() => {
  const { src } = document.currentScript;
  const signs = ["pointerover", "focusin"];

  const isRemembered = (key) => {
    try {
      return key !== undefined && Boolean(localStorage.getItem(key));
    } catch {
      return false;                    // storage is blocked
    }
  };

  const connect = (part) => {
    const load = () => {
      signs.forEach((sign) => part.removeEventListener(sign, load));
      document.head.append(Object.assign(document.createElement("script"), { src: new URL(part.dataset.scripts, src) }));
    };
    if (location.search || isRemembered(part.dataset.remembered)) load();
    else signs.forEach((sign) => part.addEventListener(sign, load));
  };

  document.querySelectorAll("[data-scripts]").forEach(connect);
})();
