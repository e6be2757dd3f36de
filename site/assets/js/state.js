// The state of a page's controls in its address: short, readable, restored by Back and Forward.
// `fields` says for each name, in the order of the address, what it may be: {fallback, many, knows}. `knows` gets a
// value and the values before it, and so does `fallback` where it is a function; `many` values stand with commas.
const fallbackOf = ({ fallback }, values) => (typeof fallback === "function" ? fallback(values) : fallback);

// The values that the address gives, and a sentence on what of it is not known here.
export const read = (fields) => {
  const given = new URLSearchParams(location.search);
  const values = {};
  const ignored = [];
  Object.entries(fields).forEach(([name, field]) => {
    const text = given.get(name);
    const parts = text === null ? [] : [...new Set(field.many ? text.split(",") : [text])];
    const known = parts.filter((part) => field.knows(part, values));
    ignored.push(...parts.filter((part) => !known.includes(part)).map((part) => `${name}=${part}`));
    const found = field.many ? known : known[0];
    values[name] = known.length > 0 ? found : fallbackOf(field, values);
  });
  return { values, told: ignored.length > 0 ? `Ignored from the address, not known here: ${ignored.join(", ")}.` : "" };
};

// What the address has under `name`; null without it.
export const asked = (name) => new URLSearchParams(location.search).get(name);

// The same in parts.
export const given = (name) => asked(name)?.split(",") ?? [];

// Writes values into the address, which is no step of the history; what is empty is taken out.
export const keep = (values) => {
  const address = new URL(location.href);
  Object.entries(values).forEach(([name, value]) => {
    if (value) address.searchParams.set(name, value);
    else address.searchParams.delete(name);
  });
  history.replaceState(null, "", address);
};

// Whether the address says anything of what the form asks.
export const isGiven = (form) => [...new URLSearchParams(location.search).keys()].some((name) => form.elements.namedItem(name));

// Commas and colons stay as they are: they mean nothing in a query, and people read them.
const encoded = (text) => encodeURIComponent(text).replaceAll("%2C", ",").replaceAll("%3A", ":");

// The page with these values: what is not the fallback, after what the address holds beside them.
const address = (values, fields) => {
  const others = [...new URLSearchParams(location.search)].filter(([name]) => !(name in fields));
  const own = Object.entries(fields).map(([name, field]) => [name, String(values[name]), fallbackOf(field, values)])
    .filter(([, value, fallback]) => value !== String(fallback));
  const query = [...others, ...own].map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join("&");
  return `${location.pathname}${query && "?"}${query}`;
};

// A choice is a step that Back takes back; typing is none.
export const write = (values, fields, isTyping) => {
  const wanted = address(values, fields);
  if (wanted === location.pathname + location.search) return;
  history[isTyping ? "replaceState" : "pushState"](null, "", wanted);
};
