/** Lists of every kind of record: any combination of conditions on the records' own values, in any order. */
import type { Condition, Equality, Range } from "#records/filterable.ts";
import { type EachKind, eachOf, kinds, type RecordKind, recordKinds } from "#records/kinds.ts";
import { filterable } from "#search/read-model.ts";
import {
  declared,
  type DeclaredFilter,
  type Filters,
  type Form,
  gpFilters,
  type Operation,
  parameterBounds,
  repeated,
} from "./operation.ts";

type ListName<K extends RecordKind> = `list-${K}s`;
type List<K extends RecordKind = RecordKind> = Operation & { kind: K; name: ListName<K> };

interface Words {
  /** Text after the rule that all lists share. Backticks mark code. */
  description: string;
  example: Operation["example"];
}

export const listWords: EachKind<Words> = {
  gp: {
    description:
      "Without `sort` they are in order of name, or best match first if `gp_name` is given. Each comes without its principals and signals, but with their true numbers, `principals_total` and `signals_total`. `signal_type` and `signal_date` must hold for the same signal of the GP.",
    example: { market: "dallas", property_type: "multifamily" },
  },
  principal: {
    description:
      "Without `sort` they are in order of name. `market`, `tag` and `theme` are those of the GPs; `gp_name` and they must hold for the same GP of the principal.",
    example: { role: "executive_officer" },
  },
  signal: {
    description:
      "Without `sort` the newest come first. `market`, `tag`, `theme` and `property_type` are the signal's own, not its GP's.",
    example: { date_from: "-90d" },
  },
  project: {
    description:
      "Without `sort` they are in order of name. `market`, `tag`, `theme` and `property_type` are the project's own, not its GP's.",
    example: { status: "under_construction", units_min: "100" },
  },
};

const rule =
  "Returns the records that satisfy all given filters. Dates may be as precise as `2026`, `2026-03` or `2026-03-31`, or relative to the day of the dataset, such as `-90d`; a record's date that is less precise matches if any of its days does. A record without the value matches no range, and comes last in its order.";

/** Returns the filters of a list: on the name of a GP, and those that the conditions of the kind allow. */
const listFilters = (kind: RecordKind): Filters => ({
  gp_name: gpFilters.gp_name,
  ...conditionFilters(kind),
});

function conditionFilters(kind: RecordKind): Filters {
  const filters: Record<string, DeclaredFilter> = {};
  for (const [name, condition] of Object.entries(filterable[kind]))
    Object.assign(filters, filtersOn(kind, name, condition));
  return filters;
}

/** Returns the filters that set a condition. */
function filtersOn(kind: RecordKind, name: string, condition: Condition<never>): Filters {
  const { plural } = kinds[kind];
  switch (condition.by) {
    case "equality":
      return { [name]: repeated(name, condition.meaning, equalityRules(condition)) };
    case "range":
      return rangeFilters(name, condition);
    case "ofOneGp":
      return { [name]: gpFilters[name as keyof typeof gpFilters] };
    case "name":
      return {
        [name]: declared(
          name,
          `Part of the name: all words must occur in it, as for \`gp_name\`.`,
          {
            form: "text",
            lengthMax: gpFilters.gp_name.lengthMax,
          },
        ),
      };
    case "id":
      return { [name]: repeated(name, `Id of one of the ${plural}.`, idRules) };
    case "gpId":
      return { [name]: repeated(name, "Id of a GP that it belongs to.", idRules) };
    case "hasGp":
      return { [name]: declared(name, "Whether it belongs to a GP.", { form: "flag" }) };
    case "someSignal":
      return signalFilters(name);
  }
}

const idRules = { valuesMax: parameterBounds.idsMax } as const;

const equalityRules = ({ as, values }: Equality<never>): Partial<DeclaredFilter> =>
  as === "id" ? idRules : { values };

const rangeFilters = (name: string, { meaning, numbers }: Range<never>): Filters => {
  const [form, first, last] = numbers === null ? ["date", "from", "to"] : ["number", "min", "max"];
  const endOf = (end: "from" | "to", words: string) =>
    declared(name, `${meaning} ${words}`, { about: meaning, form: form as Form, numbers, end });
  return {
    [`${name}_${first}`]: endOf(
      "from",
      numbers === null ? "On this day or later." : "At least this.",
    ),
    [`${name}_${last}`]: endOf("to", numbers === null ? "On this day or before." : "At most this."),
  };
};

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
  `Of one signal of the GP: ${meaning.charAt(0).toLowerCase()}${meaning.slice(1)}`;

/** Returns the values of `sort` for a kind, the default first. A minus sign stands for the descending order. */
function sortsOf(kind: RecordKind): readonly string[] {
  const ranges = Object.entries(filterable[kind]).flatMap(([name, condition]) =>
    condition.by === "range" && condition.isSortable ? [name] : [],
  );
  const bySignal = Object.values(filterable[kind]).some(({ by }) => by === "someSignal");
  const names = [
    ...(kind === "signal" ? [] : ["name"]),
    ...ranges,
    ...(bySignal ? ["signal_date"] : []),
  ];
  const both = names.flatMap((name) => [name, `-${name}`]);
  const usual = usualSorts[kind];
  return [usual, ...both.filter((sort) => sort !== usual)];
}

/** The order of the operations as a value of `sort`. */
const usualSorts: EachKind<string> = {
  gp: "name",
  principal: "name",
  signal: "-date",
  project: "name",
};

export const lists = eachOf(recordKinds, (kind) => ({
  name: `list-${kind}s`,
  path: `/list-${kind}s`,
  kind,
  summary: `${kinds[kind].title} by any of their values, in any order.`,
  description: `${rule} ${listWords[kind].description}`,
  filters: listFilters(kind),
  sorts: sortsOf(kind),
  embeds: false,
  example: listWords[kind].example,
})) as { readonly [K in RecordKind]: List<K> };
