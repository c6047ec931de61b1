/** The sections of the docs that apply to every operation. */
import { type Hint, hintCodes } from "#operations/hints.ts";
import { parameterBounds, repeatableFilters } from "#operations/operation.ts";
import { apiVersion } from "#operations/versions.ts";
import { jsonBlock } from "./code-block.ts";
import { errorTable } from "./errors.ts";
import { exampleRecords } from "./example-records.ts";
import { html, type Html } from "./html.ts";
import { codeList, codes, grouped, prose, wordList } from "./prose.ts";
import { table } from "./table.ts";
import { type KeyFacts, wayToKey } from "./way-to-key.ts";

export const authenticationSection = (facts: KeyFacts): Html =>
  html`<section>
    <h2 id="authentication">Authentication</h2>
    <p>
      Send your API key in the header <code>x-api-key</code>, exactly once. A key in the query
      string, in <code>Authorization</code> or in a cookie is not read. Whoever has it can spend
      your quota, so keep it out of code that others see.
    </p>
    <h3 id="key">Get a key</h3>
    <p>${wayToKey(facts)}</p>
  </section>`;

export const answerSection = (): Html =>
  html`<section>
    <h2 id="answer">Answer and paging</h2>
    <p>
      An answer in JSON has <code>data</code> with the records, <code>pagination</code> and
      <code>meta</code>. What is unknown is <code>null</code>, never left out; lists are never null.
      Dates are <code>YYYY-MM-DD</code>, or <code>YYYY-MM</code> or <code>YYYY</code> where the
      source knows no more; times are UTC; money is whole US dollars.
    </p>
    <p>
      <code>limit</code> is the size of a page (${parameterBounds.limitDefault} by default) and
      <code>offset</code> how many records to skip. While <code>pagination.has_more</code> is true,
      ask again with <code>offset</code> set to <code>pagination.next_offset</code>; the header
      <code>Link</code> has the same addresses. <code>pagination.total</code> is exact. Within one
      <code>meta.dataset_version</code> pages neither repeat nor miss a record; when it changes,
      begin again at 0.
    </p>
    ${jsonBlock("Example of an answer without records", emptyAnswer)}
  </section>`;

const emptyAnswer = {
  data: [],
  pagination: {
    limit: parameterBounds.limitDefault,
    offset: 0,
    returned: 0,
    total: 0,
    has_more: false,
    next_offset: null,
  },
  meta: {
    api_version: apiVersion,
    dataset_version: "20261120T030000Z-9f3c2a7e",
    dataset_updated_at: "2026-11-20T03:00:00Z",
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

export const matchingSection = (): Html =>
  html`<section>
    <h2 id="matching">Matching</h2>
    <ul>
      <li>
        Case, accents and punctuation do not matter: <code>societe generale</code> finds Société
        Générale, <code>jp morgan</code> finds J.P. Morgan.
      </li>
      <li>
        <code>gp_name</code> is partial: every word must stand in one name of the GP, in any order.
        A word of 4 or more characters may stand anywhere in it, so <code>stone</code> finds
        Blackstone; a shorter one must begin a word, so <code>gem</code> finds GEM Realty and not
        Management.
      </li>
      <li>The id of a GP, also a former one, as <code>gp_name</code> means that GP alone.</li>
      <li>
        ${prose(codeList(repeatableFilters, "and"))} are whole values:
        <code>tag=ai</code> never finds retail. <code>tag</code> is compared with tags, strategies
        and property types.
      </li>
      <li>
        A market also answers to its cities: <code>Dallas-Fort Worth-Arlington, TX</code> to
        <code>dallas</code>, <code>fort worth</code> and <code>dallas tx</code>.
      </li>
      <li>
        Different parameters must all hold, for the same GP. A repeated parameter holds if one of
        its values does; a comma is part of the value.
      </li>
    </ul>
  </section>`;

export const hintSection = (): Html =>
  html`<section>
    <h2 id="hints">Hints</h2>
    <p>
      <code>meta.hints</code> says why an answer is empty or cut. Each hint has <code>code</code>,
      <code>parameter</code>, <code>message</code> and <code>suggestions</code>; nothing in
      <code>data</code> is ever guessed.
    </p>
    ${table({
      label: "Hint codes",
      columns: ["Code", { label: "Meaning", isPlain: true }],
      rows: hintCodes.map((code) => [html`<code>${code}</code>`, prose(hintMeanings[code])]),
    })}
  </section>`;

/** @param formats media types the operations answer in, the default first. */
export const formatSection = (formats: readonly string[]): Html =>
  html`<section>
    <h2 id="formats">Formats and caching</h2>
    <p>
      The operations answer in ${codes(formats)}; choose with <code>Accept</code>. CSV joins lists
      with <code>; </code> and puts <code>'</code> before what a spreadsheet would run; totals and
      pages are in the headers. Bodies are compressed with <code>br</code> or
      <code>gzip</code> where <code>Accept-Encoding</code> allows. Send the <code>ETag</code> of an
      answer in <code>If-None-Match</code>: while nothing has changed you get a 304 without a body.
    </p>
  </section>`;

export const errorSection = (): Html =>
  html`<section>
    <h2 id="errors">Errors</h2>
    <p>
      Errors are <code>application/problem+json</code>; <code>code</code> is for programs. A request
      with several faults gets one answer that lists them all. Nothing found is not an error.
    </p>
    ${errorTable()}
  </section>`;

export const versionSection = (): Html =>
  html`<section>
    <h2 id="versions">Versions</h2>
    <p>
      This is version ${apiVersion}; every answer says so in <code>API-Version</code>. The paths
      stay version 1 for ever and stand under <code>/v1</code> too. Minor versions only add:
      operations, optional parameters, members, headers, codes, values. Ignore what you do not know.
      A change that breaks programs appears only under <code>/v2</code>, and what it replaces is
      announced in the <a href="/changelog">changelog</a> and by the headers
      <code>Deprecation</code> and <code>Sunset</code> at least 12 months ahead.
    </p>
  </section>`;

/** One sliding window: so many requests in so many seconds. */
export interface QuotaWindow {
  name: string;
  quota: number;
  seconds: number;
}

/** @param windows what an account has by default, shortest first. */
export const quotaSection = (windows: readonly QuotaWindow[]): Html =>
  html`<section>
    <h2 id="quota">Quota</h2>
    <p>
      An account has three quotas at once, shared by all its keys. The operator may give an account
      other numbers; <code>RateLimit-Policy</code> tells yours.
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
      with a valid key counts 1, whatever the answer, also 304, 400 and <code>HEAD</code>. A 429,
      401, 403, a preflight, the public pages and looking at account pages do not count.
    </p>
    ${windows.slice(0, 1).map(headerTable)}
  </section>`;

/** @param window an example: each header lists every window in the same form. */
const headerTable = ({ name, quota, seconds }: QuotaWindow): Html =>
  table({
    label: "Headers that tell the quota",
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
        html`<code>r</code> requests are left; in <code>t</code> seconds some of the used ones
          return, not all.`,
      ],
      [
        html`<code>Retry-After</code>`,
        html`<code>23</code>`,
        html`On 429 and 503: seconds to wait. After a 429 the next request is admitted then, if you
        send nothing else meanwhile.`,
      ],
    ],
  });

/** Backticks mark code. */
const hintMeanings: Readonly<Record<Hint["code"], string>> = {
  no_match:
    "No GP has a name that satisfies `gp_name`. `suggestions` has up to 3 names that are near.",
  unknown_value: `No GP carries this ${wordList(repeatableFilters, "or")}. \`suggestions\` has up to 3 values that are near.`,
  no_searchable_character: "The value holds no letter and no digit, so it cannot match anything.",
  past_the_end: "`offset` is beyond the last record. `pagination.total` says how many there are.",
  embedded_list_cut:
    "A GP has more principals or signals than its record embeds. `principals_total` and `signals_total` are the true numbers; ask `/fetch-principals` or `/fetch-signals` with the id of the GP as `gp_name` for all of them.",
};
