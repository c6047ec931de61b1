/** Chooses light or dark before the first paint, and lets the reader change it. */
{
  const root = document.documentElement;
  const asked = matchMedia("(prefers-color-scheme: dark)");

  // Storage throws where the browser forbids it; the page then follows the system.
  const remembered = () => {
    try {
      return localStorage.getItem("theme");
    } catch {
      return null;
    }
  };
  const remember = (theme) => {
    try {
      localStorage.setItem("theme", theme);
    } catch {}
  };

  const theme = () => root.dataset.theme ?? (asked.matches ? "dark" : "light");
  const stored = remembered();
  if (stored === "dark" || stored === "light") root.dataset.theme = stored;

  document.addEventListener("DOMContentLoaded", () => {
    const button = document.querySelector("[data-theme-switch]");
    const label = () => {
      button.ariaLabel = button.title = theme() === "dark" ? "Light theme" : "Dark theme";
    };
    button.addEventListener("click", () => {
      root.dataset.theme = theme() === "dark" ? "light" : "dark";
      remember(root.dataset.theme);
      label();
    });
    asked.addEventListener("change", label);
    label();
    button.hidden = false;
  });
}
