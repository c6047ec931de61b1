/** One connection of a load client: asks, and waits for the last byte of the answer. HTTP/1.1 with lengths. */
import { once } from "node:events";
import { connect } from "node:net";

export interface Answer {
  status: number;
  bodyBytes: number;
}

export interface Connection {
  /** One at a time: the next one only after the answer. Rejects where the connection breaks. */
  ask(request: Buffer): Promise<Answer>;
  end(): void;
}

const endOfHeaders = Buffer.from("\r\n\r\n");
const nothing = Buffer.alloc(0);

export async function openConnection(port: number): Promise<Connection> {
  let waiting = Promise.withResolvers<Answer>();
  const read = answerReader((answer) => waiting.resolve(answer));
  const socket = connect({
    port,
    host: "127.0.0.1",
    noDelay: true,
    // One buffer for all answers: a client must cost less than what it measures.
    onread: {
      buffer: Buffer.alloc(64 * 1024),
      callback(length, buffer) {
        read((buffer as Buffer).subarray(0, length));
        return true;
      },
    },
  });
  await once(socket, "connect");
  socket.on("error", (fault) => waiting.reject(fault));
  socket.on("close", () => waiting.reject(new Error("A connection ended before the answer.")));
  return {
    ask(request) {
      waiting = Promise.withResolvers<Answer>();
      socket.write(request);
      return waiting.promise;
    },
    end() {
      // Nobody may be waiting any more; to them it is no fault.
      waiting.promise.catch(() => {});
      socket.destroy();
    },
  };
}

/** Reads one answer after the other from the chunks it is given; they may be overwritten when it returns. */
function answerReader(onAnswer: (answer: Answer) => void): (chunk: Buffer) => void {
  let headers = nothing;
  let [status, bodyBytes, bytesLeft] = [0, 0, 0];
  return (chunk) => {
    if (bytesLeft > 0) bytesLeft -= chunk.length;
    else {
      const begun = headers.length === 0 ? chunk : Buffer.concat([headers, chunk]);
      const end = begun.indexOf(endOfHeaders);
      if (end === -1) return void (headers = Buffer.from(begun));
      headers = nothing;
      const text = begun.toString("latin1", 0, end + 2);
      status = Number(text.slice(9, 12));
      bodyBytes = Number(/\r\ncontent-length: (\d+)\r\n/i.exec(text)?.[1] ?? 0);
      bytesLeft = bodyBytes - (begun.length - end - endOfHeaders.length);
    }
    if (bytesLeft === 0) onAnswer({ status, bodyBytes });
  };
}
