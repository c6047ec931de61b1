/**
 * Reads a client's preferences from its headers (RFC 9110 §12.5). Makes and checks the headers of answers, such as
 * entity tags, links and quotas.
 */
import { hash } from "node:crypto";
import Negotiator from "negotiator";
import { type Quotas, windows } from "#limits/policy.ts";
import { parameterBounds, type Query } from "#operations/operation.ts";
import { filterText, pageQuery } from "#operations/parameters.ts";
import { maskKeys } from "#problems.ts";
import type { Outcome } from "./gateway.ts";

// An `import` of node:http reads every export, and one of them loads a WebSocket client.
const { validateHeaderName, validateHeaderValue } = process.getBuiltinModule("node:http");

/**
 * Header field lines (RFC 9112 §5), each `name: value` with CRLF. Kept as one string, which Node would otherwise build
 * for each response.
 */
export type HeaderLines = string;

/**
 * Returns valid header lines, which are sent unchanged.
 * @throws TypeError if a name or a value contains a character that is not allowed.
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

export const headerPairs = (lines: HeaderLines): [string, string][] =>
  lines
    .split("\r\n")
    .slice(0, -1)
    .map((line) => {
      const colon = line.indexOf(": ");
      return [line.slice(0, colon), line.slice(colon + 2)];
    });

const policyFields = new WeakMap<Quotas, string>();

/**
 * Returns `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-11, structured fields). The latter
 * has each window's remaining requests, and the seconds until the oldest counted one leaves the window. Builds the
 * policy once for each `quotas` object. Checks nothing, because all names and numbers are the service's own.
 */
export function quotaHeaders({ quotas, status }: NonNullable<Outcome<unknown>["counted"]>) {
  const policies = policyFields.getOrInsertComputed(quotas, () =>
    windows.map(({ name, seconds }) => `"${name}";q=${quotas[name]};w=${seconds}`).join(", "),
  );
  let left = "";
  for (const { name, remaining, resetSeconds } of status.windows)
    left += `${left === "" ? "" : ", "}"${name}";r=${remaining};t=${resetSeconds}`;
  return `ratelimit-policy: ${policies}\r\nratelimit: ${left}\r\n`;
}

/** Version of the answer format. Incremented when a release answers the same query on the same dataset differently. */
const answerFormat = 3;

/** Returns the entity tag of an answer (RFC 9110 §8.8.3). It is weak, because all encodings share it. */
export function answerTag(
  datasetVersion: string,
  operation: string,
  query: string,
  format: string,
): string {
  const digest = hash("sha256", `${answerFormat}\n${operation}\n${query}\n${format}`, "base64url");
  return `W/"${datasetVersion}-${digest.slice(0, 22)}"`;
}

/** Returns a weak entity tag for content that does not answer a query. */
export const contentTag = (body: Buffer) => `W/"${hash("sha256", body, "base64url").slice(0, 22)}"`;

/** Reports whether `If-None-Match` is `*` or names the tag, by weak comparison (RFC 9110 §13.1.2). */
export function matchesTag(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch.trim() === "*") return true;
  const opaque = tag.replace(weakMark, "");
  return ifNoneMatch.split(",").some((one) => one.trim().replace(weakMark, "") === opaque);
}

const weakMark = /^W\//;

/** Returns the headers that let a client revalidate a cached response. */
export const validators = ({ tag, datasetVersion }: { tag: string; datasetVersion: string }) => ({
  etag: tag,
  "dataset-version": datasetVersion,
  "cache-control": "private, no-cache",
});

interface LinkedPage {
  path: string;
  query: Omit<Query, "filter">;
  /** Number of entries on all pages. */
  total: number;
}

/**
 * Returns the value of the `Link` header of a page (RFC 8288).
 * @param publicUrl null for references relative to the request's host.
 */
export function pageLinks({ path, query, total }: LinkedPage, publicUrl: string | null): string {
  const base = publicUrl ?? "";
  const { limit, offset } = query;
  // A key put into the query by mistake must not be sent back. Masking each value keeps links well-formed.
  const filter = filterText(query.values, maskKeys);
  const to = (target: number, rel: string) =>
    `<${base}${path}?${pageQuery(filter, limit, target)}>; rel="${rel}"`;
  const links = [to(0, "first")];
  // Pages are aligned to the current offset, so that the next page's prev link leads back to this page.
  const first = offset % limit;
  const last = total <= first ? 0 : first + Math.floor((total - 1 - first) / limit) * limit;
  if (offset > 0) links.push(to(Math.max(0, Math.min(offset - limit, last)), "prev"));
  if (offset + limit < total && offset + limit <= parameterBounds.offsetMax)
    links.push(to(offset + limit, "next"));
  links.push(to(last, "last"));
  links.push(descriptionLink(publicUrl));
  return links.join(", ");
}

/** Returns the link to the API description. @param publicUrl null for a reference relative to the request's host. */
export const descriptionLink = (publicUrl: string | null): string =>
  `<${publicUrl ?? ""}/openapi.json>; rel="service-desc"`;

/** Encodings of answers, in order of preference. */
const encodings = ["br", "gzip"] as const;
export type Encoding = (typeof encodings)[number];

/** Maximum number of characters to parse in a header. Programs send far less. 15 KB of `Accept` took 3.8 ms. */
const readMax = 1024;

/** Returns the elements of a list that fit completely into `readMax` characters. */
const readPart = (header: string) =>
  header.length <= readMax
    ? header
    : header.slice(0, Math.max(0, header.lastIndexOf(",", readMax)));

/**
 * Returns the best available type. Returns undefined if the client accepts none.
 * @param available types, with the default first.
 * @param order order of preference among types with equal `q` and specificity.
 */
export function preferredType<T extends string>(
  accept: string | undefined,
  available: readonly T[],
  order: readonly T[] = available,
): T | undefined {
  if (accept === undefined || accept === "*/*" || accept === available[0]) return available[0];
  const exact = available.find((type) => type === accept);
  if (exact !== undefined) return exact;
  // Some proxies blank headers instead of removing them. An empty list has no meaning in RFC 9110 §12.5.1.
  if (!/[^ \t,]/.test(accept)) return available[0];
  // No type served here has a quoted parameter. Parsing an unclosed quote takes quadratic time.
  const unquoted = readPart(accept).replaceAll('"', "");
  // Everything is UTF-8 and every CSV has a header row, so these parameters exclude nothing.
  const served = unquoted.replaceAll(/;\s*(?:charset=[^;,]*|header=present)/gi, "");
  // Negotiator prefers the first of equal elements.
  const placeOf = (element: string) => {
    const [range] = /^[^;*]*/.exec(element)!;
    return order.findIndex((type) => type.startsWith(range.trim().toLowerCase()));
  };
  const inOrder = served.split(",").toSorted((a, b) => placeOf(a) - placeOf(b));
  const negotiator = new Negotiator({ headers: { accept: inOrder.join(",") } });
  return negotiator.mediaType([...available]) as T | undefined;
}

/** Part of Negotiator 1.0 that its published types lack: the server's preference. */
interface ByPreference {
  encodings(available: string[], options: { preferred: string[] }): string[];
}

/** Preferred encodings by `Accept-Encoding` header, cached because many clients send the same one. */
const known = new Map<string, Encoding | null>();
const knownMax = 200;
/** Maximum length of a cached header, in characters. Browsers and libraries send shorter ones. */
const knownLengthMax = 100;

/**
 * Returns the encoding that the client prefers. The service's order decides if `q` is equal. Returns null to send the
 * body unencoded.
 */
export function preferredEncoding(acceptEncoding: string | undefined): Encoding | null {
  if (acceptEncoding === undefined) return null;
  let encoding = known.get(acceptEncoding);
  if (encoding !== undefined) return encoding;
  const negotiator: ByPreference = new Negotiator({
    headers: { "accept-encoding": readPart(acceptEncoding) },
  });
  const best = negotiator.encodings([...encodings, "identity"], { preferred: [...encodings] })[0];
  encoding = best === "br" || best === "gzip" ? best : null;
  if (acceptEncoding.length > knownLengthMax) return encoding;
  // Made-up headers must not keep those of real clients out of the cache forever.
  if (known.size === knownMax) known.clear();
  known.set(acceptEncoding, encoding);
  return encoding;
}
