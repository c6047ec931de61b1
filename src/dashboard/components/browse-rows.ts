/** The table of each kind on Browse and in the search: its columns, and the cells of the records on a page. */
import { html, type Html, type Part } from "#pages/html.ts";
import { periodsUntil, sparkline } from "#pages/plot.ts";
import { counted, dayElement, grouped } from "#pages/prose.ts";
import { table } from "#pages/table.ts";
import { money, typeMark, valueLabel } from "#pages/values.ts";
import type { GpLink } from "#records/common.ts";
import type { Gp } from "#records/gp.ts";
import type { EachKind, LinkedKind, RecordKind } from "#records/kinds.ts";
import type { Principal } from "#records/principal.ts";
import type { Project } from "#records/project.ts";
import type { Signal } from "#records/signal.ts";
import { readDocuments } from "#search/dataset-parts.ts";
import { dateKey, lastDay } from "#search/dates.ts";
import type { ReadModel } from "#search/read-model.ts";
import { leaveOut, placeOf, recordLink } from "./record-page.ts";
import { day, place } from "./records.ts";
import { dayOf, nouns } from "./view.ts";

export interface BrowseColumn<R = never> {
  label: string;
  /** Ascending value of `sort`; omitted if lists have no such order. */
  sort?: string;
  isNumber?: boolean;
  cell(record: R, at: number, model: ReadModel): Part;
}

interface Shown {
  /** Makes the head of a column. */
  headOf?(column: BrowseColumn): Part;
  /** Number of signals by day as `dateKey` returns it, for heads above those of each day instead of a column. */
  days?: ReadonlyMap<number | undefined, number> | null;
}

/** Returns the table of some records. */
export function recordTable(
  model: ReadModel,
  kind: RecordKind,
  positions: readonly number[],
  { headOf = ({ label }) => label, days = null }: Shown = {},
): Html {
  const columns = browseColumns[kind] as readonly BrowseColumn<unknown>[];
  const records = readDocuments<unknown>(model.parts.documents[kind], positions);
  const rows = records.map((record, i) =>
    columns.map(({ cell }) => cell(record, positions[i]!, model) || "–"),
  );
  return table({
    label: nouns[kind][1],
    columns: columns.map((column) => ({
      ...column,
      isPlain: true,
      head: headOf(column),
    })),
    rows: days === null ? rows : byDay(records as Signal[], rows, days),
  });
}

/** Returns rows of signals below a head for each day. Their last cell, the date, is left empty. */
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

/** Returns a list as its first value and the number of the others. */
const firstOf = (values: readonly Part[]): Part =>
  values.length > 0 && [
    values[0],
    values.length > 1 && html` <span class="muted">+${values.length - 1}</span>`,
  ];

const labelsOf = (values: readonly string[]): Part => firstOf(values.map(valueLabel));

/** Returns the number of a GP's records of a kind. */
export function countOf({ parts }: ReadModel, kind: LinkedKind, gp: number): number {
  const { starts } = parts.recordsOfGp[kind];
  return starts[gp + 1]! - starts[gp]!;
}

/** Returns the signals of a GP by quarter over two years as small columns, and their number. */
function activity(model: ReadModel, gp: number): Part {
  const { starts, items } = model.parts.recordsOfGp.signal;
  const dateAt = model.numberAt("signal", "date");
  const dates = Array.from(items.subarray(starts[gp], starts[gp + 1]), (signal) => dateAt(signal)!);
  const quarters = periodsUntil(dayOf(model), "quarter", 8).map(({ from, until }) => {
    const [first, last] = [dateKey(from), lastDay(dateKey(until))];
    return dates.filter((date) => first <= date && date <= last).length;
  });
  return [sparkline(quarters), " ", grouped(dates.length)];
}

/** Returns the newest signal of a GP; undefined if it has none. */
function latestOf(model: ReadModel, gp: number): Signal | undefined {
  const { starts, items } = model.parts.recordsOfGp.signal;
  const newest = countOf(model, "signal", gp) === 0 ? [] : [items[starts[gp]!]!];
  return readDocuments<Signal>(model.parts.documents.signal, newest)[0];
}

const nameColumn = (kind: RecordKind): BrowseColumn<GpLink> => ({
  label: "Name",
  sort: "name",
  cell: (record) => recordLink(kind, record),
});

const gpColumn: BrowseColumn<{ gps: readonly GpLink[] }> = {
  label: "GP",
  cell: ({ gps }) => firstOf(gps.map((gp) => recordLink("gp", gp))),
};

/** Returns a column of a member that lists can be sorted by. @param words returns the member's cell. */
const sorted = <K extends string, V>(label: string, sort: K, words: (value: V) => Part) => ({
  label,
  sort,
  isNumber: true,
  cell: ({ [sort]: value }: Record<K, V>) => words(value),
});

const number = (value: number | null): Part => value !== null && grouped(value);

const gpColumns: readonly BrowseColumn<Gp>[] = [
  nameColumn("gp"),
  { label: "Head office", cell: (gp) => place(gp.hq_city, gp.hq_state, gp.hq_country) },
  { label: "Strategy", cell: ({ strategies }) => labelsOf(strategies) },
  sorted("Assets", "aum_usd", money),
  sorted("Raised", "raised_to_date_usd", money),
  { label: "People", isNumber: true, cell: (_, at, model) => countOf(model, "principal", at) },
  { label: "Signals", isNumber: true, cell: (_, at, model) => activity(model, at) },
  {
    label: "Latest signal",
    cell: (_, at, model) => {
      const latest = latestOf(model, at);
      return latest !== undefined && typeMark(latest.type);
    },
  },
  {
    label: "Date",
    sort: "signal_date",
    isNumber: true,
    cell: (_, at, model) => day(latestOf(model, at)?.date ?? null),
  },
];

const principalColumns: readonly BrowseColumn<Principal>[] = [
  nameColumn("principal"),
  { label: "Role", cell: ({ title, roles }) => title ?? labelsOf(roles) },
  gpColumn,
  { label: "Place", cell: ({ city, state, country }) => place(city, state, country) },
  sorted("Start", "start_date", day),
  sorted("Last seen", "last_seen_date", day),
];

const signalColumns: readonly BrowseColumn<Signal>[] = [
  { label: "Type", cell: ({ type }) => typeMark(type) },
  gpColumn,
  {
    label: "What happened",
    cell: ({ title, gps: [gp] }) => (gp === undefined ? title : leaveOut(title, gp.name)),
  },
  { label: "Property", cell: ({ property_types }) => labelsOf(property_types) },
  sorted("Amount", "amount_usd", money),
  sorted("Date", "date", day),
];

const projectColumns: readonly BrowseColumn<Project>[] = [
  nameColumn("project"),
  { label: "Status", cell: ({ status }) => valueLabel(status) },
  { label: "Property", cell: ({ property_type }) => valueLabel(property_type) },
  gpColumn,
  { label: "Place", cell: (project, _, model) => placeOf(project, model) },
  sorted("Units", "units", number),
  sorted("Amount", "total_amount_usd", money),
  sorted("Start", "start_date", day),
  sorted("Completion", "completion_date", day),
];

const browseColumns: EachKind<readonly BrowseColumn[]> = {
  gp: gpColumns,
  principal: principalColumns,
  signal: signalColumns,
  project: projectColumns,
};
