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

export interface PromisedOperation {
  parameters: readonly string[];
  nameLengthMin: number;
  nameIsRequired: boolean;
  idPrefix: string;
}

const facets = ["tag", "theme", "market"];
const page = ["limit", "offset"];

export const promisedOperations: Readonly<Record<string, PromisedOperation>> = {
  "/fetch-gp": {
    parameters: ["gp_name", ...facets, ...page],
    nameLengthMin: 2,
    nameIsRequired: true,
    idPrefix: "gp_",
  },
  "/fetch-principals": {
    parameters: ["gp_name", ...facets, ...page],
    nameLengthMin: 1,
    nameIsRequired: false,
    idPrefix: "pr_",
  },
  "/fetch-signals": {
    parameters: ["gp_name", ...page],
    nameLengthMin: 1,
    nameIsRequired: false,
    idPrefix: "sg_",
  },
  "/fetch-projects": {
    parameters: ["gp_name", ...page],
    nameLengthMin: 1,
    nameIsRequired: false,
    idPrefix: "pj_",
  },
};

/** Where messages of MCP are read. */
export const messagesPath = "/mcp";
export const messageType = "application/json";
/** Levels of a message, and characters of its id. */
export const messageBounds = { depth: 32, idLength: 128 } as const;

/** What an argument of a tool must be. */
export type ArgumentKind =
  | { kind: "text"; lengthMin: number; lengthMax: number }
  | { kind: "texts" }
  | { kind: "whole"; minimum: number; maximum: number }
  | { kind: "date" }
  | { kind: "one of"; values: readonly string[] }
  /** Of these, or of others that no request has. */
  | { kind: "some of"; values: readonly string[] };

export interface PromisedTool {
  arguments: Readonly<Record<string, ArgumentKind>>;
  required: readonly string[];
}

const text = (lengthMin: number, lengthMax = 200) =>
  ({ kind: "text", lengthMin, lengthMax }) as const;
const texts = { kind: "texts" } as const;
const facetsOfTool = { tag: texts, theme: texts, market: texts };
const pageOfTool = {
  limit: { kind: "whole", minimum: 1, maximum: 100 },
  offset: { kind: "whole", minimum: 0, maximum: 2_147_483_647 },
} as const;
const someOf = (...values: string[]) => ({ kind: "some of", values }) as const;
const detail = { kind: "one of", values: ["brief", "full"] } as const;
const listed = {
  gp_name: text(1),
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
  fetch_gp: tool({ gp_name: text(2), ...facetsOfTool, ...pageOfTool, detail }, ["gp_name"]),
  fetch_principals: tool({ gp_name: text(1), ...facetsOfTool, ...pageOfTool, detail }),
  fetch_signals: tool({ gp_name: text(1), ...pageOfTool, detail }),
  fetch_projects: tool({ gp_name: text(1), ...pageOfTool, detail }),
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
  changes_since: tool({ version: text(1, 100), ...pageOfTool, detail }, ["version"]),
};

/** Where a form is read; for one person's eyes, so no other site is let to it. */
export const formPath = "/account/sign-in";
export const formType = "application/x-www-form-urlencoded";

export const bounds = {
  targetBytes: 8192,
  headerBytes: 16_384,
  bodyBytes: 65_536,
  nameLength: 200,
  valueLength: 100,
  /** What an `Accept` holds beyond it is not read. */
  acceptLength: 1024,
  values: 10,
  faultsListed: 20,
  pageSize: 100,
  offset: 2_147_483_647,
  pageSizeByDefault: 20,
} as const;
