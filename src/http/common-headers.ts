/** Headers that every response has, and those that pages and preflights share. */
import type { Config } from "#config.ts";
import { apiVersion } from "#operations/versions.ts";

/** Headers as Node writes them fastest: a flat list of name, value, name, value. */
export type HeaderLines = readonly string[];

export const headerLines = (headers: Readonly<Record<string, string>>): HeaderLines =>
  Object.entries(headers).flat();

const exposed = [
  "API-Version",
  "Dataset-Version",
  "Deprecation",
  "ETag",
  "Link",
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "Sunset",
  "WWW-Authenticate",
  "X-Request-Id",
  "X-Total-Count",
].join(", ");

const fixed = { "api-version": apiVersion, "x-content-type-options": "nosniff" };

const forAnyOrigin = headerLines({
  ...fixed,
  vary: "Accept, Accept-Encoding",
  "access-control-allow-origin": "*",
  "access-control-expose-headers": exposed,
});

/** @param origin the `Origin` of the request. */
export function commonHeaders(
  origins: Config["corsOrigins"],
  origin: string | undefined,
): HeaderLines {
  if (origins === "*") return forAnyOrigin;
  const isListed = origins.length > 0;
  return headerLines({
    ...fixed,
    vary: isListed ? "Accept, Accept-Encoding, Origin" : "Accept, Accept-Encoding",
    ...(origin !== undefined &&
      origins.includes(origin) && {
        "access-control-allow-origin": origin,
        "access-control-expose-headers": exposed,
      }),
  });
}

/** What a browser checks before it sends `x-api-key` across origins (Fetch standard, CORS preflight). */
export const preflightHeaders = headerLines({
  "access-control-allow-methods": "GET, HEAD, OPTIONS",
  "access-control-allow-headers": "x-api-key, accept, if-none-match, x-request-id",
  "access-control-max-age": "7200",
});

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
