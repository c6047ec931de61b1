/** Makes tools: the declaration of one, the page that each answers with, and its call, which counts one request. */
import type { Caller, Found, Outcome } from "#gateway/gateway.ts";
import type { FindAnswer } from "#gateway/read-operation.ts";
import type { ReadDependencies } from "#gateway/reads.ts";
import { Meta, Pagination } from "#operations/envelope.ts";
import { pageSchemas } from "#operations/operation.ts";
import { internalError, Problem } from "#problems.ts";
import type { TSchema } from "#records/schema.ts";
import { declarations } from "#records/declarations.ts";
import type { RecordKind } from "#records/kinds.ts";
import {
  type ArgumentFault,
  type ArgumentsSchema,
  type ArgumentValue,
  readArguments,
} from "./arguments.ts";
import { details } from "./write-answer.ts";

export interface ToolDependencies extends Pick<
  ReadDependencies,
  "gateway" | "operations" | "pageSizeMax" | "changes" | "model"
> {
  findAnswer: FindAnswer;
}

/** Answer of a tool: its structured content as JSON, or the faults of its arguments. */
export type ToolAnswer =
  | { datasetVersion: string; content: string }
  | {
      datasetVersion: null;
      faults: readonly ArgumentFault[];
      /** Number of all faults, if not all are listed. */
      faultCount?: number;
    };

export interface Tool {
  name: string;
  title: string;
  description: string;
  inputSchema: ArgumentsSchema;
  outputSchema: object;
  /** Counts one request and answers. Throws nothing: a refusal is an outcome. */
  call(caller: Caller, given: Readonly<Record<string, unknown>>): Promise<Outcome<ToolAnswer>>;
}

/** Checked arguments of a call, by name. */
export type ArgumentValues = Readonly<Record<string, ArgumentValue>>;

interface ToolDeclaration extends Pick<Tool, "name" | "title" | "description"> {
  /** Schema of an entry of a page. */
  item: object;
  /** Arguments besides those of the page. */
  properties: ArgumentsSchema["properties"];
  required: readonly string[];
  /** Largest page, if not the operator's. */
  limitMax?: number;
  /** Its records come in brief or in full. */
  hasDetail: boolean;
  answer(
    caller: Caller,
    values: ArgumentValues,
  ): Outcome<ToolAnswer> | Promise<Outcome<ToolAnswer>>;
}

/** Returns a tool that answers with a page. It checks the arguments first, and counts wrong ones, too. */
export function makeTool(
  { gateway, pageSizeMax }: Pick<ToolDependencies, "gateway" | "pageSizeMax">,
  declaration: ToolDeclaration,
): Tool {
  const { name, title, description, item, properties, required, answer } = declaration;
  const { limitMax = pageSizeMax, hasDetail } = declaration;
  const inputSchema = {
    type: "object",
    properties: {
      ...properties,
      ...pageProperties(limitMax),
      ...(hasDetail && { detail: detailProperty }),
    },
    required,
    additionalProperties: false,
  } as const;
  return {
    name,
    title,
    description,
    inputSchema,
    outputSchema: pageSchema(item),
    async call(caller, given) {
      const { values, faults, faultCount } = readArguments(name, inputSchema, given);
      if (faultCount === 0) return answer(caller, values);
      return gateway.counted({ caller }, (): Found<ToolAnswer> => ({
        kind: "answer",
        answer: { datasetVersion: null, faults, faultCount },
      }));
    },
  };
}

/**
 * Makes the answer to a call that is already counted, from the result of its count. A failure becomes a problem, and the
 * call stays counted.
 */
export async function answerFrom<A>(
  { result, ...outcome }: Outcome<A>,
  work: (given: A) => ToolAnswer | Promise<ToolAnswer>,
): Promise<Outcome<ToolAnswer>> {
  if (result.kind === "unchanged") throw new Error("A tool sends no tags.");
  if (result.kind === "problem") return { ...outcome, result };
  try {
    return { ...outcome, result: { kind: "answer", answer: await work(result.answer) } };
  } catch (error) {
    const problem = error instanceof Problem ? error : internalError();
    return { ...outcome, result: { kind: "problem", problem, cause: error } };
  }
}

/** Returns the page arguments of a tool, the same as an operation's. */
const pageProperties = (pageSizeMax: number) => {
  const { limit, offset } = pageSchemas(pageSizeMax);
  return {
    limit: { ...limit, description: "Most entries to return; fewer come if more do not fit." },
    offset: { ...offset, description: "Number of entries to skip." },
  } as const;
};

const detailProperty = {
  type: "string",
  enum: details,
  default: details[0],
  description: "`brief` gives the most important members, `full` whole records.",
} as const;

/** Returns only names and types of a record's members. The guide has their meanings, and a list of tools is read often. */
export const recordSchema = (kind: RecordKind): object => ({
  ...shapeOf(declarations[kind].schema as unknown as JsonSchema),
  required: declarations[kind].brief,
});

/** Returns the schema of an answer. @param item schema of an entry of its `data`. */
function pageSchema(item: object): object {
  const properties = {
    notice: { type: "string" },
    data: { type: "array", items: item },
    pagination: shapeOf(Pagination),
    meta: shapeOf(Meta),
    rest: { type: ["string", "null"], description: "How to get the rest." },
  };
  return { type: "object", properties, required: Object.keys(properties) };
}

interface JsonSchema {
  type?: string | readonly string[];
  properties?: Readonly<Record<string, JsonSchema>>;
  required?: readonly string[];
  items?: JsonSchema;
}

function shapeOf(schema: TSchema): object {
  const { properties = {}, required } = schema as unknown as JsonSchema;
  return {
    type: "object",
    required,
    properties: Object.fromEntries(
      Object.entries(properties).map(([name, { type, items }]) => [
        name,
        { type, ...(items && { items: { type: items.type } }) },
      ]),
    ),
  };
}
