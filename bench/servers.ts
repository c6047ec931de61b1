/** Servers in processes of their own: the program as an operator starts it, and a bare one to compare it with. */
import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { endWithUs } from "./clean-up.ts";
import { messageFrom } from "./message-from.ts";
import { hasProc } from "./process-cost.ts";

export interface RunningServer {
  child: ChildProcess;
  pid: number;
  port: number;
  /** Lines of its log so far. */
  lineCount(): number;
  stop(): Promise<void>;
}

export interface ProgramOrder {
  /** The checkout whose program is started. */
  root: string;
  dataDir: string;
  settings?: Readonly<Record<string, string>>;
  /** Lets `askInside` look into the process. */
  isWatched?: boolean;
  /** For Node itself. */
  nodeArgs?: readonly string[];
}

const insidePath = join(import.meta.dirname, "inside.ts");
const startMillisecondsMax = 120_000;

/** Resolves as soon as it can answer. */
export async function startProgram(order: ProgramOrder): Promise<RunningServer> {
  const { root, dataDir, settings = {}, isWatched = !hasProc, nodeArgs = [] } = order;
  const child = endWithUs(
    spawn(
      process.execPath,
      [
        ...nodeArgs,
        ...(isWatched ? ["--import", insidePath] : []),
        join(root, "bin/gp-records"),
        "serve",
      ],
      {
        // Nothing else of this environment: a setting of the developer's own must not decide a figure.
        env: { PATH: process.env["PATH"], DATA_DIR: dataDir, PORT: "0", ...settings },
        cwd: import.meta.dirname,
        stdio: ["ignore", "pipe", "pipe", ...(isWatched ? (["ipc"] as const) : [])],
      },
    ),
  );
  const output = readOutput(child);
  const port = await output.port;
  return { child, pid: child.pid!, port, lineCount: output.lineCount, stop: () => stop(child) };
}

/** Reads on for ever, as whoever collects a log does. */
function readOutput(child: ChildProcess): { port: Promise<number>; lineCount(): number } {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let lines = 0;
  let begun: string | null = "";
  let complaint = "";
  child.stdout!.on("data", (chunk: Buffer) => {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines++;
    if (begun === null) return;
    begun += chunk.toString("latin1");
    const [, port] = /answers at http:\S+:(\d+)/.exec(begun) ?? [];
    if (port === undefined) return;
    begun = null;
    resolve(Number(port));
  });
  child.stderr!.setEncoding("utf8").on("data", (text: string) => (complaint += text));
  child.once("exit", (code) => reject(new Error(`serve ended with ${code}: ${complaint}`)));
  const late = setTimeout(
    () => reject(new Error(`serve printed no address: ${complaint}`)),
    startMillisecondsMax,
  );
  return { port: promise.finally(() => clearTimeout(late)), lineCount: () => lines };
}

export interface BareOrder {
  /** Bytes of the body of each question. */
  bodyBytes: readonly number[];
  /** Places of the questions, in the order they are asked. */
  order: readonly number[];
  /** Bytes of the headers of an answer. */
  headerBytes: number;
}

export async function startBare(
  order: BareOrder,
  { isWatched = !hasProc, settings = {} }: Pick<ProgramOrder, "isWatched" | "settings"> = {},
): Promise<RunningServer> {
  const child = endWithUs(
    fork(join(import.meta.dirname, "bare-server.ts"), {
      env: settings,
      execArgv: isWatched ? ["--import", insidePath] : [],
    }),
  );
  const answer = messageFrom<number>(child);
  child.send(order);
  return {
    child,
    pid: child.pid!,
    port: await answer,
    lineCount: () => 0,
    stop: () => stop(child),
  };
}

/** One that cannot stop in time is left to the end of the run, and told. */
async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit", { signal: AbortSignal.timeout(stopMillisecondsMax) });
  child.kill("SIGTERM");
  await ended;
}

const stopMillisecondsMax = 20_000;
