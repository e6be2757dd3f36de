// What the scripts of pages share: addresses of this site, its data, elements, and words with places.

// The site may be below any path; scripts are in /js/ of it.
export const home = new URL("../", import.meta.url).href;

// The whole address of one that begins with "/".
export const page = (address) => home + address.slice(1);

// What `make` promises of a key, made once; what failed may be tried again.
export const once = (make) => {
  const made = new Map();
  return (key) => {
    if (!made.has(key)) made.set(key, make(key).catch((error) => { made.delete(key); throw error; }));
    return made.get(key);
  };
};

export const fetched = /* @__PURE__ */ once(async (address) => {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  return answer.json();
});

export const element = (name, className = "", ...content) => {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...content);
  return made;
};

export const link = (text, address) => Object.assign(element("a", "", text), { href: address });

export const filled = (template, words) => template.replace(/\{(\w+)\}/g, (_, name) => words[name]);
