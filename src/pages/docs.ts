/** The reference at `/docs`, generated from operations, records and errors; the pages `/docs/mcp` and `/changelog`. */
import { type Hint, hintCodes } from "#operations/envelope.ts";
import { formats } from "#operations/formats.ts";
import { operations } from "#operations/index.ts";
import { gpFilters, parameterBounds, referenceOf } from "#operations/operation.ts";
import { paginationOf } from "#operations/page.ts";
import { apiVersion, type ApiVersion } from "#operations/versions.ts";
import { filterableGp } from "#records/gp.ts";
import { agentSettings, copyBlock, jsonBlock, originOf, withOrigin } from "./code-block.ts";
import { errorTable } from "./errors.ts";
import { exampleMeta, exampleRecords } from "./example-records.ts";
import { html, type Html, type Part, table } from "./html.ts";
import { docsLayout, type Site } from "./layout.ts";
import { codeList, codes, dayElement, grouped, prose, wordList } from "./prose.ts";

export interface DocsFacts extends KeyFacts {
  site: Site;
  /** Default quotas, shortest window first. */
  quotas: readonly QuotaWindow[];
}

export function docsPage(facts: DocsFacts): string {
  const sections = sectionsOf(facts);
  return docsLayout({
    site: facts.site,
    title: "Docs",
    description: "Reference of the API: operations, parameters, records, quotas, errors.",
    path: "/docs",
    contents: sections.map(
      ({ anchor, label }) => html`<li><a href="#${anchor}">${label}</a></li> `,
    ),
    main: html`<h1>API reference</h1>
      <p class="lede">
        Send a GET request with your key in a header. The operations share their parameters, the
        shape of their answers and their errors. <a href="/openapi.json">openapi.json</a> describes
        them for programs; API clients import it as a collection of requests.
      </p>
      ${sections.map(
        ({ anchor, label, content }) =>
          html`<section>
            <h2 id="${anchor}">${label}</h2>
            ${content}
          </section>`,
      )}`,
  });
}

const sectionsOf = (facts: DocsFacts) => [
  { anchor: "authentication", label: "Authentication", content: authentication(facts) },
  { anchor: "operations", label: "Operations", content: operationTable() },
  { anchor: "answer", label: "Answer and paging", content: answer() },
  { anchor: "matching", label: "Matching", content: matching() },
  { anchor: "lists", label: "Filters and order", content: lists() },
  { anchor: "hints", label: "Hints", content: hints() },
  { anchor: "quota", label: "Quota", content: quota(facts.quotas) },
  { anchor: "formats", label: "Formats and caching", content: formatsAndCaching() },
  { anchor: "errors", label: "Errors", content: errors() },
  { anchor: "copy", label: "Keep a copy", content: copy() },
  { anchor: "versions", label: "Versions", content: versions() },
];

const operationTable = (): Html =>
  table({
    label: "Operations",
    columns: ["Operation", { label: "Returns", isPlain: true }],
    rows: operations.map((operation) => [
      html`<a href="${referenceOf(operation)}"><code>GET ${operation.path}</code></a>`,
      operation.summary,
    ]),
  });

const lists = (): Html =>
  html`<p>
      The paths <code>/list-…</code> list records of one kind by any of their values, in any order:
      GPs by their capital, projects by their size, signals of the last 90 days.
    </p>
    <ul>
      <li>
        A record is listed if it satisfies all filters. Repeat a filter to allow several values:
        <code>status=planned&amp;status=raising</code> finds projects of either status. A filter
        takes up to ${parameterBounds.valuesMax} values, or ${parameterBounds.idsMax} ids. Names,
        the ends of a range, <code>has_gp</code> and <code>sort</code> are given once.
      </li>
      <li>
        A text must be a whole value; case, accents and punctuation do not matter. Only
        <code>name</code> and <code>gp_name</code> also find parts of a name.
        <a href="#matching">Matching</a> says how, and which spellings find a market. In registry
        numbers, only digits count: <code>cik=1912345</code> finds <code>0001912345</code>.
      </li>
      <li>
        <code>_from</code> and <code>_to</code>, or <code>_min</code> and <code>_max</code>, are the
        ends of a range. A value equal to an end is in the range, and either end may be left out.
      </li>
      <li>
        A date is <code>2026</code>, <code>2026-03</code>, <code>2026-03-31</code>, or a number of
        days before the day of the dataset: <code>-90d</code>. <code>date_to=2026-03</code> includes
        all of March. Where a record gives only a year or a month, it is listed if any day of that
        period is in the range.
      </li>
      <li>
        <code>sort</code> puts the least or earliest first; with a minus sign, as in
        <code>sort=-aum_usd</code>, the greatest or latest first. Records with equal values are in
        the order of their ids.
      </li>
      <li>
        A record whose value is <code>null</code> is in no range. Sorted by that value it comes
        last, in both directions.
      </li>
      <li>
        A value that is not in its closed list is an error that names the values of the list. Any
        other text that no record carries finds nothing, and a hint suggests similar values.
      </li>
    </ul>`;

const authentication = (facts: KeyFacts): Html =>
  html`<p>
      Send your API key in the header <code>x-api-key</code>, exactly once. A key in the query
      string, in a cookie or, except on <code>/mcp</code>, in <code>Authorization</code> is not
      read. Anyone with your key can spend your quota, so keep it out of code that others see.
    </p>
    <h3 id="key">Get a key</h3>
    <p>${wayToKey(facts)}</p>`;

const answer = (): Html =>
  html`<p>
      An answer in JSON has <code>data</code> with the records, <code>pagination</code> and
      <code>meta</code>. An unknown value is <code>null</code>, never left out; lists are never
      null. Dates are <code>YYYY-MM-DD</code>, or <code>YYYY-MM</code> or <code>YYYY</code> where
      the source knows no more; times are UTC; money is whole US dollars.
    </p>
    <p>
      <code>limit</code> is the size of a page (${parameterBounds.limitDefault} by default) and
      <code>offset</code> how many records to skip. While <code>pagination.has_more</code> is true,
      ask again with <code>offset</code> set to <code>pagination.next_offset</code>; the header
      <code>Link</code> has the same addresses. <code>pagination.total</code> is exact. Within one
      <code>meta.dataset_version</code> pages neither repeat nor miss a record; when it changes,
      begin again at 0.
    </p>
    ${jsonBlock("Example of an answer without records", emptyAnswer)}`;

const emptyAnswer = {
  data: [],
  pagination: paginationOf({ limit: parameterBounds.limitDefault, offset: 0 }, 0, 0),
  meta: {
    ...exampleMeta,
    hints: [
      {
        code: "no_match",
        parameter: "gp_name",
        message: "No GP has a name that matches 'harow lane'.",
        suggestions: [exampleRecords.gp.name],
      },
    ],
  },
};

const matching = (): Html =>
  html`<ul>
    <li>
      Case, accents and punctuation do not matter: <code>societe generale</code> finds Société
      Générale, <code>jp morgan</code> finds J.P. Morgan.
    </li>
    <li>
      <code>gp_name</code> is partial: every word must occur in one name of the GP, in any order. A
      word of 4 or more characters may occur anywhere in it, so <code>stone</code> finds Blackstone;
      a shorter one must begin a word, so <code>gem</code> finds GEM Realty and not Management.
    </li>
    <li>The id of a GP, even a former one, as <code>gp_name</code> means that GP alone.</li>
    <li>
      ${prose(codeList(wholeValues))} are whole values:
      <code>tag=ai</code> never finds retail. <code>tag</code> is compared with tags, strategies and
      property types.
    </li>
    <li>
      A market also answers to its cities: <code>Dallas-Fort Worth-Arlington, TX</code> to
      <code>dallas</code>, <code>fort worth</code> and <code>dallas tx</code>.
    </li>
    <li>
      Different parameters must all match, on the same GP. A repeated parameter matches if one of
      its values does; a comma is part of the value.
    </li>
  </ul>`;

const hints = (): Html =>
  html`<p>
      <code>meta.hints</code> names values that match nothing and lists that are truncated. Each
      hint has <code>code</code>, <code>parameter</code>, <code>message</code> and
      <code>suggestions</code>; nothing in <code>data</code> is ever guessed.
    </p>
    ${table({
      label: "Hint codes",
      columns: ["Code", { label: "Meaning", isPlain: true }],
      rows: hintCodes.map((code) => [html`<code>${code}</code>`, prose(hintMeanings[code])]),
    })}`;

const formatsAndCaching = (): Html =>
  html`<p>
    The operations answer in ${codes(formats.map(({ mediaType }) => mediaType))}; choose with
    <code>Accept</code>. CSV joins lists with <code>; </code> and puts <code>'</code> before text
    that a spreadsheet would run as a formula; totals and pages are in the headers. Bodies are
    compressed with <code>br</code> or <code>gzip</code> where <code>Accept-Encoding</code> allows.
    Send the <code>ETag</code> of an answer in <code>If-None-Match</code>: while nothing has changed
    you get a 304 without a body.
  </p>`;

const errors = (): Html =>
  html`<p>
      Errors are <code>application/problem+json</code>; <code>code</code> is for programs. A request
      with several faults gets one answer that lists them all. Nothing found is not an error.
    </p>
    ${errorTable()}`;

const copy = (): Html =>
  html`<p>
      Read everything once, and later only what changed. <code>examples/mirror.ts</code> and
      <code>examples/mirror.py</code>, which come with gp-records, do it like this:
    </p>
    <ul>
      <li>
        <code>GET /changes</code> lists the datasets that were published, the newest first, each
        with the path of its step. <code>/changes.atom</code> is the same list as a feed and needs
        no key.
      </li>
      <li>
        A step has one line of NDJSON for each record that was added, changed, removed or merged
        since the dataset before, and counts as one request for every 100 lines, rounded up.
      </li>
      <li>
        <code>GET /exports</code> lists whole datasets to download as NDJSON, CSV or Parquet, where
        the operator offers them.
      </li>
    </ul>
    <p><a href="/openapi.json">openapi.json</a> describes what they answer.</p>`;

const versions = (): Html =>
  html`<p>
    This is version ${apiVersion}; every answer says so in <code>API-Version</code>. The paths stay
    version 1 for ever and are also served under <code>/v1</code>. Minor versions only add:
    operations, optional parameters, members, headers, codes, values. Ignore what you do not know. A
    change that breaks programs appears only under <code>/v2</code>, and what it replaces is
    announced in the <a href="/changelog">changelog</a> and by the headers
    <code>Deprecation</code> and <code>Sunset</code> at least 12 months ahead.
  </p>`;

/** Sliding window that admits `quota` requests in `seconds` seconds. */
export interface QuotaWindow {
  name: string;
  quota: number;
  seconds: number;
}

/** Returns the section about quotas. @param windows an account's default windows, shortest first. */
const quota = (windows: readonly QuotaWindow[]): Html =>
  html`<p>
      An account has three quotas at once, shared by all its keys. The operator may set different
      quotas for an account; <code>RateLimit-Policy</code> states yours.
    </p>
    ${table({
      label: "Default quotas",
      columns: [
        "Window",
        { label: "Seconds", isNumber: true },
        { label: "Requests", isNumber: true },
      ],
      rows: windows.map(({ name, quota, seconds }) => [name, grouped(seconds), grouped(quota)]),
    })}
    <p>
      The windows slide: no interval of that length, wherever it begins, admits more. Every request
      with a valid key counts 1, whatever the answer, including 304, 400 and <code>HEAD</code>. A
      429, 401, 403, a preflight, the public pages and looking at account pages do not count.
    </p>
    ${windows.slice(0, 1).map(headerTable)}`;

/** Returns a table of the quota headers. @param window example; the `RateLimit` headers list each window like this. */
const headerTable = ({ name, quota, seconds }: QuotaWindow): Html =>
  table({
    label: "Quota headers",
    columns: ["Header", "Example", { label: "Meaning", isPlain: true }],
    rows: [
      [
        html`<code>RateLimit-Policy</code>`,
        html`<code>"${name}";q=${quota};w=${seconds}</code>`,
        html`<code>q</code> requests are admitted in <code>w</code> seconds; one entry for each
          window.`,
      ],
      [
        html`<code>RateLimit</code>`,
        html`<code>"${name}";r=${quota - 3};t=${Math.ceil(seconds * 0.8)}</code>`,
        html`<code>r</code> requests are left; in <code>t</code> seconds the oldest used request
          becomes available again.`,
      ],
      [
        html`<code>Retry-After</code>`,
        html`<code>23</code>`,
        html`On 429 and 503: seconds to wait. After a 429 the next request is admitted then, if you
        send nothing else meanwhile.`,
      ],
    ],
  });

const wholeValues = Object.keys(gpFilters).filter((name) => name !== "gp_name");

/** Meanings of the hint codes; backticks mark code. */
const hintMeanings: Readonly<Record<Hint["code"], string>> = {
  no_match: "No GP has a name that satisfies `gp_name`. `suggestions` has up to 3 similar names.",
  unknown_value: `No GP carries this ${wordList(wholeValues, "or")}; under \`/list-…\`, no record has this value. \`suggestions\` has up to 3 similar values.`,
  no_searchable_character: "The value has no letter and no digit, so it cannot match anything.",
  past_the_end: "`offset` is beyond the last record. `pagination.total` says how many there are.",
  embedded_list_cut:
    "A GP has more principals or signals than its record embeds. `principals_total` and `signals_total` are the true numbers; ask `/fetch-principals` or `/fetch-signals` with the id of the GP as `gp_name` for all of them.",
};

export interface KeyFacts {
  /** URL of the account pages, and whether anybody may sign up; null if the pages are not served. */
  account: { url: string; isOpen: boolean } | null;
  /** True for `serve --demo`, which prints a key. */
  isDemo: boolean;
}

export const wayToKey = ({ account, isDemo }: KeyFacts): Html =>
  html`${isDemo && "This is a demo: the key that it printed when it started works for a day. "}${wayOf(account)}`;

function wayOf(account: KeyFacts["account"]): Part {
  if (account === null) return "Ask the operator of this service for an API key.";
  return account.isOpen
    ? html`<a href="${account.url}/sign-up">Sign up</a> and create a key yourself, or
        <a href="${account.url}">sign in</a> to the account you have.`
    : html`Ask the operator of this service for an account, or
        <a href="${account.url}">sign in</a> to the one you have and create a key there.`;
}

/** Returns the page at `/docs/mcp`: how agents call the API. A script inserts the origin if `publicUrl` is null. */
export const mcpPage = (site: Site, publicUrl: string | null): string =>
  docsLayout({
    site,
    title: "Agents",
    description: "How an agent asks for records over MCP, the Model Context Protocol.",
    path: "/docs/mcp",
    contents: html`<li><a href="#connect">Connect a program</a></li>
      <li><a href="#tools">Tools</a></li>
      <li><a href="#answers">Answers and errors</a></li>`,
    main: html`<h1>Agents</h1>
      <p class="lede">
        Connect your agent to <code>/mcp</code>, which speaks MCP, the Model Context Protocol. The
        agent gets tools with the answers of this API, short enough for a model to read.
      </p>
      <section>
        <h2 id="connect">Connect a program</h2>
        <p>
          Paste the settings of your program with your key in place of <code>YOUR_KEY</code>. Keep
          them out of repositories that others see. The key goes in <code>x-api-key</code> or, on
          this path alone, in <code>Authorization: Bearer</code>; a request with two different keys
          is refused.
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
          All tools are read-only. Each call that quota and plan admit counts 1 against your quota;
          <code>match_gps</code> counts 1 for every 100 names on its page, rounded up.
          ${codes(operations.map(({ name }) => name.replaceAll("-", "_")))} take the parameters of
          the <a href="/docs#operations">operations</a> of the same names, and give the same
          records. A parameter that may be repeated is a list of values.
          <code>vocabulary</code> gives tags, themes and markets with their numbers of GPs, and the
          closed lists. <code>changes_since</code> gives the changes of the publication after a
          dataset, and says how to go on. <code>explain</code> gives the
          <a href="/docs/explain">explanation</a> of a GP, principal or project.
          <code>match_gps</code> gives the GP that each of up to 200 names means, with its
          certainty.
        </p>
        <p>
          <code>detail</code> is <code>brief</code> by default, which gives the members that matter
          most; with <code>full</code> records are the same as over HTTP. Name a market as you would
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
          A call with a wrong argument is an error that says what would be right. A call beyond the
          quota is an error with <code>retry_after</code>, in seconds. Messages that call no tool do
          not count, up to 120 a minute. Pages in a browser may call from this origin and those that
          the operator lists; <code>/mcp</code> refuses any other.
        </p>
      </section>`,
  });

/** Returns the page at `/changelog`: changes in the API, version by version. @param entries versions, newest first. */
export const changelogPage = (site: Site, entries: readonly ApiVersion[]): string =>
  docsLayout({
    site,
    title: "Changelog",
    description: "What changed in the API, version by version.",
    path: "/changelog",
    main: html`<h1>Changelog</h1>
      <p class="lede">
        Minor versions only add, so your program keeps working: ignore members you do not know.
        <a href="/docs#versions">How versions work</a>
      </p>
      ${entries.map(versionSection)}`,
  });

const versionSection = ({ version, date, changes }: ApiVersion): Html =>
  html`<section>
    <h2 id="v${version}">Version ${version}</h2>
    <p class="muted">${dayElement(date)}</p>
    <ul>
      ${changes.map((change) => html`<li>${prose(change)}</li> `)}
    </ul>
  </section>`;
