/** Header fields of answers: made once and checked, with entity tags, links and quotas among them. */
import { hash } from "node:crypto";
import type { QuotaStatus } from "#limits/counters.ts";
import { type Quotas, windows } from "#limits/policy.ts";
import { type Operation, parameterBounds, type Query } from "#operations/operation.ts";
import { filterText, pageQuery } from "#operations/parameters.ts";
import { maskKeys } from "#problems.ts";
import type { Outcome } from "./gateway.ts";

// An `import` of node:http reads every export, and one of them loads a WebSocket client.
const { validateHeaderName, validateHeaderValue } = process.getBuiltinModule("node:http");

/** The field lines of a head (RFC 9112 §5), each `name: value` with its line end: text that Node would otherwise make for each response. */
export type HeaderLines = string;

/**
 * Checks headers once, where they are made; they are sent as they are.
 * @throws TypeError where a name or a value would break out of its line.
 */
export function headerLines(
  headers: Readonly<Record<string, string>> | Iterable<readonly [string, string]>,
): HeaderLines {
  const pairs = Symbol.iterator in headers ? [...headers] : Object.entries(headers);
  return pairs.map(headerLine).join("");
}

function headerLine([name, value]: readonly [string, string]): string {
  validateHeaderName(name);
  validateHeaderValue(name, value);
  return `${name}: ${value}\r\n`;
}

/** Names and values, in their order. */
export const headerPairs = (lines: HeaderLines): [string, string][] =>
  lines
    .split("\r\n")
    .slice(0, -1)
    .map((line) => {
      const colon = line.indexOf(": ");
      return [line.slice(0, colon), line.slice(colon + 2)];
    });

/** Returns the `RateLimit` fields: numbers and names that are ours, so nothing in them needs to be checked. */
export const quotaHeaders = ({ quotas, status }: NonNullable<Outcome<unknown>["counted"]>) =>
  `ratelimit-policy: ${rateLimitPolicyField(quotas)}\r\nratelimit: ${rateLimitField(status)}\r\n`;

const policyFields = new WeakMap<Quotas, string>();

/** Returns the value of `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-11, structured fields), made once for each object of quotas. */
export function rateLimitPolicyField(quotas: Quotas): string {
  let field = policyFields.get(quotas);
  if (field === undefined) {
    field = windows
      .map(({ name, seconds }) => `"${name}";q=${quotas[name]};w=${seconds}`)
      .join(", ");
    policyFields.set(quotas, field);
  }
  return field;
}

/** Returns the value of `RateLimit`: what remains, and the seconds until some of it returns. */
export function rateLimitField(quotaStatus: QuotaStatus): string {
  let field = "";
  for (const { name, remaining, resetSeconds } of quotaStatus.windows)
    field += `${field === "" ? "" : ", "}"${name}";r=${remaining};t=${resetSeconds}`;
  return field;
}

/** Incremented when answers to the same query on the same dataset change. */
const answerFormat = 3;

/** Returns the entity tag of an answer (RFC 9110 §8.8.3): weak, because its encodings share it. */
export function answerTag(
  datasetVersion: string,
  operation: string,
  query: string,
  format: string,
): string {
  const digest = hash("sha256", `${answerFormat}\n${operation}\n${query}\n${format}`, "base64url");
  return `W/"${datasetVersion}-${digest.slice(0, 22)}"`;
}

/** Returns the weak entity tag of what is no answer to a query. */
export const contentTag = (body: Buffer | string) =>
  `W/"${hash("sha256", body, "base64url").slice(0, 22)}"`;

/** Does `If-None-Match` name the tag? Weak comparison, RFC 9110 §13.1.2. */
export function isUnchanged(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  const opaque = tag.replace(weakMark, "");
  return ifNoneMatch.split(",").some((one) => one.trim().replace(weakMark, "") === opaque);
}

const weakMark = /^W\//;

/** Headers by which a client revalidates a cached response. */
export const validators = ({ tag, datasetVersion }: { tag: string; datasetVersion: string }) => ({
  etag: tag,
  "dataset-version": datasetVersion,
  "cache-control": "private, no-cache",
});

/** A page of what stands at a path. */
interface Page {
  path: string;
  filters: Operation["filters"];
  query: Query;
  /** On this page and others. */
  total: number;
}

/** @param publicUrl null for references relative to the request's host. */
export function pageLinks({ path, filters, query, total }: Page, publicUrl: string | null): string {
  const base = publicUrl ?? "";
  const { limit, offset } = query;
  // A key that was put into the query by mistake must not be sent back. Masked value by value, links stay well-formed.
  const filter = filterText({ filters }, query.filter, maskKeys);
  const to = (target: number, rel: string) =>
    `<${base}${path}?${pageQuery(filter, limit, target)}>; rel="${rel}"`;
  const links = [to(0, "first")];
  // Pages are aligned to the current offset, so that prev leads back from next.
  const last = total === 0 ? 0 : lastOffset(offset % limit, limit, total);
  if (offset > 0) links.push(to(Math.max(0, Math.min(offset - limit, last)), "prev"));
  if (offset + limit < total && offset + limit <= parameterBounds.offsetMax)
    links.push(to(offset + limit, "next"));
  links.push(to(last, "last"));
  links.push(descriptionLink(publicUrl));
  return links.join(", ");
}

/** @param publicUrl null for a reference relative to the request's host. */
export const descriptionLink = (publicUrl: string | null): string =>
  `<${publicUrl ?? ""}/openapi.json>; rel="service-desc"`;

function lastOffset(first: number, limit: number, total: number): number {
  if (total <= first) return 0;
  return first + Math.floor((total - 1 - first) / limit) * limit;
}
