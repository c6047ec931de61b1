/** The page at `/docs/samples`: the example of each operation as a shell, TypeScript, Python and Bruno send it. */
import { operations } from "#operations/index.ts";
import type { Operation } from "#operations/operation.ts";
import { brunoRequest, callLines } from "./call-lines.ts";
import { copyBlock, unknownOrigin, withOrigin } from "./code-block.ts";
import { docsLayout } from "./docs-frame.ts";
import { exampleTarget } from "./example-query.ts";
import { bodyText, html, type Html } from "./html.ts";

export const samplesPage = (publicUrl: string | null): string =>
  docsLayout({
    title: "Samples",
    description: "Requests to the gp-records API from a shell, TypeScript, Python and Bruno.",
    path: "/docs/samples",
    contents: [
      ...operations.map(({ name }) => [name, name]),
      ["bruno", "The Bruno collection"],
      ["copy", "A copy of everything"],
    ].map(([anchor, label]) => html`<li><a href="#${anchor}">${label}</a></li> `),
    main: html`<h1>How do I call it from a program?</h1>
      <p class="lede">
        Each operation with curl, in TypeScript, in Python and as a Bruno request. The programs need
        nothing installed and read your key from the environment variable
        <code>GP_RECORDS_KEY</code>; a key in code ends up where others see it.
      </p>
      ${operations.map((operation, i) => section(operation, i + 1, publicUrl))}
      <section>
        <h2 id="bruno">The Bruno collection</h2>
        <p>
          Save each request as a file beside <code>bruno.json</code>. Its environment sets
          <code>baseUrl</code>, the address of this service, and <code>apiKey</code>, your key, as a
          secret.
        </p>
        ${copyBlock("The file bruno.json", bodyText(collection))}
      </section>
      ${copySection()}`,
  });

const copySection = (): Html =>
  html`<section>
    <h2 id="copy">A copy of everything</h2>
    <p>
      Read everything once, and later only what changed. <code>examples/mirror.ts</code> and
      <code>examples/mirror.py</code>, which come with gp-records, do it like this:
    </p>
    <ul>
      <li>
        <code>GET /changes</code> lists the datasets that were published, the newest first, each
        with the path of its step. <code>/changes.atom</code> is the same as a feed, without a key.
      </li>
      <li>
        A step has one line of NDJSON for each record that was added, changed, removed or merged
        since the dataset before, and counts one request for each started 100 of them.
      </li>
      <li>
        <code>GET /exports</code> lists whole datasets to download as NDJSON, CSV or Parquet, where
        the operator offers them.
      </li>
    </ul>
    <p><a href="/openapi.json">openapi.json</a> describes what they answer.</p>
  </section>`;

/** What marks a folder as a collection. */
export const collection = `{
  "version": "1",
  "name": "gp-records",
  "type": "collection"
}
`;

function section(operation: Operation, place: number, publicUrl: string | null): Html {
  const { name, path, summary } = operation;
  const { curl, typescript, python } = callLines({
    base: publicUrl ?? unknownOrigin,
    target: exampleTarget(operation),
  });
  const samples = [
    ["curl", withOrigin(curl)],
    ["TypeScript", withOrigin(typescript)],
    ["Python", withOrigin(python)],
    ["Bruno", bodyText(brunoRequest(operation, place))],
  ] as const;
  return html`<section>
    <h2 id="${name}"><code>GET ${path}</code></h2>
    <p>${summary} <a href="/docs#${name}">Its parameters and members</a></p>
    ${samples.map(
      ([language, code]) =>
        html`<h3>${language}</h3>
          ${copyBlock(`The request to ${path}: ${language}`, code)}`,
    )}
  </section>`;
}
