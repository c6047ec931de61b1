/** Parts that the pages of a GP, a person and a project share: head, figures, cards, tables, and where records are from. */
import type { AccountRequest } from "#dashboard/screen.ts";
import { callBlocks } from "#pages/code-block.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { periodsUntil, signalColumns } from "#pages/plot.ts";
import { counted, dayElement, grouped, relativeTime } from "#pages/prose.ts";
import { table, type TableContent } from "#pages/table.ts";
import { money, typeMark, valueLabel } from "#pages/values.ts";
import type { Provenance } from "#records/common.ts";
import type { LinkedKind, RecordKind } from "#records/kinds.ts";
import type { Principal } from "#records/principal.ts";
import type { Project } from "#records/project.ts";
import type { Signal } from "#records/signal.ts";
import { readDocuments } from "#search/dataset-parts.ts";
import { nameOfMarket } from "#search/market-spellings.ts";
import type { ReadModel } from "#search/read-model.ts";
import {
  basisText,
  byPoints,
  cutText,
  hostOf,
  joined,
  outside,
  place,
  provenanceWords,
} from "./records.ts";
import { browsePaths, capital, nouns } from "./view.ts";

/** Returns a link to the page of a record. */
export const recordLink = (kind: RecordKind, { id, name }: { id: string; name: string }): Html =>
  html`<a href="${browsePaths[kind]}/${id}" title="${cutText(name, titleLengthMax)}"
    >${cutText(name, nameLengthMax)}</a
  >`;

const gpsMax = 5;

/** Returns links to the first five GPs, and the number of the others. */
export const gpLinks = (gps: readonly { id: string; name: string }[]): Part =>
  joined(
    gps.slice(0, gpsMax).map((gp) => recordLink("gp", gp)),
    gps.length,
    ", ",
  );

/** Length of names and titles, in characters; longer ones are cut. */
const nameLengthMax = 80;
const titleLengthMax = 160;

interface Head {
  kind: RecordKind;
  market: string | null;
  model: ReadModel;
  name: string;
  badge: Part;
  /** Facts below the name. */
  facts: readonly Part[];
  updatedAt: string;
  now: number;
}

export const recordHead = ({ kind, market, model, name, badge, facts, ...at }: Head): Html =>
  html`<nav class="crumbs" aria-label="Path">
      <a href="${browsePaths[kind]}">${capital(nouns[kind][1])}</a>
      ${market !== null && ["/ ", valueLinks(kind, "market", [market], nameOfMarket(model, market))]}
    </nav>
    <div class="name-line">
      <h1>${name}</h1>
      ${badge}
    </div>
    <p class="lede">
      ${byPoints([...facts, html`updated ${relativeTime(at.updatedAt, at.now)}`])}
    </p>`;

/** Returns where a record is from, as a badge. */
export const provenanceBadge = (provenance: Provenance): Html =>
  html`<span
    class="badge ${provenance.basis === "stated" && "ok"}"
    title="${provenanceWords(provenance)}"
    >${basisText(provenance)}</span
  >`;

interface Figure {
  label: string;
  value: Part;
  note?: Part;
}

/** Returns the most important figures of a record. Leaves out those without a value. */
export const figures = (shown: readonly Figure[]): Html =>
  html`<dl class="figures">
    ${shown
      .filter(({ value }) => value !== "" && value !== null && value !== false)
      .map(
        ({ label, value, note }) =>
          html`<div>
            <dt>${label}</dt>
            <dd>${value}</dd>
            <dd class="note">${note}</dd>
          </div>`,
      )}
  </dl>`;

interface Card {
  title: string;
  /** Words beside the title, such as how many are shown of all. */
  aside?: Part;
  body: Part;
  /** Link to the rest. */
  more?: { href: string; label: string } | false;
}

export const card = ({ title, aside, body, more = false }: Card): Html =>
  html`<section class="card">
    <header>
      <h2>${title}</h2>
      <span>${aside}</span>
    </header>
    ${body} ${more !== false && html`<footer><a href="${more.href}">${more.label}</a></footer>`}
  </section>`;

/** Returns how many are shown of all, or all. */
export const shownOf = (shown: number, total: number): string =>
  shown < total ? `${grouped(shown)} of ${grouped(total)}` : grouped(total);

/** Returns values as tags that lead to the records of a list that have them. */
export const valueLinks = (
  kind: RecordKind,
  name: string,
  values: readonly string[],
  label?: string,
): Html[] =>
  values.map((value) => {
    const href = `${browsePaths[kind]}?${new URLSearchParams({ [name]: value }).toString()}`;
    return html`<a class="tag" href="${href}"
      >${cutText(label ?? valueLabel(value), nameLengthMax)}</a
    >`;
  });

/** Returns the request that gives the record over the API. @param target path and query. */
export function apiCall({ own }: AccountRequest, target: string): Html {
  const [curl, ...others] = callBlocks(own.base, target);
  return card({
    title: "The API call for this page",
    aside: "counts one request",
    body: html`${curl}
      <details class="call">
        <summary>TypeScript and Python</summary>
        ${others}
      </details>`,
  });
}

export const titleOrRoles = ({ title, roles }: Pick<Principal, "title" | "roles">): string =>
  cutText(title ?? roles.map(valueLabel).join(", "), nameLengthMax);

/** Returns a share such as "25–50 %". */
export function bandText(band: NonNullable<Principal["ownership_band"]>): string {
  const [from, to] = band.split("_");
  if (from === "under") return `under ${to} %`;
  return from === "over" ? `over ${to} %` : `${from}–${to} %`;
}

interface SignalRows {
  label: string;
  signals: readonly Signal[];
  model: ReadModel;
  /** Names that the page says already and that titles leave out. */
  without: readonly string[];
  /** Name to show in bold. */
  marked?: string;
}

/** Returns signals as a table, the date once for all of a day. */
export function signalTable({ label, signals, model, without, marked }: SignalRows): Html {
  const common = commonProvenance(signals);
  const rows = signals.map((signal, i) => [
    html`<span ${signal.date === signals[i - 1]?.date && html`class="again"`}
      >${dayElement(signal.date)}</span
    >`,
    typeMark(signal.type),
    [titleOf(signal, without, marked), noteOf(signal, common)],
    signal.market !== null && nameOfMarket(model, signal.market),
    money(signal.amount_usd),
    sourceOf(signal.url ?? signal.provenance.url),
  ]);
  const amount = { label: "Amount", isNumber: true };
  const columns = ["Date", "Kind", "What happened", "Market", amount, "Source"];
  return rowsOf("signals", { label, columns, rows }, common);
}

/**
 * Returns records as a table of lines, with the line that says where they are from.
 * @param layout class that gives the columns their widths. @param common see `commonProvenance`.
 */
export const rowsOf = (layout: string, content: TableContent, common?: string): Html =>
  html`<div class="rows ${layout}">${table(content)}</div>
    ${common !== undefined && html`<p class="source">Source: ${common}, unless noted.</p>`}`;

/** Returns a link to the page of the source; false if it has none. */
const sourceOf = (url: string | null): Part =>
  url !== null && html`<span title="${hostOf(url)}">${outside(url, "Read")}</span>`;

/** Returns a signal's title. It leads to the project that it is about. */
function titleOf(
  { title, project_ids: [project] }: Signal,
  without: readonly string[],
  marked: string | undefined,
): Part {
  const text = cutText(without.reduce(leaveOut, title), titleLengthMax);
  const isMarked = marked !== undefined && title.includes(marked);
  const shown = html`<span title="${text}"
    >${isMarked ? html`<strong>${text}</strong>` : text}</span
  >`;
  return project === undefined
    ? shown
    : html`<a href="${browsePaths.project}/${project}">${shown}</a>`;
}

/** Leaves a name out of a title that goes on without it, such as `Northwind buys land`. */
export function leaveOut(title: string, name: string): string {
  const [before = "", ...others] = title.split(name);
  const after = others.join(name);
  if (others.length === 0 || /^[\p{L}\p{N}’']/u.test(after)) return title;
  const rest = `${before}${after}`
    .replace(" (with )", "")
    .replace(/^ \((with [^)]*)\) (.*)$/, "$2, $1")
    .replace(/ (?:at|by|of) (?= |$)/, "")
    .trim();
  return rest.includes(" ") ? rest.charAt(0).toUpperCase() + rest.slice(1) : title;
}

interface Sourced {
  provenance: Provenance;
}

/** Returns the most common provenance, which a table states once. */
export function commonProvenance(records: readonly Sourced[]): string | undefined {
  const counts = Map.groupBy(records, ({ provenance }) => provenanceWords(provenance));
  return [...counts].toSorted(([, a], [, b]) => b.length - a.length)[0]?.[0];
}

/** Returns a record's provenance if it is not the common one; false if it is. */
export function noteOf({ provenance }: Sourced, common: string | undefined): Part {
  const words = provenanceWords(provenance);
  return words !== common && html` <span class="note" title="${words}">${words}</span>`;
}

/** Returns projects as a table. @param last column that a page adds. */
export function projectTable(
  label: string,
  projects: readonly Project[],
  model: ReadModel,
  last: { label: string; of: (project: Project) => Part },
): Html {
  const common = commonProvenance(projects);
  const rows = projects.map((project) => [
    [recordLink("project", project), noteOf(project, common)],
    placeOf(project, model),
    valueLabel(project.property_type),
    valueLabel(project.status),
    money(project.total_amount_usd),
    last.of(project),
  ]);
  const numbers = ["Amount", last.label].map((one) => ({ label: one, isNumber: true }));
  const columns = ["Name", "Place", "Kind", "Status", ...numbers];
  return rowsOf("named projects", { label, columns, rows }, common);
}

export const placeOf = ({ city, state, country, market }: Project, model: ReadModel): string =>
  place(city, state, country) || (market === null ? "" : nameOfMarket(model, market));

/** Maximum number of records of a GP that a page reads. */
const readMax = 5000;

/** Returns a GP's records of a kind in display order, at most 5,000, and their number. */
export function recordsOfGp<R>(model: ReadModel, kind: LinkedKind, gp: number) {
  const { starts, items } = model.parts.recordsOfGp[kind];
  const [first, end] = [starts[gp]!, starts[gp + 1]!];
  const positions = Array.from(items.subarray(first, Math.min(end, first + readMax)));
  return { records: readDocuments<R>(model.parts.documents[kind], positions), total: end - first };
}

/** Most columns that a plot has room for. */
const columnsMax = 48;

/** Returns columns of signals by kind: by month, quarter or year, so that there is room for all. */
export function activityOf(signals: readonly Signal[], today: string) {
  const dated = signals.filter(({ date }) => date.length >= 7);
  const oldest = dated.reduce((least, { date }) => (date < least ? date : least), today);
  const months =
    (Number(today.slice(0, 4)) - Number(oldest.slice(0, 4))) * 12 +
    Number(today.slice(5, 7)) -
    Number(oldest.slice(5, 7)) +
    1;
  const unit = months <= 24 ? "month" : months / 3 < columnsMax ? "quarter" : "year";
  const length = { month: 1, quarter: 3, year: 12 }[unit];
  const periods = periodsUntil(today, unit, Math.min(columnsMax, Math.ceil(months / length) + 1));
  const columns = signalColumns(
    periods,
    (types, { from, until }) =>
      dated.filter(({ date, type }) => {
        const month = date.slice(0, 7);
        return month >= from && month <= until && types.includes(type);
      }).length,
  );
  const undated = signals.length - dated.length;
  return {
    unit,
    columns,
    left: undated > 0 ? `; ${counted(undated, "signal")} without a month` : "",
  };
}
