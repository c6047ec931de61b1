/** A view in Browse: a query for records of a kind. Reads it from an address, and puts it into words and links. */
import { operations } from "#operations/index.ts";
import { lists } from "#operations/lists.ts";
import type { Query } from "#operations/operation.ts";
import { filterText, readQuery } from "#operations/parameters.ts";
import type { Part } from "#pages/html.ts";
import { grouped, wordList } from "#pages/prose.ts";
import { money, valueLabel } from "#pages/values.ts";
import { Problem } from "#problems.ts";
import { fold } from "#records/fold.ts";
import type { Gp } from "#records/gp.ts";
import { kinds, type RecordKind } from "#records/kinds.ts";
import { readDocuments } from "#search/dataset-parts.ts";
import { isRelative } from "#search/dates.ts";
import { nameOfMarket, spellingsOfMarket } from "#search/market-spellings.ts";
import { positionOfId } from "#search/name-index.ts";
import { filterable, type ReadModel } from "#search/read-model.ts";
import { hidden } from "./page.ts";

export interface View {
  kind: RecordKind;
  model: ReadModel;
  query: Query;
  /** Path of the kind's page, for links from other pages; omitted on that page itself. */
  path?: string;
}
type Values = Query["values"];

export const rowChoices = [25, 50, 100] as const;
const [rowsUsual] = rowChoices;

export const dayOf = (model: ReadModel): string => model.parts.updatedAt.slice(0, 10);

/** Reads a view from a query string. @throws Problem `invalid-parameters`, as the kind's `/list-` path does. */
export function readView(model: ReadModel, kind: RecordKind, text: string): View {
  const reading = { limitDefault: rowsUsual, day: dayOf(model) };
  const query = readQuery(lists[kind], text, rowChoices.at(-1)!, operations, reading);
  return { kind, model, query };
}

/**
 * Reads a view from an address. Ignores empty fields, which forms send too, and accepts numbers as people write them,
 * such as `$10M`. Returns the Problem `invalid-parameters` if the address is not a valid view.
 */
export function viewOf(model: ReadModel, kind: RecordKind, query: URLSearchParams): View | Problem {
  const asked = [...query].filter(([, value]) => value.trim() !== "");
  const pairs = asked.map(([name, value]) => {
    const isNumber = lists[kind].filters[name]?.form === "number";
    return [name, isNumber ? plainNumber(value) : value];
  });
  try {
    return readView(model, kind, new URLSearchParams(pairs).toString());
  } catch (fault) {
    if (fault instanceof Problem) return fault;
    throw fault;
  }
}

const units: Readonly<Record<string, number>> = { k: 1e3, m: 1e6, b: 1e9 };

function plainNumber(text: string): string {
  const [, digits, unit] = /^\$?([0-9][0-9,]*(?:\.[0-9]+)?)([kmb]?)$/i.exec(text.trim()) ?? [];
  if (digits === undefined) return text;
  const number = Number(digits.replaceAll(",", ""));
  return String(unit === "" ? number : Math.round(number * units[unit!.toLowerCase()]!));
}

/** Returns the address of a view with the given changes, by default at its first record; relative without a path. */
export function viewHref(
  { query, path = "" }: View,
  { values = query.values, limit = query.limit, offset = 0 }: Partial<Query> = {},
): string {
  const paging = new URLSearchParams();
  if (limit !== rowsUsual) paging.set("limit", String(limit));
  if (offset > 0) paging.set("offset", String(offset));
  return `${path}?${[filterText(values), paging.toString()].filter((text) => text !== "").join("&")}`;
}

/** Returns values with those of some parameters replaced. An empty list removes a parameter. */
export const withValues = (values: Values, changed: Values): Values =>
  Object.fromEntries(Object.entries({ ...values, ...changed }).filter(([, all]) => all.length > 0));

export const hrefWith = (view: View, changed: Values): string =>
  viewHref(view, { values: withValues(view.query.values, changed) });

/** Returns a view's filters, order and rows as hidden fields. @param own parameters with other fields in the form. */
export const keptFields = ({ query: { values, limit } }: View, own: readonly string[] = []): Part =>
  Object.entries({ ...values, limit: limit === rowsUsual ? [] : [String(limit)] }).map(
    ([name, all]) => !own.includes(name) && all.map((value) => hidden(name, value)),
  );

export function totalOf({ kind, model }: View, values: Values): number {
  const { filter } = readView(model, kind, filterText(values)).query;
  return model.select(kind, filter, { limit: 0, offset: 0 }).total;
}

const labels: Readonly<Record<string, string>> = {
  gp_name: "GP",
  gp_id: "GP",
  id: "ID",
  has_gp: "Belongs to",
  aum: "Assets",
  aum_as_of: "Assets as of",
  founded_year: "Founded",
  signal: "Signals",
  ownership_band: "Ownership",
  raised_to_date: "Raised or reported sold",
  raised_amount: "Raised or reported sold",
  updated_at: "Changed",
};

const rangeEnd = /_(from|to|min|max)$/;

export const endsOf = (kind: RecordKind, range: string) =>
  Object.keys(lists[kind].filters).filter((name) => name.replace(rangeEnd, "") === range) as [
    from: string,
    to: string,
  ];

/** Returns the label of a filter or member. Both ends of a range have the range's label. */
export function filterLabel(name: string): string {
  const base = name.replace(rangeEnd, "").replace(/^hq_|_(?:usd|date)$/, "");
  return labels[base] ?? valueLabel(base);
}

/** Returns a value of a filter in words, such as `Dallas, TX`, `from $10M` or `in the last 90 days`. */
export function valueWords(view: View, name: string, value: string): string {
  const [, end] = rangeEnd.exec(name) ?? [];
  if (end !== undefined) {
    if (end === "from" && isRelative(value)) return `in the last ${value.slice(1, -1)} days`;
    return `${end === "from" || end === "min" ? "from" : "to"} ${boundWords(name, value)}`;
  }
  if (name === "market") return marketNames(view, value);
  if (name === "has_gp") return value === "true" ? "a GP" : "no GP";
  const gp = name === "gp_id" ? gpNow(view.model, value) : undefined;
  return gp?.name ?? (name.endsWith("id") ? value : valueLabel(value));
}

export function gpNow({ parts }: ReadModel, id: string): Gp | undefined {
  const at = positionOfId(parts.ids, id);
  return readDocuments<Gp>(parts.documents.gp, at === -1 ? [] : [at])[0];
}

function boundWords(name: string, value: string): string {
  if (name.includes("_usd_")) return money(Number(value));
  if (isRelative(value)) return `${value.slice(1, -1)} days ago`;
  return /^[0-9]{5,}$/.test(value) ? grouped(Number(value)) : value;
}

export function valuesOf({ kind, model }: View, name: string): readonly string[] {
  const { condition, isOfSignal } = lists[kind].filters[name]!;
  const isOfGp = filterable[kind][condition]?.by === "ofOneGp";
  return model.values(isOfSignal ? "signal" : isOfGp ? "gp" : kind, condition);
}

/** Returns a market's name if the value is a spelling of that market only; otherwise the value. */
function marketNames(view: View, value: string): string {
  const folded = fold(value);
  const spelt = valuesOf(view, "market").filter((title) =>
    spellingsOfMarket(title).some((spelling) => spelling.folded === folded),
  );
  return spelt.length === 1 ? nameOfMarket(view.model, spelt[0]!) : value;
}

const placeNames = ["market", "hq_city", "city", "hq_state", "state"];
/** Maximum number of values named for each filter, and of filters named after `with`. */
const wordsMax = 4;

/** Returns a view's filters as the end of a sentence, such as ` in Dallas with multifamily`; empty without filters. */
export function viewWords(view: View): string {
  const { sort: _, name, gp_name, ...values } = view.query.values;
  const conditions = Map.groupBy(Object.entries(values), ([filter]) => placeNames.includes(filter));
  const [places, others] = [true, false].map((isPlace) =>
    (conditions.get(isPlace) ?? []).map(([filter, all]) => {
      const each = all.slice(0, wordsMax).map((value) => wordsInSentence(view, filter, value));
      const more = all.length > wordsMax ? [`${all.length - wordsMax} more`] : [];
      return wordList([...each, ...more], "or");
    }),
  ) as [string[], string[]];
  return [
    name === undefined ? "" : ` named “${name[0]}”`,
    gp_name === undefined ? "" : `${view.kind === "gp" ? "" : " of GPs"} named “${gp_name[0]}”`,
    places.length === 0 ? "" : ` in ${places.join(", ")}`,
    others.length === 0 ? "" : ` with ${others.slice(0, wordsMax).join(", ")}`,
    others.length > wordsMax ? " and more" : "",
  ].join("");
}

/** Returns the title of a view, such as `GPs in Dallas with multifamily`. */
export const viewTitle = (view: View): string => `${kinds[view.kind].label}${viewWords(view)}`;

function wordsInSentence(view: View, filter: string, value: string): string {
  const words = valueWords(view, filter, value);
  if (filter === "market") return words.replace(/, [A-Z]{2}$/, "");
  if (rangeEnd.test(filter)) return `${filterLabel(filter).toLowerCase()} ${words}`;
  return lists[view.kind].filters[filter]?.values === undefined ? words : lowerFirst(words);
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1);

export const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);
