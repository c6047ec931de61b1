/** What the interface promises: as openapi.json says it, and what that does not say written down here once more. */
import { readFileSync } from "node:fs";

interface Description {
  components: {
    responses: Readonly<Record<string, object>>;
    schemas: Readonly<
      Record<"Problem" | "ParameterFault", { properties: { code: { enum: string[] } } }>
    >;
  };
}

const { components } = JSON.parse(readFileSync("openapi.json", "utf8")) as Description;

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
} as const;

export const pageSizeByDefault = 20;
/** Of the faults of a request. */
export const faultsListed = 20;

/** Where messages of MCP are read. */
export const messagesPath = "/mcp";
export const messageType = "application/json";

/** What an argument of a tool is; `some of` takes what is named, too. */
export type ArgumentKind =
  | { kind: "text" | "texts" | "whole" | "date" }
  | { kind: "one of" | "some of"; values: readonly string[] };

export interface PromisedTool {
  arguments: Readonly<Record<string, ArgumentKind>>;
  required: readonly string[];
}

const text = { kind: "text" } as const;
const texts = { kind: "texts" } as const;
const whole = { kind: "whole" } as const;
const facetsOfTool = { tag: texts, theme: texts, market: texts };
const pageOfTool = { limit: whole, offset: whole };
const someOf = (...values: string[]) => ({ kind: "some of", values }) as const;
const detail = { kind: "one of", values: ["brief", "full"] } as const;
const listed = {
  gp_name: text,
  ...facetsOfTool,
  property_type: someOf("multifamily", "office"),
  since: { kind: "date" },
  until: { kind: "date" },
  ...pageOfTool,
  detail,
} as const;
const tool = (
  taken: PromisedTool["arguments"],
  required: PromisedTool["required"] = [],
): PromisedTool => ({ arguments: taken, required });

export const promisedTools: Readonly<Record<string, PromisedTool>> = {
  fetch_gp: tool({ gp_name: text, ...facetsOfTool, ...pageOfTool, detail }, ["gp_name"]),
  fetch_principals: tool({ gp_name: text, ...facetsOfTool, ...pageOfTool, detail }),
  fetch_signals: tool({ gp_name: text, ...pageOfTool, detail }),
  fetch_projects: tool({ gp_name: text, ...pageOfTool, detail }),
  list_gps: tool(listed),
  list_signals: tool({ ...listed, type: someOf("news", "fund_close") }),
  list_projects: tool({
    ...listed,
    type: someOf("development", "acquisition"),
    status: someOf("planned", "completed"),
    date: { kind: "one of", values: ["start_date", "completion_date", "first_sale_date"] },
  }),
  vocabulary: tool(
    { list: { kind: "one of", values: ["tags", "themes", "markets", "enums"] }, ...pageOfTool },
    ["list"],
  ),
  changes_since: tool({ version: text, ...pageOfTool, detail }, ["version"]),
};

/** Where a form is read; for one person's eyes, so no other site is let to it. */
export const formPath = "/account/sign-in";
