/** True facets of a view: values and ranges to choose, each with the number of records that its link gives. */
import { lists } from "#operations/lists.ts";
import { money, valueLabel } from "#pages/values.ts";
import { fold } from "#records/fold.ts";
import type { EachKind, RecordKind } from "#records/kinds.ts";
import { propertyTypes, strategies } from "#records/vocabulary.ts";
import { isRelative } from "#search/dates.ts";
import { nameOfMarket, spellingsOfMarket } from "#search/market-spellings.ts";
import { type Filter, filterable } from "#search/read-model.ts";
import { totalOf, valueWords, type View, viewHref, withValues } from "./view.ts";

/** Filters that are offered, in this order. Those of a range stand under the name of the range. */
const offered: EachKind<readonly string[]> = {
  gp: [
    "market",
    "property_type",
    "strategy",
    "signal_date",
    "signal_type",
    "theme",
    "tag",
    "hq_state",
    "aum_usd",
    "raised_to_date_usd",
    "founded_year",
  ],
  principal: ["role", "market", "state", "tag", "theme", "ownership_band", "start_date"],
  signal: ["type", "market", "date", "amount_usd", "property_type", "theme", "tag"],
  project: [
    "status",
    "state",
    "units",
    "property_type",
    "type",
    "market",
    "strategy",
    "total_amount_usd",
    "start_date",
    "completion_date",
    "theme",
    "tag",
  ],
};

const days = ["-7d", "-30d", "-90d", "-365d"];
/** Beginnings of ranges that are offered as values. */
const steps: Readonly<Record<string, readonly string[]>> = {
  signal_date: days,
  date: days,
  aum_usd: ["100000000", "1000000000"],
  raised_to_date_usd: ["100000000", "1000000000"],
  amount_usd: ["1000000", "10000000", "100000000"],
  units: ["50", "100", "250"],
  total_amount_usd: ["10000000", "50000000", "100000000"],
};

/** Returns a filter on all values that the facets of a kind count, for `prepare`. */
export const neededBy = (kind: RecordKind): Filter =>
  Object.fromEntries(
    offered[kind].flatMap((name) => (filterable[kind][name] === undefined ? [] : [[name, ["-"]]])),
  );

/** A facet of a view. */
export interface Facet {
  /** Name of the filter, or of the range. */
  name: string;
  rows: readonly FacetRow[];
  /** Filters that a form sets, with their values: the ends of a range. */
  fields: readonly { name: string; value: string }[];
  /** Filters of the facet. */
  filters: readonly string[];
}

interface FacetRow {
  value: string;
  label: string;
  state: "chosen" | "adds" | "remains";
  /** Number of records in the view that carry a chosen value; that another adds, or that remain with it. */
  count: number;
  /** Address of the view after a click; null if the click would find nothing new. */
  href: string | null;
}

export const facetsOf = (view: View): Facet[] =>
  offered[view.kind].map((name) =>
    lists[view.kind].filters[name] === undefined ? rangeFacet(view, name) : valueFacet(view, name),
  );

function valueFacet(view: View, name: string): Facet {
  const { values } = view.query;
  const { [name]: chosen = [] } = values;
  const isFull = chosen.length === lists[view.kind].filters[name]!.valuesMax;
  const hrefOf = (asked: readonly string[]) =>
    viewHref(view, { values: withValues(values, name, asked) });
  const carry = countEach(view, name, chosen, []);
  const others = isFull ? [] : otherValues(view, name, chosen);
  const added = countEach(view, name, others, chosen);
  const rows = others.map((value, i): FacetRow => ({
    value,
    label: valueLabel(value),
    state: chosen.length > 0 ? "adds" : "remains",
    count: added[i]!,
    href: added[i] === 0 ? null : hrefOf([...chosen, value]),
  }));
  return {
    name,
    rows: [
      ...chosen.map((value, i): FacetRow => ({
        value,
        label: valueWords(view, name, value),
        state: "chosen",
        count: carry[i]!,
        href: hrefOf(chosen.filter((one) => one !== value)),
      })),
      ...rows.toSorted((a, b) => b.count - a.count || (fold(a.label) < fold(b.label) ? -1 : 1)),
    ],
    fields: [],
    filters: [name],
  };
}

/**
 * Counts for each value the records that carry it and satisfy the view without the filter.
 * @param but values of the filter. The records that carry one of them are not counted.
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
  const total = (asked: readonly string[]) => totalOf(view, withValues(query.values, name, asked));
  const before = but.length === 0 ? 0 : total(but);
  return values.map((value) => total([...but, value]) - before);
}

/** Returns the values of a filter, markets by their names, without those that a chosen value finds. */
function otherValues({ kind, model }: View, name: string, chosen: readonly string[]): string[] {
  const { condition, isOfSignal } = lists[kind].filters[name]!;
  const isOfGp = filterable[kind][condition]?.by === "ofOneGp";
  const values = model.values(isOfSignal ? "signal" : isOfGp ? "gp" : kind, condition);
  const folded = new Set(chosen.map(fold));
  const isChosen = (value: string) =>
    folded.size > 0 &&
    (name === "market" ? spellingsOfMarket(value).map((one) => one.folded) : [fold(value)]).some(
      (spelling) => folded.has(spelling),
    );
  const isElsewhere = (value: string) =>
    name === "tag" && [...propertyTypes, ...strategies].some((one) => one === value);
  const others = values.filter((value) => !isChosen(value) && !isElsewhere(value));
  return name === "market"
    ? [...new Set(others.map((title) => nameOfMarket(model, title)))]
    : others;
}

function rangeFacet(view: View, name: string): Facet {
  const { values } = view.query;
  const filters = Object.keys(lists[view.kind].filters).filter((filter) =>
    [`${name}_from`, `${name}_to`, `${name}_min`, `${name}_max`].includes(filter),
  );
  const [from, to] = filters as [string, string];
  const rows = (steps[name] ?? []).map((step): FacetRow => {
    const isChosen = values[from]?.[0] === step && values[to] === undefined;
    const changed = withValues(withValues(values, to, []), from, isChosen ? [] : [step]);
    const count = totalOf(view, isChosen ? values : changed);
    return {
      value: step,
      label: stepLabel(name, step),
      state: isChosen ? "chosen" : "remains",
      count,
      href: count > 0 || isChosen ? viewHref(view, { values: changed }) : null,
    };
  });
  const fields = filters.map((filter) => ({ name: filter, value: values[filter]?.[0] ?? "" }));
  return { name, rows, fields, filters };
}

function stepLabel(name: string, step: string): string {
  if (isRelative(step)) return `Last ${step.slice(1, -1)} days`;
  return `${name.endsWith("_usd") ? money(Number(step)) : step} or more`;
}
