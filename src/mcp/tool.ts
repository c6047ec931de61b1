/** Makes tools from declarations. A tool answers with a page, and each call is counted. */
import {
  type Caller,
  type Found,
  type Outcome,
  type Refusal,
  refusalOf,
} from "#gateway/gateway.ts";
import type { AnswerSource } from "#gateway/read-operation.ts";
import type { ReadDependencies } from "#gateway/reads.ts";
import { greatestRequest, type Quotas } from "#limits/policy.ts";
import { Meta, Pagination } from "#operations/envelope.ts";
import { type Operation, pageSchemas } from "#operations/operation.ts";
import { Problem } from "#problems.ts";
import type { MemberSchema, TSchema } from "#records/schema.ts";
import { declarations, membersOf } from "#records/declarations.ts";
import { ListedGp } from "#records/gp.ts";
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
  answers: AnswerSource;
}

/** Answer of a tool: structured content as JSON, or the faults of the arguments. */
export type ToolAnswer =
  | { datasetVersion: string; content: string }
  | {
      datasetVersion: null;
      faults: readonly ArgumentFault[];
      /** Total number of faults, listed or not. */
      faultCount: number;
    };

export const faulty = (fault: ArgumentFault): ToolAnswer => ({
  datasetVersion: null,
  faults: [fault],
  faultCount: 1,
});

export interface CallOutcome extends Omit<Outcome<ToolAnswer>, "result"> {
  result: { kind: "answer"; answer: ToolAnswer } | Refusal;
}

export interface Tool {
  name: string;
  /** Entry in the list of tools. */
  listed: object;
  /** Counts the call and answers it. Never rejects: a refusal is an outcome. */
  call(caller: Caller, given: Readonly<Record<string, unknown>>): Promise<CallOutcome>;
}

/** Checked arguments of a call, by name. */
export type ArgumentValues = Readonly<Record<string, ArgumentValue>>;

interface ToolDeclaration {
  name: string;
  title: string;
  description: string;
  /** Schema of an entry on a page. */
  item: object;
  /** Arguments besides those for paging. */
  properties: ArgumentsSchema["properties"];
  required: readonly string[];
  /** Maximum number of entries on a page; the operator's setting if omitted. */
  limitMax?: number;
  /** True if the caller may choose between brief and full records. */
  hasDetail: boolean;
  /** Returns a Problem if the caller may not use the tool. */
  refusal?(caller: Caller): Problem | undefined;
  /** Returns the number of requests that a call counts as; one if left out. */
  cost?(values: ArgumentValues): number;
  /** Answers a call with checked arguments. @throws Problem if it is refused. */
  answer(values: ArgumentValues): ToolAnswer | Promise<ToolAnswer>;
}

/** Returns the declared tool. Calls with wrong arguments count, too. */
export function makeTool(dependencies: ToolDependencies, declaration: ToolDeclaration): Tool {
  const { name, title, description, item, properties, required, hasDetail } = declaration;
  const { limitMax = dependencies.pageSizeMax, refusal, cost = () => 1, answer } = declaration;
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
    listed: { name, title, description, inputSchema, outputSchema: pageSchema(item), annotations },
    call(caller, given) {
      let read: ReturnType<typeof readArguments> | undefined;
      const readOnce = () => (read ??= readArguments(name, inputSchema, given));
      const work = () => {
        const { values, faults, faultCount } = readOnce();
        return faultCount > 0 ? { datasetVersion: null, faults, faultCount } : answer(values);
      };
      const price = () => {
        const { values, faultCount } = readOnce();
        return faultCount > 0 ? 1 : cost(values);
      };
      return answerCounted(dependencies, caller, work, () => refusal?.(caller) ?? price());
    },
  };
}

const annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/**
 * Counts a call and answers it. A failure becomes a problem but stays counted.
 * @param cost returns the number of requests that it counts as, one if left out; a Problem is not counted.
 */
export async function answerCounted(
  { gateway }: Pick<ToolDependencies, "gateway">,
  caller: Caller,
  answer: () => ToolAnswer | Promise<ToolAnswer>,
  cost: () => number | Problem = () => 1,
): Promise<CallOutcome> {
  const counting = (): Found<null> => ({ kind: "answer", answer: null });
  const price = (_: object, quotas: Quotas) => {
    const requests = cost();
    return requests instanceof Problem ? requests : Math.min(requests, greatestRequest(quotas));
  };
  const { result, ...outcome } = await gateway.counted({ caller }, counting, price);
  if (result.kind === "problem") return { ...outcome, result };
  try {
    return { ...outcome, result: { kind: "answer", answer: await answer() } };
  } catch (error) {
    return { ...outcome, result: refusalOf(error) };
  }
}

const pageProperties = (pageSizeMax: number) => {
  const { limit, offset } = pageSchemas(pageSizeMax);
  return {
    limit: {
      ...limit,
      description: "Maximum number of entries to return; fewer come if more do not fit.",
    },
    offset: { ...offset, description: "Number of entries to skip." },
  } as const;
};

const detailProperty = {
  type: "string",
  enum: details,
  default: details[0],
  description: "`brief` gives the most important members, `full` whole records.",
} as const;

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
    rest: { type: ["string", "null"], description: "How to get the rest." },
  };
  return { type: "object", properties, required: Object.keys(properties) };
}

const shapeOf = (schema: TSchema): object => ({
  type: "object",
  required: (schema as MemberSchema).required,
  properties: Object.fromEntries(
    membersOf(schema).map(([name, { type, items }]) => [
      name,
      { type, ...(items && { items: { type: items.type } }) },
    ]),
  ),
});
