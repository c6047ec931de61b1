/** The tools that list GPs, signals and projects by their own values, in any combination. */
import { setImmediate } from "node:timers/promises";
import type { Caller, Found, Outcome } from "#gateway/gateway.ts";
import { served } from "#gateway/reads.ts";
import { hintsFor } from "#operations/hints.ts";
import { filters, parameterBounds } from "#operations/operation.ts";
import { datePattern } from "#records/fields.ts";
import type { declarations } from "#records/declarations.ts";
import type { Equality } from "#records/filterable.ts";
import type { RecordKind } from "#records/kinds.ts";
import { filterableProject } from "#records/project.ts";
import type { Between } from "#search/own-values.ts";
import { type Filter, filterable, type ReadModel } from "#search/read-model.ts";
import type { ArgumentsSchema, ListSchema } from "./arguments.ts";
import {
  answerFrom,
  makeTool,
  recordSchema,
  type Tool,
  type ToolAnswer,
  type ToolDependencies,
  type ArgumentValues,
} from "./tool.ts";
import { type Detail, writeAnswer } from "./write-answer.ts";

export const listTools = (dependencies: ToolDependencies): Tool[] =>
  (Object.entries(lists) as [ListedKind, List][]).map(([kind, list]) =>
    makeTool(dependencies, {
      ...list,
      properties: { gp_name: gpName, ...propertiesOf(kind), ...list.dates },
      item: recordSchema(kind),
      required: [],
      hasDetail: true,
      answer: (caller, values) => askList(dependencies, { kind, ...list }, caller, values),
    }),
  );

/** Returns an argument for each condition by equality. */
const propertiesOf = (kind: RecordKind): ArgumentsSchema["properties"] =>
  Object.fromEntries(
    Object.entries(filterable[kind]).flatMap(([name, condition]) =>
      condition.by === "equality" ? [[name, valuesOf(condition)]] : [],
    ),
  );

const valuesOf = ({ meaning, values }: Equality<never>): ListSchema => ({
  type: "array",
  description: `${meaning} With several, any of them matches.`,
  items:
    values === undefined
      ? { type: "string", minLength: 1, maxLength: filters.tag.lengthMax }
      : { type: "string", enum: values },
  maxItems: parameterBounds.valuesMax,
});

const date = (description: string) =>
  ({ type: "string", description, pattern: datePattern }) as const;

const gpName = {
  type: "string",
  description: filters.gp_name.meaning,
  minLength: 1,
  maxLength: filters.gp_name.lengthMax,
} as const;

const projectDates = Object.entries(filterableProject).flatMap(([name, { by }]) =>
  by === "range" ? [name] : [],
);

interface List {
  name: string;
  title: string;
  description: string;
  /** Arguments for a range of days, and the condition that they make. */
  dates: ArgumentsSchema["properties"];
  between(days: Between, date: string | undefined): Filter;
}

type Filterables<K extends RecordKind> = (typeof declarations)[K]["filterable"];
/** Kinds of records with values of their own. Others are found by their GPs, as their operations do. */
type ListedKind = {
  [K in RecordKind]: Extract<
    Filterables<K>[keyof Filterables<K>],
    { by: "equality" | "range" }
  > extends never
    ? never
    : K;
}[RecordKind];

const lists: Readonly<Record<ListedKind, List>> = {
  gp: {
    name: "list_gps",
    title: "General Partners by market, tag, theme, property type or activity",
    description:
      "GPs that satisfy all given arguments, in any combination; without arguments, all GPs. By name, in the order of fetch_gp.",
    dates: {
      since: date("First day: the GP has a signal on or after it. YYYY, YYYY-MM or YYYY-MM-DD."),
      until: date("Last day of such a signal."),
    },
    between: (days) => ({ signal: { date: days } }),
  },
  signal: {
    name: "list_signals",
    title: "Market signals by market, tag, theme, property type, kind or date",
    description:
      "Signals that satisfy all given arguments, in any combination, newest first. Market, tags, themes and property types are the signal's own, not its GP's.",
    dates: {
      since: date("First day. YYYY, YYYY-MM or YYYY-MM-DD."),
      until: date("Last day."),
    },
    between: (days) => ({ date: days }),
  },
  project: {
    name: "list_projects",
    title: "Projects by market, tag, theme, property type, status or date",
    description:
      "Projects that satisfy all given arguments, in any combination, by name. Market, tags, themes and property type are the project's own, not its GP's.",
    dates: {
      date: {
        type: "string",
        description: "Date of the project that since and until refer to.",
        enum: projectDates,
        default: projectDates[0]!,
      },
      since: date("First day. YYYY, YYYY-MM or YYYY-MM-DD."),
      until: date("Last day."),
    },
    between: (days, date) => ({ [date!]: days }),
  },
};

async function askList(
  { gateway, model: current }: ToolDependencies,
  { name, kind, between }: List & { kind: ListedKind },
  caller: Caller,
  values: ArgumentValues,
): Promise<Outcome<ToolAnswer>> {
  const outcome = await gateway.counted({ caller }, (): Found<null> => ({
    kind: "answer",
    answer: null,
  }));
  return answerFrom(outcome, async () => {
    const { limit, offset, detail, date, since, until, gp_name, ...own } =
      values as unknown as ListValues;
    if (since !== undefined && until !== undefined && isAfter(since, until))
      return wrongOrder(since, until);
    const filter = { ...own, gp_name: gp_name?.trim(), ...between({ since, until }, date) };
    const model = await prepared(current, kind, filter);
    const selection = model.select(kind, filter, { limit, offset });
    const hints = hintsFor(model, { offset }, selection, false);
    const found = { kind, ...selection, limit, offset, hints };
    const content = writeAnswer(model, found, detail, name);
    return { datasetVersion: model.parts.version, content };
  });
}

/** Reports whether a date is after another. A day is not after the month or year that contains it. */
function isAfter(date: string, other: string): boolean {
  const length = Math.min(date.length, other.length);
  return date.slice(0, length) > other.slice(0, length);
}

const wrongOrder = (since: string, until: string): ToolAnswer => ({
  datasetVersion: null,
  faults: [
    {
      parameter: "since",
      code: "out_of_order",
      detail: `Must not be after 'until', but ${since} is after ${until}. The first day is 'since', the last one 'until'.`,
    },
  ],
});

/** Arguments of all lists, besides values by the names of conditions. */
type ListValues = Readonly<Record<string, readonly string[]>> & {
  gp_name?: string;
  date?: string;
  since?: string;
  until?: string;
  limit: number;
  offset: number;
  detail: Detail;
};

/** Longest pause for other requests while a list reads the documents of a dataset, in ms. */
const sliceMilliseconds = 2;

/** Returns the current dataset, ready for the filter. @throws Problem if there is none. */
async function prepared(
  current: ToolDependencies["model"],
  kind: RecordKind,
  filter: Filter,
): Promise<ReadModel> {
  for (;;) {
    const model = served({ model: current });
    let begun = performance.now();
    for (const _ of model.prepare(kind, filter)) {
      if (performance.now() - begun < sliceMilliseconds) continue;
      await setImmediate();
      if (current() !== model) break;
      begun = performance.now();
    }
    if (current() === model) return model;
  }
}
