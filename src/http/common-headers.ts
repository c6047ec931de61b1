/** Headers that every answer has, whatever it says. */
import type { Config } from "#config.ts";
import { apiVersion } from "#operations/page.ts";

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

type Headers = Record<string, string>;

const fixed = { "api-version": apiVersion, "x-content-type-options": "nosniff" };

const forAnyOrigin: Readonly<Headers> = {
  ...fixed,
  vary: "Accept, Accept-Encoding",
  "access-control-allow-origin": "*",
  "access-control-expose-headers": exposed,
};

/** @param origin the `Origin` of the request. */
export function commonHeaders(
  origins: Config["corsOrigins"],
  origin: string | undefined,
): Readonly<Headers> {
  if (origins === "*") return forAnyOrigin;
  const isListed = origins.length > 0;
  return {
    ...fixed,
    vary: isListed ? "Accept, Accept-Encoding, Origin" : "Accept, Accept-Encoding",
    ...(origin !== undefined &&
      origins.includes(origin) && {
        "access-control-allow-origin": origin,
        "access-control-expose-headers": exposed,
      }),
  };
}

/** What a browser asks before it sends a request with our header (Fetch standard, CORS preflight). */
export const preflightHeaders: Readonly<Headers> = {
  "access-control-allow-methods": "GET, HEAD, OPTIONS",
  "access-control-allow-headers": "x-api-key, accept, if-none-match, x-request-id",
  "access-control-max-age": "7200",
};
