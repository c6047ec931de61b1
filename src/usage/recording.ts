/** Everything that is recorded of requests: last use of keys, totals and the request log, written by one thread. */
import { openKeyUse } from "./key-use.ts";
import { openRecorder, type Recorder } from "./recorder.ts";
import type { Retention } from "./retention.ts";
import { openWriter } from "./writer.ts";

export interface Recording {
  /** As `KeyUse.note`, for the present time. */
  noteKeyUse(keyId: string, networkOf: () => string): void;
  record: Recorder["record"];
  /** Requests whose record was lost since the process started. */
  lostCount(): number;
  /** Resolves when everything is on disk, or has been tried a last time. */
  close(): Promise<void>;
}

interface RecordingOrder {
  dataDir: string;
  retention: Retention;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Called once when writing begins to fail, and once, with null, when it works again. */
  onFault: (fault: Error | null) => void;
  /** Called when records begin to be lost, and at the end of it, with how many they were. */
  onLoss: (requests: number, isOver: boolean) => void;
  /** As in `WriterOptions`. */
  busyMilliseconds?: number;
}

export function openRecording(order: RecordingOrder): Recording {
  const { now, onFault, onLoss, ...ofWriter } = order;
  const lost = openLostRequests(onLoss);
  const writer = openWriter({
    ...ofWriter,
    onLoss: lost.lose,
    onFault(fault) {
      onFault(fault);
      if (fault === null) lost.end();
    },
  });
  const keyUse = openKeyUse({ writer });
  const { record, close } = openRecorder({ writer, now });
  return {
    noteKeyUse: (keyId, networkOf) => keyUse.note(keyId, now(), networkOf),
    record,
    lostCount: lost.count,
    async close() {
      keyUse.close();
      close();
      await writer.close();
      lost.end();
    },
  };
}

interface LostRequests {
  /** Since the process started. */
  count(): number;
  lose(requests: number): void;
  /** Reports what was lost since it began; nothing is lost any more. */
  end(): void;
}

/** @param tell called with the requests lost so far when it begins, with all of them and `isOver` at its end. */
function openLostRequests(tell: (requests: number, isOver: boolean) => void): LostRequests {
  let all = 0;
  let sinceBegun = 0;
  return {
    count: () => all,
    lose(requests) {
      all += requests;
      const hasBegun = sinceBegun > 0;
      sinceBegun += requests;
      if (!hasBegun) tell(requests, false);
    },
    end() {
      if (sinceBegun > 0) tell(sinceBegun, true);
      sinceBegun = 0;
    },
  };
}
