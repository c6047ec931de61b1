/** Suggests records while somebody types a name, as a combobox with a list. The list stays if a lookup fails. */
{
  const waitMilliseconds = 120;

  const attach = (form) => {
    const field = form.querySelector("input");
    const menu = document.createElement("div");
    menu.className = "suggestions";
    menu.hidden = true;
    let options = [];
    let active = -1;
    let waiting;

    const choose = (next) => {
      active = next;
      options.forEach((option, i) => (option.ariaSelected = String(i === active)));
      options[active]?.scrollIntoView({ block: "nearest" });
      field.setAttribute("aria-activedescendant", options[active]?.id ?? "");
    };
    /** Shows a list from the service, which has already escaped it. Hides the list if it is empty. */
    const show = (list) => {
      const parsed = new DOMParser().parseFromString(list, "text/html");
      menu.replaceChildren(...parsed.body.childNodes);
      menu.hidden = list === "";
      field.ariaExpanded = String(!menu.hidden);
      options = [...menu.querySelectorAll('[role="option"]')];
      choose(-1);
    };
    const suggest = async () => {
      const asked = field.value.trim();
      if ([...asked].length < 2) return show("");
      const response = await fetch(`/search/suggest?${new URLSearchParams({ q: asked })}`);
      if (response.ok && field.value.trim() === asked && document.activeElement === field)
        show(await response.text());
    };
    /** Moves the choice around. -1, the field itself, comes before the first and after the last option. */
    const move = (by) =>
      choose(((active + 1 + by + options.length + 1) % (options.length + 1)) - 1);

    field.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => suggest().catch(() => {}), waitMilliseconds);
    });
    field.addEventListener("keydown", (event) => {
      if (menu.hidden || event.isComposing) return;
      if (event.key === "ArrowDown") move(1);
      else if (event.key === "ArrowUp") move(-1);
      else if (event.key === "Escape") show("");
      else if (event.key === "Enter" && active !== -1) options[active].click();
      else return;
      event.preventDefault();
    });
    form.addEventListener("focusout", ({ relatedTarget }) => {
      if (!form.contains(relatedTarget)) show("");
    });
    Object.assign(field, { role: "combobox", ariaAutoComplete: "list", ariaExpanded: "false" });
    field.setAttribute("aria-controls", "suggested");
    form.append(menu);
  };

  const forms = [...document.querySelectorAll("form.search")];
  forms.forEach(attach);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input, textarea, select, [contenteditable]")) return;
    const fields = forms.map((form) => form.querySelector("input"));
    const field = fields.find((one) => one.checkVisibility());
    if (field === undefined) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
  // The field shows the key that focuses it.
  const key = document.querySelector(".search kbd");
  if (key !== null) key.hidden = false;
}
