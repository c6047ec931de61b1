/** Servers in processes of their own: the program as an operator starts it and a bare one to compare it with; what they cost. */
import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { endWithUs } from "./clean-up.ts";

export interface RunningServer {
  child: ChildProcess;
  pid: number;
  port: number;
  /** Other instances, which are asked as often and whose cost counts. */
  siblings?: readonly RunningServer[];
  /** First processes of what serves it, such as a database, by name. */
  helpers?: ReadonlyMap<string, number>;
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
const stopMillisecondsMax = 20_000;

/** Resolves as soon as it can answer. */
export async function startProgram(order: ProgramOrder): Promise<RunningServer> {
  const { root, dataDir, settings = {}, isWatched = false, nodeArgs = [] } = order;
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
  let errors = "";
  child.stdout!.on("data", (chunk: Buffer) => {
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines++;
    if (begun === null) return;
    begun += chunk.toString("latin1");
    const [, port] = /answers at http:\S+:(\d+)/.exec(begun) ?? [];
    if (port === undefined) return;
    begun = null;
    resolve(Number(port));
  });
  child.stderr!.setEncoding("utf8").on("data", (text: string) => (errors += text));
  child.once("exit", (code) => reject(new Error(`serve ended with ${code}: ${errors}`)));
  const late = setTimeout(
    () => reject(new Error(`serve printed no address: ${errors}`)),
    startMillisecondsMax,
  );
  return { port: promise.finally(() => clearTimeout(late)), lineCount: () => lines };
}

/** An answer of the program, as the bare server has to send it too. */
export interface SentAnswer {
  /** Path and query it belongs to. */
  target: string;
  /** Names and values, each as often and in the order in which it was sent. */
  headers: readonly (readonly [string, string])[];
  bodyBytes: number;
}

export async function startBare(answers: readonly SentAnswer[]): Promise<RunningServer> {
  const child = endWithUs(
    fork(join(import.meta.dirname, "bare-server.ts"), {
      env: {},
      execArgv: [],
    }),
  );
  const port = messageFrom<number>(child);
  child.send(answers);
  return {
    child,
    pid: child.pid!,
    port: await port,
    lineCount: () => 0,
    stop: () => stop(child),
  };
}

/** One that cannot stop in time is left to the end of the run, and told. */
export async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit", { signal: AbortSignal.timeout(stopMillisecondsMax) });
  child.kill("SIGTERM");
  await ended;
}

/** The next message of a child. Rejects where the child ends first, or says nothing for so long. */
export function messageFrom<T>(child: ChildProcess, secondsMax = 120): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const name = child.spawnargs.at(-1);
  const onMessage = (message: unknown) => resolve(message as T);
  const onExit = (code: number | null) =>
    reject(new Error(`${name} ended with ${code} before it had an answer.`));
  const late = setTimeout(
    () => reject(new Error(`${name} had no answer in ${secondsMax} s.`)),
    secondsMax * 1000,
  );
  child.once("error", reject);
  child.once("message", onMessage);
  child.once("exit", onExit);
  return promise.finally(() => {
    clearTimeout(late);
    child.off("error", reject);
    child.off("message", onMessage);
    child.off("exit", onExit);
  });
}

/**
 * What only the process itself knows: `endDelay` gives the longest event-loop delay since `beginDelay`, in ms; `arrays` the bytes
 * of arrays and buffers, which lie beside V8's heap; `heldMemory` those that all threads hold after a garbage collection, for which Node needs `--expose-gc`.
 */
export type InsideQuestion = "beginDelay" | "endDelay" | "arrays" | "heldMemory";

/** Asks a watched server about itself. */
export async function askInside(
  { child }: RunningServer,
  question: InsideQuestion,
): Promise<number> {
  const answer = messageFrom<{ answer: number }>(child);
  child.send(question);
  return (await answer).answer;
}

/**
 * Returns a meter of the processor time of processes since now, in µs: of all of their threads and child processes, also those that have ended.
 * Those that live are known to the nanosecond (the first number of a `schedstat`: Linux, Documentation/scheduler/sched-stats.rst).
 * Of children that were begun and ended between two looks only their parent knows, in ticks of 10 ms (`cutime` and `cstime`, proc(5)).
 */
export function openProcessorMeter(pids: readonly number[]): () => number {
  const roots = new Map<number, SeenProcess>();
  const soFar = () =>
    pids.reduce((sum, pid) => {
      lookAt(pid, roots);
      return sum + microsecondsOf(roots.get(pid)!);
    }, 0);
  const before = soFar();
  return () => soFar() - before;
}

/** Returns the processes of a server and of its siblings. */
export const pidsOf = ({ pid, siblings = [] }: RunningServer): number[] => [
  pid,
  ...siblings.map((sibling) => sibling.pid),
];

interface SeenProcess {
  isAlive: boolean;
  /** Run time of each thread; of one that has ended the last known. */
  nanoseconds: Map<string, number>;
  /** Of its children that have ended, µs: when it was first seen, and now. */
  endedAtFirst: number;
  ended: number;
  /** By their ids, also those that have ended. */
  children: Map<number, SeenProcess>;
}

/** Enters what is known of a process and of its children. */
function lookAt(pid: number, among: Map<number, SeenProcess>): void {
  const stat = textOf(`/proc/${pid}/stat`);
  const known = among.get(pid);
  if (stat === null) {
    if (known !== undefined) known.isAlive = false;
    return;
  }
  const ended = endedChildrenSeconds(stat) * 1e6;
  const seen = known ?? {
    isAlive: true,
    nanoseconds: new Map(),
    endedAtFirst: ended,
    ended,
    children: new Map(),
  };
  among.set(pid, seen);
  seen.ended = ended;
  const children = new Set(seen.children.keys());
  for (const thread of listing(`/proc/${pid}/task`)) {
    const path = `/proc/${pid}/task/${thread}`;
    const text = textOf(`${path}/schedstat`);
    if (text !== null) seen.nanoseconds.set(thread, Number(text.split(" ")[0]));
    for (const child of childrenOf(path)) children.add(child);
  }
  for (const child of children) lookAt(child, seen.children);
}

/** With all its children. What the system knows of ended ones holds those that were seen; both may know less than the other. */
function microsecondsOf({ nanoseconds, children, ended, endedAtFirst }: SeenProcess): number {
  let [own, living, dead] = [0, 0, 0];
  for (const one of nanoseconds.values()) own += one / 1000;
  for (const child of children.values())
    if (child.isAlive) living += microsecondsOf(child);
    else dead += microsecondsOf(child);
  return own + living + Math.max(dead, ended - endedAtFirst);
}

/** @param thread its folder; a process has the children of all its threads. */
const childrenOf = (thread: string) =>
  (textOf(`${thread}/children`) ?? "").split(" ").filter(Boolean).map(Number);

/** A thread or a process may end while we look. */
function textOf(path: string): string | null {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return null;
  }
}

function listing(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

/** Returns the memory of a process, or the most it has had (proc(5)). */
export function residentBytes(pid: number, row: "VmRSS" | "VmHWM" = "VmRSS"): number {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  return Number(new RegExp(`${row}:\\s+(\\d+)`).exec(status)?.[1]) * 1024;
}

/** Memory of processes and all their children, what they share counted once ("Pss" of proc(5)). */
export const treeBytes = (pids: readonly number[]): number =>
  pids.reduce((sum, pid) => {
    const [, kilobytes = 0] =
      /^Pss:\s+(\d+) kB/m.exec(textOf(`/proc/${pid}/smaps_rollup`) ?? "") ?? [];
    const children = listing(`/proc/${pid}/task`).flatMap((thread) =>
      childrenOf(`/proc/${pid}/task/${thread}`),
    );
    return sum + Number(kilobytes) * 1024 + treeBytes(children);
  }, 0);

/**
 * Processor time of all children of a process that have ended, in seconds.
 * @param stat of that process, this one if not given.
 */
export function endedChildrenSeconds(stat = readFileSync("/proc/self/stat", "latin1")): number {
  // After the name, which may hold anything; proc_pid_stat(5) counts it as the second field.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const ticksPerSecond = 100;
  return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond;
}
