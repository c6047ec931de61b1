/** Suggests records while somebody types a name, as a combobox with a list. If a lookup fails, the list stays as it is. */
{
  const waitMilliseconds = 120;

  const make = (tag, properties, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };

  /** Returns a name in which the typed words are marked. */
  const marked = (name, text) => {
    const typed = text.split(/\s+/).map((word) => RegExp.escape?.(word) ?? "$^");
    const parts = name.split(new RegExp(`(${typed.join("|")})`, "i"));
    return parts.map((part, i) => (i % 2 === 0 ? part : make("b", { textContent: part })));
  };

  const optionOf = ({ name, about, note, href }, text) =>
    make(
      "a",
      { href, role: "option", tabIndex: -1 },
      make("span", {}, ...marked(name, text)),
      make("small", { textContent: about }),
      make("i", { textContent: note }),
    );

  const attach = (form, number) => {
    const field = form.querySelector("input");
    const list = make("div", { id: `suggested-${number}`, role: "listbox" });
    list.ariaLabel = "Suggestions";
    const foot = make("p", { role: "status" });
    const menu = make("div", { className: "suggestions", hidden: true }, list, foot);
    const options = list.getElementsByTagName("a");
    let active = -1;
    let waiting;

    const choose = (next) => {
      active = next;
      [...options].forEach((option, i) => (option.ariaSelected = String(i === active)));
      options[active]?.scrollIntoView({ block: "nearest" });
      field.setAttribute("aria-activedescendant", options[active]?.id ?? "");
    };
    const show = (isShown) => {
      menu.hidden = !isShown;
      field.ariaExpanded = String(isShown);
      choose(-1);
    };
    const fill = ({ total, groups }, text) => {
      const groupOf = ({ label, rows }) => {
        const head = make("span", { textContent: label, ariaHidden: "true" });
        const each = rows.map((row) => optionOf(row, text));
        return make("div", { role: "group", ariaLabel: label }, head, ...each);
      };
      list.replaceChildren(...groups.map(groupOf));
      [...options].forEach((option, i) => (option.id = `${list.id}-${i}`));
      const href = `/search?${new URLSearchParams({ q: text })}`;
      const all = make("a", { href, textContent: `All results for “${text}”` });
      const isFound = options.length > 0;
      foot.replaceChildren(isFound ? `${options.length} of ${total} results` : "No results");
      if (isFound) foot.append(all);
      show(true);
    };
    const suggest = async () => {
      const asked = field.value.trim();
      if ([...asked].length < 2) return show(false);
      const response = await fetch(`/search/suggest?${new URLSearchParams({ q: asked })}`);
      if (response.ok && field.value.trim() === asked && document.activeElement === field)
        fill(await response.json(), asked);
    };
    /** Moves the choice round. -1, the field itself, comes before the first and after the last option. */
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
      else if (event.key === "Escape") show(false);
      else if (event.key === "Enter" && active !== -1) options[active].click();
      else return;
      event.preventDefault();
    });
    form.addEventListener("focusout", ({ relatedTarget }) => {
      if (!form.contains(relatedTarget)) show(false);
    });
    Object.assign(field, { role: "combobox", ariaAutoComplete: "list", ariaExpanded: "false" });
    field.setAttribute("aria-controls", list.id);
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
}
