// A drawing as PNG, made of its SVG, whose link is before the button; where that fails, the SVG is shown.
import { blob, save } from "./files.js";
import { element } from "./page.js";

const SHARP = 2;  // dots to each of the drawing, for dense screens and for paper

const png = async (address) => {
  const drawing = Object.assign(new Image(), { src: address });
  await drawing.decode();
  const drawn = Object.assign(element("canvas"), { width: SHARP * drawing.naturalWidth, height: SHARP * drawing.naturalHeight });
  drawn.getContext("2d").drawImage(drawing, 0, 0, drawn.width, drawn.height);
  return blob(drawn);
};

document.querySelectorAll("[data-png]").forEach((button) => {
  const { href } = button.previousElementSibling;
  button.addEventListener("click", () => png(href).then((made) => save(button.dataset.png, made), () => location.assign(href)));
});
