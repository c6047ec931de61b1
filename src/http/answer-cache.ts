/** Finished answers of the current dataset, in every encoding that was asked for, within a bound of bytes. */
import { LRUCache } from "lru-cache";
import { counter, gauge, type Metric } from "#metrics/metric.ts";
import { compress } from "./compress.ts";
import type { HeaderLines } from "./header-lines.ts";
import { encodedBytesMin, type Encoding } from "./negotiate.ts";

/** An answer as it leaves: nothing in it depends on who asks. */
export interface FinishedAnswer {
  identity: Buffer;
  encoded: Partial<Record<Encoding, Buffer>>;
  headers: HeaderLines;
}

export interface AnswerCache {
  find(key: string): FinishedAnswer | undefined;
  add(key: string, answer: FinishedAnswer): void;
  /** The body in the encoding: at once where it is known, else compressed once and kept. */
  bodyOf(key: string, answer: FinishedAnswer, encoding: Encoding): Buffer | Promise<Buffer>;
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
      : new LRUCache<string, FinishedAnswer>({
          maxSize: bytesMax,
          maxEntrySize: Math.max(1, Math.floor(bytesMax * shareMax)),
          sizeCalculation: sizeOf,
        });
  let hits = 0;
  let misses = 0;
  return {
    find(key) {
      const found = entries?.get(key);
      if (found === undefined) misses++;
      else hits++;
      return found;
    },
    add(key, answer) {
      if (entries === undefined) return;
      answer.identity = unshared(answer.identity);
      entries.set(key, answer);
    },
    bodyOf(key, answer, encoding) {
      if (answer.identity.length <= encodedBytesMin) return answer.identity;
      const known = answer.encoded[encoding];
      if (known !== undefined) return known;
      return compress(answer.identity, encoding).then((compressed) => {
        const body = unshared(compressed);
        answer.encoded[encoding] = body;
        // Its size has changed; an entry of an older dataset stays forgotten.
        if (entries?.peek(key) === answer) {
          entries.delete(key);
          entries.set(key, answer);
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

function sizeOf({ identity, encoded }: FinishedAnswer): number {
  return overheadBytes + identity.length + (encoded.br?.length ?? 0) + (encoded.gzip?.length ?? 0);
}
