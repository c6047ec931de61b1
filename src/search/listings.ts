/** Lists GPs, signals or projects by their own values and by date, in the order of the operations. */
import { fold } from "#records/fold.ts";
import { gpMembers } from "#records/gp.ts";
import { projectMembers } from "#records/project.ts";
import { signalMembers } from "#records/signal.ts";
import { addBits, type Bitset, forEachBit, hasBit, makeBitset } from "./bitset.ts";
import type { DatasetParts } from "./dataset-parts.ts";
import { documentCount } from "./documents.ts";
import { type GpFilter, type Miss, openGpSearch } from "./gp-search.ts";
import { indexSuggestions, type SuggestionIndex } from "./index-suggestions.ts";
import { spellingsOfMarket } from "./market-spellings.ts";
import { type Column, type ColumnReader, openColumnReader } from "./member-columns.ts";
import { sortByBytes } from "./packed-texts.ts";
import type { Bounds, Selection } from "./read-model.ts";
import { suggest, suggestionsFor } from "./suggestions.ts";

export const listedKinds = ["gp", "signal", "project"] as const;
export type ListedKind = (typeof listedKinds)[number];

/** Members of a project with a date. */
export const projectDates = ["start_date", "completion_date", "first_sale_date"] as const;

/** Conditions, all of which must hold. With several values, one of them is enough. */
export interface ListingFilter extends GpFilter {
  propertyTypes?: readonly string[] | undefined;
  /** Types of signals or projects. */
  types?: readonly string[] | undefined;
  /** Statuses of projects. */
  statuses?: readonly string[] | undefined;
  /** First and last day, each as precise as it is given: `2026`, `2026-03`, `2026-03-31`. */
  since?: string | undefined;
  until?: string | undefined;
  /** Date of a project that they refer to; its start by default. */
  dateOf?: (typeof projectDates)[number] | undefined;
}

export interface Listing {
  /**
   * Selects records. A GP carries the values that it has for `/fetch-gp`; its property types are its own, and its dates are
   * those of its signals. A signal or project has its own values; only `name` refers to one of its GPs. A date less precise
   * than a day fits if some day of it would.
   */
  select(filter: ListingFilter, bounds: Bounds): Selection;
  /** Returns at most three values like the missed one, from those that records of the kind carry. */
  suggestionsFor(miss: Miss): string[];
}

export type Listings = Readonly<Record<ListedKind, Listing>>;

/** Documents read between two pauses. */
const documentsAtATime = 128;

/**
 * Reads a few members of every GP, signal and project. That takes about 3 µs for each, and 4 bytes for each member: keep
 * the result as long as the dataset. The lists keep scratch sets between calls, so they serve one thread.
 * @param pause called after every slice of documents, to let other work of the thread go first. An error that it throws
 *   ends the reading, and so does a dataset whose memory is freed meanwhile.
 */
export async function openListings(
  parts: DatasetParts,
  pause: () => Promise<void> | void,
): Promise<Listings> {
  const gps = openGpSearch(parts);
  const gp = await readAll(parts, "gp", pause);
  const signal = await readAll(parts, "signal", pause);
  const project = await readAll(parts, "project", pause);
  return {
    gp: openGpListing(parts, gps, gp, signal),
    signal: openLinkedListing(parts, gps, "signal", signal),
    project: openLinkedListing(parts, gps, "project", project),
  };
}

type GpSearch = ReturnType<typeof openGpSearch>;

/** Members to read, and the names of all members in their order in a document. */
const read = {
  gp: { members: ["property_types"], all: Object.keys(gpMembers) },
  signal: {
    members: ["type", "date", "market", "property_types", "tags", "themes"],
    all: Object.keys(signalMembers),
  },
  project: {
    members: [
      "type",
      "property_type",
      "status",
      "market",
      ...projectDates,
      "strategy",
      "tags",
      "themes",
    ],
    all: Object.keys(projectMembers),
  },
} as const;

type Columns = ReadonlyMap<string, Column>;

async function readAll(
  { documents }: DatasetParts,
  kind: ListedKind,
  pause: () => Promise<void> | void,
): Promise<Columns> {
  const { members, all } = read[kind];
  const reader: ColumnReader = openColumnReader(
    documents[kind],
    members.map((name) => ({ name, next: all[all.indexOf(name) + 1]! })),
  );
  const count = documentCount(documents[kind]);
  for (let from = 0; from < count; from += documentsAtATime) {
    reader.read(from, Math.min(count, from + documentsAtATime));
    await pause();
  }
  return new Map(reader.columns().map((column, i) => [members[i]!, column]));
}

/** A condition: in one of these columns, the value of the record is allowed. */
type Condition = readonly { numbers: Uint32Array; allowed: Uint8Array }[];

function openGpListing(
  parts: DatasetParts,
  gps: GpSearch,
  own: Columns,
  ofSignal: Columns,
): Listing {
  const { signal: signals } = parts.recordsOfGp;
  const propertyTypes = openTexts(own.get("property_types")!);
  const dates = openDates(ofSignal.get("date")!);
  const isActive = (gp: number, condition: Condition) => {
    for (let at = signals.starts[gp]!; at < signals.starts[gp + 1]!; at++)
      if (holds(condition, signals.items[at]!)) return true;
    return false;
  };
  return {
    select(filter, bounds) {
      const { ranks, misses } = gps.find(filter);
      const page = beginPage(bounds);
      const types = allOf([propertyTypes], filter.propertyTypes);
      const days = dates.between(filter);
      for (const rank of ranks)
        forEachBit(rank, (gp) => {
          if (types !== null && !holds(types, gp)) return;
          if (days === null || isActive(gp, days)) page.add(gp);
        });
      return page.selection(misses);
    },
    suggestionsFor: (miss) => suggestionsFor(parts, miss),
  };
}

function openLinkedListing(
  parts: DatasetParts,
  gps: GpSearch,
  kind: "signal" | "project",
  columns: Columns,
): Listing {
  const textsOf = (name: string, spellings?: (value: string) => string[]) =>
    openTexts(columns.get(name)!, spellings);
  const propertyTypes = textsOf(kind === "signal" ? "property_types" : "property_type");
  const types = textsOf("type");
  const statuses = kind === "project" ? [textsOf("status")] : [];
  const strategies = kind === "project" ? [textsOf("strategy")] : [];
  // A tag is also compared with property types and strategies, like a GP's.
  const facets = {
    tag: [textsOf("tags"), propertyTypes, ...strategies],
    theme: [textsOf("themes")],
    market: [textsOf("market", (title) => spellingsOfMarket(title).map(({ folded }) => folded))],
  };
  const dates = new Map(
    (kind === "signal" ? (["date"] as const) : projectDates).map((name) => [
      name,
      openDates(columns.get(name)!),
    ]),
  );
  const count = documentCount(parts.documents[kind]);
  const suggestions = new Map<string, SuggestionIndex>();
  return {
    select(filter, bounds) {
      const misses: Miss[] = [];
      const ofGps = filter.name === undefined ? null : recordsOf(parts, gps, kind, filter, misses);
      const conditions = [
        allOf([propertyTypes], filter.propertyTypes),
        allOf([types], filter.types),
        allOf(statuses, filter.statuses),
        dates.get(kind === "signal" ? "date" : (filter.dateOf ?? "start_date"))!.between(filter),
        ...(["tag", "theme", "market"] as const).map((parameter) => {
          const texts = facets[parameter];
          for (const value of filter[parameter] ?? []) {
            const folded = fold(value);
            if (!texts.some((one) => one.has(folded))) misses.push({ parameter, value, folded });
          }
          return allOf(texts, filter[parameter]);
        }),
      ].filter((condition) => condition !== null);
      const page = beginPage(bounds);
      for (let record = 0; record < count; record++)
        if ((ofGps === null || hasBit(ofGps, record)) && holdsAll(conditions, record))
          page.add(record);
      return page.selection(misses);
    },
    suggestionsFor(miss) {
      const { parameter, folded } = miss;
      if (parameter === "gp_name") return suggestionsFor(parts, miss);
      if (folded === "") return [];
      let index = suggestions.get(parameter);
      if (index === undefined)
        suggestions.set(parameter, (index = indexTexts(facets[parameter], parameter)));
      return suggest(index, folded);
    },
  };
}

/** Returns the records of the GPs with the name. */
function recordsOf(
  { recordsOfGp, documents }: DatasetParts,
  gps: GpSearch,
  kind: "signal" | "project",
  { name }: ListingFilter,
  misses: Miss[],
): Bitset {
  const { starts, items } = recordsOfGp[kind];
  const records = makeBitset(documentCount(documents[kind]));
  const found = gps.find({ name });
  misses.push(...found.misses);
  forEachBit(found.all, (gp) => addBits(records, items, starts[gp]!, starts[gp + 1]!));
  return records;
}

// These loops are plain because they run for every record.
function holdsAll(conditions: readonly Condition[], record: number): boolean {
  for (let i = 0; i < conditions.length; i++) if (!holds(conditions[i]!, record)) return false;
  return true;
}

function holds(condition: Condition, record: number): boolean {
  for (let i = 0; i < condition.length; i++) {
    const { numbers, allowed } = condition[i]!;
    if (allowed[numbers[record]!] === 1) return true;
  }
  return false;
}

function beginPage({ limit, offset }: Bounds) {
  const positions: number[] = [];
  let total = 0;
  return {
    add(position: number) {
      if (total >= offset && positions.length < limit) positions.push(position);
      total++;
    },
    selection: (misses: Miss[]): Selection => ({ total, positions, misses }),
  };
}

/** Texts of a column. Each value is a text, a list of texts, or null. */
interface Texts {
  numbers: Uint32Array;
  /** Reports whether any record carries a text that folds to this. */
  has(folded: string): boolean;
  /** Returns a 1 for each value with one of these texts. */
  allow(folded: readonly string[]): Uint8Array;
  /** All texts, as they are written. */
  shown: ReadonlySet<string>;
}

/** @param spellings returns the folded spellings that find a text. */
function openTexts(
  { numbers, values }: Column,
  spellings: (text: string) => string[] = (text) => [fold(text)],
): Texts {
  const shown = new Set<string>();
  const valuesOfText = new Map<string, number[]>();
  const spellingsOf = new Map<string, string[]>();
  values.forEach((value, number) => {
    for (const text of textsIn(value)) {
      let known = spellingsOf.get(text);
      if (known === undefined) spellingsOf.set(text, (known = spellings(text)));
      shown.add(text);
      for (const spelling of known) {
        const found = valuesOfText.get(spelling);
        if (found === undefined) valuesOfText.set(spelling, [number]);
        else found.push(number);
      }
    }
  });
  return {
    numbers,
    shown,
    has: (folded) => valuesOfText.has(folded),
    allow(folded) {
      const allowed = new Uint8Array(values.length);
      for (const text of folded)
        for (const number of valuesOfText.get(text) ?? []) allowed[number] = 1;
      return allowed;
    },
  };
}

function textsIn(value: unknown): readonly string[] {
  if (value === null) return [];
  return Array.isArray(value) ? (value as string[]) : [value as string];
}

/** Returns the condition for the requested values, or null if there are none. */
function allOf(texts: readonly Texts[], asked: readonly string[] | undefined): Condition | null {
  if (asked === undefined || asked.length === 0) return null;
  const folded = asked.map(fold).filter((text) => text !== "");
  return texts.map(({ numbers, allow }) => ({ numbers, allowed: allow(folded) }));
}

/** Indexes texts for suggestions. @param parameter of the texts; every name of a market is suggested. */
function indexTexts(texts: readonly Texts[], parameter: Miss["parameter"]): SuggestionIndex {
  const shownOf = new Map<string, string>();
  for (const shown of sortByBytes(texts.flatMap((one) => [...one.shown])))
    for (const spelling of parameter === "market"
      ? spellingsOfMarket(shown)
      : [{ folded: fold(shown), shown }])
      if (!shownOf.has(spelling.folded)) shownOf.set(spelling.folded, spelling.shown);
  return indexSuggestions(
    sortByBytes(shownOf.keys()).map((folded) => ({ folded, shown: shownOf.get(folded)! })),
  );
}

interface Dates {
  /** Returns the condition for the requested days, or null if there are none. */
  between(filter: Pick<ListingFilter, "since" | "until">): Condition | null;
}

function openDates({ numbers, values }: Column): Dates {
  const days = values.map((value) =>
    value === null ? null : { first: firstDay(value as string), last: lastDay(value as string) },
  );
  return {
    between({ since, until }) {
      if (since === undefined && until === undefined) return null;
      const [from, to] = [firstDay(since ?? "0000"), lastDay(until ?? "9999")];
      const allowed = Uint8Array.from(days, (day) =>
        day !== null && day.last >= from && day.first <= to ? 1 : 0,
      );
      return [{ numbers, allowed }];
    },
  };
}

/** Returns a day as a number, so that days compare in their order. Every month is taken to have 31 days. */
const firstDay = (date: string) => Number(`${date}-01-01`.slice(0, 10).replaceAll("-", ""));
const lastDay = (date: string) =>
  Number((date.length === 4 ? `${date}-12-31` : `${date}-31`).slice(0, 10).replaceAll("-", ""));
