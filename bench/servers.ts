/** Servers that are measured, and what they cost. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { endWithUs } from "./clean-up.ts";

export interface RunningServer {
  pid: number;
  port: number;
  /** Further processes whose cost counts: other instances, or its database. */
  siblingPids?: readonly number[];
  /** Of other instances, which are asked as often. */
  siblingPorts?: readonly number[];
  /** First processes of what serves it and comes on top, by name. */
  helpers?: ReadonlyMap<string, number>;
  /** Lines of its log so far. */
  lineCount?(): number;
  stop(): Promise<unknown>;
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
  return { pid: child.pid!, port: await port, stop: () => stop(child) };
}

const stopMillisecondsMax = 20_000;

/** One that cannot stop in time is left to the end of the run, and told. */
export async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit", { signal: AbortSignal.timeout(stopMillisecondsMax) });
  child.kill("SIGTERM");
  await ended;
}

/** Returns the next message of a child. Rejects where it ends first, or says nothing for so long. */
export async function messageFrom<T>(child: ChildProcess, secondsMax = 120): Promise<T> {
  const heard = new AbortController();
  const signal = AbortSignal.any([heard.signal, AbortSignal.timeout(secondsMax * 1000)]);
  const ended = once(child, "exit", { signal }).then(([code]) => {
    throw new Error(`it ended with ${code}`);
  });
  try {
    const [message] = await Promise.race([once(child, "message", { signal }), ended]);
    return message as T;
  } catch (error) {
    const name = child.spawnargs.at(-1);
    throw new Error(`${name} had no answer in ${secondsMax} s: ${(error as Error).message}`);
  } finally {
    heard.abort();
  }
}

/**
 * What only the process itself knows: `endDelay` gives the longest event-loop delay since `beginDelay`, in ms; `arrays` the bytes
 * of arrays and buffers, which lie beside V8's heap; `heldMemory` those that all threads hold after a garbage collection, for which Node needs `--expose-gc`.
 */
export type InsideQuestion = "beginDelay" | "endDelay" | "arrays" | "heldMemory";

/** Asks a watched server about itself. */
export async function askInside(
  { child }: { child: ChildProcess },
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

/** Returns the processes whose cost counts. */
export const pidsOf = ({ pid, siblingPids = [] }: RunningServer): number[] => [pid, ...siblingPids];

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

/** Returns the memory of a process, or the most it has had (proc(5)); NaN where it has ended. */
export function residentBytes(pid: number, row: "VmRSS" | "VmHWM" = "VmRSS"): number {
  const status = textOf(`/proc/${pid}/status`) ?? "";
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
