/** Compresses answers, and caches those of the current dataset in each requested encoding, up to a number of bytes. */
import { promisify } from "node:util";
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from "node:zlib";
import { LRUCache } from "lru-cache";
import { counter, gauge } from "#metrics/metric.ts";
import { type Encoding, type HeaderLines, preferredEncoding } from "./headers.ts";

/** An answer from one dataset. Nothing in it depends on the client. */
export interface SentBody {
  /** Entity tag. It names dataset, operation, query and format, so it is the cache's key, too. */
  readonly tag: string;
  readonly datasetVersion: string;
  body: Buffer;
  encoded: Partial<Record<Encoding, Buffer>>;
  /** Headers that are the same for every client. */
  readonly headers: HeaderLines;
}

export type AnswerCache = ReturnType<typeof openAnswerCache>;

/** Largest share of the cache for one answer. */
const shareMax = 1 / 8;
/** Memory of an entry besides its bodies: keys, headers, bookkeeping. */
const overheadBytes = 1024;

/** @param bytesMax 0 to keep nothing. */
export function openAnswerCache(bytesMax: number) {
  const entries =
    bytesMax === 0
      ? undefined
      : new LRUCache<string, SentBody>({
          maxSize: bytesMax,
          maxEntrySize: Math.max(1, Math.floor(bytesMax * shareMax)),
          sizeCalculation: sizeOf,
        });
  let hits = 0;
  let misses = 0;
  return {
    find(tag: string): SentBody | undefined {
      const found = entries?.get(tag);
      if (found === undefined) misses++;
      else hits++;
      return found;
    },
    add(answer: SentBody): void {
      if (entries === undefined) return;
      answer.body = unshared(answer.body);
      entries.set(answer.tag, answer);
    },
    /** Returns the body in an encoding: at once if it is cached, else after compressing it once. */
    bodyOf(answer: SentBody, encoding: Encoding): Buffer | Promise<Buffer> {
      if (answer.body.length <= encodedBytesMin) return answer.body;
      const known = answer.encoded[encoding];
      if (known !== undefined) return known;
      return compress(answer.body, encoding).then((compressed) => {
        const body = unshared(compressed);
        answer.encoded[encoding] = body;
        // Its size has changed, so it is added again; an entry of an older dataset is not brought back.
        const entry = entries?.peek(answer.tag);
        if (entry === answer) {
          entries!.delete(answer.tag);
          entries!.set(answer.tag, entry);
        }
        return body;
      });
    },
    /** Empties the cache, when another dataset becomes current. */
    clear: () => entries?.clear(),
    metrics: [
      counter("gp_records_cache_hits_total", "Answers found in the cache", () => hits),
      counter("gp_records_cache_misses_total", "Answers not found in the cache", () => misses),
      gauge("gp_records_cache_entries", "Answers in the cache", () => entries?.size ?? 0),
      gauge("gp_records_cache_bytes", "Memory of the cache", () => entries?.calculatedSize ?? 0),
    ],
  };
}

/** Returns a separate copy. Most buffers are slices of a larger block and keep all of it alive, such as 16 KB for one. */
function unshared(body: Buffer): Buffer {
  if (body.buffer.byteLength === body.length) return body;
  const own = Buffer.allocUnsafeSlow(body.length);
  body.copy(own);
  return own;
}

function sizeOf({ body, encoded }: SentBody): number {
  return overheadBytes + body.length + (encoded.br?.length ?? 0) + (encoded.gzip?.length ?? 0);
}

/** Largest body that is sent uncompressed, in bytes. */
export const encodedBytesMin = 1024;

const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);

/** Compression levels. Both take about 0.14 ms for a page of 20 KB and shrink it to a fifth. */
const levels = { br: 4, gzip: 6 };

/** Best quality of Brotli: a hundred times slower, a fifth smaller. For content compressed once and sent often. */
export const brotliQualityMax = 11;

/** Returns a stream that compresses content too large for memory. */
export const compressor = (encoding: Encoding) =>
  encoding === "br"
    ? createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: levels.br } })
    : createGzip({ level: levels.gzip });

/** Compresses a body in Node's thread pool. */
export function compress(
  body: Buffer,
  encoding: Encoding,
  brotliQuality = levels.br,
): Promise<Buffer> {
  return encoding === "br"
    ? brotliAsync(body, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: brotliQuality,
          [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
        },
      })
    : gzipAsync(body, { level: levels.gzip });
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
