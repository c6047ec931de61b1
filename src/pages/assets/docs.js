/** Makes the forms in the docs send their requests and show the answers. */
{
  const keyFields = [...document.querySelectorAll("[data-key]")];

  // The key is kept for this tab and this origin only. Storage throws if it is blocked.
  const rememberedKey = () => {
    try {
      return sessionStorage.getItem("api-key") ?? "";
    } catch {
      return "";
    }
  };
  const rememberKey = (key) => {
    try {
      sessionStorage.setItem("api-key", key);
    } catch {}
  };

  const setKey = (key, except) => {
    for (const field of keyFields) if (field !== except) field.value = key;
  };

  /**
   * Returns a form's path and query. Leaves out empty fields, so that the service's defaults apply. Sends a line of
   * `name=value` as it is, even if it has no value, so that the service names the fault.
   */
  const targetOf = (form) => {
    const pairs = new URLSearchParams();
    for (const { name, value } of form.querySelectorAll("[name]"))
      for (const line of value.split("\n")) if (line.trim() !== "") pairs.append(name, line.trim());
    for (const { value } of form.querySelectorAll("[data-pairs]"))
      for (const line of value.split("\n")) {
        const [name, ...rest] = line.split("=");
        if (line.trim() !== "") pairs.append(name.trim(), rest.join("=").trim());
      }
    const query = pairs.toString();
    return form.dataset.path + (query === "" ? "" : `?${query}`);
  };

  /** Shows the request as a curl command. The query encodes all characters that are special between double quotes. */
  const showCurl = (form) => {
    const line = `curl -H "x-api-key: YOUR_KEY" "${form.dataset.base || location.origin}${targetOf(form)}"`;
    form.querySelector(".copyable code").textContent = line;
  };

  const shownHeaders = [
    "RateLimit",
    "RateLimit-Policy",
    "Retry-After",
    "Dataset-Version",
    "X-Request-Id",
  ];
  const showHeaders = (list, headers) => {
    const rows = shownHeaders.flatMap((name) => {
      if (!headers.has(name)) return [];
      const row = document.createElement("div");
      row.append(document.createElement("dt"), document.createElement("dd"));
      row.firstChild.textContent = name;
      row.lastChild.className = "mono";
      row.lastChild.textContent = headers.get(name);
      return [row];
    });
    list.replaceChildren(...rows);
  };

  /** Returns JSON indented, with lists of plain values on one line. Returns other text unchanged. */
  const pretty = (text) => {
    try {
      const lines = JSON.stringify(JSON.parse(text), null, 2);
      return lines.replace(
        /\[\n\s+([^[\]{}]+?)\n\s+\]/g,
        (_, list) => `[${list.replace(/\n\s+/g, " ")}]`,
      );
    } catch {
      return text;
    }
  };

  /** Each form's last request. Only its answer is shown, even if an earlier answer arrives later. */
  const lastSent = new WeakMap();
  const send = async (form) => {
    const turn = {};
    lastSent.set(form, turn);
    const key = keyFields.find((field) => form.contains(field)).value.trim();
    const outcome = form.querySelector(".outcome");
    const answer = form.querySelector(".answer");
    outcome.textContent = "Sending.";
    answer.hidden = true;
    const begun = performance.now();
    try {
      const response = await fetch(targetOf(form), {
        headers: key === "" ? {} : { "x-api-key": key },
        cache: "no-store",
      });
      const text = await response.text();
      if (lastSent.get(form) !== turn) return;
      const milliseconds = Math.round(performance.now() - begun);
      const status = `${response.status} ${response.statusText}`.trim();
      outcome.textContent = `${status} in ${milliseconds} ms`;
      showHeaders(answer.querySelector("dl"), response.headers);
      answer.querySelector("code").textContent = pretty(text);
      answer.hidden = false;
    } catch (fault) {
      if (lastSent.get(form) !== turn) return;
      outcome.textContent = `The request was not answered: ${fault.message}. Check the key and the connection, then send it again.`;
    }
  };

  setKey(rememberedKey());
  for (const field of keyFields)
    field.addEventListener("input", () => {
      rememberKey(field.value.trim());
      setKey(field.value, field);
    });
  for (const form of document.querySelectorAll("form.try")) {
    form.addEventListener("input", () => showCurl(form));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void send(form);
    });
    form.querySelector("fieldset").disabled = false;
    showCurl(form);
  }
}
