// The values of a drawing without Vega: each dot has its own in words (site/charts/svg.py). Under the pointer, at a tap, or with
// the arrow keys they are read in a line below the drawing.
const REACH_PX = 24;

const near = (drawing, { clientX, clientY }) => {
  const distance = (dot) => {
    const box = dot.getBoundingClientRect();
    return Math.hypot(clientX - box.x - box.width / 2, clientY - box.y - box.height / 2);
  };
  const all = [...drawing.querySelectorAll("[data-says]")].map((dot) => [distance(dot), dot]);
  const [least, dot] = all.reduce((one, other) => (other[0] < one[0] ? other : one), [Infinity]);
  return least <= REACH_PX ? dot : undefined;
};

const connect = (line) => {
  const still = line.closest("figure").querySelector(".chart-still");
  const asks = line.textContent;
  let read;

  const say = (dot) => {
    if (dot === read) return;
    read?.classList.remove("is-read");
    dot?.classList.add("is-read");
    read = dot;
    line.textContent = dot?.dataset.says ?? asks;
  };

  const step = (by) => {
    const seen = [...still.querySelectorAll("[data-says]")].filter((dot) => dot.getClientRects().length);
    const at = seen.indexOf(read);
    say(seen[at < 0 ? 0 : (at + by + seen.length) % seen.length]);
  };

  still.tabIndex = 0;
  still.setAttribute("role", "group");
  still.setAttribute("aria-labelledby", line.id);
  still.querySelectorAll("svg").forEach((drawing) => {
    ["pointermove", "pointerdown"].forEach((type) => drawing.addEventListener(type, (event) => say(near(drawing, event))));
  });
  still.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    step(by);
  });
};

document.querySelectorAll(".chart-value").forEach(connect);
