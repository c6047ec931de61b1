/** Negotiates content: the format and the encoding that a client prefers (RFC 9110 §12.5). */
import Negotiator from "negotiator";
import { compress, encodedBytesMin, type Encoding, encodings } from "./answer-cache.ts";

/** Most characters of a header that are read. 15 KB of `Accept` took 3.8 ms, and programs send far less. */
const readMax = 1024;

/** Returns the elements of a list that end within the characters that are read. */
const readPart = (header: string) =>
  header.length <= readMax
    ? header
    : header.slice(0, Math.max(0, header.lastIndexOf(",", readMax)));

/**
 * Returns the best available type. Returns undefined if the client accepts none.
 * @param available the first is for clients without a preference.
 * @param order decides between types with the same `q` and equally exact names.
 */
export function preferredType<T extends string>(
  accept: string | undefined,
  available: readonly T[],
  order: readonly T[] = available,
): T | undefined {
  if (accept === undefined || accept === "*/*" || accept === available[0]) return available[0];
  const exact = available.find((type) => type === accept);
  if (exact !== undefined) return exact;
  // Some proxies blank headers instead of removing them. An empty list has no meaning in RFC 9110 §12.5.1.
  if (!/[^ \t,]/.test(accept)) return available[0];
  // No type served here has a quoted parameter. Parsing an unclosed quotation takes quadratic time.
  const unquoted = readPart(accept).replaceAll('"', "");
  // Everything is UTF-8 and every CSV has a header row, so asking for that excludes nothing.
  const served = unquoted.replaceAll(/;\s*(?:charset=[^;,]*|header=present)/gi, "");
  // Among equal elements Negotiator takes the client's first.
  const placeOf = (element: string) => {
    const [range] = /^[^;*]*/.exec(element)!;
    return order.findIndex((type) => type.startsWith(range.trim().toLowerCase()));
  };
  const inOrder = served.split(",").toSorted((a, b) => placeOf(a) - placeOf(b));
  const negotiator = new Negotiator({ headers: { accept: inOrder.join(",") } });
  return negotiator.mediaType([...available]) as T | undefined;
}

/** Part of Negotiator 1.0 that its published types lack: the server's preference. */
interface ByPreference {
  encodings(available: string[], options: { preferred: string[] }): string[];
}

/** Parsed headers. Clients of one kind send the same one, so each is parsed once. */
const known = new Map<string, Encoding | null>();
const knownMax = 200;
/** Longest header that is kept, in characters: longer than browsers and libraries send. */
const knownLengthMax = 100;

/** Returns the encoding to use; with equal `q`, the service's first. Returns null to send the body unencoded. */
export function preferredEncoding(acceptEncoding: string | undefined): Encoding | null {
  if (acceptEncoding === undefined) return null;
  let encoding = known.get(acceptEncoding);
  if (encoding !== undefined) return encoding;
  const negotiator: ByPreference = new Negotiator({
    headers: { "accept-encoding": readPart(acceptEncoding) },
  });
  const best = negotiator.encodings([...encodings, "identity"], { preferred: [...encodings] })[0];
  encoding = best === "br" || best === "gzip" ? best : null;
  if (acceptEncoding.length > knownLengthMax) return encoding;
  // Made-up headers must not keep out those of real clients for ever.
  if (known.size === knownMax) known.clear();
  known.set(acceptEncoding, encoding);
  return encoding;
}

/** Encodes a body made for one answer as the client prefers. Returns it with its `content-encoding`. */
export async function negotiateBody(
  acceptEncoding: string | undefined,
  body: Buffer,
): Promise<{ body: Buffer; headers: { "content-encoding"?: Encoding } }> {
  const encoding = body.length > encodedBytesMin ? preferredEncoding(acceptEncoding) : null;
  return encoding === null
    ? { body, headers: {} }
    : { body: await compress(body, encoding), headers: { "content-encoding": encoding } };
}
