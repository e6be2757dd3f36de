// A fold whose content has an address is in the page's while it is open, unless the page's leads to something else; and
// what an address points into is opened, in browsers too that do not do that themselves.
const pointed = () => document.getElementById(location.hash.slice(1));
const open = () => {
  for (let fold = pointed()?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
};
addEventListener("hashchange", open);
open();

document.addEventListener("click", ({ target }) => {
  const fold = target.closest("summary")?.parentElement;
  const place = fold?.querySelector(":scope > [id], :scope > summary > [id]");
  if (!place) return;
  const now = pointed();
  if (fold.open && now === place) history.replaceState(null, "", location.pathname + location.search);
  else if (!fold.open && (!now || now.closest("details"))) history.replaceState(null, "", `#${place.id}`);
});
