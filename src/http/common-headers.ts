/** Headers as they are sent: those that every response has, and those that pages and preflights share. */
import type { Config } from "#config.ts";
import { apiVersion } from "#operations/versions.ts";
import { validateHeaderName, validateHeaderValue } from "./node-http.ts";

/** The field lines of a head (RFC 9112 §5), each `name: value` with its line end: text that Node would otherwise make for each response. */
export type HeaderLines = string;

/**
 * Checks headers once, where they are made; `sendAnswer` sends them as they are.
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

const exposed = [
  "API-Version",
  "Dataset-Version",
  "ETag",
  "Link",
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "WWW-Authenticate",
  "X-Request-Id",
  "X-Total-Count",
].join(", ");

const fixed = { "api-version": apiVersion, "x-content-type-options": "nosniff" };

const forOwnOrigin = headerLines({ ...fixed, vary: "Accept, Accept-Encoding" });
const forListedOrigins = headerLines({ ...fixed, vary: "Accept, Accept-Encoding, Origin" });
const sharedWith = (origin: string) =>
  headerLines({
    "access-control-allow-origin": origin,
    "access-control-expose-headers": exposed,
  });
const forAnyOrigin = forOwnOrigin + sharedWith("*");

/** @param origin the `Origin` of the request. */
export function commonHeaders(
  origins: Config["corsOrigins"],
  origin: string | undefined,
): HeaderLines {
  if (origins === "*") return forAnyOrigin;
  if (origins.length === 0) return forOwnOrigin;
  const isListed = origin !== undefined && origins.includes(origin);
  return isListed ? forListedOrigins + sharedWith(origin) : forListedOrigins;
}

const preflight = (methods: string, headers: string) =>
  headerLines({
    "access-control-allow-methods": methods,
    "access-control-allow-headers": headers,
    "access-control-max-age": "7200",
  });

const readMethods = "GET, HEAD, OPTIONS";
const readHeaders = "x-api-key, accept, if-none-match, x-request-id";

/** What a browser checks before it sends `x-api-key` across origins (Fetch standard, CORS preflight). */
export const preflightHeaders = preflight(readMethods, readHeaders);

/** The headers by which MCP says its revision, and since that of 2026-07-28 what a message asks for. */
export const mcpHeaders = ["mcp-protocol-version", "mcp-method", "mcp-name"] as const;

/** The same on `/mcp`. */
export const mcpPreflightHeaders = preflight(
  `${readMethods}, POST`,
  `${readHeaders}, authorization, content-type, ${mcpHeaders.join(", ")}`,
);

export const html = "text/html; charset=utf-8";
export const json = "application/json; charset=utf-8";

/** Nothing is loaded from other origins and nothing is inline (W3C Content Security Policy 3). */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

export const pageHeaders = headerLines({
  "content-security-policy": contentSecurityPolicy,
  "referrer-policy": "no-referrer",
});
