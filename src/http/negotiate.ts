/** Which format and which encoding a client wants, by its `Accept` headers (RFC 9110 §12.5). */
import Negotiator from "negotiator";
import { encodings, type Encoding } from "#api/compress.ts";

/** The best available type, or undefined where the client accepts none of them. */
export function preferredType<T extends string>(
  accept: string | undefined,
  available: readonly T[],
): T | undefined {
  if (accept === undefined || accept === "*/*" || accept === available[0]) return available[0];
  // Clients name the charset of what they accept; there is only UTF-8, so it excludes nothing.
  const withoutCharset = accept.replaceAll(/;\s*charset=[^;,]*/gi, "");
  // No value we compare is quoted, and a quotation left open would cost the square of its length.
  const unquoted = withoutCharset.replaceAll('"', "");
  return new Negotiator({ headers: { accept: unquoted } }).mediaType([...available]) as
    | T
    | undefined;
}

/** Negotiator 1.0 takes our order of preference, which its published types do not know yet. */
interface ByPreference {
  encodings(available: string[], options: { preferred: string[] }): string[];
}

/** Clients of one kind all send the same header, so what it means is worked out once. */
const known = new Map<string, Encoding | null>();
const knownMax = 200;
/** Browsers and libraries send far shorter ones. */
const knownLengthMax = 100;

/** The encoding to use, or null to send the body as it is. */
export function preferredEncoding(acceptEncoding: string | undefined): Encoding | null {
  if (acceptEncoding === undefined) return null;
  let encoding = known.get(acceptEncoding);
  if (encoding !== undefined) return encoding;
  const negotiator: ByPreference = new Negotiator({
    headers: { "accept-encoding": acceptEncoding },
  });
  const best = negotiator.encodings([...encodings, "identity"], { preferred: [...encodings] })[0];
  encoding = best === "br" || best === "gzip" ? best : null;
  if (acceptEncoding.length > knownLengthMax) return encoding;
  // Headers that somebody makes up must not keep those of real clients out for good.
  if (known.size === knownMax) known.clear();
  known.set(acceptEncoding, encoding);
  return encoding;
}
