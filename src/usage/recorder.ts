/** Records each counted request, and sends the records to the writer thread once a second. */
import { hourMilliseconds } from "#store/durations.ts";
import { type AnsweredRequest, openChunkDraft } from "./request-chunk.ts";
import type { Writer } from "./writer.ts";

export interface Recorder {
  /** Costs well under a microsecond; never waits, never throws. */
  record(request: AnsweredRequest): void;
  /** Sends the rest to the writer. */
  close(): void;
}

const gatherMilliseconds = 1000;
/** The writer removes old records when it is sent a batch, which has to happen also without requests. */
const idleMilliseconds = hourMilliseconds;

/**
 * @param writer stays open at `close`; other users may share it.
 * @param now milliseconds since 1970.
 */
export function openRecorder({ writer, now }: { writer: Writer; now: () => number }): Recorder {
  // Created with the first request, because it takes 1 MiB.
  let draft: ReturnType<typeof openChunkDraft> | undefined;
  let isGathering = false;
  let timer: NodeJS.Timeout | undefined;

  const wait = (milliseconds: number) => {
    clearTimeout(timer);
    timer = setTimeout(send, milliseconds).unref();
  };
  const send = () => {
    isGathering = false;
    writer.write({ kind: "requests", rows: draft!.take(), now: now() });
    wait(idleMilliseconds);
  };
  const gather = () => {
    isGathering = true;
    wait(gatherMilliseconds);
  };
  return {
    record(request) {
      draft ??= openChunkDraft();
      const at = now();
      if (!draft.add(at, request)) {
        send();
        draft.add(at, request);
      }
      if (!isGathering) gather();
    },
    close() {
      if (isGathering) send();
      clearTimeout(timer);
    },
  };
}
