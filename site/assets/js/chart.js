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

  // Which chart is live, and what its reader chose in it, is in the page's address.
  const given = (name) => new URLSearchParams(location.search).get(name);
  const keep = (values) => {
    const address = new URL(location.href);
    Object.entries(values).forEach(([name, value]) => {
      if (value) address.searchParams.set(name, value);
      else address.searchParams.delete(name);
    });
    history.replaceState(null, "", address);
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
    const choices = Object.assign(document.createElement("div"), { className: "chart-choices" });
    figure.querySelector(".chart-more").before(choices);
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
      } catch (error) {
        still();
        message.textContent = `The drawing stays: ${error.message}.`;
      }
    };

    const chosen = () => [...choices.querySelectorAll("input:checked")].map(({ name }) => name).join();
    const choose = () => {
      const wanted = given("choices")?.split(",") ?? [];
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
    if (given("live") === figure.id) live().then(choose);
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
