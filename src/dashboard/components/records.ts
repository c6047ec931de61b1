/** Shows records on pages, in words, links and tables. Hides what a reader may not see. */
import { type Given, isSignedIn, page, type ReaderRequest } from "#dashboard/screen.ts";
import { html, type Html, type Part, table } from "#pages/html.ts";
import { periodsUntil, sparkline } from "#pages/plot.ts";
import { counted, dayElement, grouped } from "#pages/prose.ts";
import { money, typeMark, valueLabel } from "#pages/values.ts";
import type { GpLink } from "#records/common.ts";
import type { RecordOf } from "#records/declarations.ts";
import { isFiled, provenanceWords } from "#records/explanation.ts";
import type { Gp } from "#records/gp.ts";
import { kinds, type LinkedKind, type RecordKind } from "#records/kinds.ts";
import type { Principal } from "#records/principal.ts";
import type { Project } from "#records/project.ts";
import type { Signal } from "#records/signal.ts";
import { sureFrom } from "#records/vocabulary.ts";
import { readDocuments } from "#search/dataset-parts.ts";
import { dateKey, lastDay } from "#search/dates.ts";
import { nameOfMarket } from "#search/market-spellings.ts";
import { positionOfId } from "#search/name-index.ts";
import type { ReadModel } from "#search/read-model.ts";
import { laterReply, wordPage } from "./page.ts";
import { capital, dayOf } from "./view.ts";

/** Joins city, state and country. Leaves out what is unknown, and the US if city or state is known. */
export const place = (city: string | null, state: string | null, country: string | null): string =>
  [city, state, country === "US" && (city ?? state) !== null ? null : country]
    .filter((part) => part !== null)
    .join(", ");

export type Sourced = Pick<Gp, "provenance">;
type Linked = Sourced & { gps: readonly GpLink[] };

/**
 * Returns the word "probably" if the link between a record and its GP is uncertain; otherwise false. Hovering over the
 * word shows the record's source, basis and confidence.
 */
export const probably = ({ provenance }: Sourced, before = ", ", after = ""): Part =>
  provenance.confidence < sureFrom && [
    before,
    html`<span title="${provenanceWords(provenance)}">probably</span>`,
    after,
  ];

/** Returns the note about records from filings; empty if none of the records is from filings. */
export function filedNote(records: readonly Sourced[]): string {
  const subject = records.every(isFiled) ? "Reported" : "Data from filings was reported";
  return records.some(isFiled) ? `${subject} to the SEC, which does not review it.` : "";
}

/** Label of amounts that filings report. Nobody has checked that they were paid. */
export const reportedSold = "Reported sold";

export const day = (date: string | null): Part => date && dayElement(date);

/** Pattern of addresses that become links, of at most 498 characters. Longer ones are rare and would fill the page. */
const webAddress = /^https?:\/\/.{1,490}$/i;

const hostOf = (address: string): string =>
  URL.parse(address)?.hostname.replace(/^www\./, "") ?? address;

/** Returns a link that sends no referrer. Returns text if the address cannot be a link, or null if it is null. */
export function linkTo(address: string | null, label?: string): Part {
  const text = label ?? (address && hostOf(address));
  return address !== null && webAddress.test(address)
    ? html`<a href="${address}" rel="noopener noreferrer">${text}</a>`
    : address && text;
}

/** Shortens text to at most `lengthMax` characters and an ellipsis. Cuts at the last space if it is in the second half. */
export function cutText(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  const cut = text.slice(0, lengthMax);
  const space = cut.lastIndexOf(" ");
  return `${(space > lengthMax / 2 ? cut.slice(0, space) : cut).toWellFormed()}…`;
}

/** Joins strings with semicolons, and cuts the result to at most 1,000 characters and an ellipsis. */
export const listText = (texts: readonly string[]): string => cutText(texts.join("; "), 1000);

/** Joins the shown parts and adds the number of further ones. Returns false if no part is shown. */
export const joined = (shown: readonly Part[], total: number, separator: string): Part =>
  shown.length > 0 && [
    shown.map((part, i) => [i > 0 && separator, part]),
    total > shown.length && ` and ${total - shown.length} more`,
  ];

/** Joins facts with middle dots. Leaves out empty ones. */
export function byPoints(facts: readonly Part[]): Part {
  const said = facts.filter((fact) => fact !== null && fact !== false && fact !== "");
  return joined(said, said.length, " · ");
}

export interface Column<R = never> {
  label: string;
  filedLabel?: string;
  /** Value of the parameter `sort` for ascending order; omitted if lists cannot be sorted by the column. */
  sort?: string;
  isNumber?: boolean;
  /** True if a note about the record's source belongs in the cell. */
  hasNote?: boolean;
  cell(record: R, model: ReadModel, before?: R): Part;
}

/** Returns columns with the labels that fit the sources of the records. */
export const labelled = <R>(columns: readonly Column<R>[], records: readonly Sourced[]) =>
  columns.map((column) => {
    const { label, filedLabel } = column;
    if (filedLabel === undefined || !records.some(isFiled)) return column;
    const both = `${label} or ${filedLabel.toLowerCase()}`;
    return { ...column, label: records.every(isFiled) ? filedLabel : both };
  });

/** Maximum length of names and job titles, in characters; longer ones are cut. */
export const nameLengthMax = 80;
const titleLengthMax = 160;

export const recordLink = (kind: RecordKind, { id, name }: GpLink): Html =>
  html`<a href="${kinds[kind].path}/${id}" title="${cutText(name, titleLengthMax)}"
    >${cutText(name, nameLengthMax)}</a
  >`;

/** Returns links to the first GPs, and the number of the others. */
export const gpLinks = (gps: readonly GpLink[], max = 5): Part =>
  joined(
    gps.slice(0, max).map((gp) => recordLink("gp", gp)),
    gps.length,
    ", ",
  );

export const placeOf = ({ city, state, country, market }: Project, model: ReadModel): string =>
  place(city, state, country) || (market === null ? "" : nameOfMarket(model, market));

/** Returns the first value of a list, and the number of the others. */
const firstOf = (values: readonly Part[]): Part =>
  values.length > 0 && [
    values[0],
    values.length > 1 && html` <span class="muted">+${values.length - 1}</span>`,
  ];

const labelsOf = (values: readonly string[]): Part => firstOf(values.map(valueLabel));

export const roleOf = ({ title, roles }: Principal): Part =>
  title === null ? labelsOf(roles) : cutText(title, nameLengthMax);

/** Returns the positions of a GP's records of a kind, signals newest first. */
function recordsOf({ parts }: ReadModel, kind: LinkedKind, { id }: Gp) {
  const { starts, items } = parts.recordsOfGp[kind];
  const gp = positionOfId(parts.ids, id);
  return items.subarray(starts[gp], starts[gp + 1]);
}

const countOf = (kind: LinkedKind) => (gp: Gp, model: ReadModel) =>
  recordsOf(model, kind, gp).length;

/** Returns a small chart of a GP's signals in each of the last eight quarters, and the number of all its signals. */
function activity(gp: Gp, model: ReadModel): Part {
  const dateAt = model.numberAt("signal", "date");
  const dates = Array.from(recordsOf(model, "signal", gp), (signal) => dateAt(signal)!);
  const quarters = periodsUntil(dayOf(model), "quarter", 8).map(({ from, until }) => {
    const [first, last] = [dateKey(from), lastDay(dateKey(until))];
    return dates.filter((date) => first <= date && date <= last).length;
  });
  return [sparkline(quarters), " ", grouped(dates.length)];
}

/** Returns a function that makes the cell about the newest signal of a GP. */
const ofLatest = (show: (signal: Signal) => Part) => (gp: Gp, model: ReadModel) => {
  const newest = [...recordsOf(model, "signal", gp).subarray(0, 1)];
  return readDocuments<Signal>(model.parts.documents.signal, newest).map(show)[0];
};

/** Returns a signal's title, linked to its first project if it has any. @param without name to leave out. */
export function titleOf(signal: Signal, without: string | undefined, isMarked = false): Part {
  const { title, project_ids } = signal;
  const text = cutText(without === undefined ? title : leaveOut(title, without), titleLengthMax);
  const words = html`<span title="${text}"
    >${isMarked ? html`<strong>${text}</strong>` : text}</span
  >`;
  const [project] = project_ids;
  return project === undefined
    ? words
    : html`<a href="${kinds.project.path}/${project}">${words}</a>`;
}

const joinedBefore = /(?:[&,/“"]|\band) ?$/i;
const joinedAfter = /^(?:[\p{L}\p{N}’',/-]| &| (?:and|LLC|L\.?P|Inc|Corp|Ltd)\b)/iu;

/**
 * Removes a name from a title that reads well without it: `Northwind buys land` becomes `Buys land`. Keeps a name that
 * is part of a longer one, of a list or of a quotation.
 */
export function leaveOut(title: string, name: string): string {
  const [before = "", ...others] = title.split(name);
  const after = others.join(name);
  if (others.length === 0 || joinedBefore.test(before) || joinedAfter.test(after)) return title;
  if (before !== "" && /^ \p{Lu}/u.test(after)) return title;
  const rest = `${before}${after}`
    .replace(" (with )", "")
    .replace(/^ \((with [^)]*)\) (.*)$/, "$2, $1")
    .replace(/ (?:at|by|for|from|of|to|with) (?= |$)/, "")
    .replace(/^[ :–—]+| +$/g, "");
  return rest.includes(" ") ? capital(rest) : title;
}

const nameColumn = (kind: RecordKind): Column<GpLink> => ({
  label: "Name",
  sort: "name",
  hasNote: true,
  cell: (record) => recordLink(kind, record),
});

export const probableGps = (record: Linked, max?: number): Part =>
  record.gps.length > 0 && [probably(record, "", " "), gpLinks(record.gps, max)];

const gpColumn: Column<Linked> = {
  label: "GP",
  cell: (one) => firstOf(one.gps.map((gp) => [probably(one, "", " "), recordLink("gp", gp)])),
};

/** Returns the column of the member `sort`, a number or a date. @param words returns the content of a cell. */
export const sorted = <K extends string, V>(label: string, sort: K, words: (value: V) => Part) => ({
  label,
  sort,
  isNumber: true,
  cell: ({ [sort]: value }: Record<K, V>) => words(value),
});

export const raised = <K extends string>(sort: K) => ({
  ...sorted<K, number | null>("Raised", sort, money),
  filedLabel: reportedSold,
});

/** Labels of statuses from filings, which describe the offering, not the building. */
const filedStatuses: ReadonlyMap<string, string> = new Map([
  ["raising", "Reported on offer"],
  ["closed", "Reported sold"],
]);

export const statusOf = (project: Project): string =>
  (isFiled(project) && filedStatuses.get(project.status)) || valueLabel(project.status);

/** A plot: records by market, signals by month, amounts with one basis by month, or records by ranges of a value. */
export type Plot = "market" | "signals" | Readonly<{ amounts: string; verb: string }> | RangePlot;

/** Histogram with columns between `edges`, or by default for each year until `yearsAhead` years after the dataset's. */
export type RangePlot = Readonly<{ range: string; edges?: readonly number[]; yearsAhead?: number }>;

interface InBrowse<R> {
  /** Filters to offer, in order. A range is listed by its own name instead of by its two filters. */
  facets: readonly string[];
  /** Lower bounds to choose from, by the name of the range. */
  steps?: Readonly<Record<string, readonly string[]>>;
  plots: readonly Plot[];
  columns: Readonly<Record<string, Column<R>>>;
  /** Columns for which a narrow screen has room, besides the first. */
  narrow: readonly string[];
  /** Returns words that tell a record from its namesakes, and a figure or a GP's name. Only for searched kinds. */
  note?(record: R, model: ReadModel): readonly [about: string | null, figure: string];
}

const namesOf = (text: string): readonly string[] => text.split(" ");
const days = ["-7d", "-30d", "-90d", "-365d"];

export const inBrowse = {
  gp: {
    facets: namesOf(
      "market property_type strategy signal_date signal_type theme tag hq_state aum_usd raised_to_date_usd founded_year",
    ),
    steps: {
      signal_date: days,
      aum_usd: ["100000000", "1000000000"],
      raised_to_date_usd: ["100000000", "1000000000"],
    },
    plots: ["market", "signals", { range: "aum_usd", edges: [0, 50e6, 100e6, 500e6, 1e9, 5e9] }],
    columns: {
      name: nameColumn("gp"),
      place: { label: "Head office", cell: (gp) => place(gp.hq_city, gp.hq_state, gp.hq_country) },
      strategy: { label: "Strategy", cell: ({ strategies }) => labelsOf(strategies) },
      assets: sorted("Assets", "aum_usd", money),
      raised: raised("raised_to_date_usd"),
      people: { label: "People", isNumber: true, cell: countOf("principal") },
      signals: { label: "Signals", isNumber: true, cell: activity },
      latest: { label: "Latest signal", cell: ofLatest(({ type }) => typeMark(type)) },
      date: {
        label: "Date",
        sort: "signal_date",
        isNumber: true,
        cell: ofLatest(({ date }) => day(date)),
      },
    },
    narrow: namesOf("assets latest date"),
    note: (gp, model) => [
      place(gp.hq_city, gp.hq_state, gp.hq_country),
      counted(countOf("signal")(gp, model), "signal"),
    ],
  },
  principal: {
    facets: namesOf("role market state tag theme ownership_band start_date"),
    plots: ["market", { range: "start_date" }],
    columns: {
      name: nameColumn("principal"),
      role: { label: "Role", cell: roleOf },
      gp: gpColumn,
      place: { label: "Place", cell: ({ city, state, country }) => place(city, state, country) },
      start: sorted("Start", "start_date", day),
      last: sorted("Last named", "last_seen_date", day),
    },
    narrow: namesOf("role gp"),
    note: ({ title, gps }) => [title, gps.length === 1 ? gps[0]!.name : counted(gps.length, "GP")],
  },
  signal: {
    facets: namesOf("type market date amount_usd property_type theme tag"),
    steps: { date: days, amount_usd: ["1000000", "10000000", "100000000"] },
    plots: ["signals", { amounts: "price", verb: "paid" }, { amounts: "loan", verb: "lent" }],
    columns: {
      type: { label: "Type", cell: ({ type }) => typeMark(type) },
      gp: gpColumn,
      title: {
        label: "What happened",
        hasNote: true,
        cell: (signal) => titleOf(signal, signal.gps[0]?.name),
      },
      property: { label: "Property", cell: ({ property_types }) => labelsOf(property_types) },
      amount: sorted("Amount", "amount_usd", money),
      date: sorted("Date", "date", day),
    },
    narrow: namesOf("title amount date"),
  },
  project: {
    facets: namesOf(
      "status state units property_type type market strategy total_amount_usd start_date completion_date theme tag",
    ),
    steps: { units: ["50", "100", "250"], total_amount_usd: ["10000000", "50000000", "100000000"] },
    plots: [
      "market",
      { range: "completion_date", yearsAhead: 4 },
      { range: "units", edges: [0, 50, 100, 250, 500, 1000] },
    ],
    columns: {
      name: nameColumn("project"),
      status: { label: "Status", cell: statusOf },
      property: { label: "Property", cell: ({ property_type }) => valueLabel(property_type) },
      gp: gpColumn,
      place: { label: "Place", cell: placeOf },
      units: sorted("Units", "units", (units: number | null) => units !== null && grouped(units)),
      amount: sorted("Amount", "total_amount_usd", money),
      start: sorted("Start", "start_date", day),
      completion: sorted("Completion", "completion_date", day),
    },
    narrow: namesOf("status place amount"),
    note: (project, model) => [placeOf(project, model), money(project.total_amount_usd)],
  },
} satisfies { [K in RecordKind]: InBrowse<RecordOf<K>> };

export const browseOf = (kind: RecordKind): InBrowse<never> => inBrowse[kind];

interface Shown {
  headOf?(column: Column): Part;
  /** Number of signals by day, as `dateKey` returns it. Headings by day replace the dates unless this is null. */
  days?: ReadonlyMap<number | undefined, number> | null;
}

export function recordTable(
  model: ReadModel,
  kind: RecordKind,
  positions: readonly number[],
  { headOf = ({ label }) => label, days = null }: Shown = {},
): Html {
  const records = readDocuments<Sourced>(model.parts.documents[kind], positions);
  const { columns: all, narrow } = browseOf(kind);
  const names = Object.keys(all);
  const columns = labelled(Object.values<Column<Sourced>>(all), records);
  const note = filedNote(records);
  const rows = records.map((record) => columns.map(({ cell }) => cell(record, model) || "–"));
  return html`${table({
    label: kinds[kind].nouns[1],
    columns: columns.map((column, i) => ({
      ...column,
      isPlain: true,
      isWide: i > 0 && !narrow.includes(names[i]!),
      head: headOf(column),
    })),
    rows: days === null ? rows : byDay(records as Signal[], rows, days),
  })}${note !== "" && html`<p class="source">${note}</p>`}`;
}

/** Returns rows of signals below a heading for each day. Leaves their last cell, the date, empty. */
const byDay = (
  signals: readonly Signal[],
  rows: readonly (readonly Part[])[],
  days: ReadonlyMap<number | undefined, number>,
) =>
  signals.flatMap(({ date }, i) => {
    const row = [...rows[i]!.slice(0, -1), null];
    const head = { label: dayElement(date), aside: counted(days.get(dateKey(date))!, "signal") };
    return date === signals[i - 1]?.date ? [row] : [head, row];
  });

/**
 * Returns the range and the total of the records on a page, and links to the previous and next pages.
 * Returns null for an empty list.
 * @param hrefAt returns the address of the page that begins at an offset. @param choice links to other page sizes.
 */
export function pageSteps(
  { offset, limit, total }: { offset: number; limit: number; total: number },
  hrefAt: (offset: number) => string,
  choice?: Part,
): Part {
  if (total === 0) return null;
  const last = Math.min(offset + limit, total);
  const step = (label: string, rel: string, to: number, isThere: boolean) =>
    isThere
      ? html`<a class="button quiet" href="${hrefAt(to)}" rel="${rel}">${label}</a>`
      : html`<span class="button quiet">${label}</span>`;
  return html`<nav class="steps" aria-label="Pages">
    <span
      >${grouped(Math.min(offset + 1, last))}–${grouped(last)} of ${grouped(total)} ${choice}</span
    >
    ${step("Previous", "prev", Math.max(0, Math.min(offset, total) - limit), offset > 0)}
    ${step("Next", "next", offset + limit, last < total)}
  </nav>`;
}

export const isSuspended = ({ account }: ReaderRequest): boolean =>
  (account?.suspendedAt ?? null) !== null;

/** Returns a person as the reader may see them. Only members see the e-mail address and the LinkedIn page. */
export function asSeen(request: ReaderRequest, person: Principal): Principal {
  if (isSignedIn(request)) return person;
  const { provenance } = person;
  const isPage = provenance.url !== null && /(?:^|\.)linkedin\.com$/.test(hostOf(provenance.url));
  const source = isPage ? { ...provenance, url: null } : provenance;
  return { ...person, email: null, linkedin_url: null, provenance: source };
}

const unpublished =
  "This service has not published any records yet, or cannot read them at the moment. Try again in a moment, or ask the operator of this service.";
const suspended =
  "This account is suspended. Until the operator of this service lifts the suspension, the account's keys are refused and these pages show no records. Ask the operator why the account is suspended.";

/** Returns a function that shows records. @param refuse makes the page that says why there are none to show. */
export const readRecords =
  <R extends ReaderRequest>(
    show: (request: R, model: ReadModel) => Given | Promise<Given>,
    refuse = (request: R, text: string) => wordPage(request, "No records to show", text),
  ) =>
  async (request: R): Promise<Given> => {
    const model = request.services.model();
    if (model === null) return laterReply(refuse(request, unpublished), 503, 5);
    if (isSuspended(request)) return page(refuse(request, suspended), 403);
    return show(request, model);
  };
