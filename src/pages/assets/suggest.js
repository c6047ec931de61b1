/** Suggests records while somebody types a name, as a combobox with a list. If a lookup fails, the list stays as it is. */
{
  const waitMilliseconds = 120;

  const make = (tag, properties, ...children) => {
    const { role, ...others } = properties;
    const made = Object.assign(document.createElement(tag), others);
    if (role) made.setAttribute("role", role);
    made.append(...children);
    return made;
  };

  /** Returns a name in which the typed words are marked. */
  const marked = (name, text) => {
    const words = text.split(/\s+/).map((word) => RegExp.escape?.(word) ?? "");
    const typed = words.filter((word) => word !== "").join("|");
    const parts = typed === "" ? [name] : name.split(new RegExp(`(${typed})`, "i"));
    return parts.map((part, i) => (i % 2 === 0 ? part : make("b", { textContent: part })));
  };

  const attach = (form, number) => {
    const field = form.querySelector("input");
    const list = make("div", {
      id: `suggested-${number}`,
      role: "listbox",
      ariaLabel: "Suggestions",
    });
    const foot = make("p", { role: "status" });
    const menu = make("div", { className: "suggestions", hidden: true }, list, foot);
    let options = [];
    let active = -1;
    let waiting;

    const choose = (next) => {
      options[active]?.setAttribute("aria-selected", "false");
      active = next;
      const option = options[active];
      option?.setAttribute("aria-selected", "true");
      option?.scrollIntoView({ block: "nearest" });
      if (option) field.setAttribute("aria-activedescendant", option.id);
      else field.removeAttribute("aria-activedescendant");
    };
    const show = (isShown) => {
      menu.hidden = !isShown;
      field.setAttribute("aria-expanded", String(isShown));
      if (!isShown) choose(-1);
    };
    const fill = ({ total, groups }, text) => {
      options = [];
      const optionOf = ({ name, about, note, href }) => {
        const title = make("span", {}, ...marked(name, text));
        const option = make("a", {
          id: `${list.id}-${options.length}`,
          href,
          role: "option",
          tabIndex: -1,
        });
        option.append(
          title,
          make("small", { textContent: about }),
          make("i", { textContent: note }),
        );
        option.setAttribute("aria-selected", "false");
        options.push(option);
        return option;
      };
      const groupOf = ({ label, rows }) => {
        const head = make("span", { textContent: label, ariaHidden: "true" });
        return make("div", { role: "group", ariaLabel: label }, head, ...rows.map(optionOf));
      };
      list.replaceChildren(...groups.map(groupOf));
      const words = options.length === 0 ? "No results" : `${options.length} of ${total} results`;
      foot.replaceChildren(words);
      if (options.length > 0) {
        const all = new URLSearchParams({ q: text });
        foot.append(
          make("a", { href: `/search?${all}`, textContent: `All results for “${text}”` }),
        );
      }
      choose(-1);
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
    field.setAttribute("role", "combobox");
    field.setAttribute("aria-autocomplete", "list");
    field.setAttribute("aria-controls", list.id);
    field.setAttribute("aria-expanded", "false");
    form.append(menu);
  };

  const forms = [...document.querySelectorAll("form.search")];
  forms.forEach(attach);
  const isTyping = ({ target }) =>
    target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event))
      return;
    const field = forms
      .map((form) => form.querySelector("input"))
      .find((one) => one.checkVisibility());
    if (field === undefined) return;
    event.preventDefault();
    field.focus();
    field.select();
  });
}
