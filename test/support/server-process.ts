/** A server in a process of its own, started the way an operator starts it, for the length of one test. */
import { spawn } from "node:child_process";
import type { Readable } from "node:stream";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { assertDescribed } from "./described.ts";
import { type Passed, passing } from "./held-socket.ts";

interface Order {
  dataDir: string;
  /** After `serve`. */
  args?: readonly string[];
  settings?: Record<string, string>;
  /** Sockets to listen on. */
  sockets?: readonly Passed[];
  /** The main.ts of another version of the program, or the launcher. */
  main?: string;
  /** The Node that runs it. */
  node?: string;
  /** A process group of its own, which signals reach as a whole. */
  isGroup?: boolean;
  /** A command and its arguments to start it under, such as `nsenter --net=FILE`. */
  under?: readonly string[];
}

export interface Ending {
  exitCode: number | null;
  /** What ended it, where it did not end by itself. */
  signal: NodeJS.Signals | null;
}

export interface ServerProcess {
  /** Resolves to the address it prints; rejects with what it printed as errors if it ends first. */
  address: Promise<string>;
  ended: Promise<Ending>;
  pid: number;
  signal(name: NodeJS.Signals): void;
  /** Standard output and error so far. */
  out(): string;
  err(): string;
  /** Our end of its standard output. */
  stdout: Readable;
}

const mainPath = fileURLToPath(import.meta.resolve("#cli/main.ts"));

/** Returns before it listens. */
export function spawnServer(t: TestContext, order: Order): ServerProcess {
  const { dataDir, args = [], settings = {}, sockets = [], main = mainPath, under = [] } = order;
  const { node = process.execPath, isGroup = false } = order;
  const passed = passing(sockets);
  // Nothing else of this environment: a setting of the developer's own must not decide a test.
  const env = {
    PATH: process.env["PATH"],
    DATA_DIR: dataDir,
    PORT: "0",
    // What it answers must not depend on how busy the machine of the test is.
    EVENT_LOOP_DELAY_MAX_MS: "0",
    ...passed.settings,
    ...settings,
  };
  const command = [...under, ...passed.under, node, main, "serve", ...args];
  const child = spawn(command[0]!, command.slice(1), {
    env,
    // Nor a developer's own .env.
    cwd: import.meta.dirname,
    stdio: passed.stdio,
    detached: isGroup,
  });
  const signal = (name: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null)
      process.kill(isGroup ? -child.pid! : child.pid!, name);
  };
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  const ended = new Promise<Ending>((resolve) => {
    child.once("exit", (exitCode, signal) => resolve({ exitCode, signal }));
  });
  t.after(() => {
    signal("SIGKILL");
    return ended;
  });
  const address = new Promise<string>((resolve, reject) => {
    child.stdout.on("data", () => {
      const [, url] = /answers at (http:\S+)/.exec(out) ?? [];
      if (url !== undefined) resolve(url);
    });
    child.once("close", (code) => reject(new Error(`serve ended with ${code}: ${err}`)));
  });
  address.catch(() => {});
  const { stdout } = child;
  return { address, ended, pid: child.pid!, signal, out: () => out, err: () => err, stdout };
}

export interface ServerAnswer {
  status: number;
  headers: Headers;
  /** The body as JSON; undefined where it is none. */
  body: any;
}

export interface RunningServer extends ServerProcess {
  url: string;
  port: number;
  get(path: string, headers?: Record<string, string>): Promise<ServerAnswer>;
}

/** Resolves once it has printed its address. */
export async function startServer(t: TestContext, order: Order): Promise<RunningServer> {
  const server = spawnServer(t, order);
  const url = await server.address;
  return {
    ...server,
    url,
    port: Number(new URL(url).port),
    async get(path, headers = {}) {
      const response = await fetch(url + path, { headers });
      const text = await response.text();
      const isJson = /json/.test(response.headers.get("content-type") ?? "") && text !== "";
      const body: unknown = isJson ? JSON.parse(text) : undefined;
      assertDescribed({ status: response.status, headers: response.headers, json: body });
      return { status: response.status, headers: response.headers, body };
    },
  };
}
