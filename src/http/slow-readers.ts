/** Cuts connections whose client does not read its answer, so that it cannot be kept waiting in memory for ever. */
import type { Socket } from "node:net";
import { type Connection, owes } from "./connections.ts";

/** Whoever has not read so many bytes within the patience is cut. */
export const slowReaderBounds = {
  patienceMilliseconds: 30_000,
  bytesMin: 32 * 1024,
  lookEveryMilliseconds: 5000,
} as const;

interface Mark {
  bytes: number;
  atMilliseconds: number;
}

export interface SlowReaders {
  /** Looks at every connection that owes an answer. */
  look(): void;
  cutCount(): number;
}

/** @param now monotonic milliseconds. */
export function watchSlowReaders(
  open: ReadonlyMap<Socket, Connection>,
  now: () => number,
): SlowReaders {
  const marks = new WeakMap<Socket, Mark>();
  let cut = 0;
  const isStuck = (socket: Socket): boolean => {
    const bytes = takenBytes(socket);
    const mark = bytes === null ? undefined : marks.get(socket);
    if (bytes === null) marks.delete(socket);
    else if (mark === undefined || bytes - mark.bytes >= slowReaderBounds.bytesMin)
      marks.set(socket, { bytes, atMilliseconds: now() });
    else return now() - mark.atMilliseconds >= slowReaderBounds.patienceMilliseconds;
    return false;
  };
  return {
    look() {
      for (const connection of open.values())
        if (owes(connection) && isStuck(connection.socket)) {
          cut++;
          // Not an orderly end: that would leave what the system holds for the client where it is.
          connection.socket.resetAndDestroy();
        }
    },
    cutCount: () => cut,
  };
}

/** What Node's own time-outs go by, too; `bytesWritten` of a socket counts a long answer whole at its first byte. */
interface StreamHandle {
  bytesWritten: number;
  writeQueueSize: number;
}

/** Bytes the system has taken over the life of the connection; null while none wait to be taken. */
function takenBytes(socket: Socket): number | null {
  const { _handle: handle } = socket as Socket & { _handle?: StreamHandle | null };
  if (handle === null || handle === undefined || handle.writeQueueSize === 0) return null;
  return handle.bytesWritten - handle.writeQueueSize;
}
