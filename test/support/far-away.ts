/** A way to a server that can be cut, slowed down and counted: what lies between two machines. */
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";

export interface FarAway {
  port: number;
  /** When connections were asked for, in milliseconds of `performance.now`. */
  tries: number[];
  /** Nothing arrives any more, in either direction, and nobody is told. */
  cut(): void;
  /** What comes from the server takes so long. */
  delay(milliseconds: number): void;
  /** Everything arrives again; connections that were cut are ended. */
  mend(): void;
}

/** @param path of the server's socket. */
export async function openFarAway(t: TestContext, path: string): Promise<FarAway> {
  const tries: number[] = [];
  const sockets = new Set<Socket>();
  let isCut = false;
  let delayMilliseconds = 0;
  const pass = (from: Socket, to: Socket, mayDelay: boolean) => {
    from.on("data", (bytes: Buffer) => {
      if (isCut) return;
      if (mayDelay && delayMilliseconds > 0)
        setTimeout(() => to.writable && to.write(bytes), delayMilliseconds).unref();
      else to.write(bytes);
    });
    from.on("close", () => to.destroy());
    from.on("error", () => to.destroy());
    sockets.add(from);
    from.once("close", () => sockets.delete(from));
  };
  const proxy = createServer((near) => {
    tries.push(performance.now());
    const far = connect(path);
    pass(near, far, false);
    pass(far, near, true);
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const endAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  t.after(() => {
    endAll();
    proxy.close();
  });
  return {
    port: (proxy.address() as AddressInfo).port,
    tries,
    cut: () => void (isCut = true),
    delay: (milliseconds) => void (delayMilliseconds = milliseconds),
    mend() {
      isCut = false;
      delayMilliseconds = 0;
      endAll();
    },
  };
}
