// The page that was not found: its search link looks for the words of the address that was asked for.
const link = document.querySelector(".not-found a");
const words = decodeURI(location.pathname).split("/").filter((part) => part !== "").pop() ?? "";
const spoken = words.replace(/^\d+-|\.\w+$/g, "").replace(/[-_]+/g, " ").trim();
if (spoken !== "") {
  link.search = new URLSearchParams({ q: spoken });
  link.textContent = `search for “${spoken}”`;
}
