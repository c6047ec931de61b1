/** Caches answers of the current dataset, in each encoding that was asked for, up to a number of bytes. */
import { promisify } from "node:util";
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from "node:zlib";
import { LRUCache } from "lru-cache";
import { counter, gauge, type Metric } from "#metrics/metric.ts";
import type { HeaderLines } from "./headers.ts";

/** What is sent of one dataset: nothing in it depends on who asks. */
export interface SentBody {
  /** Names dataset, operation, query and format, so it is the key of the cache too. */
  readonly tag: string;
  readonly datasetVersion: string;
  body: Buffer;
  encoded: Partial<Record<Encoding, Buffer>>;
  /** The headers that are the same for every client. */
  readonly headers: HeaderLines;
}

export interface AnswerCache {
  find(tag: string): SentBody | undefined;
  add(answer: SentBody): void;
  /** The body in the encoding: at once where it is cached, else compressed once. */
  bodyOf(answer: SentBody, encoding: Encoding): Buffer | Promise<Buffer>;
  /** Called when another dataset becomes current. */
  clear(): void;
  metrics: readonly Metric[];
}

/** The largest share of the cache that one answer may take. */
const shareMax = 1 / 8;
/** What an entry takes besides its bodies: keys, headers, bookkeeping. */
const overheadBytes = 1024;

/** @param bytesMax 0 keeps nothing. */
export function openAnswerCache(bytesMax: number): AnswerCache {
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
    find(tag) {
      const found = entries?.get(tag);
      if (found === undefined) misses++;
      else hits++;
      return found;
    },
    add(answer) {
      if (entries === undefined) return;
      answer.body = unshared(answer.body);
      entries.set(answer.tag, answer);
    },
    bodyOf(answer, encoding) {
      if (answer.body.length <= encodedBytesMin) return answer.body;
      const known = answer.encoded[encoding];
      if (known !== undefined) return known;
      return compress(answer.body, encoding).then((compressed) => {
        const body = unshared(compressed);
        answer.encoded[encoding] = body;
        // Added anew because its size has changed; an entry of an older dataset is not brought back.
        const entry = entries?.peek(answer.tag);
        if (entry === answer) {
          entries!.delete(answer.tag);
          entries!.set(answer.tag, entry);
        }
        return body;
      });
    },
    clear: () => entries?.clear(),
    metrics: [
      counter("gp_records_cache_hits_total", "Answers found in the cache", () => hits),
      counter("gp_records_cache_misses_total", "Answers made anew", () => misses),
      gauge("gp_records_cache_entries", "Answers in the cache", () => entries?.size ?? 0),
      gauge("gp_records_cache_bytes", "Memory they take", () => entries?.calculatedSize ?? 0),
    ],
  };
}

/** A copy of its own: most buffers are slices of a larger block and keep all of it alive, 16 KB for one. */
function unshared(body: Buffer): Buffer {
  if (body.buffer.byteLength === body.length) return body;
  const own = Buffer.allocUnsafeSlow(body.length);
  body.copy(own);
  return own;
}

function sizeOf({ body, encoded }: SentBody): number {
  return overheadBytes + body.length + (encoded.br?.length ?? 0) + (encoded.gzip?.length ?? 0);
}

/** Compresses a body in Node's thread pool. */
export const encodings = ["br", "gzip"] as const;
export type Encoding = (typeof encodings)[number];

/** Bodies up to this size are sent as they are. */
export const encodedBytesMin = 1024;

const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);

/** At these both take about 0.14 ms for a page of 20 KB and shrink it to a fifth. */
const levels = { br: 4, gzip: 6 };

/** A hundred times as slow for a fifth less: for what is compressed once and sent often. */
export const brotliQualityMax = 11;

/** For what is not in memory as a whole. */
export const compressor = (encoding: Encoding) =>
  encoding === "br"
    ? createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: levels.br } })
    : createGzip({ level: levels.gzip });

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
