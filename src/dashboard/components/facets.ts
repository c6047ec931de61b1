/** Facets of a view: values and ranges to choose from, each with its count of records. */
import { lists } from "#operations/lists.ts";
import { money, valueLabel } from "#pages/values.ts";
import { fold } from "#records/fold.ts";
import type { RecordKind } from "#records/kinds.ts";
import { propertyTypes, strategies } from "#records/vocabulary.ts";
import { isRelative } from "#search/dates.ts";
import { nameOfMarket } from "#search/market-spellings.ts";
import { type Filter, filterable } from "#search/read-model.ts";
import { browseOf } from "./records.ts";
import { endsOf, hrefWith, totalOf, valuesOf, valueWords, type View, withValues } from "./view.ts";

/**
 * Returns a filter with which `prepare` reads all values for a kind's facets. The filter's own values are placeholders,
 * because `prepare` looks only at the names. Leaves out facets that filter GPs by their signals.
 */
export const neededBy = (kind: RecordKind): Filter =>
  Object.fromEntries(
    browseOf(kind).facets.flatMap((name) =>
      filterable[kind][name] === undefined ? [] : [[name, ["-"]]],
    ),
  );

export interface Facet {
  /** Name of the filter, or of the range. */
  name: string;
  rows: readonly FacetRow[];
  /** Filters that the facet sets: one, or one for each end of a range. */
  filters: readonly string[];
  isRange: boolean;
}

export interface FacetRow {
  value: string;
  label: string;
  state: "chosen" | "adds" | "remains";
  /** Number of records, by `state`: those with the value, those that the value would add, or those that would remain. */
  count: number;
  /** Address of the view after a click; null if the click would find nothing new. */
  href: string | null;
}

export const facetsOf = (view: View): Facet[] =>
  browseOf(view.kind).facets.map((name) =>
    lists[view.kind].filters[name] === undefined ? rangeFacet(view, name) : valueFacet(view, name),
  );

export function valueFacet(view: View, name: string): Facet {
  const { [name]: chosen = [] } = view.query.values;
  const carry = countEach(view, name, chosen, []);
  const first = chosen.map((value, i): FacetRow => {
    const left = chosen.filter((one) => one !== value);
    const label = valueWords(view, name, value);
    const href = hrefWith(view, { [name]: left });
    return { value, label, state: "chosen", count: carry[i]!, href };
  });
  const isFull = chosen.length === lists[view.kind].filters[name]!.valuesMax;
  const isChosen = (value: string) => first.some(({ label }) => label === valueLabel(value));
  const others = isFull ? [] : offeredBy(view, name).filter((value) => !isChosen(value));
  const added = countEach(view, name, others, chosen);
  const state = chosen.length > 0 ? "adds" : "remains";
  const rows = others.map((value, i): FacetRow => {
    const count = added[i]!;
    const href = count === 0 ? null : hrefWith(view, { [name]: [...chosen, value] });
    return { value, label: valueLabel(value), state, count, href };
  });
  rows.sort((a, b) => b.count - a.count || (fold(a.label) < fold(b.label) ? -1 : 1));
  return { name, rows: [...first, ...rows], filters: [name], isRange: false };
}

/**
 * Counts, for each value of a filter, the records that carry the value and satisfy the view's other filters.
 * @param but values of the filter. Records that carry any of them are not counted.
 */
export function countEach(
  view: View,
  name: string,
  values: readonly string[],
  but: readonly string[],
): number[] {
  const { kind, model, query } = view;
  const { condition, isOfSignal } = lists[kind].filters[name]!;
  if (isOfSignal !== true && filterable[kind][condition]!.by === "equality")
    return model.count(kind, condition, values, query.filter, but);
  const total = (asked: readonly string[]) =>
    totalOf(view, withValues(query.values, { [name]: asked }));
  const before = but.length === 0 ? 0 : total(but);
  return values.map((value) => total([...but, value]) - before);
}

/** Returns the values to offer for a filter: markets by name, and no tags that another facet of the kind offers. */
function offeredBy(view: View, name: string): readonly string[] {
  const values = valuesOf(view, name);
  if (name === "market") return [...new Set(values.map((one) => nameOfMarket(view.model, one)))];
  if (name !== "tag") return values;
  const { facets } = browseOf(view.kind);
  const elsewhere: readonly string[] = [
    ...(facets.includes("property_type") ? propertyTypes : []),
    ...(facets.includes("strategy") ? strategies : []),
  ];
  return values.filter((value) => !elsewhere.includes(value));
}

function rangeFacet(view: View, name: string): Facet {
  const { values } = view.query;
  const filters = endsOf(view.kind, name);
  const [from, to] = filters;
  const rows = (browseOf(view.kind).steps?.[name] ?? []).map((step): FacetRow => {
    const isChosen = values[from]?.[0] === step && values[to] === undefined;
    const asked = { [from]: [step], [to]: [] };
    const count = totalOf(view, withValues(values, asked));
    const href = hrefWith(view, isChosen ? { [from]: [] } : asked);
    return {
      value: step,
      label: stepLabel(name, step),
      state: isChosen ? "chosen" : "remains",
      count,
      href: count > 0 || isChosen ? href : null,
    };
  });
  return { name, rows, filters, isRange: true };
}

function stepLabel(name: string, step: string): string {
  if (isRelative(step)) return `Last ${step.slice(1, -1)} days`;
  return `${name.endsWith("_usd") ? money(Number(step)) : step} or more`;
}
