/** Headers that several kinds of responses share: preflights and pages. */
import { headerLines } from "#gateway/headers.ts";

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
