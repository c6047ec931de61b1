/** The page at `/changelog`: what changed in the API, and what may change. */
import type { ApiVersion } from "#operations/versions.ts";
import { html, type Html } from "./html.ts";
import { docsLayout } from "./layout.ts";
import { dayElement, prose } from "./prose.ts";

/** Returns the page of the versions. @param entries newest first. */
export const changelogPage = (entries: readonly ApiVersion[]): string =>
  docsLayout({
    title: "Changelog",
    description: "What changed in the gp-records API, version by version.",
    path: "/changelog",
    main: html`<h1>What changed in the API?</h1>
      <p class="lede">
        Minor versions only add, so your program keeps working: ignore members you do not know.
        <a href="/docs#versions">How versions work</a>
      </p>
      ${entries.map(section)}`,
  });

const section = ({ version, date, changes }: ApiVersion): Html =>
  html`<section>
    <h2 id="v${version}">Version ${version}</h2>
    <p class="muted">${dayElement(date)}</p>
    <ul>
      ${changes.map((change) => html`<li>${prose(change)}</li> `)}
    </ul>
  </section>`;
