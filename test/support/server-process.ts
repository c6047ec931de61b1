/** A server in a process of its own, started the way an operator starts it, for the length of one test. */
import { once } from "node:events";
import type { TestContext } from "node:test";
import { type ProgramOrder, startProgram } from "../../bench/program.ts";
import { type ReadAnswer, readAnswer } from "./described.ts";

interface Order extends ProgramOrder {
  /** After `serve`. */
  args?: readonly string[];
}

interface Ending {
  exitCode: number | null;
  /** What ended it, where it did not end by itself. */
  signal: NodeJS.Signals | null;
}

/** Returns before it listens. */
export function spawnServer(t: TestContext, { args = [], ...order }: Order) {
  const { child, pid, out, err } = startProgram(["serve", ...args], {
    ...order,
    // What it answers must not depend on how busy the machine of the test is.
    settings: { EVENT_LOOP_DELAY_MAX_MS: "0", ...order.settings },
  });
  const signal = (name: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null)
      process.kill(order.isGroup === true ? -pid : pid, name);
  };
  const ended = once(child, "exit").then(([exitCode, signal]): Ending => ({ exitCode, signal }));
  t.after(() => {
    signal("SIGKILL");
    return ended;
  });
  /** Our end of its standard output. */
  const stdout = child.stdout!;
  /** Resolves to the address it prints; rejects with what it printed as errors if it ends first. */
  const address = new Promise<string>((resolve, reject) => {
    stdout.on("data", () => {
      const [, url] = /answers at (http:\S+)/.exec(out()) ?? [];
      if (url !== undefined) resolve(url);
    });
    child.once("close", (code) => reject(new Error(`serve ended with ${code}: ${err()}`)));
  });
  address.catch(() => {});
  return { address, ended, pid, signal, out, err, stdout };
}

export type ServerAnswer = ReadAnswer;

export type RunningServer = Awaited<ReturnType<typeof startServer>>;

/** Resolves once it has printed its address. */
export async function startServer(t: TestContext, order: Order) {
  const server = spawnServer(t, order);
  const url = await server.address;
  return {
    ...server,
    url,
    port: Number(new URL(url).port),
    get: async (path: string, headers: Record<string, string> = {}): Promise<ServerAnswer> =>
      readAnswer(await fetch(url + path, { headers })),
  };
}
