/** Content negotiation: the format and the encoding a client prefers (RFC 9110 §12.5). */
import Negotiator from "negotiator";
import { compress, encodedBytesMin, type Encoding, encodings } from "#api/answer-cache.ts";

/** The best available type, or undefined where the client accepts none of them. */
export function preferredType<T extends string>(
  accept: string | undefined,
  available: readonly T[],
): T | undefined {
  if (accept === undefined || accept === "*/*" || accept === available[0]) return available[0];
  const exact = available.find((type) => type === accept);
  if (exact !== undefined) return exact;
  // Some proxies blank headers instead of removing them, and RFC 9110 §12.5.1 gives an empty list no meaning of its own.
  if (!/[^ \t,]/.test(accept)) return available[0];
  // No type served here has a quoted parameter, and parsing an unclosed quotation takes quadratic time.
  const unquoted = accept.replaceAll('"', "");
  // Everything is UTF-8 and every CSV has its header row, so asking for that excludes nothing.
  const served = unquoted.replaceAll(/;\s*(?:charset=[^;,]*|header=present)/gi, "");
  return new Negotiator({ headers: { accept: served } }).mediaType([...available]) as T | undefined;
}

/** Negotiator 1.0 takes the server's preference, which its published types lack. */
interface ByPreference {
  encodings(available: string[], options: { preferred: string[] }): string[];
}

/** Clients of one kind send the same header, so each is parsed once. */
const known = new Map<string, Encoding | null>();
const knownMax = 200;
/** Longer than any that browsers and libraries send. */
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
  // Made-up headers must not keep those of real clients out for good.
  if (known.size === knownMax) known.clear();
  known.set(acceptEncoding, encoding);
  return encoding;
}

/** A body that is made for one answer, as the client prefers it, and what the head says of that. */
export async function negotiateBody(
  acceptEncoding: string | undefined,
  body: Buffer,
): Promise<{ body: Buffer; headers: { "content-encoding"?: Encoding } }> {
  const encoding = body.length > encodedBytesMin ? preferredEncoding(acceptEncoding) : null;
  return encoding === null
    ? { body, headers: {} }
    : { body: await compress(body, encoding), headers: { "content-encoding": encoding } };
}
