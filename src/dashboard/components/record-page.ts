/** The page of a GP, a person or a project: its layout, the cards of its two columns, and tables of records. */
import { type AccountRequest, moved, type ReaderRequest, route } from "#dashboard/screen.ts";
import { callBlocks } from "#pages/code-block.ts";
import { factList, html, type Html, type Part, table } from "#pages/html.ts";
import { contactLink } from "#pages/privacy.ts";
import { counted, dayElement, grouped, relativeTime } from "#pages/prose.ts";
import { valueLabel } from "#pages/values.ts";
import type { GpLink } from "#records/common.ts";
import {
  basisText,
  damagedText,
  goneText,
  isFiled,
  isFiling,
  percentText,
  provenanceWords,
  type Quotation,
  reasonOf,
} from "#records/explanation.ts";
import type { Gp } from "#records/gp.ts";
import { kinds, type LinkedKind, type NamedKind, type RecordKind } from "#records/kinds.ts";
import type { Principal } from "#records/principal.ts";
import type { Project } from "#records/project.ts";
import type { Signal } from "#records/signal.ts";
import { readDocuments } from "#search/dataset-parts.ts";
import { nameOfMarket } from "#search/market-spellings.ts";
import { type Filter, prepareInTurns, type ReadModel } from "#search/read-model.ts";
import { accountPage, wordReply } from "./page.ts";
import {
  byPoints,
  type Column,
  cutText,
  day,
  filedNote,
  gpLinks,
  inBrowse,
  labelled,
  linkTo,
  listText,
  nameLengthMax,
  readRecords,
  type Sourced,
  titleOf,
} from "./records.ts";
import { capital } from "./view.ts";

type AnyRecord = Pick<Gp, "id" | "name" | "external_ids" | "provenance" | "updated_at">;

/** The record of a page, and the dataset and the request that the page is made from. */
export interface Found<R> {
  record: R;
  model: ReadModel;
  request: ReaderRequest;
  /** Day on which the dataset was built, as `YYYY-MM-DD`. */
  today: string;
}

interface RecordPage {
  /** Market to link in the path above the name; null for none. */
  market: string | null;
  status?: string;
  /** Facts below the name. */
  facts: readonly Part[];
  /** Parts above the columns. */
  top?: Part;
  /** Left column: events. */
  left: Part;
  /** Right column: facts. */
  right: Part;
  /** API request for the record: path and query. */
  call: string;
}

export const recordRoute = <R extends AnyRecord>(
  kind: NamedKind,
  show: (found: Found<R>) => Promise<RecordPage>,
) =>
  route(`${kinds[kind].path}/{id}`, "reader", {
    GET: readRecords(async (request, model) => {
      const id = request.names["id"]!;
      const [record] = (await findRecords<R>(model, kind, { id: [id] }, 1)).records;
      if (record === undefined) {
        const next = { href: kinds[kind].path, label: `Browse ${kinds[kind].nouns[1]}` };
        const why = "It may no longer be published, or the address may be incomplete.";
        return wordReply(request, 404, `There is no such ${kinds[kind].nouns[0]}`, why, next);
      }
      // A former id leads to its GP.
      if (record.id !== id) return moved(`${kinds[kind].path}/${record.id}`, request.query);
      const found = { record, model, request, today: model.parts.updatedAt.slice(0, 10) };
      return pageOf(kind, found, await show(found));
    }),
  });

function pageOf(
  kind: NamedKind,
  { record, model, request }: Found<AnyRecord>,
  { market, status, facts, top, left, right, call }: RecordPage,
): string {
  const { name, provenance, updated_at } = record;
  const certainty = `${capital(basisText(provenance))}, ${percentText(provenance.confidence)}`;
  const badge = provenance.basis === "stated" ? "badge ok" : "badge";
  const { contact } = request.services.settings;
  const subject = `Error on ${request.own.base}${request.path}`;
  const report = contact !== null && contactLink(contact, "Report an error", subject);
  return accountPage(request, {
    title: `${name} · ${capital(kinds[kind].nouns[0])}`,
    main: html`<div class="record">
      <nav class="crumbs" aria-label="Path">
        <a href="${kinds[kind].path}">${kinds[kind].label}</a>
        ${market !== null && html`/ <a href="${listHref(kind, "market", market)}">${nameOfMarket(model, market)}</a>`}
      </nav>
      <div class="name-line">
        <h1>${name}</h1>
        ${status !== undefined && html`<span class="badge">${status}</span>`}
        <span class="${badge}" title="${provenanceWords(provenance)}">${certainty}</span>
      </div>
      <p class="lede">
        ${byPoints([...facts, html`updated ${relativeTime(updated_at, request.now)}`])}
      </p>
      ${(isFiled(record) || report) && html`<p class="muted">${filedNote([record])} ${report}</p>`}
      ${top}
      <div class="beside">
        <div>${left}</div>
        <div>${right} ${whyCard(request, record.id)} ${apiCall(request, call)}</div>
      </div>
    </div>`,
  });
}

export interface Records<R> {
  /** The first records, in display order. */
  records: R[];
  total: number;
}

/**
 * Finds the first records that satisfy a filter; none if one of the filter's lists is empty. Other requests are
 * answered while the values that the filter needs are read.
 */
export async function findRecords<R>(
  model: ReadModel,
  kind: RecordKind,
  filter: Filter,
  limit: number,
): Promise<Records<R>> {
  const isEmpty = (asked: unknown) => Array.isArray(asked) && asked.length === 0;
  if (Object.values(filter).some(isEmpty)) return { records: [], total: 0 };
  await prepareInTurns(model, kind, filter);
  const { positions, total } = model.select(kind, filter, { limit, offset: 0 });
  return { records: readDocuments<R>(model.parts.documents[kind], positions), total };
}

/** Finds the records of a kind that belong to these GPs, at most 5,000. */
export const recordsOfGps = <R>(model: ReadModel, kind: LinkedKind, ids: readonly string[]) =>
  findRecords<R>(model, kind, { gp_id: ids }, 5000);

/** Returns the address of a kind's Browse page with one filter set. @param name name of the filter. */
export const listHref = (kind: RecordKind, name: string, value: string): string =>
  `${kinds[kind].path}?${new URLSearchParams({ [name]: value }).toString()}`;

/** Returns values as tags. Each tag leads to the records with its value. */
export const listLinks = (kind: RecordKind, name: string, values: readonly string[]): Html[] =>
  values.map((value) => {
    const label = cutText(valueLabel(value), nameLengthMax);
    return html`<a class="tag" href="${listHref(kind, name, value)}">${label}</a>`;
  });

type Figure = readonly [label: string, value: Part, note: Part];

/** Returns a list of figures, each with a label and a note. Leaves out figures without a value. */
export const figures = (shown: readonly Figure[]): Html =>
  html`<dl class="figures">
    ${shown.map(
      ([label, value, note]) =>
        value !== "" &&
        value !== null &&
        html`<div>
          <dt>${label}</dt>
          <dd>${value}</dd>
          <dd class="note">${note}</dd>
        </div>`,
    )}
  </dl>`;

interface Card {
  title: string;
  /** Words beside the title, such as `5 of 20`. */
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

/** Returns a card with an API request. @param target path and query. */
export function apiCall({ own }: AccountRequest, target: string): Html {
  return card({
    title: "The API call for this page",
    aside: "counts as one request",
    body: callBlocks(own.base, target),
  });
}

/** Returns a card of facts. After the given facts come those that every record has: external ids, source and id. */
export function factsCard(
  kind: NamedKind,
  { id, external_ids, provenance }: AnyRecord,
  facts: Parameters<typeof factList>[0],
): Html {
  const ids = Object.entries(external_ids).map(
    ([key, values]) => [valueLabel(key), listText(values ?? [])] as const,
  );
  const source = [provenanceWords(provenance), provenance.url && ", ", linkTo(provenance.url)];
  const own = [`${capital(kinds[kind].nouns[0])} ID`, html`<code>${id}</code>`] as const;
  return card({ title: "Facts", body: factList([...facts, ...ids, ["Source", source], own]) });
}

/** Number of quotations that are always shown. The others are collapsed. */
const quotationsMax = 2;

function whyCard({ services }: ReaderRequest, id: string): Html {
  const title = "Why this name";
  const told = services.explain(id);
  if (told === "gone") return card({ title, body: html`<p>${goneText}</p>` });
  if (!told) return card({ title, body: html`<p>${damagedText}</p>` });
  const { statement, evidence, documents_left_out: left } = told;
  const all = left + new Set(evidence.map(({ document }) => document.number)).size;
  const rest = evidence.slice(quotationsMax).map(quotation);
  return card({
    title,
    aside: all > 0 && counted(all, "document"),
    body: html`<p>${statement}</p>
      ${evidence.slice(0, quotationsMax).map(quotation)}
      ${
        rest.length > 0 &&
        html`<details>
          <summary>${rest.length} more</summary>
          ${rest}
        </details>`
      }
      ${left > 0 && html`<p class="note">${counted(left, "document")} not shown</p>`}`,
  });
}

/** Returns a quotation, the reason why it was taken or refused, and its document's link or number. */
function quotation(one: Quotation): Html {
  const { form, number, filer, filed_on, url } = one.document;
  const source = [one.field, form, filer, day(filed_on), linkTo(url, number) ?? number];
  return html`<blockquote>
    <p>“${one.text}”</p>
    <p class="note">${reasonOf(one)}.</p>
    <p class="note">${byPoints(source)}</p>
  </blockquote>`;
}

interface RecordsCard<R> {
  /** Title; by default the name of the layout. */
  title?: string | undefined;
  /** Kind of records. It is also the class that sets the columns' widths. */
  layout: "gps" | "people" | "signals" | "projects" | "funds";
  list: Records<R>;
  /** Record of the page. The card has no note on filings if this record is from filings, because the page has one. */
  of: Sourced;
  max?: number;
  columns: readonly Column<R>[];
  /** Words after the number of records shown. */
  aside?: string;
  /** Address of all records, linked if some are not shown. */
  all?: string;
}

/** Returns a card with the first records as rows and their most common source. Returns null if there are none. */
export function recordsCard<R extends Sourced>(model: ReadModel, given: RecordsCard<R>): Part {
  const { layout, title = capital(layout), list, of, max, aside = "", all } = given;
  const records = list.records.slice(0, max);
  const columns = labelled(given.columns, records);
  if (records.length === 0) return null;
  const sources = records.map(({ provenance }) => provenanceWords(provenance));
  const groups = [...Map.groupBy(sources, (source) => source)];
  const [common] = groups.toSorted(([, a], [, b]) => b.length - a.length)[0]!;
  const rows = records.map((record, i) => {
    const source = sources[i];
    const note = source !== common && html` <span class="note" title="${source}">${source}</span>`;
    return columns.map(({ cell, hasNote }) => [
      cell(record, model, records[i - 1]),
      hasNote === true && note,
    ]);
  });
  const total = grouped(list.total);
  const isPart = records.length < list.total;
  return card({
    title,
    aside: `${isPart ? `${grouped(records.length)} of ${total}` : total}${aside}`,
    body: html`<div class="rows ${layout}">${table({ label: title, columns, rows })}</div>
      <p class="source">Source: ${common}, unless noted. ${!isFiled(of) && filedNote(records)}</p>`,
    more: isPart && all !== undefined && { href: all, label: `All ${total} ${layout}` },
  });
}

/**
 * Returns the columns of signals. Consecutive signals of the same day share one date.
 * @param without name to leave out of titles, because the page shows it. @param marked name; titles with it are bold.
 */
export const signalCells = (without?: string, marked?: string): Column<Signal>[] => [
  {
    label: "Date",
    cell: ({ date }, _, before) =>
      html`<span ${date === before?.date && html`class="again"`}>${dayElement(date)}</span>`,
  },
  inBrowse.signal.columns.type,
  {
    ...inBrowse.signal.columns.title,
    cell: (signal) =>
      titleOf(signal, without, marked !== undefined && signal.title.includes(marked)),
  },
  {
    label: "Market",
    cell: ({ market }, model) => market !== null && nameOfMarket(model, market),
  },
  inBrowse.signal.columns.amount,
  { label: "Source", cell: ({ url, provenance }) => linkTo(url ?? provenance.url, "Read") },
];

/**
 * Returns the columns of people, with one for filings if any person has a filing.
 * @param gpsOf returns the GPs in column `label`.
 */
export const personCells = (
  people: readonly Principal[],
  label: string,
  gpsOf: (person: Principal) => readonly GpLink[],
): Column<Principal>[] => [
  inBrowse.principal.columns.name,
  inBrowse.principal.columns.role,
  { label: "Owns", cell: ({ ownership_band: band }) => band && valueLabel(band) },
  { label, cell: (person) => gpLinks(gpsOf(person), 1) },
  inBrowse.principal.columns.last,
  ...(people.some((person) => filingOf(person) !== null)
    ? [{ label: "Filing", cell: filingOf }]
    : []),
];

const filingOf = ({ provenance: { url } }: Sourced): Part =>
  isFiling(url) ? linkTo(url, "Read") : null;

/** Returns the columns of projects. @param last column that a page adds. */
export const projectCells = <R extends Project>(last: Column<R>): Column<R>[] => {
  const { name, place, property, status, amount } = inBrowse.project.columns;
  return [name, place, property, status, amount, last];
};

/** Compares days, latest first. Unknown days come last. */
export const latestFirst = (a: string | null, b: string | null): number =>
  (b ?? "").localeCompare(a ?? "");
