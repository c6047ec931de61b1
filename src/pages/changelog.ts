/** The page at `/changelog`: what changed in the API, and what may change. */
import { anchorOf, type Deprecation, subjectOf } from "#operations/deprecations.ts";
import type { ApiVersion } from "#operations/versions.ts";
import { docsLayout } from "./docs-frame.ts";
import { html, type Html } from "./html.ts";
import { prose } from "./prose.ts";
import { table } from "./table.ts";
import { dayElement } from "./times.ts";

/** @param entries newest first. */
export const changelogPage = (
  entries: readonly ApiVersion[],
  deprecated: readonly Deprecation[],
): string =>
  docsLayout({
    title: "Changelog",
    description: "What changed in the gp-records API, version by version.",
    path: "/changelog",
    main: html`<h1>What changed in the API?</h1>
      <p class="lede">
        Minor versions only add, so your program keeps working: ignore members you do not know.
        <a href="/docs#versions">How versions work</a>
      </p>
      ${deprecated.length > 0 && deprecatedSection(deprecated)} ${entries.map(section)}`,
  });

const deprecatedSection = (deprecated: readonly Deprecation[]): Html =>
  html`<section>
    <h2 id="deprecated">Deprecated</h2>
    <p>
      Answers to requests that use any of these say so in the headers <code>Deprecation</code> and
      <code>Sunset</code>. After its end a version is a
      <a href="/errors/version-retired">410</a> for six months at least.
    </p>
    ${table({
      label: "What is deprecated",
      columns: ["What", "Since", "Until", { label: "What to do", isPlain: true }],
      rows: deprecated.map((one) => [
        html`<span id="${anchorOf(one)}">${prose(subjectOf(one))}</span>`,
        dayElement(one.since),
        dayElement(one.sunset),
        prose(one.advice),
      ]),
    })}
  </section>`;

const section = ({ version, date, changes }: ApiVersion): Html =>
  html`<section>
    <h2 id="v${version}">Version ${version}</h2>
    <p class="muted">${dayElement(date)}</p>
    <ul>
      ${changes.map((change) => html`<li>${prose(change)}</li> `)}
    </ul>
  </section>`;
