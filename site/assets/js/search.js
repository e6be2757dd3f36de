// Search: words in, pages out. The index is fetched in pieces, only those that the words need.
import { element, home, link, once } from "./page.js";
import { asked, keep } from "./state.js";

const form = document.querySelector("form.search");
const results = document.querySelector(".search-results");
const shownAtOnce = 10;
const pause = 150;               // ms without a key before a search begins
const stopWords = new Set("a an and are as at be by can do does for from how i in is it my of on or the this to versus vs vs. what when which why with".split(" "));

const load = once(async () => {
  const loaded = await import(`${home}pagefind/pagefind.js`);
  // What a page is called, and the words that readers have for it (assets/search.toml), say more than its text.
  await loaded.options({ baseUrl: new URL(home).pathname, excerptLength: 24, ranking: { metaWeights: { title: 2, also: 40, section: 0, says: 0 } } });
  return loaded;
});

// Words that say nothing of what is sought are left out, unless there are no others.
const telling = (words) => words.split(/\s+/).filter((word) => !stopWords.has(word.toLowerCase())).join(" ") || words;

// The excerpt is HTML in which only <mark> means something; everything else becomes text.
const excerpt = (html) => {
  const made = element("p");
  new DOMParser().parseFromString(html, "text/html").body.childNodes.forEach((node) => {
    made.append(node.nodeName === "MARK" ? element("mark", "", node.textContent) : node.textContent);
  });
  return made;
};

// Of a text with sections the one that has most of the words; a case begins with its answer.
const partOf = ({ url, meta, sub_results: parts }) => (meta.says ? [] : parts)
  .filter((one) => one.url !== url && !one.url.endsWith("#references-of-page"))
  .sort((one, other) => other.locations.length - one.locations.length)[0];

const entry = (found) => {
  const part = partOf(found);
  const { says, section, title } = found.meta;
  return element("li", "", link(title, found.url), ...(section ? [" ", element("span", "search-section", section)] : []),
    ...(part ? [element("p", "search-part", link(part.title, part.url))] : []), excerpt(says || (part ?? found).excerpt));
};

const list = async (found, start) => {
  const pages = await Promise.all(found.slice(start, start + shownAtOnce).map((one) => one.data()));
  return pages.map(entry);
};

const more = (found, entries) => {
  const button = element("button", "search-more", "More pages");
  button.type = "button";
  button.addEventListener("click", async () => {
    const next = await list(found, entries.children.length);
    entries.append(...next);
    next[0]?.querySelector("a").focus();
    if (entries.children.length >= found.length) button.remove();
  });
  return button;
};

let last = 0;
const search = async (words) => {
  last += 1;
  const mine = last;
  if (words === "") {
    results.replaceChildren();
    return;
  }
  try {
    const { results: found } = await (await load()).search(telling(words));
    const entries = element("ol", "search-pages", ...await list(found, 0));
    if (mine !== last) return;   // the reader has typed on
    const count = found.length === 0
      ? `No page has “${words}”.`
      : `${found.length} ${found.length === 1 ? "page is" : "pages are"} nearest to “${words}”.`;
    results.replaceChildren(element("p", "search-count", count), entries,
      ...(found.length > shownAtOnce ? [more(found, entries)] : []));
  } catch {
    results.replaceChildren(element("p", "search-count", "The index could not be loaded."));
  }
};

const restore = () => {
  form.elements.q.value = asked("q") ?? "";
  return search(form.elements.q.value.trim());
};

let timer;
form.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const words = form.elements.q.value.trim();
    keep({ q: words });
    search(words);
  }, pause);
});
form.addEventListener("submit", (event) => event.preventDefault());
addEventListener("popstate", restore);
restore();
