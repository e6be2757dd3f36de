// "Explore this chart": replaces the drawing by a live Vega view in the same box, and back.
// Vega is fetched at the first wish only. Whatever fails, the drawing stays.
(() => {
  const vegaAddress = new URL("vega.js", document.currentScript.src);
  const wideScreen = matchMedia("(min-width: 720px)");
  const words = {
    still: "Explore this chart",
    loading: "Loading the chart",
    live: "Back to the still chart",
  };
  const options = {
    ast: true,                                  // evaluates without eval, which the content policy forbids
    renderer: "svg",                            // so that the style sheet colours it like the drawing
    actions: false,
    defaultStyle: false,
    tooltip: { disableDefaultStyle: true },
  };

  let vega;
  const loadVega = () => {
    vega ??= new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = vegaAddress;
      script.addEventListener("load", () => resolve(window.vegaEmbed));
      script.addEventListener("error", () => {
        vega = undefined;                       // a later click may try again
        reject(new Error("the chart program could not be loaded"));
      });
      document.head.append(script);
    });
    return vega;
  };

  const loadSpec = async (figure) => {
    const wide = figure.querySelector(".chart-spec").href;
    const address = wideScreen.matches ? wide : new URL("narrow.json", wide);
    const answer = await fetch(address);
    if (!answer.ok) throw new Error("the chart's specification could not be loaded");
    return answer.json();
  };

  const connect = (figure) => {
    const button = figure.querySelector(".chart-explore");
    const message = figure.querySelector(".chart-message");
    const layer = figure.querySelector(".chart-live");
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
      show("still");
    };

    const live = async () => {
      show("loading");
      message.textContent = "";
      try {
        const [embed, spec] = await Promise.all([loadVega(), loadSpec(figure)]);
        view = await embed(layer, spec, options);
        show("live");
      } catch (error) {
        still();
        message.textContent = `The drawing stays: ${error.message}.`;
      }
    };

    button.addEventListener("click", () => {
      if (figure.dataset.state === "live") still();
      else if (figure.dataset.state !== "loading") live();
    });
    // The other width has another drawing, so a live view would no longer fit.
    wideScreen.addEventListener("change", () => {
      if (figure.dataset.state === "live") still();
    });
  };

  globalThis.probeEffect ??= {};
  probeEffect.vega = { load: loadVega, options, wideScreen };
  // A site that does not know where it is asks its own address, so that the frame works elsewhere.
  const complete = (code) => {
    const link = code.closest(".chart-more").querySelector(".chart-spec");
    const address = new URL("embed.html", link.href).href;
    code.textContent = code.textContent.replace(/(src=")\/[^"]*/, (_, start) => start + address);
  };

  document.querySelectorAll("figure.chart:has(.chart-spec)").forEach(connect);
  document.querySelectorAll(".chart-embed code").forEach(complete);
})();
