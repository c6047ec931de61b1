/** The target of a request: an operation, its alias, a public page, or something nobody serves. */
import { chance, pick, weighted, type Random } from "#demo/random.ts";
import type { ReferenceQuery } from "../../test/support/reference.ts";
import { hosts } from "./header-values.ts";
import { makeQuery, type OperationPath } from "./make-query.ts";
import { escapeOf, unreadable } from "./texts.ts";

export const operationPaths: readonly OperationPath[] = [
  "/fetch-gp",
  "/fetch-principals",
  "/fetch-signals",
  "/fetch-projects",
];

/** Public documents that have been there from the first version on. */
export const publicPaths = [
  "/",
  "/docs",
  "/errors",
  "/errors/invalid-parameters",
  "/errors/quota-exceeded",
  "/changelog",
  "/openapi.json",
  "/health",
  "/ready",
] as const;

const nowhere = [
  "/v2/fetch-gp",
  "/v9/fetch-gp",
  "/fetch-gps",
  "/fetch-g",
  "/FETCH-GP",
  "/fetch-gp/",
  "//fetch-gp",
  "/v1//fetch-gp",
  "/v1/../fetch-gp",
  "/%2e%2e/fetch-gp",
  "/v1%2Ffetch-gp",
  "/fetch-gp;x=1",
  "/fetch-gp%00",
  "/fetch-gp%20",
  "/v1/mcp",
  "/mcp/",
  "/mcp/messages",
  "/metrics",
  "/favicon.ico",
  "/.env",
  "/../../../../etc/passwd",
  "/assets/../../package.json",
  "/assets/%2e%2e%2fpackage.json",
  "/assets/",
  "/assets/style.css",
  "/assets/style.0123456789abcdef.css",
  "/errors/nothing-of-the-kind",
  "/errors/__proto__",
  "/constructor",
  "/__proto__",
  "/\xe9",
  "/{{valid-a}}",
  `/${"x".repeat(101)}`,
  `/errors/${"x".repeat(5000)}`,
];

/** Without white space, which would end the target. */
const urlHosts = ["", ...hosts.filter((one) => !/\s/.test(one))];

const kinds = weighted<(random: Random, questions: readonly ReferenceQuery[]) => string>([
  [(random, questions) => operationTarget(random, questions, ""), 60],
  [(random, questions) => operationTarget(random, questions, "/v1"), 12],
  [(random) => pick(random, publicPaths) + pick(random, ["", "", "?x=1", "?"]), 5],
  [(random) => pick(random, nowhere) + pick(random, ["", "?gp_name=stone"]), 3],
  [(random) => `/${pick(random, ["fetch-gp", "x", ""])}${pick(random, unreadable)}`, 1],
  [(random, questions) => `http://evil.example${operationTarget(random, questions, "")}`, 1],
  [
    (random, questions) =>
      `http://${pick(random, urlHosts)}${operationTarget(random, questions, "")}`,
    0.5,
  ],
  [(random) => `/fetch-gp?gp_name=${"x".repeat(pick(random, [8200, 9000, 12_000]))}`, 0.5],
  [
    (random) =>
      pick(random, ["*", "http://evil.example", "HTTP://x:80/health?a#b", "/fetch-gp#x?limit=1"]),
    0.3,
  ],
]);

export const makeTarget = (random: Random, questions: readonly ReferenceQuery[]): string =>
  kinds(random)(random, questions);

function operationTarget(
  random: Random,
  questions: readonly ReferenceQuery[],
  prefix: string,
): string {
  const path = pick(random, operationPaths);
  const query = makeQuery(random, path, questions);
  const spelt = prefix + (chance(random, 0.05) ? respelt(random, path) : path);
  return query === "" && chance(random, 0.8) ? spelt : `${spelt}?${query}`;
}

/** Percent-encoded where it need not be: the same path (RFC 3986 §6.2.2.2). */
const respelt = (random: Random, path: string) =>
  path.replaceAll(/[a-z-]/g, (one) =>
    chance(random, 0.2) ? escapeOf(one.charCodeAt(0), chance(random, 0.5)) : one,
  );
