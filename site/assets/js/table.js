// A table that a script fills, with headers that sort, and what a reader takes away of it: copies, and files.
import { copy } from "./copy.js";
import { save } from "./files.js";
import { element } from "./page.js";

const header = ({ title, key, className }, sort) => {
  const made = Object.assign(element("th", className), { scope: "col" });
  if (!key) return Object.assign(made, { textContent: title });
  const isOwn = sort.replace("-", "") === key;
  if (isOwn) made.setAttribute("aria-sort", sort.startsWith("-") ? "descending" : "ascending");
  const button = Object.assign(element("button", "sort", title), { type: "button" });
  button.dataset.sort = isOwn && !sort.startsWith("-") ? `-${key}` : key;
  made.append(button);
  return made;
};

// `columns` are {title, className, key, content}: the header sorts by `key`, if there is one, and `content` makes the
// cell of a row. The first cell of a row is its header. `sort` is the key of the column that sorts now, with "-" before
// it for descending.
export const fillTable = (part, columns, rows, sort = "") => {
  const focused = document.activeElement?.dataset.sort?.replace("-", "");
  const cell = ({ className, content }, row, at) => (at > 0 ? element("td", className, content(row))
    : Object.assign(element("th", className, content(row)), { scope: "row" }));
  part.querySelector("thead").replaceChildren(element("tr", "", ...columns.map((one) => header(one, sort))));
  part.querySelector("tbody").replaceChildren(...rows.map((row) => element("tr", "", ...columns.map((one, at) => cell(one, row, at)))));
  if (focused) part.querySelector(`[data-sort$="${focused}"]`)?.focus();
};

// The rows as `sort` says. `orders` compares two by each key; `first` decides before it, and `ties` behind it.
export const sorted = (rows, sort, orders, { first = () => 0, ties = [] } = {}) => {
  const [order, way] = [orders[sort.replace("-", "")], sort.startsWith("-") ? -1 : 1];
  return [...rows].sort((a, b) => first(a, b) || way * order(a, b) || ties.reduce((found, tie) => found || tie(a, b), 0));
};

// Text that a spreadsheet would run gets an apostrophe in front (OWASP, CSV injection), as in site/files.py.
const cell = (value, formula, between) => {
  const text = String(value ?? "");
  const safe = typeof value === "string" && new RegExp(`^(?:${formula})`).test(text) ? `'${text}` : text;
  return new RegExp(`["\\n\\r${between}]`).test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
};

export const csv = (records, formula, between = ",") => [Object.keys(records[0] ?? {}), ...records.map(Object.values)]
  .map((row) => `${row.map((value) => cell(value, formula, between)).join(between)}\n`).join("");

// What the buttons of a table do: `records` as files, in JSON under `name` with the view's address; copied, cells have
// tabs between them, by which spreadsheets know columns.
export const savers = (file, name, records, { version, formula }) => ({
  csv: () => save(`${file}.csv`, csv(records(), formula), "text/csv"),
  json: () => save(`${file}.json`, JSON.stringify({ version, address: location.href, [name]: records() }, null, 1), "application/json"),
  copy: (table, message) => copy(csv(records(), formula, "\t"), table, message),
});
