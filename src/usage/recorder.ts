/** Takes down each counted request beside its answer, and hands them to the writer's thread once a second. */
import { hourMilliseconds } from "#store/durations.ts";
import { type AnsweredRequest, openChunkDraft } from "./request-chunk.ts";
import type { Writer } from "./writer.ts";

export type { AnsweredRequest };

export interface Recorder {
  /** Costs well under a microsecond; never waits, never throws. */
  record(request: AnsweredRequest): void;
  /** Hands over what is left. */
  close(): void;
}

const gatherMilliseconds = 1000;
/** What is too old has to go also where nobody asks any more. */
const idleMilliseconds = hourMilliseconds;

/**
 * @param writer stays open at `close`; other users may share it.
 * @param now milliseconds since 1970.
 */
export function openRecorder({ writer, now }: { writer: Writer; now: () => number }): Recorder {
  // Made with the first request: a server that nobody asks anything has no need of it.
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
