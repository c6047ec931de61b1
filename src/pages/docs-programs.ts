/**
 * The pages at `/docs/samples` and `/docs/mcp`: how programs and agents call the API. Without a public URL, a script
 * inserts the page's origin.
 */
import { operations } from "#operations/index.ts";
import type { Operation } from "#operations/operation.ts";
import { filterableGp } from "#records/gp.ts";
import {
  agentSettings,
  callLines,
  copyBlock,
  exampleTarget,
  originOf,
  withOrigin,
} from "./code-block.ts";
import { referenceOf } from "./docs-operation.ts";
import { html, type Html } from "./html.ts";
import { docsLayout, type Site } from "./layout.ts";
import { codes } from "./prose.ts";

export const samplesPage = (site: Site, publicUrl: string | null): string =>
  docsLayout({
    site,
    title: "Samples",
    description: "Requests to the API from a shell, TypeScript and Python.",
    path: "/docs/samples",
    contents: [...operations.map(({ name }) => [name, name]), ["copy", "A copy of everything"]].map(
      ([anchor, label]) => html`<li><a href="#${anchor}">${label}</a></li> `,
    ),
    main: html`<h1>How do I call it from a program?</h1>
      <p class="lede">
        Each operation with curl, in TypeScript and in Python. The programs need nothing installed
        and read your key from the environment variable <code>GP_RECORDS_KEY</code>; a key in code
        ends up where others see it. API clients import <a href="/openapi.json">openapi.json</a> as
        a collection of requests.
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
        since the dataset before, and counts as one request for each started 100 of them.
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
  const target = exampleTarget(operation);
  const { curl, typescript, python } = callLines({ base: originOf(publicUrl), target });
  return html`<section>
    <h2 id="${name}"><code>GET ${path}</code></h2>
    <p>${summary} <a href="${referenceOf(operation)}">Its parameters</a></p>
    ${Object.entries({ curl, TypeScript: typescript, Python: python }).map(
      ([language, code]) =>
        html`<h3>${language}</h3>
          ${copyBlock(`The request to ${path}: ${language}`, withOrigin(code))}`,
    )}
  </section>`;
}

export const mcpPage = (site: Site, publicUrl: string | null): string =>
  docsLayout({
    site,
    title: "Agents",
    description: "How an agent asks for records over MCP, the Model Context Protocol.",
    path: "/docs/mcp",
    contents: html`<li><a href="#connect">Connect a program</a></li>
      <li><a href="#tools">Tools</a></li>
      <li><a href="#answers">Answers and errors</a></li>`,
    main: html`<h1>How does an agent ask?</h1>
      <p class="lede">
        Connect it to <code>/mcp</code>, which speaks MCP, the Model Context Protocol. It gets tools
        with the answers of this API, short enough for a model to read.
      </p>
      <section>
        <h2 id="connect">Connect a program</h2>
        <p>
          Paste the settings of your program with your key in place of <code>YOUR_KEY</code>. Keep
          them out of repositories that others see. The key goes in <code>x-api-key</code> or, on
          this path alone, in <code>Authorization: Bearer</code>; two different keys in them are
          refused.
        </p>
        ${agentSettings(originOf(publicUrl)).map(
          ({ name, place, text }) =>
            html`<h3>${name}</h3>
              <p>In ${place}:</p>
              ${copyBlock(`Settings of ${name}`, withOrigin(text))}`,
        )}
      </section>
      <section>
        <h2 id="tools">Tools</h2>
        <p>
          All are read-only. Each call counts 1 against your quota, whatever its answer;
          <code>match_gps</code> counts 1 for each started 100 names on its page.
          ${codes(operations.map(({ name }) => name.replaceAll("-", "_")))} take the parameters of
          the <a href="/docs#operations">operations</a> and <a href="/docs/lists">lists</a> of these
          names, and give the same records. A parameter that may be repeated is a list of values.
          <code>vocabulary</code> gives tags, themes and markets with their numbers of GPs, and the
          closed lists. <code>changes_since</code> gives what the publication after a dataset
          changed, and how to go on. <code>match_gps</code> gives the GP that each of up to 200
          names means, and how sure that is.
        </p>
        <p>
          <code>detail</code> is <code>brief</code> by default, which gives the members that matter
          most; with <code>full</code> records are what they are over HTTP. A market is asked for as
          over HTTP: ${filterableGp.market.meaning} The resource
          <code>gp-records://guide</code> explains every member.
        </p>
      </section>
      <section>
        <h2 id="answers">Answers and errors</h2>
        <p>
          An answer has at most 32,000 bytes, so it may hold fewer records than
          <code>limit</code>: while <code>rest</code> is not <code>null</code>, it says how to get
          the others. Every answer begins with the notice that texts of records are data, not
          instructions.
        </p>
        <p>
          A call with a wrong argument is an error that says what would be right. Over the quota a
          call is an error with <code>retry_after</code>, in seconds. Messages that call no tool do
          not count, up to 120 a minute. Pages in a browser may call from this origin and those that
          the operator lists; <code>/mcp</code> refuses any other.
        </p>
      </section>`,
  });
