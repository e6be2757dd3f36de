// Runs before the first paint: applies the stored theme, and says that scripts run.
// A file of its own, because the content policy forbids inline scripts.
import { remembered } from "./memory.js";

const root = document.documentElement;
const theme = remembered("theme");
root.classList.add("scripted");
if (theme === "light" || theme === "dark") root.dataset.theme = theme;
