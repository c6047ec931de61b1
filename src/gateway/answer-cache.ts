/** Compresses answers. Caches those from the current dataset in each requested encoding, within a limit in bytes. */
import { promisify } from "node:util";
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from "node:zlib";
import { LRUCache } from "lru-cache";
import { counter, gauge } from "#metrics/metric.ts";
import { type Encoding, headerLines, type HeaderLines, preferredEncoding } from "./headers.ts";

/** An answer from one dataset. Nothing in it depends on the client. */
export interface SentBody {
  /** Entity tag, which is also the cache key. Different answers have different tags. */
  readonly tag: string;
  readonly datasetVersion: string;
  body: Buffer;
  encoded: Partial<Record<Encoding, Buffer>>;
  /** Headers that are the same for every client. */
  readonly headers: HeaderLines;
}

export type AnswerCache = ReturnType<typeof openAnswerCache>;

/** Maximum share of the cache for one answer. */
const shareMax = 1 / 8;
/** Estimated memory of an entry apart from its bodies, in bytes: keys, headers and bookkeeping. */
const overheadBytes = 1024;

/** Opens a cache. @param bytesMax maximum memory in bytes; 0 to keep nothing. */
export function openAnswerCache(bytesMax: number) {
  const entries = new LRUCache<string, SentBody>({
    maxSize: Math.max(1, bytesMax),
    maxEntrySize: Math.max(1, Math.floor(bytesMax * shareMax)),
    sizeCalculation: sizeOf,
  });
  /** Compressions in progress, which all requests for the same answer await. */
  const compressing = new Map<string, Promise<Buffer>>();
  let hits = 0;
  let misses = 0;
  return {
    find(tag: string): SentBody | undefined {
      const found = entries.get(tag);
      if (found === undefined) misses++;
      else hits++;
      return found;
    },
    add(answer: SentBody): void {
      if (bytesMax === 0) return;
      answer.body = unshared(answer.body);
      entries.set(answer.tag, answer);
    },
    /** Returns the body in an encoding, compressed now unless it is cached. Returns a small body unencoded. */
    bodyOf(answer: SentBody, encoding: Encoding): Buffer | Promise<Buffer> {
      if (answer.body.length <= encodedBytesMin) return answer.body;
      const known = answer.encoded[encoding];
      if (known !== undefined) return known;
      const name = `${encoding} ${answer.tag}`;
      return compressing.getOrInsertComputed(name, async () => {
        try {
          const body = unshared(await compress(answer.body, encoding));
          answer.encoded[encoding] = body;
          // The size has changed, so the entry is added again. An entry removed meanwhile stays removed.
          if (entries.peek(answer.tag) === answer) {
            entries.delete(answer.tag);
            entries.set(answer.tag, answer);
          }
          return body;
        } finally {
          compressing.delete(name);
        }
      });
    },
    /** Empties the cache. Called when another dataset becomes current. */
    clear: () => entries.clear(),
    metrics: [
      counter("gp_records_cache_hits_total", "Answers found in the cache", () => hits),
      counter("gp_records_cache_misses_total", "Answers not found in the cache", () => misses),
      gauge("gp_records_cache_entries", "Answers in the cache", () => entries.size),
      gauge(
        "gp_records_cache_bytes",
        "Memory used by the cache, in bytes",
        () => entries.calculatedSize,
      ),
    ],
  };
}

/** Returns the body in memory of its own. A slice would keep its whole block of 16 KB or more alive. */
function unshared(body: Buffer): Buffer {
  if (body.buffer.byteLength === body.length) return body;
  const own = Buffer.allocUnsafeSlow(body.length);
  body.copy(own);
  return own;
}

function sizeOf({ body, encoded }: SentBody): number {
  return overheadBytes + body.length + (encoded.br?.length ?? 0) + (encoded.gzip?.length ?? 0);
}

/** Size up to which a body is never compressed, in bytes. */
export const encodedBytesMin = 1024;

const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);

/** Compression levels. Both take about 0.14 ms for a page of 20 KB and shrink it to a fifth. */
const levels = { br: 4, gzip: 6 };

/**
 * Highest Brotli quality, for content compressed once and sent often. Compared with quality 4, it is a hundred times
 * slower, and the result is a fifth smaller.
 */
export const brotliQualityMax = 11;

/** Returns a stream that compresses content too large for memory. */
export const compressor = (encoding: Encoding) =>
  encoding === "br"
    ? createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: levels.br } })
    : createGzip({ level: levels.gzip });

/** Compresses a body on Node's thread pool. */
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

/**
 * Encodes a body as the client prefers, unless it is small. Resolves to the body and its `content-encoding`.
 * @param encode compresses the body.
 */
export async function negotiateBody(
  acceptEncoding: string | undefined,
  body: Buffer,
  encode: (body: Buffer, encoding: Encoding) => Promise<Buffer> = compress,
): Promise<{ body: Buffer; headers: HeaderLines }> {
  const encoding = body.length > encodedBytesMin ? preferredEncoding(acceptEncoding) : null;
  if (encoding === null) return { body, headers: "" };
  const headers = headerLines({ "content-encoding": encoding });
  return { body: await encode(body, encoding), headers };
}
