/** Shows a page's copy buttons, inserts its origin into code, and removes a new key when the page is left. */
{
  for (const place of document.querySelectorAll("[data-origin]"))
    place.textContent = location.origin;

  const select = (element) => getSelection().selectAllChildren(element);
  // The clipboard API exists only over https and on loopback hosts; otherwise the older way is tried.
  const copy = async (code) => {
    try {
      await navigator.clipboard.writeText(code.textContent);
      return true;
    } catch {
      select(code);
      return document.execCommand("copy");
    }
  };
  for (const button of document.querySelectorAll("[data-copy]")) {
    const told = document.createElement("span");
    told.className = "unseen";
    told.role = "status";
    button.after(told);
    let back;
    button.addEventListener("click", async () => {
      const code = button.parentElement.querySelector("code");
      const word = (await copy(code)) ? "Copied" : "Selected";
      button.textContent = told.textContent = word;
      clearTimeout(back);
      back = setTimeout(() => {
        button.textContent = "Copy";
        told.textContent = "";
      }, 2000);
    });
    button.hidden = false;
  }

  // A browser may keep a page in memory and show it again after "back" or "forward".
  addEventListener("pagehide", () => {
    for (const secret of document.querySelectorAll("[data-once]")) secret.remove();
  });
}
