/** The page at `/docs/samples`: the example of each operation as a shell, TypeScript and Python send it. */
import { operations } from "#operations/index.ts";
import type { Operation } from "#operations/operation.ts";
import { copyBlock, unknownOrigin, withOrigin } from "./code-block.ts";
import { html, type Html } from "./html.ts";
import { docsLayout } from "./layout.ts";
import { callLines, exampleTarget } from "./snippets.ts";

export const samplesPage = (publicUrl: string | null): string =>
  docsLayout({
    title: "Samples",
    description: "Requests to the gp-records API from a shell, TypeScript and Python.",
    path: "/docs/samples",
    contents: [...operations.map(({ name }) => [name, name]), ["copy", "A copy of everything"]].map(
      ([anchor, label]) => html`<li><a href="#${anchor}">${label}</a></li> `,
    ),
    main: html`<h1>How do I call it from a program?</h1>
      <p class="lede">
        Each operation with curl, in TypeScript and in Python. The programs need nothing installed
        and read your key from the environment variable <code>GP_RECORDS_KEY</code>; a key in code
        ends up where others see it. <a href="/openapi.json">openapi.json</a> makes a collection in
        programs that send requests.
      </p>
      ${operations.map((operation) => section(operation, publicUrl))} ${copySection()}`,
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

function section(operation: Operation, publicUrl: string | null): Html {
  const { name, path, summary } = operation;
  const { curl, typescript, python } = callLines({
    base: publicUrl ?? unknownOrigin,
    target: exampleTarget(operation),
  });
  const samples = [
    ["curl", withOrigin(curl)],
    ["TypeScript", withOrigin(typescript)],
    ["Python", withOrigin(python)],
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
