/** The page at `/docs`: the reference, generated from the operations, records and errors. */
import { operations } from "#operations/index.ts";
import { docsLayout } from "./docs-frame.ts";
import {
  answerSection,
  authenticationSection,
  errorSection,
  formatSection,
  hintSection,
  matchingSection,
  quotaSection,
  type QuotaWindow,
  versionSection,
} from "./docs-guide.ts";
import { operationSection } from "./docs-operation.ts";
import { html, type Html, type Part } from "./html.ts";
import type { KeyFacts } from "./way-to-key.ts";

export interface DocsFacts extends KeyFacts {
  /** Origin (and path) the public reaches the service under, without a slash at the end. */
  publicUrl: string | null;
  /** Largest `limit`. */
  pageSizeMax: number;
  /** Default quotas, shortest window first. */
  quotas: readonly QuotaWindow[];
  /** Media types the operations answer in, the default first. */
  formats: readonly string[];
}

export const docsPage = ({
  publicUrl,
  pageSizeMax,
  quotas,
  formats,
  ...keyFacts
}: DocsFacts): string =>
  docsLayout({
    title: "Docs",
    description:
      "Reference of the gp-records API: operations, parameters, records, quotas, errors.",
    path: "/docs",
    scripts: ["docs.js"],
    contents: contents(),
    main: html`<h1>How do I call the API?</h1>
      <p class="lede">
        Send a GET request with your key in a header. The operations share their parameters, the
        shape of their answers and their errors.
      </p>
      ${authenticationSection(keyFacts)}
      <section>
        <h2 id="operations">Operations</h2>
        ${operations.map((operation) => operationSection(operation, { pageSizeMax, publicUrl }))}
      </section>
      ${answerSection()} ${matchingSection()} ${hintSection()} ${quotaSection(quotas)}
      ${formatSection(formats)} ${errorSection()} ${versionSection()}`,
  });

const sections = [
  ["authentication", "Authentication"],
  ["operations", "Operations"],
  ["answer", "Answer and paging"],
  ["matching", "Matching"],
  ["hints", "Hints"],
  ["quota", "Quota"],
  ["formats", "Formats and caching"],
  ["errors", "Errors"],
  ["versions", "Versions"],
] as const;

const contents = (): Part =>
  sections.map(
    ([anchor, label]) =>
      html`<li>
        <a href="#${anchor}">${label}</a>${anchor === "operations" && operationLinks()}
      </li> `,
  );

const operationLinks = (): Html =>
  html`<ul>
    ${operations.map(({ name }) => html`<li><a href="#${name}">${name}</a></li> `)}
  </ul>`;
