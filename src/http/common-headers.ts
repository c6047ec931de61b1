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

/** Headers that a browser checks before it sends `x-api-key` across origins (Fetch standard, CORS preflight). */
export const preflightHeaders = preflight(readMethods, readHeaders);

/** Headers with MCP's revision and, since 2026-07-28, the method and name that a message asks for. */
export const mcpHeaders = ["mcp-protocol-version", "mcp-method", "mcp-name"] as const;

/** Headers of a preflight on `/mcp`. */
export const mcpPreflightHeaders = preflight(
  `${readMethods}, POST`,
  `${readHeaders}, authorization, content-type, ${mcpHeaders.join(", ")}`,
);

export const html = "text/html; charset=utf-8";
export const json = "application/json; charset=utf-8";

/** Policy that loads nothing from other origins and nothing inline (W3C Content Security Policy 3). */
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
