/** Operations that list a kind of record by any combination of its conditions, in any of its orders. */
import type { Condition, Equality, Range } from "#records/filterable.ts";
import { eachOf, kinds, type RecordKind, recordKinds } from "#records/kinds.ts";
import { filterable } from "#search/read-model.ts";
import { fetches } from "./fetches.ts";
import {
  declared,
  type DeclaredFilter,
  type Filters,
  gpFilters,
  type Operation,
  parameterBounds,
  repeated,
} from "./operation.ts";

type ListName<K extends RecordKind> = `list-${K}s`;
type List<K extends RecordKind = RecordKind> = Operation & { kind: K; name: ListName<K> };

const rule =
  "Returns the records that satisfy all given filters. Dates may be as precise as `2026`, `2026-03` or `2026-03-31`, or relative to the day of the dataset, such as `-90d`; a record whose date is a year or a month matches if any day of it does. A record without the value matches no range, and comes last if sorted by it.";

const conditionFilters = (kind: RecordKind): Filters =>
  Object.assign({}, ...Object.entries(filterable[kind]).map(([name, one]) => filtersOn(name, one)));

function filtersOn(name: string, condition: Condition<never>): Filters {
  switch (condition.by) {
    case "equality":
      return { [name]: repeated(name, condition.meaning, equalityRules(condition)) };
    case "range":
      return rangeFilters(name, condition);
    case "ofOneGp":
      return { [name]: gpFilters[name as keyof typeof gpFilters] };
    case "name":
      return { [name]: declared(name, ownNameMeaning, ownNameRules) };
    case "id":
      return { [name]: repeated(name, "Id of the record.", idRules) };
    case "gpId":
      return { [name]: repeated(name, "Id of a GP that the record belongs to.", idRules) };
    case "hasGp":
      return { [name]: declared(name, "Whether the record belongs to a GP.", { form: "flag" }) };
    case "someSignal":
      return signalFilters(name);
  }
}

const ownNameMeaning = "Part of the name: all words must occur in it, as for `gp_name`.";
const ownNameRules = { form: "text", lengthMax: gpFilters.gp_name.lengthMax } as const;
const idRules = { valuesMax: parameterBounds.idsMax } as const;

const equalityRules = ({ as, values, lengthMax = 0 }: Equality<never>): Partial<DeclaredFilter> =>
  as === "id" ? idRules : { values, lengthMax: Math.max(lengthMax, parameterBounds.lengthMax) };

/** Ends of a range by the form of its values: suffix of the parameter's name, and its meaning. */
const rangeEnds = {
  date: { from: ["from", "On this day or later."], to: ["to", "On this day or before."] },
  number: { from: ["min", "At least this number."], to: ["max", "At most this number."] },
} as const;

function rangeFilters(name: string, { meaning, numbers }: Range<never>): Filters {
  const form = numbers === null ? "date" : "number";
  return Object.fromEntries(
    (["from", "to"] as const).map((end) => {
      const [suffix, words] = rangeEnds[form][end];
      const more = { about: meaning, form, numbers, end } as const;
      return [`${name}_${suffix}`, declared(name, `${meaning} ${words}`, more)];
    }),
  );
}

/** Returns the filters on one signal of a GP. They must hold for the same signal. */
function signalFilters(prefix: string): Filters {
  const { type, date_from, date_to } = conditionFilters("signal");
  return Object.fromEntries(
    Object.entries({ type, date_from, date_to }).map(([name, filter]) => [
      `${prefix}_${name}`,
      {
        ...filter!,
        meaning: ofOneSignal(filter!.meaning),
        about: ofOneSignal(filter!.about),
        isOfSignal: true,
      },
    ]),
  );
}

const ofOneSignal = (meaning: string) =>
  `For one signal of the GP: ${meaning.charAt(0).toLowerCase()}${meaning.slice(1)}`;

/** Returns the values of `sort` for a kind, the default first. */
function sortsOf(kind: RecordKind): readonly string[] {
  const conditions = Object.entries(filterable[kind]);
  const usualSort = kind === "signal" ? "-date" : "name";
  const names = [
    ...(kind === "signal" ? [] : ["name"]),
    ...conditions.flatMap(([name, one]) => (one.by === "range" && one.isSortable ? [name] : [])),
    ...(conditions.some(([, { by }]) => by === "someSignal") ? ["signal_date"] : []),
  ];
  return [...new Set([usualSort, ...names.flatMap((name) => [name, `-${name}`])])];
}

export const lists = eachOf(recordKinds, (kind) => ({
  name: `list-${kind}s`,
  path: `/list-${kind}s`,
  kind,
  summary: `${kinds[kind].title} by any of their values, in any order.`,
  description: `${rule} ${fetches[kind].list.description}`,
  filters: { gp_name: gpFilters.gp_name, ...conditionFilters(kind) },
  sorts: sortsOf(kind),
  embeds: false,
  example: fetches[kind].list.example,
})) as { readonly [K in RecordKind]: List<K> };
