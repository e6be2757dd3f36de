// What a page makes of the reader's view: files to keep, and a citation.
import { link } from "./page.js";

export const save = (name, content, type) => {
  const file = content instanceof Blob ? content : new Blob([content], { type });
  const made = Object.assign(link("", URL.createObjectURL(file)), { download: name });
  made.click();
  setTimeout(() => URL.revokeObjectURL(made.href), 60_000);
};

export const blob = (canvas) => new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });

// A drawing on paper: without a ground of its own it would be lost on a dark one.
export const png = async (view, paper) => {
  const drawn = await view.toCanvas(2);
  const pen = drawn.getContext("2d");
  pen.globalCompositeOperation = "destination-over";
  pen.fillStyle = paper;
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.fillRect(0, 0, drawn.width, drawn.height);
  return blob(drawn);
};

// The view's citation: its title and whole address in the places that the data leaves for them.
export const cite = (part, templates, title) => {
  part.querySelectorAll("[data-cite]").forEach((place) => {
    place.textContent = templates[place.dataset.cite].replace("@title@", title)
      .replace("@address@", location.origin + location.pathname + location.search);
  });
};
