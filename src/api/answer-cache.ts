/** Finished answers of the current dataset, in every encoding that was asked for, within a bound of bytes. */
import { LRUCache } from "lru-cache";
import { counter, gauge, type Metric } from "#metrics/metric.ts";
import type { Format } from "#operations/formats.ts";
import type { Operation, Query } from "#operations/operation.ts";
import { compress, encodedBytesMin, type Encoding } from "./compress.ts";

/** An answer as it is sent: nothing in it depends on who asks. */
export interface Answer {
  readonly operation: Operation;
  readonly format: Format;
  readonly query: Query;
  /** Names dataset, operation, query and format, so it is the key of the cache too. */
  readonly tag: string;
  readonly datasetVersion: string;
  /** Records the query has, on this page and others. */
  readonly total: number;
  body: Buffer;
  encoded: Partial<Record<Encoding, Buffer>>;
  /** What a transport makes of the members above, kept as long as the answer. */
  headers: readonly string[] | null;
}

export interface AnswerCache {
  find(tag: string): Answer | undefined;
  add(answer: Answer): void;
  /** The body in the encoding: at once where it is known, else compressed once and kept. */
  bodyOf(answer: Answer, encoding: Encoding): Buffer | Promise<Buffer>;
  /** Forgets everything: another dataset is current. */
  clear(): void;
  metrics: readonly Metric[];
}

/** A single answer may take this share of the cache. */
const shareMax = 1 / 8;
/** What an entry costs beside its bodies: keys, headers, bookkeeping. */
const overheadBytes = 1024;

/** @param bytesMax 0 keeps nothing. */
export function openAnswerCache(bytesMax: number): AnswerCache {
  const entries =
    bytesMax === 0
      ? undefined
      : new LRUCache<string, Answer>({
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
        // Its size has changed; an entry of an older dataset stays forgotten.
        if (entries?.peek(answer.tag) === answer) {
          entries.delete(answer.tag);
          entries.set(answer.tag, answer);
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

/** Most buffers are a piece of a larger block, which is kept as long as they are: a kilobyte would cost sixteen. */
function unshared(body: Buffer): Buffer {
  if (body.buffer.byteLength === body.length) return body;
  const own = Buffer.allocUnsafeSlow(body.length);
  body.copy(own);
  return own;
}

function sizeOf({ body, encoded }: Answer): number {
  return overheadBytes + body.length + (encoded.br?.length ?? 0) + (encoded.gzip?.length ?? 0);
}
