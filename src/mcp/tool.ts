/** What a tool is: its declaration, the page that each of them answers with, and its call, which counts as one request. */
import type { Caller, Found, Gateway, Outcome } from "#gateway/gateway.ts";
import type { FindAnswer } from "#gateway/read-operation.ts";
import type { ChangesSource } from "#operations/changes.ts";
import { type Operation, pageSchemas } from "#operations/operation.ts";
import { internalError, Problem } from "#problems.ts";
import type { ReadModel } from "#search/read-model.ts";
import {
  type ArgumentFault,
  type ArgumentsSchema,
  type ArgumentValue,
  readArguments,
} from "./arguments.ts";
import { briefMembers, details } from "./write-answer.ts";

export interface ToolDependencies {
  gateway: Gateway;
  findAnswer: FindAnswer;
  operations: readonly Operation[];
  /** The operator's largest page. */
  pageSizeMax: number;
  changes: ChangesSource;
  model(): ReadModel | null;
}

/** What a tool found: its structured content as JSON, or what is wrong with its arguments. */
export type ToolAnswer =
  | { datasetVersion: string; content: string }
  | {
      datasetVersion: null;
      faults: readonly ArgumentFault[];
      /** Number of all, where more are wrong than are listed. */
      faultCount?: number;
    };

export interface Tool {
  name: string;
  title: string;
  description: string;
  inputSchema: ArgumentsSchema;
  outputSchema: object;
  /** Counts 1 and answers. A refusal is an outcome, and nothing is thrown. */
  call(caller: Caller, given: Readonly<Record<string, unknown>>): Promise<Outcome<ToolAnswer>>;
}

/** The arguments of a call, checked, by name. */
export type ArgumentValues = Readonly<Record<string, ArgumentValue>>;

interface ToolDeclaration extends Pick<Tool, "name" | "title" | "description"> {
  /** Schema of what a page holds. */
  item: object;
  /** The arguments beside those of the page. */
  properties: ArgumentsSchema["properties"];
  required: readonly string[];
  /** The largest page, where it is not the operator's. */
  limitMax?: number;
  /** Whether its records come in brief or in full. */
  hasDetail: boolean;
  answer(
    caller: Caller,
    values: ArgumentValues,
  ): Outcome<ToolAnswer> | Promise<Outcome<ToolAnswer>>;
}

/** A tool as it is called, which answers with a page: its arguments are checked first, and wrong ones count, too. */
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
 * The answer to a call that is counted already, made from what the count gave. A failure is a problem, and the call stays
 * counted.
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

/** The page that a tool takes, as an operation does. */
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

/** Of a record the names and types of its members alone: what they mean stands in the guide, and a list of tools is read often. */
export const recordSchema = ({ kind, record }: Pick<Operation, "kind" | "record">): object => ({
  ...shapeOf(record as unknown as JsonSchema),
  required: briefMembers[kind],
});

/** Of an answer. @param item of its `data`. */
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
