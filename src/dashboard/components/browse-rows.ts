/** The table of each kind on Browse: its columns, and the cells of the records on a page. */
import { html, type Html, type Part } from "#pages/html.ts";
import { dayElement, grouped } from "#pages/prose.ts";
import { money, typeMark, valueLabel } from "#pages/values.ts";
import type { GpLink } from "#records/common.ts";
import type { Gp } from "#records/gp.ts";
import type { EachKind, LinkedKind, RecordKind } from "#records/kinds.ts";
import type { Principal } from "#records/principal.ts";
import type { Project } from "#records/project.ts";
import type { Signal } from "#records/signal.ts";
import { readDocuments } from "#search/dataset-parts.ts";
import type { ReadModel } from "#search/read-model.ts";
import { leaveOut, placeOf, recordLink } from "./record-page.ts";
import { place } from "./records.ts";

export interface BrowseColumn<R = never> {
  label: string;
  /** Ascending value of `sort`; omitted if lists have no such order. */
  sort?: string;
  isNumber?: boolean;
  /** True to show equal cells of successive rows once. */
  isOnce?: boolean;
  cell(record: R, at: number, model: ReadModel): Part;
}

/** Returns a list as its first value and the number of the others. */
const firstOf = (values: readonly Part[]): Part =>
  values.length > 0 && [
    values[0],
    values.length > 1 && html` <span class="muted">+${values.length - 1}</span>`,
  ];

const nameCell =
  (kind: RecordKind) =>
  (record: GpLink): Html =>
    recordLink(kind, record);

const gpCell = ({ gps }: { gps: readonly GpLink[] }): Part => firstOf(gps.map(nameCell("gp")));

const labelsOf = (values: readonly string[]): Part => firstOf(values.map(valueLabel));

const day = (date: string | null): Part => date !== null && dayElement(date);

const number = (value: number | null): Part => value !== null && grouped(value);

/** Returns the number of a GP's records of a kind. */
export function countOf({ parts }: ReadModel, kind: LinkedKind, gp: number): number {
  const { starts } = parts.recordsOfGp[kind];
  return starts[gp + 1]! - starts[gp]!;
}

/** Returns the newest signal of a GP; undefined if it has none. */
function latestOf(model: ReadModel, gp: number): Signal | undefined {
  const { starts, items } = model.parts.recordsOfGp.signal;
  const newest = countOf(model, "signal", gp) === 0 ? [] : [items[starts[gp]!]!];
  return readDocuments<Signal>(model.parts.documents.signal, newest)[0];
}

const gpColumns: readonly BrowseColumn<Gp>[] = [
  { label: "Name", sort: "name", cell: nameCell("gp") },
  { label: "Head office", cell: (gp) => place(gp.hq_city, gp.hq_state, gp.hq_country) },
  { label: "Strategy", cell: (gp) => labelsOf(gp.strategies) },
  { label: "Assets", sort: "aum_usd", isNumber: true, cell: (gp) => money(gp.aum_usd) },
  {
    label: "Raised",
    sort: "raised_to_date_usd",
    isNumber: true,
    cell: (gp) => money(gp.raised_to_date_usd),
  },
  {
    label: "People",
    isNumber: true,
    cell: (_, at, model) => number(countOf(model, "principal", at)),
  },
  {
    label: "Signals",
    isNumber: true,
    cell: (_, at, model) => number(countOf(model, "signal", at)),
  },
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
  { label: "Name", sort: "name", cell: nameCell("principal") },
  { label: "Role", cell: ({ title, roles }) => title ?? labelsOf(roles) },
  { label: "GP", cell: gpCell },
  { label: "Place", cell: ({ city, state, country }) => place(city, state, country) },
  { label: "Start", sort: "start_date", isNumber: true, cell: (person) => day(person.start_date) },
  {
    label: "Last seen",
    sort: "last_seen_date",
    isNumber: true,
    cell: (person) => day(person.last_seen_date),
  },
];

const signalColumns: readonly BrowseColumn<Signal>[] = [
  { label: "Date", sort: "date", isOnce: true, cell: ({ date }) => day(date) },
  { label: "Type", cell: ({ type }) => typeMark(type) },
  { label: "GP", cell: gpCell },
  {
    label: "What happened",
    cell: ({ title, gps: [gp] }) => (gp === undefined ? title : leaveOut(title, gp.name)),
  },
  { label: "Property", cell: ({ property_types }) => labelsOf(property_types) },
  {
    label: "Amount",
    sort: "amount_usd",
    isNumber: true,
    cell: ({ amount_usd }) => money(amount_usd),
  },
];

const projectColumns: readonly BrowseColumn<Project>[] = [
  { label: "Name", sort: "name", cell: nameCell("project") },
  { label: "Status", cell: ({ status }) => valueLabel(status) },
  { label: "Property", cell: ({ property_type }) => valueLabel(property_type) },
  { label: "GP", cell: gpCell },
  {
    label: "Place",
    cell: (project, _, model) => placeOf(project, model),
  },
  { label: "Units", sort: "units", isNumber: true, cell: ({ units }) => number(units) },
  {
    label: "Amount",
    sort: "total_amount_usd",
    isNumber: true,
    cell: (project) => money(project.total_amount_usd),
  },
  {
    label: "Start",
    sort: "start_date",
    isNumber: true,
    cell: (project) => day(project.start_date),
  },
  {
    label: "Completion",
    sort: "completion_date",
    isNumber: true,
    cell: (project) => day(project.completion_date),
  },
];

export const browseColumns: EachKind<readonly BrowseColumn[]> = {
  gp: gpColumns,
  principal: principalColumns,
  signal: signalColumns,
  project: projectColumns,
};
