/** A way to a server that can be cut, slowed down and counted: what lies between two machines. */
import { connect, createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { listenFor } from "./ports.ts";

export type FarAway = Awaited<ReturnType<typeof openFarAway>>;

/** @param place path of the socket of a PostgreSQL, whose messages are told apart; or the port of another server. */
export async function openFarAway(t: Pick<TestContext, "after">, place: string | number) {
  const tries: number[] = [];
  const sockets = new Set<Socket>();
  let isCut = false;
  let lastWords: string | null = null;
  let isSilent = false;
  let delayMilliseconds = 0;
  let isMute = false;
  const pass = (from: Socket, to: Socket, isAnswer: boolean) => {
    const messages = isAnswer && typeof place === "string" ? openMessages() : null;
    from.on("data", (bytes: Buffer) => {
      if (isCut || (isSilent && isAnswer)) return;
      if (lastWords !== null && !isAnswer && bytes.includes(lastWords)) isSilent = true;
      const passed = messages?.whole(bytes, isMute) ?? bytes;
      if (isAnswer && delayMilliseconds > 0)
        setTimeout(() => to.writable && to.write(passed), delayMilliseconds).unref();
      else to.write(passed);
    });
    from.on("close", () => to.destroy());
    from.on("error", () => to.destroy());
    sockets.add(from);
    from.once("close", () => sockets.delete(from));
  };
  const proxy = createServer((near) => {
    tries.push(performance.now());
    const far = typeof place === "string" ? connect(place) : connect(place, "127.0.0.1");
    pass(near, far, false);
    pass(far, near, true);
  });
  const endAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  t.after(endAll);
  const port = await listenFor(t, proxy);
  return {
    port,
    /** When connections were asked for, in milliseconds of `performance.now`. */
    tries,
    /** Nothing arrives any more, in either direction, and nobody is told. */
    cut: () => void (isCut = true),
    /** Once this text goes to the server, nothing of what comes from there arrives any more. */
    silenceAfter: (text: string) => void (lastWords = text),
    /** What comes from the server takes so long. */
    delay: (milliseconds: number) => void (delayMilliseconds = milliseconds),
    /** From now on its notifications do not arrive, and all else does. */
    muteNotices: (value: boolean) => void (isMute = value),
    /** Everything arrives again; connections that were cut are ended. */
    mend() {
      isCut = false;
      lastWords = null;
      isSilent = false;
      delayMilliseconds = 0;
      endAll();
    },
  };
}

const notificationResponse = "A".charCodeAt(0);

/** Cuts what PostgreSQL sends into its messages: a byte that says what it is, then its length. */
function openMessages() {
  let rest = Buffer.alloc(0);
  return {
    /** The messages that are whole by now. */
    whole(bytes: Buffer, isMute: boolean): Buffer {
      rest = Buffer.concat([rest, bytes]);
      const passed: Buffer[] = [];
      while (rest.length >= 5 && rest.length > rest.readUInt32BE(1)) {
        const end = 1 + rest.readUInt32BE(1);
        if (!isMute || rest[0] !== notificationResponse) passed.push(rest.subarray(0, end));
        rest = rest.subarray(end);
      }
      return Buffer.concat(passed);
    },
  };
}
