/** Makes tools from declarations. A tool answers with a page, and each call is counted. */
import type { Caller, Outcome, Refusal } from "#gateway/gateway.ts";
import type { AnswerSource } from "#gateway/read-operation.ts";
import type { ReadDependencies } from "#gateway/reads.ts";
import { greatestRequest, type Quotas } from "#limits/policy.ts";
import { Meta, Pagination } from "#operations/envelope.ts";
import {
  declared,
  filterSchema,
  type Operation,
  pageSchemas,
  parameterBounds,
  parametersOf,
  sortMeaning,
  type TakesParameters,
} from "#operations/operation.ts";
import {
  controlCharacter,
  type GivenValues,
  type Pair,
  readParameters,
} from "#operations/parameters.ts";
import type { Problem } from "#problems.ts";
import type { TSchema } from "#records/schema.ts";
import { declarations, membersOf } from "#records/declarations.ts";
import { ListedGp } from "#records/gp.ts";
import { eachOf } from "#records/kinds.ts";
import type { Bounds } from "#search/read-model.ts";
import { details } from "./write-answer.ts";

export interface ToolDependencies extends Pick<
  ReadDependencies,
  "gateway" | "operations" | "pageSizeMax" | "changes" | "explain" | "model"
> {
  answers: AnswerSource;
}

export interface ToolAnswer {
  datasetVersion: string;
  /** Structured content, as JSON. */
  content: string;
}

export interface CallOutcome extends Omit<Outcome<ToolAnswer>, "result"> {
  result: { kind: "answer"; answer: ToolAnswer } | Refusal;
}

export type Tool = ReturnType<typeof makeTool>;

interface ToolDeclaration extends Pick<TakesParameters, "filters"> {
  name: string;
  title: string;
  description: string;
  /** Schema of an entry on a page. */
  item: object;
  sorts?: TakesParameters["sorts"];
  /** Maximum number of entries on a page; the operator's setting if omitted. */
  limitMax?: number;
  /** Returns a Problem if the caller may not use the tool, otherwise undefined. */
  refusal?(caller: Caller): Problem | undefined;
  /** Returns the number of requests that a call counts as. A call counts as one if this is omitted. */
  cost?(values: GivenValues): number;
  /** Answers a call with checked arguments. @throws Problem if it is refused. */
  answer(values: GivenValues): ToolAnswer | Promise<ToolAnswer>;
}

export const toolName = ({ name }: Operation) => name.replaceAll("-", "_");

/** Argument that chooses between brief and full records. */
export const detailFilter = declared(
  "detail",
  "`brief`, the default, gives the most important members; `full` gives whole records.",
  { values: details },
);

export const boundsOf = (values: GivenValues): Bounds => ({
  limit: Number(values.get("limit")?.[0] ?? parameterBounds.limitDefault),
  offset: Number(values.get("offset")?.[0] ?? 0),
});

/** Makes the declared tool. Calls with wrong arguments count against the caller's quota, too. */
export function makeTool(dependencies: ToolDependencies, declaration: ToolDeclaration) {
  const { gateway, operations, pageSizeMax, model } = dependencies;
  const { name, title, description, item, filters, sorts = null, answer } = declaration;
  const { limitMax = pageSizeMax, refusal, cost = () => 1 } = declaration;
  const { limit, offset } = pageSchemas(limitMax);
  // Faults name tools, not paths.
  const asTools = operations.map((operation) => ({ ...operation, path: toolName(operation) }));
  const inputSchema = {
    type: "object",
    properties: {
      ...eachOf(Object.keys(filters), (filter) => ({
        ...filterSchema(filters[filter]!),
        description: filters[filter]!.meaning,
      })),
      ...(sorts !== null && {
        sort: { type: "string", enum: sorts, default: sorts[0], description: sortMeaning },
      }),
      limit: {
        ...limit,
        description:
          "Maximum number of entries to return. An answer may have fewer, if more do not fit.",
      },
      offset: { ...offset, description: "Number of entries to skip." },
    },
    required: Object.keys(filters).filter((filter) => filters[filter]!.isRequired),
    additionalProperties: false,
  };
  return {
    name,
    listed: { name, title, description, inputSchema, outputSchema: pageSchema(item), annotations },
    /** Counts the call and answers it. Resolves even if the call is refused or fails: that is an outcome, too. */
    async call(caller: Caller, given: Readonly<Record<string, unknown>>): Promise<CallOutcome> {
      let values: GivenValues = new Map();
      const price = (_: object, quotas: Quotas) => {
        const refused = refusal?.(caller);
        if (refused !== undefined) return refused;
        const day = model()?.parts.updatedAt.slice(0, 10);
        const path = { path: name, filters, sorts };
        values = readParameters(path, pairsOf(path, given), limitMax, asTools, day);
        return Math.min(cost(values), greatestRequest(quotas));
      };
      const find = async () => ({ kind: "answer" as const, answer: await answer(values) });
      return (await gateway.counted({ caller }, find, price)) as CallOutcome;
    },
  };
}

const faultOfArgument =
  "Must be text without control characters, a number, true or false, or a list of these.";

/** Returns arguments as pairs, like those of a query. Leaves out null, which some programs send for a missing value. */
function pairsOf(tool: TakesParameters, given: Readonly<Record<string, unknown>>): Pair[] {
  const known = parametersOf(tool);
  return Object.entries(given)
    .filter(([, value]) => value !== null)
    .flatMap(([name, value]) =>
      // An unknown name is the fault, whatever its value is.
      known.includes(name) ? [value].flat().map((one) => pairOf(name, one)) : { name, value: "" },
    );
}

function pairOf(name: string, one: unknown): Pair {
  const isScalar = typeof one === "string" || typeof one === "number" || typeof one === "boolean";
  const value = isScalar ? String(one) : "";
  const isReadable = isScalar && value.isWellFormed() && !controlCharacter.test(value);
  return { name, value, fault: isReadable ? undefined : faultOfArgument };
}

const annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** Returns a record's schema with only names and types, because tools are listed often. The guide explains members. */
export const recordSchema = ({ kind, embeds }: Pick<Operation, "kind" | "embeds">): object => ({
  ...shapeOf(kind === "gp" && !embeds ? ListedGp : declarations[kind].schema),
  required: declarations[kind].brief,
});

/** Returns the schema of an answer. @param item schema of an entry in its `data`. */
function pageSchema(item: object): object {
  const properties = {
    notice: { type: "string" },
    data: { type: "array", items: item },
    pagination: shapeOf(Pagination),
    meta: shapeOf(Meta),
    rest: { type: ["string", "null"], description: "How to get the rest, if any." },
  };
  return { type: "object", properties, required: Object.keys(properties) };
}

const shapeOf = (schema: TSchema): object => ({
  type: "object",
  properties: Object.fromEntries(
    membersOf(schema).map(([name, { type, items }]) => [
      name,
      { type, ...(items && { items: { type: items.type } }) },
    ]),
  ),
});
