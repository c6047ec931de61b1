/** The steps that decide whether a request is admitted. */
import { countRequest } from "#http/enforce-limits.ts";
import { makeRequestId } from "#http/request-id.ts";
import { openKeyRing } from "#keys/key-ring.ts";
import { systemClock } from "#limits/clock.ts";
import { openMemoryCounters } from "#limits/memory-counters.ts";
import { operations } from "#operations/index.ts";
import { controlFile } from "#store/stores.ts";
import { openKeyUse } from "#usage/key-use.ts";
import { openRecorder } from "#usage/recorder.ts";
import { openWriter } from "#store/writer.ts";
import type { Candidate } from "../measure.ts";
import { step } from "./step.ts";

interface AccessOrder {
  keys: readonly string[];
  dataDir: string;
  /** For counts and usage that are measured apart. */
  scratchDir: string;
  count: number;
}

export interface AccessSteps {
  steps: Candidate<number>[];
  close(): Promise<void>;
}

export function accessSteps({ keys, dataDir, scratchDir, count }: AccessOrder): AccessSteps {
  const ring = openKeyRing({ path: controlFile(dataDir) });
  const live = keys.map((key) => ring.verify(key));
  const clock = systemClock();
  const memory = openMemoryCounters({ dir: null, clock, onFault: refuse });
  const journal = openMemoryCounters({ dir: scratchDir, clock, onFault: refuse });
  const writer = openWriter({ dataDir: scratchDir, onFault: refuse });
  const use = openKeyUse({ writer });
  const recorder = openRecorder({ writer, now: Date.now });
  const ids = Array.from({ length: count }, () => makeRequestId());
  const keyOf = (i: number) => live[i % live.length]!;
  return {
    steps: [
      step("key verified", count, (i) => ring.verify(keys[i % keys.length]!)),
      step("keys read again if changed (once a turn of the loop)", count, () => ring.answers()),
      step("usage recorded", count, (i) =>
        recorder.record({
          account: keyOf(i).accountNumber,
          key: keyOf(i).id,
          operation: operations[i % operations.length]!.name,
          status: 200,
          milliseconds: 0.25,
          bytes: 10_000 + i,
          dataset: "20261121T090000Z-1",
          problem: null,
          requestId: ids[i]!,
          query: null,
        }),
      ),
      step("use of the key noted", count, (i) => use.note(keyOf(i).id, Date.now())),
      step("counted in memory, headers", count, (i) => countRequest(memory, keyOf(i))),
      step("the same with the journal", count, (i) => {
        countRequest(journal, keyOf(i));
        journal.keep();
      }),
    ],
    async close() {
      ring.close();
      memory.close();
      journal.close();
      use.close();
      recorder.close();
      await writer.close();
    },
  };
}

/** What cannot be saved would make a step look quick. */
function refuse(fault: Error | null): void {
  if (fault !== null) throw fault;
}
