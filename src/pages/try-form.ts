/** The form that sends a request from the docs; `assets/docs.js` makes it work. */
import type { Operation } from "#operations/operation.ts";
import { parametersOf, type ParameterName } from "#operations/parameter-names.ts";
import { copyBlock, curlLine } from "./code-block.ts";
import { exampleTarget, exampleValues } from "./example-query.ts";
import { html, type Html } from "./html.ts";
import { isRepeatable, parameterNeed } from "./parameter-words.ts";

/** Disabled until its script runs, because without it a browser cannot send the header. */
export const tryForm = (operation: Operation, publicUrl: string | null): Html => {
  const { path } = operation;
  return html`<form
    class="card try"
    data-path="${path}"
    data-base="${publicUrl}"
    autocomplete="off"
  >
    <h4>Try ${path}</h4>
    <noscript
      ><p>
        Without JavaScript a browser cannot send the header <code>x-api-key</code>: use the curl
        line below.
      </p></noscript
    >
    <fieldset disabled aria-label="Request to ${path}">
      <div class="fields">
        ${keyField()} ${parametersOf(operation).map((parameter) => field(operation, parameter))}
      </div>
      <button type="submit">Send request</button>
    </fieldset>
    ${copyBlock(`The request to ${path} with curl`, curlLine(publicUrl, exampleTarget(operation)))}
    <p class="outcome" role="status" aria-live="polite"></p>
    <div class="answer" hidden>
      <dl class="facts"></dl>
      <pre tabindex="0" role="group" aria-label="Body of the answer of ${path}"><code></code></pre>
    </div>
  </form>`;
};

/** Without a name, so that no browser ever puts the key into an address. */
const keyField = (): Html =>
  html`<label
    ><code>x-api-key</code> <span class="muted">kept in this tab only</span>
    <input type="password" data-key autocomplete="off"
  /></label>`;

function field(operation: Operation, name: ParameterName): Html {
  const need = parameterNeed(name, operation);
  const value = exampleValues(operation)[name];
  if (isRepeatable(name))
    return html`<label
      ><code>${name}</code> <span class="muted">${need}, one a line</span>
      <textarea name="${name}"></textarea>
    </label>`;
  return html`<label
    ><code>${name}</code> <span class="muted">${need}</span>
    <input name="${name}" ${value !== undefined && html`value="${value}"`}
  /></label>`;
}
