/** A server in a process of its own, started the way an operator starts it, for the length of one test. */
import { once } from "node:events";
import type { Readable } from "node:stream";
import type { TestContext } from "node:test";
import { type ProgramOrder, type Running, startProgram } from "../../bench/program.ts";
import { type ReadAnswer, readAnswer } from "./described.ts";

interface Order extends ProgramOrder {
  /** After `serve`. */
  args?: readonly string[];
}

export interface Ending {
  exitCode: number | null;
  /** What ended it, where it did not end by itself. */
  signal: NodeJS.Signals | null;
}

export interface ServerProcess extends Pick<Running, "pid" | "out" | "err"> {
  /** Resolves to the address it prints; rejects with what it printed as errors if it ends first. */
  address: Promise<string>;
  ended: Promise<Ending>;
  signal(name: NodeJS.Signals): void;
  /** Our end of its standard output. */
  stdout: Readable;
}

/** Returns before it listens. */
export function spawnServer(t: TestContext, { args = [], ...order }: Order): ServerProcess {
  const { child, pid, out, err } = startProgram(["serve", ...args], {
    ...order,
    // What it answers must not depend on how busy the machine of the test is.
    settings: { EVENT_LOOP_DELAY_MAX_MS: "0", ...order.settings },
  });
  const signal = (name: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null)
      process.kill(order.isGroup === true ? -pid : pid, name);
  };
  const ended = once(child, "exit").then(([exitCode, signal]) => ({ exitCode, signal }));
  t.after(() => {
    signal("SIGKILL");
    return ended;
  });
  const stdout = child.stdout!;
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

export interface RunningServer extends ServerProcess {
  url: string;
  port: number;
  get(path: string, headers?: Record<string, string>): Promise<ReadAnswer>;
}

/** Resolves once it has printed its address. */
export async function startServer(t: TestContext, order: Order): Promise<RunningServer> {
  const server = spawnServer(t, order);
  const url = await server.address;
  return {
    ...server,
    url,
    port: Number(new URL(url).port),
    get: async (path, headers = {}) => readAnswer(await fetch(url + path, { headers })),
  };
}
