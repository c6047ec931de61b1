/** Makes the form on a page of the docs send its request and show the answer. */
{
  const form = document.querySelector("form.try");
  const keyField = form.querySelector("[data-key]");
  const outcome = form.querySelector(".outcome");
  const answer = document.querySelector(".answer");
  const body = answer.querySelector("code");

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

  /**
   * Returns the form's path and query. Leaves out empty fields, so that the service's defaults apply. Keeps a line of
   * `name=value` as it is, even if it has no value, so that the service names the fault.
   */
  const targetOf = () => {
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

  /** Puts the request into the code. A query encodes every character that is special in a quoted string. */
  const showCode = () => {
    const target = targetOf();
    for (const code of document.querySelectorAll(".codes code"))
      code.textContent = code.textContent.replace(`${form.dataset.target}"`, `${target}"`);
    form.dataset.target = target;
  };

  const shownHeaders = [
    "RateLimit",
    "RateLimit-Policy",
    "Retry-After",
    "Dataset-Version",
    "X-Request-Id",
  ];
  const showHeaders = (headers) => {
    const rows = shownHeaders.flatMap((name) => {
      if (!headers.has(name)) return [];
      const row = document.createElement("div");
      row.append(document.createElement("dt"), document.createElement("dd"));
      row.firstChild.textContent = name;
      row.lastChild.className = "mono";
      row.lastChild.textContent = headers.get(name);
      return [row];
    });
    answer.querySelector("dl").replaceChildren(...rows);
    answer.querySelector("details").hidden = false;
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

  /** Maximum length of a text whose values are coloured, in characters. Every value becomes an element. */
  const colouredMax = 200_000;
  /** Shows JSON with its texts in colour. */
  const showJson = (text) => {
    const parts = text.length > colouredMax ? [text] : text.split(/("(?:[^"\\\n]|\\.)*":?)/);
    const nodes = parts.map((part, i) => {
      if (i % 2 === 0 || part.endsWith(":")) return part;
      const value = document.createElement("i");
      value.textContent = part;
      return value;
    });
    body.replaceChildren(...nodes);
  };

  /** Latest request. Only its answer is shown, even if the answer to an earlier one arrives later. */
  let lastSent;
  const send = async () => {
    const turn = (lastSent = {});
    const key = keyField.value.trim();
    outcome.textContent = "Sending.";
    const begun = performance.now();
    try {
      const response = await fetch(targetOf(), {
        headers: key === "" ? {} : { "x-api-key": key },
        cache: "no-store",
      });
      const text = await response.text();
      if (lastSent !== turn) return;
      const milliseconds = Math.round(performance.now() - begun);
      const status = `${response.status} ${response.statusText}`.trim();
      outcome.textContent = `${status} in ${milliseconds} ms`;
      answer.querySelector("h2").textContent = "Answer";
      body.parentElement.ariaLabel = "Body of the answer";
      showHeaders(response.headers);
      showJson(pretty(text));
    } catch (fault) {
      if (lastSent !== turn) return;
      outcome.textContent = `The request was not answered: ${fault.message}. Check your key and your connection, then send the request again.`;
    }
  };

  keyField.value = rememberedKey();
  keyField.addEventListener("input", () => rememberKey(keyField.value.trim()));
  form.addEventListener("input", showCode);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void send();
  });
  form.querySelector("fieldset").disabled = false;
  showCode();
}
