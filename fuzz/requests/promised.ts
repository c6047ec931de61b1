/** What the interface promises: as openapi.json says it, and what that does not say written down here once more. */
import { readFileSync } from "node:fs";

interface Parameter {
  name: string;
  schema: {
    type: string;
    enum?: readonly string[];
    pattern?: string;
    minimum?: number;
    items?: { enum?: readonly string[] };
  };
}

interface Description {
  paths: Readonly<
    Record<string, { get: { parameters: readonly (Parameter | { $ref: string })[] } }>
  >;
  components: {
    responses: Readonly<Record<string, object>>;
    schemas: Readonly<
      Record<"Problem" | "ParameterFault", { properties: { code: { enum: string[] } } }>
    >;
  };
}

const { paths, components } = JSON.parse(readFileSync("openapi.json", "utf8")) as Description;

export const problemCodes: readonly string[] = components.schemas.Problem.properties.code.enum;
/** Of the parameters of a request. */
export const faultCodes: readonly string[] = components.schemas.ParameterFault.properties.code.enum;
export const promisedSuccesses: readonly number[] = [200, 202, 204, 304];
/** An internal error is described, and must never be seen. */
export const promisedStatuses: readonly number[] = [
  ...promisedSuccesses,
  ...Object.keys(components.responses).map((name) => Number(name.replace("Problem", ""))),
].filter((status) => status !== 500);

/** What the ids of the records begin with that an operation serves. */
export const idPrefixes = {
  "fetch-gp": "gp_",
  "fetch-principals": "pr_",
  "fetch-signals": "sg_",
  "fetch-projects": "pj_",
  "list-gps": "gp_",
  "list-principals": "pr_",
  "list-signals": "sg_",
  "list-projects": "pj_",
} as const;
export type OperationPath = `/${keyof typeof idPrefixes}`;
export type ListPath = Extract<OperationPath, `/list-${string}`>;
export const operationPaths = Object.keys(idPrefixes).map(
  (name): OperationPath => `/${name as keyof typeof idPrefixes}`,
);
export const isListPath = (path: OperationPath): path is ListPath => path.startsWith("/list-");

export const pageSizeByDefault = 20;
/** Of the faults of a request. */
export const faultsListed = 20;

/** Where messages of MCP are read. */
export const messagesPath = "/mcp";
export const messageType = "application/json";

/** What an argument of a tool is; `some of` takes what is named, too. */
export type ArgumentKind =
  | { kind: "text" | "texts" | "date" | "flag" }
  | { kind: "whole"; minimum?: number }
  | { kind: "one of" | "some of"; values: readonly string[] };

export interface PromisedTool {
  arguments: Readonly<Record<string, ArgumentKind>>;
  required: readonly string[];
}

const text = { kind: "text" } as const;
const texts = { kind: "texts" } as const;
const whole = { kind: "whole" } as const;

/** Returns the parameters of a list, which its tool takes, too. */
export const parametersOfList = (path: ListPath): Readonly<Record<string, ArgumentKind>> =>
  Object.fromEntries(
    paths[path]!.get.parameters.flatMap((one) =>
      "$ref" in one ? [] : [[one.name, kindOf(one.schema)] as const],
    ),
  );

function kindOf({
  type,
  enum: values,
  pattern,
  minimum,
  items,
}: Parameter["schema"]): ArgumentKind {
  if (type === "boolean") return { kind: "flag" };
  if (type === "integer" || type === "number")
    return { kind: "whole", ...(minimum !== undefined && { minimum }) };
  if (type === "array") return items?.enum === undefined ? texts : someOf(...items.enum);
  if (values !== undefined) return { kind: "one of", values };
  return pattern === undefined ? text : { kind: "date" };
}

const facetsOfTool = { tag: texts, theme: texts, market: texts };
const pageOfTool = { limit: whole, offset: whole };
const someOf = (...values: string[]) => ({ kind: "some of", values }) as const;
const detail = { kind: "one of", values: ["brief", "full"] } as const;
const tool = (
  taken: PromisedTool["arguments"],
  required: PromisedTool["required"] = [],
): PromisedTool => ({ arguments: taken, required });

export const promisedTools: Readonly<Record<string, PromisedTool>> = {
  fetch_gp: tool({ gp_name: text, ...facetsOfTool, ...pageOfTool, detail }, ["gp_name"]),
  fetch_principals: tool({ gp_name: text, ...facetsOfTool, ...pageOfTool, detail }),
  fetch_signals: tool({ gp_name: text, ...pageOfTool, detail }),
  fetch_projects: tool({ gp_name: text, ...pageOfTool, detail }),
  list_gps: tool({ ...parametersOfList("/list-gps"), detail }),
  list_principals: tool({ ...parametersOfList("/list-principals"), detail }),
  list_signals: tool({ ...parametersOfList("/list-signals"), detail }),
  list_projects: tool({ ...parametersOfList("/list-projects"), detail }),
  vocabulary: tool(
    { list: { kind: "one of", values: ["tags", "themes", "markets", "enums"] }, ...pageOfTool },
    ["list"],
  ),
  changes_since: tool({ version: text, ...pageOfTool, detail }, ["version"]),
  explain: tool({ id: text, ...pageOfTool }, ["id"]),
  match_gps: tool(
    { names: texts, cities: texts, states: texts, crds: texts, ciks: texts, ...pageOfTool },
    ["names"],
  ),
};

/** Where a form is read; for one person's eyes, so no other site is let to it. */
export const formPath = "/account/sign-in";
