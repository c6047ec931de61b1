/** All tools: the four operations, lists by the records' own values, the vocabulary, and the changes. */
import { createReadStream } from "node:fs";
import { text } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { changesRefusal } from "#gateway/read-changes.ts";
import { served } from "#gateway/reads.ts";
import { changesOfRequest, findStep, type StepPart } from "#operations/changes.ts";
import type { Format } from "#operations/formats.ts";
import { hintsFor } from "#operations/hints.ts";
import {
  filters,
  filterSchema,
  filtersOf,
  type Operation,
  parameterBounds,
} from "#operations/operation.ts";
import { vocabularyOf } from "#operations/vocabulary.ts";
import { echo } from "#problems.ts";
import type { declarations } from "#records/declarations.ts";
import { datePattern } from "#records/fields.ts";
import type { Equality } from "#records/filterable.ts";
import type { RecordKind } from "#records/kinds.ts";
import { type Bounds, type Filter, filterable, type ReadModel } from "#search/read-model.ts";
import type { ArgumentsSchema } from "./arguments.ts";
import {
  type ArgumentValues,
  faulty,
  makeTool,
  recordSchema,
  type Tool,
  type ToolAnswer,
  type ToolDependencies,
} from "./tool.ts";
import { type Detail, details, inBrief, writeAnswer, writeValues } from "./write-answer.ts";

export const makeTools = (dependencies: ToolDependencies): readonly Tool[] => [
  ...dependencies.operations.map((operation) => operationTool(dependencies, operation)),
  ...(Object.keys(lists) as ListedKind[]).map((kind) => listTool(dependencies, kind)),
  vocabularyTool(dependencies),
  changesTool(dependencies),
];

const operationTool = (dependencies: ToolDependencies, operation: Operation): Tool =>
  makeTool(dependencies, {
    name: operation.name.replaceAll("-", "_"),
    title: operation.summary.replace(/\.$/, ""),
    description: operation.description,
    item: recordSchema(operation.kind),
    properties: Object.fromEntries(
      filtersOf(operation).map((name) => [
        name,
        { ...filterSchema(name, operation), description: filters[name].meaning },
      ]),
    ),
    required: filtersOf(operation).filter((name) => operation.filters[name]!.isRequired),
    hasDetail: true,
    answer({ detail, ...values }) {
      const pairs = Object.entries(values).flatMap(([name, value]) =>
        [value].flat().map((one) => [name, String(one)]),
      );
      const query = new URLSearchParams(pairs).toString();
      const found = dependencies.findAnswer(operation, query, toolFormats[detail as Detail]);
      if (found.kind === "unchanged") throw new Error("A tool sends no tags.");
      const { datasetVersion, body } = found.answer;
      return { datasetVersion, content: body.toString() };
    },
  });

/** Formats of tools. In the answer cache, their entity tags differ from those of the HTTP formats. */
const toolFormats = Object.fromEntries(
  details.map((detail): [Detail, Format] => [
    detail,
    {
      name: `tool-${detail}`,
      mediaType: "application/json",
      contentType: "application/json",
      write(operation, model, query) {
        const { kind, name } = operation;
        const selection = model.select(operation.kind, query.filter, query);
        const { limit, offset } = query;
        const hints = hintsFor(model, query, selection, false);
        const found = { kind, ...selection, limit, offset, hints };
        const body = Buffer.from(writeAnswer(model, found, detail, name.replaceAll("-", "_")));
        return { body, total: selection.total, returned: 0 };
      },
    },
  ]),
) as Readonly<Record<Detail, Format>>;

type Filterables<K extends RecordKind> = (typeof declarations)[K]["filterable"];
/** Kinds of record that are found by values of their own. Others are found only by their GPs, as in operations. */
type ListedKind = {
  [K in RecordKind]: Extract<
    Filterables<K>[keyof Filterables<K>],
    { by: "equality" | "range" }
  > extends never
    ? never
    : K;
}[RecordKind];

interface List {
  name: string;
  title: string;
  description: string;
  /** Descriptions of the arguments `since` and `until`. */
  since: string;
  until: string;
}

const days = { since: "First day. YYYY, YYYY-MM or YYYY-MM-DD.", until: "Last day." };

const lists: Readonly<Record<ListedKind, List>> = {
  gp: {
    name: "list_gps",
    title: "General Partners by market, tag, theme, property type or activity",
    description:
      "GPs that satisfy all given arguments, in any combination; without arguments, all GPs. By name, in the order of fetch_gp.",
    since: "First day: the GP has a signal on or after it. YYYY, YYYY-MM or YYYY-MM-DD.",
    until: "Last day of such a signal.",
  },
  signal: {
    name: "list_signals",
    title: "Market signals by market, tag, theme, property type, kind or date",
    description:
      "Signals that satisfy all given arguments, in any combination, newest first. Market, tags, themes and property types are the signal's own, not its GP's.",
    ...days,
  },
  project: {
    name: "list_projects",
    title: "Projects by market, tag, theme, property type, status or date",
    description:
      "Projects that satisfy all given arguments, in any combination, by name. Market, tags, themes and property type are the project's own, not its GP's.",
    ...days,
  },
};

/** Returns a tool that lists records by their own values, in any combination. */
function listTool(dependencies: ToolDependencies, kind: ListedKind): Tool {
  const { since, until, ...words } = lists[kind];
  const dates = datesOf(kind);
  return makeTool(dependencies, {
    ...words,
    properties: {
      gp_name: {
        type: "string",
        description: filters.gp_name.meaning,
        minLength: 1,
        maxLength: filters.gp_name.lengthMax,
      },
      ...equalitiesOf(kind),
      ...(dates.length > 1 && {
        date: {
          type: "string",
          description: "Date of the project that since and until refer to.",
          enum: dates,
          default: dates[0]!,
        },
      }),
      since: { type: "string", description: since, pattern: datePattern },
      until: { type: "string", description: until, pattern: datePattern },
    },
    item: recordSchema(kind),
    required: [],
    hasDetail: true,
    answer: (values) => listRecords(dependencies, kind, values),
  });
}

const datesOf = (kind: RecordKind): readonly string[] =>
  Object.entries(filterable[kind]).flatMap(([name, { by }]) => (by === "range" ? [name] : []));

/** Returns an argument for each equality condition. */
const equalitiesOf = (kind: RecordKind): ArgumentsSchema["properties"] =>
  Object.fromEntries(
    Object.entries(filterable[kind]).flatMap(([name, condition]) =>
      condition.by === "equality" ? [[name, valuesOf(condition)]] : [],
    ),
  );

const valuesOf = ({ meaning, values }: Equality<never>): ArgumentsSchema["properties"][string] => ({
  type: "array",
  description: `${meaning} With several, any of them matches.`,
  items:
    values === undefined
      ? { type: "string", minLength: 1, maxLength: filters.tag.lengthMax }
      : { type: "string", enum: values },
  maxItems: parameterBounds.valuesMax,
});

/** Arguments of a list. Other members are the wanted values of equality conditions, by condition name. */
type ListValues = Readonly<Record<string, readonly string[]>> & {
  gp_name?: string;
  date?: string;
  since?: string;
  until?: string;
  limit: number;
  offset: number;
  detail: Detail;
};

async function listRecords(
  dependencies: ToolDependencies,
  kind: ListedKind,
  values: ArgumentValues,
): Promise<ToolAnswer> {
  const { limit, offset, detail, date, since, until, gp_name, ...own } =
    values as unknown as ListValues;
  if (since !== undefined && until !== undefined && isAfter(since, until))
    return faulty({
      parameter: "since",
      code: "out_of_order",
      detail: `Must not be after 'until', but ${since} is after ${until}. The first day is 'since', the last one 'until'.`,
    });
  const between = { since, until };
  const ownDate = date ?? datesOf(kind)[0];
  // A GP has no date of its own, but its signals do.
  const dated = ownDate === undefined ? { signal: { date: between } } : { [ownDate]: between };
  const filter: Filter = { ...own, gp_name: gp_name?.trim(), ...dated };
  const model = await prepared(dependencies, kind, filter);
  const selection = model.select(kind, filter, { limit, offset });
  const hints = hintsFor(model, { offset }, selection, false);
  const found = { kind, ...selection, limit, offset, hints };
  const content = writeAnswer(model, found, detail, lists[kind].name);
  return { datasetVersion: model.parts.version, content };
}

/** Reports whether a date is after another. A day is not after the month or year that contains it. */
function isAfter(date: string, other: string): boolean {
  const length = Math.min(date.length, other.length);
  return date.slice(0, length) > other.slice(0, length);
}

/** Time for which a list reads a dataset before it lets other requests run, in ms. */
const sliceMilliseconds = 2;

/** Returns the current dataset, ready for the filter. @throws Problem if there is none. */
async function prepared(
  dependencies: ToolDependencies,
  kind: RecordKind,
  filter: Filter,
): Promise<ReadModel> {
  for (;;) {
    const model = served(dependencies);
    let begun = performance.now();
    for (const _ of model.prepare(kind, filter)) {
      if (performance.now() - begun < sliceMilliseconds) continue;
      await setImmediate();
      if (dependencies.model() !== model) break;
      begun = performance.now();
    }
    if (dependencies.model() === model) return model;
  }
}

const vocabularyLists = ["tags", "themes", "markets", "enums"] as const;

const vocabularyTool = (dependencies: ToolDependencies): Tool =>
  makeTool(dependencies, {
    name: "vocabulary",
    title: "Tags, themes, markets and closed lists of values",
    description:
      "The values of tag, theme and market, each with the number of GPs that carry it, most GPs first; and the closed lists, with the meaning of each value.",
    item: { type: "object" },
    properties: {
      list: {
        type: "string",
        enum: vocabularyLists,
        description: "The list to read; `enums` are the closed ones.",
      },
    },
    required: ["list"],
    hasDetail: false,
    answer(values) {
      const { list, limit, offset } = values as unknown as VocabularyValues;
      const current = served(dependencies);
      const { [list]: listed } = vocabularyOf(current).data;
      const page = listed.slice(offset, offset + limit).map((value) => [value]);
      const bounds = { limit, offset, total: listed.length };
      const content = writeValues(current, page, bounds, "vocabulary");
      return { datasetVersion: current.parts.version, content };
    },
  });

interface VocabularyValues extends Bounds {
  list: (typeof vocabularyLists)[number];
}

const changesTool = (dependencies: ToolDependencies): Tool =>
  makeTool(dependencies, {
    name: "changes_since",
    title: "What the next publication changed",
    description:
      "The records that the publication after a dataset added, changed, removed or merged. `rest` says how to go on: with more of them, or with the next publication.",
    item: { type: "object", required: ["change", "kind", "id"] },
    properties: {
      version: {
        type: "string",
        description: "A meta.dataset_version of an earlier answer.",
        minLength: 1,
        maxLength: 100,
      },
    },
    required: ["version"],
    limitMax: changesOfRequest,
    hasDetail: true,
    refusal: changesRefusal,
    answer: (values) => listChanges(dependencies, values),
  });

interface ChangesValues extends Bounds {
  version: string;
  detail: Detail;
}

/** Maximum number of versions that the error for an unknown version lists. */
const versionsNamed = 20;

async function listChanges(
  dependencies: ToolDependencies,
  values: ArgumentValues,
): Promise<ToolAnswer> {
  const { changes, operations } = dependencies;
  const { version, limit, offset, detail } = values as unknown as ChangesValues;
  const current = served(dependencies);
  const { version: datasetVersion } = current.parts;
  const kept = changes.list(datasetVersion).filter(({ step }) => step !== null);
  const next = kept.findLast(({ from }) => from === version)?.version;
  if (next === undefined && version !== datasetVersion) {
    const known = [...new Set([...kept.map(({ from }) => from!), datasetVersion])];
    const allowed = known.slice(-versionsNamed);
    return faulty({
      parameter: "version",
      code: "unknown_value",
      detail: `No changes since '${echo(version)}' are kept. There are changes since ${allowed.join(", ")}.`,
      allowed,
    });
  }
  const name = `${version}..${next}.ndjson`;
  const queryText = `limit=${limit}&offset=${offset}`;
  const part =
    next === undefined
      ? null
      : findStep(changes, datasetVersion, { name, queryText, greatestRequest: 1, operations });
  const found = part === null ? [] : await readChanges(part);
  const forms = found.map((change) => formsOf(change, detail));
  const bounds = { limit, offset, total: part?.total ?? 0 };
  const then =
    part === null || part.to === datasetVersion
      ? null
      : `These lead to ${part.to}. For later changes call changes_since with that version and offset 0.`;
  return { datasetVersion, content: writeValues(current, forms, bounds, "changes_since", then) };
}

interface RecordChange {
  change: string;
  kind: RecordKind;
  id: string;
  record?: object;
}

async function readChanges({ file, start, end }: StepPart): Promise<RecordChange[]> {
  if (start === end) return [];
  const lines = await text(createReadStream(file, { start, end: end - 1 }));
  return (
    lines
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as RecordChange)
      // The first line of a step is its head, which names its two datasets.
      .filter(({ change }) => change !== undefined)
  );
}

/** Returns a change in the requested detail, and then in shorter forms, for when it does not fit into an answer. */
function formsOf({ record, ...change }: RecordChange, detail: Detail): object[] {
  const { kind, id } = change;
  const shortest = { change: change.change, kind, id };
  if (record === undefined) return [change, shortest];
  const brief = { ...change, record: inBrief(kind, record) };
  return detail === "full" ? [{ ...change, record }, brief, shortest] : [brief, shortest];
}
