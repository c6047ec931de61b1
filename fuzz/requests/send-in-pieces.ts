/** Writes bytes in several turns of the event loop. */
import type { Socket } from "node:net";

/** Each piece in a turn of its own, so that the server reads them one by one more often than not. */
export function sendInPieces(
  socket: Socket,
  bytes: Buffer,
  cuts: readonly number[],
  halfCloses: boolean,
): void {
  const places = [...new Set(cuts.map((cut) => Math.floor(cut * bytes.length))), bytes.length];
  let from = 0;
  const sendNext = () => {
    const to = places.shift();
    if (socket.destroyed) return;
    if (to === undefined) {
      if (halfCloses) socket.end();
      return;
    }
    socket.write(bytes.subarray(from, to));
    from = to;
    if (places.length === 0) sendNext();
    else setImmediate(sendNext);
  };
  sendNext();
}
