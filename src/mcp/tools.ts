/** The tools: the four operations, lists by what records carry themselves, the vocabulary, and what changed. Each counts as one request. */
import { createReadStream } from "node:fs";
import { text } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { type Api, noDataset, type Outcome } from "#api/ask.ts";
import type { Caller } from "#api/caller.ts";
import {
  changesOfRequest,
  type ChangesSource,
  findStep,
  type StepPart,
} from "#operations/changes.ts";
import { hintsFor } from "#operations/hints.ts";
import {
  filters,
  filterSchema,
  filtersOf,
  type Operation,
  pageSchemas,
  parameterBounds,
} from "#operations/operation.ts";
import type { Format } from "#operations/formats.ts";
import { echo, internalError, Problem } from "#problems.ts";
import type { RecordKind } from "#records/kinds.ts";
import { datePattern } from "#records/fields.ts";
import { Gp } from "#records/gp.ts";
import { Project } from "#records/project.ts";
import { Signal } from "#records/signal.ts";
import { projectStatuses, projectTypes, propertyTypes, signalTypes } from "#records/vocabulary.ts";
import {
  type ListedKind,
  type Listing,
  type Listings,
  openListings,
  projectDates,
} from "#search/listings.ts";
import { vocabularyOf } from "#operations/vocabulary.ts";
import type { Bounds, ReadModel } from "#search/read-model.ts";
import {
  type ArgumentFault,
  type ArgumentsSchema,
  type ArgumentValue,
  readArguments,
} from "./arguments.ts";
import {
  briefMembers,
  type Detail,
  details,
  inBrief,
  writeAnswer,
  writeValues,
} from "./write-answer.ts";

export interface ToolDependencies {
  api: Pick<Api, "ask" | "count">;
  operations: readonly Operation[];
  /** The operator's largest page. */
  pageSizeMax: number;
  changes: ChangesSource;
  model(): ReadModel | null;
}

/** What a tool found: its structured content as JSON, or what is wrong with its arguments. */
export type ToolAnswer =
  | { datasetVersion: string; content: string }
  | { datasetVersion: null; faults: readonly ArgumentFault[] };

export interface Tool {
  name: string;
  title: string;
  description: string;
  inputSchema: ArgumentsSchema;
  outputSchema: object;
  /** Counts 1 and answers. A refusal is an outcome, and nothing is thrown. */
  call(caller: Caller, given: Readonly<Record<string, unknown>>): Promise<Outcome<ToolAnswer>>;
}

type Values = Readonly<Record<string, ArgumentValue>>;

export function makeTools(dependencies: ToolDependencies): readonly Tool[] {
  const { api, operations, pageSizeMax, model } = dependencies;
  const listings = openListingsOf(model);
  return [
    ...operations.map((operation) =>
      tool(api, {
        name: operation.name.replaceAll("-", "_"),
        title: operation.summary.replace(/\.$/, ""),
        description: operation.description,
        outputSchema: recordsSchema(operation),
        properties: {
          ...Object.fromEntries(
            filtersOf(operation).map((name) => [
              name,
              { ...filterSchema(name, operation), description: filters[name].meaning },
            ]),
          ),
          ...pageProperties(pageSizeMax),
          detail: detailProperty,
        },
        required: filtersOf(operation).filter((name) => operation.filters[name]!.isRequired),
        answer: (caller, values) => askOperation(api, operation, caller, values),
      }),
    ),
    ...lists.map((list) =>
      tool(api, {
        ...list,
        outputSchema: recordsSchema(list),
        properties: { ...list.properties, ...pageProperties(pageSizeMax), detail: detailProperty },
        required: [],
        answer: (caller, values) => askList(api, listings, list, caller, values),
      }),
    ),
    tool(api, {
      name: "vocabulary",
      title: "Tags, themes, markets and closed lists of values",
      description:
        "What tag, theme and market find, each with the number of GPs that carry it, the most GPs first; and the closed lists of values with what each means.",
      outputSchema: pageSchema({ type: "object" }),
      properties: {
        list: {
          type: "string",
          enum: vocabularyLists,
          description: "Which of them; `enums` are the closed lists.",
        },
        ...pageProperties(pageSizeMax),
      },
      required: ["list"],
      answer: (caller, values) => askVocabulary(dependencies, caller, values),
    }),
    tool(api, {
      name: "changes_since",
      title: "What the next publication changed",
      description:
        "The records that the publication after a dataset added, changed, removed or merged. `rest` says how to go on, with more of them or with the next publication.",
      outputSchema: pageSchema({ type: "object", required: ["change", "kind", "id"] }),
      properties: {
        version: {
          type: "string",
          description: "A meta.dataset_version of an earlier answer.",
          minLength: 1,
          maxLength: 100,
        },
        ...pageProperties(changesOfRequest),
        detail: detailProperty,
      },
      required: ["version"],
      answer: (caller, values) => askChanges(dependencies, caller, values),
    }),
  ];
}

interface ToolDeclaration extends Omit<Tool, "inputSchema" | "call"> {
  properties: ArgumentsSchema["properties"];
  required: readonly string[];
  answer(caller: Caller, values: Values): Outcome<ToolAnswer> | Promise<Outcome<ToolAnswer>>;
}

function tool(
  api: ToolDependencies["api"],
  { properties, required, answer, ...shown }: ToolDeclaration,
): Tool {
  const inputSchema = {
    type: "object",
    properties,
    required,
    additionalProperties: false,
  } as const;
  return {
    ...shown,
    inputSchema,
    async call(caller, given) {
      const { values, faults } = readArguments(shown.name, inputSchema, given);
      if (faults.length === 0) return answer(caller, values);
      return api.count<ToolAnswer>(caller, () => ({
        kind: "answer",
        answer: { datasetVersion: null, faults },
      }));
    },
  };
}

const pageProperties = (pageSizeMax: number) => {
  const { limit, offset } = pageSchemas(pageSizeMax);
  return {
    limit: { ...limit, description: "How many at most; fewer come where more do not fit." },
    offset: { ...offset, description: "How many to skip." },
  } as const;
};

const detailProperty = {
  type: "string",
  enum: details,
  default: details[0],
  description: "`brief` gives the members that matter most, `full` whole records.",
} as const;

async function askOperation(
  api: ToolDependencies["api"],
  operation: Operation,
  caller: Caller,
  { detail, ...values }: Values,
): Promise<Outcome<ToolAnswer>> {
  const pairs = Object.entries(values).flatMap(([name, value]) =>
    Array.isArray(value)
      ? value.map((one: string) => [name, one])
      : [[name, String(value as string | number)]],
  );
  const { result, ...outcome } = await api.ask({
    caller,
    operation,
    text: new URLSearchParams(pairs).toString(),
    chooseFormat: () => toolFormats[detail as Detail],
  });
  if (result.kind === "unchanged") throw new Error("A tool sends no tags.");
  if (result.kind === "problem") return { ...outcome, result };
  const { datasetVersion, body } = result.answer;
  return {
    ...outcome,
    result: { kind: "answer", answer: { datasetVersion, content: body.toString() } },
  };
}

/** In the answer cache each has its own tags, beside the formats of HTTP. */
const toolFormats = Object.fromEntries(
  details.map((detail): [Detail, Format] => [
    detail,
    {
      name: `tool-${detail}`,
      mediaType: "application/json",
      contentType: "application/json",
      write(operation, model, query) {
        const { kind, name } = operation;
        const selection = operation.select(model, query);
        const { limit, offset } = query;
        const hints = hintsFor(model, query, selection, false);
        const found = { kind, ...selection, limit, offset, hints };
        const body = Buffer.from(writeAnswer(model, found, detail, name.replaceAll("-", "_")));
        return { body, total: selection.total, returned: 0 };
      },
    },
  ]),
) as Readonly<Record<Detail, Format>>;

const texts = (description: string) =>
  ({
    type: "array",
    description: `${description} Several: any of them.`,
    items: { type: "string", minLength: 1, maxLength: filters.tag.lengthMax },
    maxItems: parameterBounds.valuesMax,
  }) as const;

const chosen = (description: string, values: readonly string[]) =>
  ({
    type: "array",
    description: `${description} Several: any of them.`,
    items: { type: "string", enum: values },
    maxItems: parameterBounds.valuesMax,
  }) as const;

const date = (description: string) =>
  ({ type: "string", description, pattern: datePattern }) as const;

const gpName = {
  type: "string",
  description: filters.gp_name.meaning,
  minLength: 1,
  maxLength: filters.gp_name.lengthMax,
} as const;

interface List {
  name: string;
  kind: ListedKind;
  record: Operation["record"];
  title: string;
  description: string;
  properties: ArgumentsSchema["properties"];
}

const lists: readonly List[] = [
  {
    name: "list_gps",
    kind: "gp",
    record: Gp,
    title: "General Partners by market, tag, theme, property type or activity",
    description:
      "GPs that satisfy all that is given, in any combination; without arguments all. By name, as fetch_gp orders them.",
    properties: {
      gp_name: gpName,
      market: texts("A market of the GP: its title, one of its cities, or a city and a state."),
      tag: texts("A tag, strategy or property type of the GP, as a whole value."),
      theme: texts("A theme of the GP, as a whole value."),
      property_type: chosen("What the GP invests in.", propertyTypes),
      since: date("First day: the GP has a signal on or after it. YYYY, YYYY-MM or YYYY-MM-DD."),
      until: date("Last day of such a signal."),
    },
  },
  {
    name: "list_signals",
    kind: "signal",
    record: Signal,
    title: "Market signals by market, tag, theme, property type, kind or date",
    description:
      "Signals that satisfy all that is given, in any combination, newest first. Market, tags, themes and property types are the signal's own, not its GP's.",
    properties: {
      gp_name: gpName,
      market: texts(
        "The market of the signal: its title, one of its cities, or a city and a state.",
      ),
      tag: texts("A tag or property type of the signal, as a whole value."),
      theme: texts("A theme of the signal, as a whole value."),
      property_type: chosen("Property type concerned.", propertyTypes),
      type: chosen("What happened.", signalTypes),
      since: date("First day. YYYY, YYYY-MM or YYYY-MM-DD."),
      until: date("Last day."),
    },
  },
  {
    name: "list_projects",
    kind: "project",
    record: Project,
    title: "Projects by market, tag, theme, property type, status or date",
    description:
      "Projects that satisfy all that is given, in any combination, by name. Market, tags, themes and property type are the project's own, not its GP's.",
    properties: {
      gp_name: gpName,
      market: texts(
        "The market of the project: its title, one of its cities, or a city and a state.",
      ),
      tag: texts("A tag, strategy or property type of the project, as a whole value."),
      theme: texts("A theme of the project, as a whole value."),
      property_type: chosen("Kind of property.", propertyTypes),
      type: chosen("Kind of project.", projectTypes),
      status: chosen("Where the project stands.", projectStatuses),
      date: {
        type: "string",
        description: "Which date of the project since and until look at.",
        enum: projectDates,
        default: projectDates[0],
      },
      since: date("First day. YYYY, YYYY-MM or YYYY-MM-DD."),
      until: date("Last day."),
    },
  },
];

async function askList(
  api: ToolDependencies["api"],
  listings: ListingsOf,
  { name, kind }: List,
  caller: Caller,
  values: Values,
): Promise<Outcome<ToolAnswer>> {
  const { result, ...outcome } = await api.count<null>(caller, () => ({
    kind: "answer",
    answer: null,
  }));
  if (result.kind === "unchanged") throw new Error("A tool sends no tags.");
  if (result.kind === "problem") return { ...outcome, result };
  try {
    const { model, listing } = await listings(kind);
    const { limit, offset, detail, ...filter } = values as unknown as ListValues;
    const { gp_name, property_type, type, status, date } = filter;
    const selection = listing.select(
      {
        ...filter,
        name: gp_name?.trim(),
        propertyTypes: property_type,
        types: type,
        statuses: status,
        dateOf: date,
      },
      { limit, offset },
    );
    const hints = hintsFor(listing, { offset }, selection, false, kind === "gp" ? "GP" : kind);
    const found = { kind, ...selection, limit, offset, hints };
    const content = writeAnswer(model, found, detail, name);
    const answer = { datasetVersion: model.parts.version, content };
    return { ...outcome, result: { kind: "answer", answer } };
  } catch (error) {
    const problem = error instanceof Problem ? error : internalError();
    return { ...outcome, result: { kind: "problem", problem, cause: error } };
  }
}

/** The arguments of all lists. */
interface ListValues {
  gp_name?: string;
  market?: readonly string[];
  tag?: readonly string[];
  theme?: readonly string[];
  property_type?: readonly string[];
  type?: readonly string[];
  status?: readonly string[];
  date?: (typeof projectDates)[number];
  since?: string;
  until?: string;
  limit: number;
  offset: number;
  detail: Detail;
}

/** The list of a kind in the current dataset, and that dataset. @throws Problem where there is none. */
type ListingsOf = (kind: ListedKind) => Promise<{ model: ReadModel; listing: Listing }>;

/** So long other requests wait at most while a dataset is read for its lists, on its first list. */
const sliceMilliseconds = 2;

function openListingsOf(current: ToolDependencies["model"]): ListingsOf {
  const opened = new WeakMap<ReadModel, Promise<Listings>>();
  const open = (model: ReadModel) => {
    let begun = performance.now();
    return openListings(model.parts, async () => {
      if (performance.now() - begun < sliceMilliseconds) return;
      await setImmediate();
      if (current() !== model) throw new Error("The dataset was replaced.");
      begun = performance.now();
    });
  };
  return async (kind) => {
    for (;;) {
      const model = current();
      if (model === null) throw noDataset();
      let listings = opened.get(model);
      if (listings === undefined) opened.set(model, (listings = open(model)));
      try {
        const { [kind]: listing } = await listings;
        if (current() === model) return { model, listing };
      } catch (error) {
        // Of a dataset that is replaced nothing more is wanted, nor of what went wrong with it.
        if (current() === model) throw error;
      }
    }
  };
}

const vocabularyLists = ["tags", "themes", "markets", "enums"] as const;

async function askVocabulary(
  { api, model }: ToolDependencies,
  caller: Caller,
  values: Values,
): Promise<Outcome<ToolAnswer>> {
  const { list, limit, offset } = values as unknown as {
    list: (typeof vocabularyLists)[number];
  } & Bounds;
  return api.count<ToolAnswer>(caller, () => {
    const current = model();
    if (current === null) throw noDataset();
    const { [list]: listed } = vocabularyOf(current.parts).data;
    const page = listed.slice(offset, offset + limit).map((value) => [value]);
    const bounds = { limit, offset, total: listed.length };
    const content = writeValues(current, page, bounds, "vocabulary");
    return { kind: "answer", answer: { datasetVersion: current.parts.version, content } };
  });
}

interface ChangesValues extends Bounds {
  version: string;
  detail: Detail;
}

async function askChanges(
  { api, model, changes, operations }: ToolDependencies,
  caller: Caller,
  values: Values,
): Promise<Outcome<ToolAnswer>> {
  const { version, limit, offset, detail } = values as unknown as ChangesValues;
  const { result, ...outcome } = await api.count(
    caller,
    () => {
      const current = model();
      if (current === null) throw noDataset();
      const { version: served } = current.parts;
      const kept = changes.list(served).filter(({ step }) => step !== null);
      const next = kept.findLast(({ from }) => from === version)?.version ?? null;
      const queryText = `limit=${limit}&offset=${offset}`;
      const name = `${version}..${next}.ndjson`;
      const part =
        next === null
          ? null
          : findStep(changes, served, { name, queryText, greatestRequest: 1, operations });
      const known = [...new Set([...kept.map(({ from }) => from!), served])];
      return { kind: "answer" as const, answer: { current, part, known } };
    },
    () => changesRefusal(caller) ?? 1,
  );
  if (result.kind === "unchanged") throw new Error("A tool sends no tags.");
  if (result.kind === "problem") return { ...outcome, result };
  const { current, part, known } = result.answer;
  const { version: served } = current.parts;
  if (part === null && version !== served)
    return { ...outcome, result: { kind: "answer", answer: noSuchVersion(version, known) } };
  try {
    const found = part === null ? [] : await readChanges(part);
    const forms = found.map((change) => formsOf(change, detail));
    const bounds = { limit, offset, total: part?.total ?? 0 };
    const then =
      part === null || part.to === served
        ? null
        : `These lead to ${part.to}. For what came after it call changes_since with that version and offset 0.`;
    const content = writeValues(current, forms, bounds, "changes_since", then);
    return { ...outcome, result: { kind: "answer", answer: { datasetVersion: served, content } } };
  } catch (error) {
    return { ...outcome, result: { kind: "problem", problem: internalError(), cause: error } };
  }
}

/** As over HTTP, where such a request does not count either. */
function changesRefusal(caller: Caller): Problem | undefined {
  if ("account" in caller || caller.key === null || caller.key instanceof Problem) return undefined;
  if (caller.key.mayReadChanges) return undefined;
  return new Problem("access-denied", "The plan of this account does not include changes.", {
    reason: "plan",
  });
}

/** Versions that are named to somebody who asked for another. */
const versionsNamed = 20;

const noSuchVersion = (version: string, known: readonly string[]): ToolAnswer => ({
  datasetVersion: null,
  faults: [
    {
      parameter: "version",
      code: "unknown_value",
      detail: `No changes since '${echo(version)}' are kept. They are since ${known.slice(-versionsNamed).join(", ")}.`,
      allowed: known.slice(-versionsNamed),
    },
  ],
});

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
      // The first line of a step says between which datasets it leads.
      .filter(({ change }) => change !== undefined)
  );
}

/** As it was asked for, and in fewer words where it would fill more than an answer. */
function formsOf({ record, ...change }: RecordChange, detail: Detail): object[] {
  const { kind, id } = change;
  const shortest = { change: change.change, kind, id };
  if (record === undefined) return [change, shortest];
  const brief = { ...change, record: inBrief(kind, record) };
  return detail === "full" ? [{ ...change, record }, brief, shortest] : [brief, shortest];
}

/** Of a record the names and types of its members alone: what they mean stands in the guide, and a list of tools is read often. */
const recordsSchema = ({ kind, record }: Pick<Operation, "kind" | "record">): object =>
  pageSchema({ ...shapeOf(record as unknown as JsonSchema), required: briefMembers[kind] });

/** @param item of `data`. */
function pageSchema(item: object): object {
  const number = { type: "integer" };
  const object = (properties: Record<string, object>) => ({
    type: "object",
    properties,
    required: Object.keys(properties),
  });
  return object({
    notice: { type: "string" },
    data: { type: "array", items: item },
    pagination: object({
      limit: number,
      offset: number,
      returned: number,
      total: number,
      has_more: { type: "boolean" },
      next_offset: { type: ["integer", "null"] },
    }),
    meta: object({
      api_version: { type: "string" },
      dataset_version: { type: "string" },
      dataset_updated_at: { type: "string" },
      hints: { type: "array", items: { type: "object" } },
    }),
    rest: { type: ["string", "null"], description: "How to get what follows." },
  });
}

interface JsonSchema {
  type?: string | readonly string[];
  properties?: Readonly<Record<string, JsonSchema>>;
  items?: JsonSchema;
}

function shapeOf({ properties = {} }: JsonSchema): object {
  return {
    type: "object",
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, { type, items }]) => [
        name,
        { type, ...(items && { items: { type: items.type } }) },
      ]),
    ),
  };
}
