/** Ends connections so that their last answer arrives. */
import type { Socket } from "node:net";

/**
 * From now on `destroySoon` ends our side only, and drops what still comes until the client has ended its own: to
 * close a socket that holds unread bytes resets the connection, and destroys what is still on its way
 * (RFC 9112 §9.6). Node calls it after an answer that says `Connection: close`.
 * @param milliseconds how long the client has; then it is cut.
 */
export function closeLingering(socket: Socket, milliseconds: number): void {
  socket.destroySoon = () => {
    if (socket.writableEnded) return;
    socket.end();
    socket.resume();
    const cut = setTimeout(() => socket.destroy(), milliseconds);
    cut.unref();
    socket.once("close", () => clearTimeout(cut));
  };
}

const drop = () => {};

/** Nothing that comes is parsed any more: of requests behind the last answer one turn could hold a hundred thousand. */
export function dropWhatComes(socket: Socket): void {
  socket.removeAllListeners("data");
  // With this listener Node takes the bytes from the parser.
  socket.on("data", drop);
  socket.resume();
}
