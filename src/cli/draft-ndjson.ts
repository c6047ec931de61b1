/** Reads NDJSON and drafts its records. Other threads help with a large delivery. */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { draftBlock, type DraftedBlock, type DraftedEntry } from "#datasets/draft-entry.ts";
import { entriesOf, type LineBlock, readNdjson } from "#importers/ndjson.ts";
import { knownBytes, type ReadOptions } from "#importers/source-file.ts";
import type { DraftReply } from "./draft-worker.ts";

/** Number of workers. A third one would only wait for the thread that takes the replies. */
const workerCount = 2;

/** Minimum size of a delivery for workers, in bytes. Below it, loading their code takes longer than they save. */
const bytesForWorkers = 192 * 1024 * 1024;

/** Drafts records, in order. @throws ImportFault as `readNdjson` does. */
export async function* draftNdjson(
  files: readonly string[],
  options: ReadOptions,
  source: string,
): AsyncGenerator<DraftedBlock, void> {
  if (availableParallelism() === 1 || knownBytes(files) < bytesForWorkers)
    yield* readNdjson(files, options, (block) => draftBlock(entriesOf(block), source));
  else yield* draftInWorkers(files, options, source);
}

/** Drafts records in workers. Ends the workers when the iteration ends. */
export async function* draftInWorkers(
  files: readonly string[],
  options: ReadOptions,
  source: string,
): AsyncGenerator<DraftedBlock, void> {
  const workers = Array.from({ length: workerCount }, () => startWorker(source));
  let blocks = 0;
  try {
    const draft = (block: LineBlock) => workers[blocks++ % workers.length]!.draft(block);
    yield* readNdjson(files, options, draft);
  } finally {
    await Promise.all(workers.map((worker) => worker.close()));
  }
}

function startWorker(source: string) {
  const worker = new Worker(new URL("./draft-worker.ts", import.meta.url), { workerData: source });
  /** Blocks being drafted, with the names of their files. The worker answers in the order in which it gets them. */
  const waiting: (PromiseWithResolvers<DraftedBlock> & { file: string })[] = [];
  let fault: Error | null = null;
  const fail = (error: Error) => {
    fault ??= error;
    for (const { reject } of waiting.splice(0)) reject(fault);
  };
  worker.on("message", ({ entries: json, packed }: DraftReply) => {
    const { file, resolve } = waiting.shift()!;
    const entries = JSON.parse(json) as DraftedEntry[];
    // The entries share one string instead of having a copy each.
    for (const entry of entries) entry.file = file;
    resolve({ entries, packed });
  });
  worker.on("error", fail);
  worker.on("exit", () => fail(new Error("A thread that reads records ended without an answer.")));
  return {
    /** Drafts a block. Moves its bytes to the worker, so the caller no longer has them. */
    draft(block: LineBlock): Promise<DraftedBlock> {
      const reply = Promise.withResolvers<DraftedBlock>();
      if (fault !== null) reply.reject(fault);
      else {
        waiting.push({ ...reply, file: block.file });
        worker.postMessage(block, block.bytes === null ? [] : [block.bytes.buffer]);
      }
      return reply.promise;
    },
    close: () => worker.terminate(),
  };
}
