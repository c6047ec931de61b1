/** The page at `/changelog`: what changed in the API, and what may change. */
import { html, type Html } from "./html.ts";
import { layout } from "./layout.ts";
import { prose } from "./prose.ts";
import { dayElement } from "./times.ts";

/** @param entries newest first. */
export const changelogPage = (entries: readonly ChangelogEntry[]): string =>
  layout({
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

const section = ({ version, date, changes }: ChangelogEntry): Html =>
  html`<section>
    <h2 id="v${version}">Version ${version}</h2>
    <p class="muted">${dayElement(date)}</p>
    <ul>
      ${changes.map((change) => html`<li>${prose(change)}</li> `)}
    </ul>
  </section>`;

/** What changed in the API, newest first; the page at `/changelog` shows it. */
interface ChangelogEntry {
  /** Minor version of the API, as in the header `API-Version`. */
  version: string;
  /** Day it was first served, `YYYY-MM-DD`. */
  date: string;
  /** One sentence each; backticks mark code. */
  changes: readonly string[];
}

export const changelogEntries: readonly ChangelogEntry[] = [
  {
    version: "1.3",
    date: "2026-11-21",
    changes: [
      "Four operations: `/fetch-gp`, `/fetch-principals`, `/fetch-signals` and `/fetch-projects`, each also under `/v1`.",
      "Partial search for `gp_name`; exact filters `tag`, `theme` and `market`, which may be repeated.",
      "Pages by `limit` and `offset`, with an exact total and a `Link` header to the pages around.",
      "Answers name the dataset they come from, in `meta.dataset_version`; records have stable ids and say where they come from in `provenance`.",
      "`meta.hints` says why an answer is empty or cut, and suggests what is near.",
      "Errors as `application/problem+json`, every fault of a request at once, with a page for each code.",
      "Quotas for a minute, an hour and a day, told on every answer by `RateLimit` and `RateLimit-Policy`.",
      "`ETag` and `If-None-Match`; answers compressed with `br` or `gzip`.",
      "A description of the API at `/openapi.json`.",
    ],
  },
];
