// Runs before the first paint: applies the stored theme, and says that scripts run.
// A file of its own, because the content policy forbids inline scripts.
(() => {
  const root = document.documentElement;
  root.classList.add("scripted");
  try {
    const theme = localStorage.getItem("theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  } catch {
    // Storage is blocked: the system's theme holds.
  }
})();
