/** Does a form come from one of our own pages? */
import type { OfficeRequest } from "./message.ts";

/**
 * Browsers say so in `Sec-Fetch-Site`, which no page can set (W3C Fetch Metadata); those that do not yet, in
 * `Origin`. Where neither speaks, the answer is no.
 * @param origin our own.
 */
export function isSameOrigin({ headers }: Pick<OfficeRequest, "headers">, origin: string): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin";
  return headers.origin === origin;
}
