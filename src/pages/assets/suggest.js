/** Suggests values while somebody types. If a lookup fails, the list stays as it is. */
{
  const waitMilliseconds = 200;

  const suggest = async (field) => {
    const asked = field.value.trim();
    const query = new URLSearchParams({ name: field.dataset.suggest, text: asked });
    const response = await fetch(`/search/suggest?${query}`);
    if (!response.ok || field.value.trim() !== asked) return;
    const options = (await response.json()).map((value) => new Option("", value));
    field.list?.replaceChildren(...options);
  };

  for (const field of document.querySelectorAll("[data-suggest]")) {
    let waiting;
    field.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => suggest(field).catch(() => {}), waitMilliseconds);
    });
  }
}
