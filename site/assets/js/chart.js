// "Explore this chart": replaces the drawing by a live Vega view in the same box, and back.
// Vega is fetched at the first wish only. Whatever fails, the drawing stays. Which chart is live, and what its reader chose
// in it, is in the page's address.
import { fetched } from "./page.js";
import { asked, given, keep } from "./state.js";
import { loadVega, options, wideScreen } from "./vega-loader.js";

const loadSpec = (figure) => {
  const wide = figure.querySelector(".chart-spec").href;
  return fetched(wideScreen.matches ? wide : new URL("narrow.json", wide).href);
};

const connect = (figure) => {
  const button = figure.querySelector(".chart-explore");
  const message = figure.querySelector(".chart-message");
  const layer = figure.querySelector(".chart-live");
  const choices = Object.assign(document.createElement("div"), { className: "chart-choices" });
  figure.querySelector(".chart-more").before(choices);
  const words = { still: button.textContent, loading: "Loading the chart", live: "Back to the still chart" };
  let view;

  const show = (state) => {
    figure.dataset.state = state;
    button.textContent = words[state];
    button.setAttribute("aria-disabled", String(state === "loading"));
    layer.hidden = state !== "live";
    figure.querySelector(".chart-still").setAttribute("aria-hidden", String(state === "live"));
  };

  const still = () => {
    view?.finalize();
    view = undefined;
    layer.replaceChildren();
    choices.replaceChildren();
    show("still");
  };

  const live = async () => {
    show("loading");
    message.textContent = "";
    try {
      const [embed, spec] = await Promise.all([loadVega(), loadSpec(figure)]);
      view = await embed(layer, spec, { ...options, bind: choices });
      show("live");
    } catch {
      still();
      message.textContent = "The drawing stays: the live chart could not be loaded.";
    }
  };

  const chosen = () => [...choices.querySelectorAll("input:checked")].map(({ name }) => name).join();
  const choose = () => {
    const wanted = given("choices");
    choices.querySelectorAll("input:not(:checked)").forEach((one) => { if (wanted.includes(one.name)) one.click(); });
  };

  button.addEventListener("click", () => {
    if (figure.dataset.state === "live") {
      still();
      keep({ live: "", choices: "" });
    } else if (figure.dataset.state !== "loading") {
      keep({ live: figure.id, choices: "" });
      live();
    }
  });
  choices.addEventListener("change", () => keep({ choices: chosen() }));
  if (asked("live") === figure.id) live().then(choose);
  // The other width has another drawing, so a live view would no longer fit.
  wideScreen.addEventListener("change", () => {
    if (figure.dataset.state === "live") still();
  });
};

// A site that does not know where it is asks its own address, so that the frame works elsewhere.
const complete = (code) => {
  const link = code.closest(".chart-more").querySelector(".chart-spec");
  const address = new URL("embed.html", link.href).href;
  code.textContent = code.textContent.replace(/(src=")\/[^"]*/, (_, start) => start + address);
};

document.querySelectorAll("figure.chart:has(.chart-spec)").forEach(connect);
document.querySelectorAll(".chart-embed code").forEach(complete);
