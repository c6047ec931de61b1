/** gp-records as an operator runs it: commands to their end, and servers, each in a process of its own that ends with this one. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { type Passed, passing } from "../test/support/ports.ts";
import { endWithUs } from "./clean-up.ts";

export const ownRoot = join(import.meta.dirname, "..");

export interface ProgramOrder {
  dataDir: string;
  settings?: Readonly<Record<string, string>>;
  /** The checkout whose program it is, this one if not given. */
  root?: string;
  /** Started in place of the launcher of that checkout. */
  main?: string;
  /** The Node that runs it, this one if not given. */
  node?: string;
  /** A process group of its own, which signals reach as a whole. */
  isGroup?: boolean;
  /** For Node itself. */
  nodeArgs?: readonly string[];
  /** Lets `askInside` look into the process. */
  isWatched?: boolean;
  /** A command and its arguments to start it under, such as `prlimit --fsize=1000`. */
  under?: readonly string[];
  /** Sockets for a server to listen on. */
  sockets?: readonly Passed[];
  /** Hears what it prints, which is then not kept. */
  hear?(text: string): void;
}

export interface Ending {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  out: string;
  err: string;
}

export interface Running {
  child: ChildProcess;
  pid: number;
  ended: Promise<Ending>;
  /** Standard output and error so far. */
  out(): string;
  err(): string;
}

const insidePath = join(import.meta.dirname, "inside.ts");

export function startProgram(args: readonly string[], order: ProgramOrder): Running {
  const { dataDir, settings = {}, root = ownRoot, nodeArgs = [], isWatched = false } = order;
  const { under = [], sockets = [], isGroup = false } = order;
  const { main = join(root, "bin/gp-records"), node = process.execPath } = order;
  const passed = passing(sockets);
  const watched = isWatched ? ["--import", insidePath] : [];
  const program = [node, ...nodeArgs, ...watched, main];
  const [command = "", ...rest] = [...under, ...passed.under, ...program, ...args];
  const child = endWithUs(
    spawn(command, rest, {
      // Nothing else of this environment: a setting of the developer's own must not decide what is seen.
      env: {
        PATH: process.env["PATH"],
        DATA_DIR: dataDir,
        PORT: "0",
        ...passed.settings,
        ...settings,
      },
      // Nor a developer's own .env.
      cwd: import.meta.dirname,
      stdio: isWatched ? ["ignore", "pipe", "pipe", "ipc"] : passed.stdio,
      detached: isGroup,
    }),
  );
  let [out, err] = ["", ""];
  const { hear = (text: string) => void (out += text) } = order;
  child.stdout!.setEncoding("utf8").on("data", hear);
  child.stderr!.setEncoding("utf8").on("data", (text: string) => (err += text));
  const ended = once(child, "close").then(([exitCode, signal]) => ({ exitCode, signal, out, err }));
  return { child, pid: child.pid!, ended, out: () => out, err: () => err };
}

/** Runs a command that has to succeed, and returns what it printed. */
export async function done(dataDir: string, ...args: string[]): Promise<string> {
  const { exitCode, out, err } = await startProgram(args, { dataDir }).ended;
  if (exitCode !== 0) throw new Error(`gp-records ${args.join(" ")}: exit ${exitCode}: ${err}`);
  return out;
}

export interface Server extends Running {
  port: number;
  /** From the start of the process to its word that it answers; milliseconds. */
  startMilliseconds: number;
  /** Asks it to stop, and waits; one that does not is killed. */
  stop(): Promise<Ending>;
}

const stopMillisecondsMax = 20_000;

/** Resolves as soon as it can answer. */
export async function serve(order: ProgramOrder): Promise<Server> {
  const startedAt = performance.now();
  const running = startProgram(["serve"], order);
  const { child, ended } = running;
  let begun: string | null = "";
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout!.on("data", (text: string) => {
      if (begun === null) return;
      begun += text;
      const [, found] = /answers at http:\S+:(\d+)/.exec(begun) ?? [];
      if (found === undefined) return;
      begun = null;
      resolve(Number(found));
    });
    ended.then(({ exitCode, err }) => {
      reject(new Error(`serve ended with ${exitCode}: ${err}`));
    }, reject);
  });
  return {
    ...running,
    port,
    startMilliseconds: performance.now() - startedAt,
    stop() {
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), stopMillisecondsMax);
      return ended.finally(() => clearTimeout(late));
    },
  };
}
