/** The page of the request log: a filter, and what it lets through, newest first. */
import { problemCodes } from "#problems.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { grouped } from "#pages/prose.ts";
import { table } from "#pages/table.ts";
import { statusClasses } from "#usage/status-class.ts";
import { choice, type Choice, faultNote, field } from "./fields.ts";
import { accountPage, type Frame } from "./frame.ts";
import { exactTime } from "./relative.ts";

export interface RequestRow {
  at: string;
  /** Where the key can be looked at, or the explorer. */
  keyHref: string;
  keyName: string;
  operation: string;
  status: number;
  milliseconds: number;
  bytes: number;
  requestId: string;
  dataset: string | null;
  /** Code of the problem. */
  problem: string | null;
  query: string | null;
}

export interface RequestsView {
  frame: Frame | null;
  /** How long the log goes back; 0 where it is switched off. */
  logDays: number;
  typed: Readonly<Partial<Record<"key" | "operation" | "status" | "from" | "to" | "id", string>>>;
  fault?: string | undefined;
  keys: readonly { id: string; name: string }[];
  operations: readonly string[];
  rows: readonly RequestRow[];
  /** Address of the next page; null on the last one. */
  olderHref: string | null;
  csvHref: string;
  csvRowsMax: number;
}

export function requestsPage(view: RequestsView): string {
  const { frame, logDays } = view;
  return accountPage({
    title: "Requests",
    frame,
    main:
      logDays === 0
        ? switchedOff
        : [html`<h1>Requests of the last ${logDays} days</h1>`, log(view)],
  });
}

const switchedOff = html`<h1>No log of requests</h1>
  <p>
    The operator of this service keeps no requests by themselves: the setting
    <code>USAGE_LOG_DAYS</code> is 0. Sums by the hour are on the page of your
    <a href="/account/usage">usage</a>.
  </p>`;

function log(view: RequestsView): Html {
  const { fault, rows, typed } = view;
  const isFiltered = Object.keys(typed).length > 0;
  if (rows.length === 0 && !isFiltered)
    return html`<p>
      No request yet. Send one with <a href="/account/keys">a key of yours</a>, or in the
      <a href="/account/explorer">explorer</a>.
    </p>`;
  return html`${faultNote(fault)}
    <details ${isFiltered && html`open`}>
      <summary>Filter, or find one by its id</summary>
      ${filterForm(view)}
    </details>
    ${rows.length > 0 ? found(view) : fault === undefined && nothing}`;
}

const nothing = html`<p>No request is like that. <a href="/account/requests">Show all</a></p>`;

function filterForm({ typed, keys, operations }: RequestsView): Html {
  const any = { value: "", label: "all" };
  const pick = (name: keyof typeof typed, label: string, choices: readonly Choice[]) =>
    choice(name, label, [any, ...choices], typed[name] ?? "");
  const plain = (values: readonly string[]) => values.map((value) => ({ value, label: value }));
  const time = (name: "from" | "to", label: string) =>
    field({ name, label, type: "datetime-local", value: typed[name], isOptional: true });
  return html`<form method="get" action="/account/requests">
    <div class="fields">
      ${pick(
        "key",
        "Key",
        keys.map(({ id, name }) => ({ value: id, label: shortName(name) })),
      )}
      ${pick("operation", "Operation", plain(operations))}
      ${pick("status", "Status", plain(statusClasses))} ${time("from", "From (UTC)")}
      ${time("to", "To (UTC)")}
      ${field({ name: "id", label: "Request id", value: typed.id, isOptional: true, lengthMax: 64 })}
    </div>
    <button>Show requests</button>
  </form>`;
}

const found = (view: RequestsView): Html =>
  html`${requestTable(view.rows)}
    <p>
      ${view.olderHref !== null && html`<a class="button" href="${view.olderHref}">Older requests</a>`}
    </p>
    <p>
      <a href="${view.csvHref}">Download as CSV</a>
      <span class="muted"
        >what the filter shows, the newest ${grouped(view.csvRowsMax)} at most</span
      >
    </p>`;

/** Two lines each, so that a row is whole on a narrow screen too. */
const requestTable = (rows: readonly RequestRow[]): Html =>
  table({
    label: "Requests, newest first",
    columns: [
      "Time (UTC), request id",
      { label: "Operation, key", isPlain: true },
      "Status",
      { label: "ms", isNumber: true },
      { label: "Bytes", isNumber: true },
    ],
    rows: rows.map((row) => [
      html`<time datetime="${row.at}">${exactTime(row.at).slice(0, -4)}</time><br />
        <code class="long">${row.requestId}</code>`,
      html`${row.operation}<br />
        <a class="name" href="${row.keyHref}">${shortName(row.keyName)}</a>
        ${row.query !== null && html`<br /><code class="long">${row.query}</code>`}`,
      html`${row.status}<br />${becauseOf(row)}`,
      row.milliseconds.toFixed(1),
      grouped(row.bytes),
    ]),
  });

/** What explains the status: the problem, or the dataset that was answered from. */
const becauseOf = ({ problem, dataset }: RequestRow): Part =>
  problem === null ? html`<span class="mono muted">${dataset}</span>` : problemLink(problem);

/** A code that an older version wrote may have no page any more. */
const problemLink = (code: string): Part =>
  (problemCodes as string[]).includes(code) ? html`<a href="/errors/${code}">${code}</a>` : code;

const shownLength = 24;

/** Long names are whole on the page of their key. */
const shortName = (name: string): string => {
  const characters = Array.from(name);
  return characters.length > shownLength
    ? `${characters.slice(0, shownLength - 1).join("")}…`
    : name;
};
