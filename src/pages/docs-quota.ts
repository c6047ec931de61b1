/** The part of the docs on quotas: the windows, what counts, and the headers that tell. */
import { html, type Html } from "./html.ts";
import { grouped } from "./prose.ts";
import { table } from "./table.ts";

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
      with a valid key counts 1, whatever the answer, also 304, 400 and <code>HEAD</code>, and so
      does every call from the explorer of the account pages. A 429, 401, 403, a preflight, the
      public pages and looking at account pages do not count.
    </p>
    ${windows.slice(0, 1).map(headerTable)}
  </section>`;

/** @param window stands for all: each header lists every window in the same form. */
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
