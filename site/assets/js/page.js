// What the scripts of pages share: addresses of this site, its data, elements, and words with places.
globalThis.probeEffect ??= {};
(() => {
  const home = new URL("../", document.currentScript.src);

  // Where `address`, which begins with "/", is of a site that may lie below any path.
  const page = (address) => new URL(address.slice(1), home).href;

  // What `make` promises of a key, made once; what failed may be tried again.
  const once = (make) => {
    const made = new Map();
    return (key) => {
      if (!made.has(key)) made.set(key, make(key).catch((error) => { made.delete(key); throw error; }));
      return made.get(key);
    };
  };

  const fetched = once(async (address) => {
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
    return answer.json();
  });

  // What a reader chose before, on any page; nothing where storage is blocked.
  const remembered = (key) => {
    try {
      return localStorage.getItem(key) ?? "";
    } catch {
      return "";
    }
  };
  const remember = (key, value) => {
    try {
      localStorage.setItem(key, value);
    } catch {
      // Storage is blocked: the choice holds for this page.
    }
  };

  const element = (name, className = "", ...content) => {
    const made = document.createElement(name);
    if (className) made.className = className;
    made.append(...content);
    return made;
  };

  const link = (text, address) => Object.assign(element("a", "", text), { href: address });

  // The row of a table from [content, class] of its cells; the first is its header.
  const row = (cells) => element("tr", "", ...cells.map(([content, className], at) =>
    (at === 0 ? Object.assign(element("th", className, content), { scope: "row" }) : element("td", className, content))));

  const filled = (template, words) => template.replace(/\{(\w+)\}/g, (_, name) => words[name]);

  probeEffect.page = { home, page, once, fetched, remembered, remember, element, link, row, filled };
})();
