/** What the interface promises, written down here once more: an oracle must not ask the program it judges. */

export interface PromisedProblem {
  status: number;
  title: string;
  /** Members beside those that every problem has. */
  members: readonly string[];
}

const problem = (status: number, title: string, ...members: string[]): PromisedProblem => ({
  status,
  title,
  members,
});

export const promisedProblems: Readonly<Record<string, PromisedProblem>> = {
  "invalid-parameters": problem(400, "One or more query parameters are not valid", "errors"),
  "malformed-request": problem(400, "The request could not be read"),
  "api-key-missing": problem(401, "No API key was sent", "header", "account_url"),
  "api-key-invalid": problem(401, "The API key is not valid", "reason"),
  "api-key-expired": problem(
    401,
    "The API key has expired",
    "key_hint",
    "expired_at",
    "account_url",
  ),
  "api-key-revoked": problem(
    401,
    "The API key was revoked",
    "key_hint",
    "revoked_at",
    "account_url",
  ),
  "access-denied": problem(403, "The key may not do this", "reason"),
  "unknown-path": problem(404, "There is nothing at this path", "suggestion", "operations"),
  "method-not-allowed": problem(405, "This method is not allowed here", "allowed"),
  "not-acceptable": problem(406, "None of the accepted formats is available", "available"),
  "request-timeout": problem(408, "The request did not arrive in time"),
  "version-retired": problem(410, "This API version is no longer served", "successor", "sunset"),
  "content-too-large": problem(413, "The request body is too large", "maximum"),
  "uri-too-long": problem(414, "The request address is too long", "maximum"),
  "unsupported-media-type": problem(
    415,
    "The body is of a type that is not read here",
    "available",
  ),
  "expectation-failed": problem(417, "The expectation cannot be met"),
  "quota-exceeded": problem(
    429,
    "Request cannot be satisfied as assigned quota has been exceeded",
    "violated-policies",
    "retry_after",
  ),
  "headers-too-large": problem(431, "The request headers are too large", "maximum"),
  unavailable: problem(503, "The service cannot answer right now", "reason", "retry_after"),
};

export const promisedSuccesses: readonly number[] = [200, 202, 204, 304];

export const faultCodes: readonly string[] = [
  "missing",
  "too_short",
  "too_long",
  "empty_value",
  "not_an_integer",
  "out_of_range",
  "unknown_parameter",
  "repeated_parameter",
  "too_many_values",
  "invalid_encoding",
];

export const hintCodes: readonly string[] = [
  "no_match",
  "unknown_value",
  "no_searchable_character",
  "past_the_end",
  "embedded_list_cut",
];

export const unavailableReasons: readonly string[] = [
  "starting",
  "draining",
  "overloaded",
  "timeout",
  "no_dataset",
  "store_down",
];

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
