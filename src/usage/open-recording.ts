/** Opens everything that records usage: what gathers it, the writer that it is sent to, and the count of what was lost. */
import { openKeyUse, openRecorder } from "./recording.ts";
import { openWriter, type WriterOptions } from "./writer.ts";

export type Recording = ReturnType<typeof openRecording>;

interface RecordingOrder extends Omit<WriterOptions, "onLoss"> {
  /** Milliseconds since 1970. */
  now: () => number;
  /** Called with the first lost requests when a loss begins, and with all of them and `isOver` at its end. */
  onLoss: (requests: number, isOver: boolean) => void;
}

export function openRecording(order: RecordingOrder) {
  const { now, onFault, onLoss, ...ofWriter } = order;
  let lost = 0;
  let lostSinceBegun = 0;
  const endLoss = () => {
    if (lostSinceBegun > 0) onLoss(lostSinceBegun, true);
    lostSinceBegun = 0;
  };
  const writer = openWriter({
    ...ofWriter,
    onLoss(requests) {
      if (lostSinceBegun === 0) onLoss(requests, false);
      lost += requests;
      lostSinceBegun += requests;
    },
    onFault(fault) {
      onFault(fault);
      if (fault === null) endLoss();
    },
  });
  const keyUse = openKeyUse({ writer });
  const { record, close } = openRecorder({ writer, now });
  return {
    noteKeyUse: keyUse.note,
    record,
    /** Returns the number of requests whose record was lost since the process started. */
    lostCount: () => lost,
    waiting: writer.waiting,
    waitingBytesMax: writer.bytesMax,
    /** Resolves when everything is written, or was tried a last time. */
    async close() {
      keyUse.close();
      close();
      await writer.close();
      endLoss();
    },
  };
}
