/** gp-records as an operator runs it: commands to their end, and servers, each in a process of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { type Passed, passing } from "../test/support/held-socket.ts";
import type { Work } from "./work.ts";

const programPath = join(import.meta.dirname, "../bin/gp-records");

interface Start {
  dataDir: string;
  settings?: Record<string, string>;
  /** A command and its arguments to start it under, such as `prlimit --fsize=1000`. */
  under?: readonly string[];
  /** Sockets for a server to listen on. */
  sockets?: readonly Passed[];
}

export interface Ending {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  out: string;
  err: string;
}

export interface Running {
  child: ChildProcess;
  ended: Promise<Ending>;
}

export function start(work: Work, args: readonly string[], order: Start): Running {
  const { dataDir, settings = {}, under = [], sockets = [] } = order;
  const passed = passing(sockets);
  const program = [...under, ...passed.under, process.execPath, programPath, ...args];
  const [command = process.execPath, ...rest] = program;
  const child = work.adopt(
    spawn(command, rest, {
      env: {
        PATH: process.env["PATH"],
        DATA_DIR: dataDir,
        PORT: "0",
        ...passed.settings,
        ...settings,
      },
      // A developer's own .env must not decide what is seen.
      cwd: import.meta.dirname,
      stdio: passed.stdio,
    }),
  );
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  const ended = once(child, "close").then(([exitCode, signal]) => ({ exitCode, signal, out, err }));
  return { child, ended };
}

/** Runs a command that has to succeed; what it printed. */
export async function done(work: Work, dataDir: string, ...args: string[]): Promise<string> {
  const { exitCode, out, err } = await start(work, args, { dataDir }).ended;
  if (exitCode !== 0) throw new Error(`gp-records ${args.join(" ")}: exit ${exitCode}: ${err}`);
  return out;
}

export interface Server extends Running {
  pid: number;
  port: number;
  /** From the start of the process to its word that it answers; milliseconds. */
  startMilliseconds: number;
  /** Lines of its log of level error or worse. */
  errors(): string[];
}

export async function serve(work: Work, order: Start): Promise<Server> {
  const startedAt = performance.now();
  const running = start(work, ["serve"], {
    ...order,
    settings: { LOG_LEVEL: "warn", ...order.settings },
  });
  let out = "";
  const address = new Promise<string>((resolve, reject) => {
    running.child.stdout!.on("data", (text: string) => {
      out += text;
      const [, url] = /answers at (http:\S+)/.exec(out) ?? [];
      if (url !== undefined) resolve(url);
    });
    void running.ended.then(({ err }) => reject(new Error(`serve ended: ${err}`)));
  });
  const { port } = new URL(await address);
  return {
    ...running,
    pid: running.child.pid!,
    port: Number(port),
    startMilliseconds: performance.now() - startedAt,
    errors: () => out.split("\n").filter((line) => /"level":(50|60)/.test(line)),
  };
}

/** Asks it to stop, and waits. */
export async function stop({ child, ended }: Running): Promise<Ending> {
  child.kill("SIGTERM");
  return ended;
}

/** A key of a new account with these quotas. */
export async function newKey(
  work: Work,
  dataDir: string,
  quotas: { minute?: number; hour?: number; day?: number } = {},
): Promise<string> {
  const { minute = 1e6, hour = 1e6, day = 1e6 } = quotas;
  const name = `client ${Math.floor(work.chance() * 1e12)}`;
  const limits = ["--per-minute", minute, "--per-hour", hour, "--per-day", day].map(String);
  await done(work, dataDir, "accounts", "create", "--name", name, ...limits);
  const key = await done(
    work,
    dataDir,
    ..."keys create --name try --json --account".split(" "),
    name,
  );
  return (JSON.parse(key) as { key: string }).key;
}
