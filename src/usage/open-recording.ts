/** Opens everything that records usage: what gathers it, the writer that it is sent to, and the count of what was lost. */
import { type KeyUse, openKeyUse, openRecorder, type Recorder } from "./recording.ts";
import type { Retention } from "./retention.ts";
import { openWriter, type Writer, type WriterOptions } from "./writer.ts";

export interface Recording {
  noteKeyUse: KeyUse["note"];
  record: Recorder["record"];
  /** Returns the number of requests whose record was lost since the process started. */
  lostCount(): number;
  /** Returns the size of all batches on their way to the disk or the database. */
  waiting: Writer["waiting"];
  /** Maximum size of waiting batches in bytes; beyond it the oldest are dropped. */
  waitingBytesMax: number;
  /** Resolves when everything is written, or was tried a last time. */
  close(): Promise<void>;
}

interface RecordingOrder {
  dataDir: string;
  /** PostgreSQL to write to, as in `WriterSetting`; null for a file in `dataDir`. */
  database: NonNullable<WriterOptions["database"]> | null;
  retention: Retention;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Called once when writing begins to fail, and once, with null, when it works again. */
  onFault: (fault: Error | null) => void;
  /** Called with the number of lost records, once when the loss begins and once when it is over. */
  onLoss: (requests: number, isOver: boolean) => void;
  /** Wait for a locked file, as in `WriterOptions`. */
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
    noteKeyUse: keyUse.note,
    record,
    lostCount: lost.count,
    waiting: writer.waiting,
    waitingBytesMax: writer.bytesMax,
    async close() {
      keyUse.close();
      close();
      await writer.close();
      lost.end();
    },
  };
}

interface LostRequests {
  /** Returns the requests lost since the process started. */
  count(): number;
  lose(requests: number): void;
  /** Ends a loss, and reports all requests lost since it began. */
  end(): void;
}

/** @param tell called with the first lost requests when a loss begins, and with all of them and `isOver` at its end. */
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
