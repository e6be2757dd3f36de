// Vega, which draws live charts: fetched at the first wish, and what every chart tells it.
import { home, once } from "./page.js";

export const wideScreen = /* @__PURE__ */ matchMedia("(min-width: 720px)");

export const options = {
  ast: true,                                  // evaluates without eval, which the content policy forbids
  renderer: "svg",                            // so that the style sheet colours it like the drawing
  actions: false,
  defaultStyle: false,
  tooltip: { disableDefaultStyle: true },
};

const program = /* @__PURE__ */ once((src) => new Promise((resolve, onerror) => {
  const onload = () => resolve(window.vegaEmbed);
  document.head.append(Object.assign(document.createElement("script"), { src, onload, onerror }));
}));

export const loadVega = () => program(`${home}js/vega.js`);
