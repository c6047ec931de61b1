/** The query of a request as it may be kept: nothing in it can be an API key. */
import { maskKeys } from "#problems.ts";

/** As it was sent; with its escapes resolved where only they kept a key from being seen. Empty where there is none. */
export function recordedQuery(url: string): string {
  const mark = url.indexOf("?");
  const text = mark === -1 ? "" : url.slice(mark + 1);
  return maskKeys(text);
}
