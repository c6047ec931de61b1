/** Headers that every answer has, whatever it says. */
import type { Config } from "#config.ts";
import { apiVersion } from "#operations/page.ts";
import { headerLines, type HeaderLines } from "./header-lines.ts";

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

/** What a browser asks before it sends a request with our header (Fetch standard, CORS preflight). */
export const preflightHeaders = headerLines({
  "access-control-allow-methods": "GET, HEAD, OPTIONS",
  "access-control-allow-headers": "x-api-key, accept, if-none-match, x-request-id",
  "access-control-max-age": "7200",
});
