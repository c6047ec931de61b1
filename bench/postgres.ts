/** Debian's PostgreSQL in a folder of its own, reached through a socket in it, and ended by its process id. */
import { execFileSync, type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { endWithUs, temporaryFolder } from "./clean-up.ts";
import { NotInstalled } from "./not-installed.ts";

export interface Postgres {
  child: ChildProcess;
  /** Of its first process, whose children the others are. */
  pid: number;
  /** For clients. */
  url: string;
  stop(): Promise<void>;
}

/** A data folder with records. One server at a time can be started on it, and one on each copy. */
export interface Cluster {
  data: string;
  /** @param under what it is started under in place of its user, such as `nsenter … setpriv …`, which ends up as PostgreSQL. */
  start(under?: readonly string[]): Promise<Postgres>;
  copy(): Cluster;
  /** Deletes it, once it is stopped. */
  remove(): void;
}

/**
 * Where its programs are.
 * @throws NotInstalled
 */
export function findPostgres(): string {
  const found = usualFolders().find((folder) =>
    ["postgres", "initdb", "psql"].every((name) => existsSync(join(folder, name))),
  );
  if (found !== undefined) return found;
  throw new NotInstalled("PostgreSQL is not installed here: apt-get install postgresql");
}

/** Debian's, the newest version first, then those of the search path. */
function usualFolders(): string[] {
  const versions = globSync("/usr/lib/postgresql/*/bin").toSorted(
    (a, b) => versionOf(b) - versionOf(a),
  );
  return [...versions, ...(process.env["PATH"] ?? "").split(delimiter)];
}

const versionOf = (folder: string) => Number(/postgresql\/(\d+)/.exec(folder)?.[1]);

interface User {
  uid: number;
  gid: number;
}

/** PostgreSQL refuses to run as root. @returns undefined where we are somebody else already. */
export function unprivilegedUser(): User | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  const found = ["postgres", "nobody"]
    .map((name) => users.find(([user]) => user === name))
    .find((user) => user !== undefined);
  if (found === undefined)
    throw new NotInstalled(
      "PostgreSQL needs a user other than root, which apt-get install postgresql makes.",
    );
  return { uid: Number(found[2]), gid: Number(found[3]) };
}

/** As somebody sets it who read the manual: memory for all records, an SSD, no compilation and no parallel workers for short queries. */
export const measuredSettings = {
  shared_buffers: "256MB",
  effective_cache_size: "1GB",
  work_mem: "16MB",
  random_page_cost: "1.1",
  jit: "off",
  max_parallel_workers_per_gather: "0",
  max_connections: "40",
};

const startMillisecondsMax = 60_000;
const stopMillisecondsMax = 20_000;

/**
 * Makes a data folder and runs a script on it.
 * @param input goes to the script's standard input.
 * @throws NotInstalled
 */
export async function makeCluster(script: string, input: string): Promise<Cluster> {
  const cluster = initCluster(temporaryFolder("bench"), measuredSettings);
  const server = await cluster.start();
  execFileSync(
    join(findPostgres(), "psql"),
    ["--quiet", "--no-psqlrc", "-d", server.url, "-f", script],
    { input, stdio: ["pipe", "ignore", "inherit"] },
  );
  await server.stop();
  return cluster;
}

/**
 * Makes a data folder.
 * @param folder for it and its copies, which becomes PostgreSQL's.
 * @param settings besides those of a folder that goes with the run.
 * @param like a stopped one to begin with, in place of an empty one.
 * @throws NotInstalled
 */
export function initCluster(
  folder: string,
  settings: Readonly<Record<string, string>>,
  like?: string,
): Cluster {
  const bin = findPostgres();
  const user = unprivilegedUser();
  // PostgreSQL reaches a folder only through folders it may enter, and those of a run are root's.
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const original = join(folder, "original");
  if (like === undefined) {
    const options = ["--auth=trust", "--encoding=UTF8", "--lc-collate=C", "--lc-ctype=C.UTF-8"];
    execFileSync(join(bin, "initdb"), ["-D", original, "-U", "postgres", "--no-sync", ...options], {
      ...user,
      cwd: folder,
      stdio: ["ignore", "ignore", "inherit"],
    });
  } else copyCluster(like, original);
  writeFileSync(
    join(original, "postgresql.auto.conf"),
    // Reached by its socket; and nothing in it outlives the run, so nothing has to be synced.
    Object.entries({ listen_addresses: "", fsync: "off", ...settings })
      .map(([name, value]) => `${name} = '${value}'\n`)
      .join(""),
  );
  let copies = 0;
  const clusterIn = (data: string): Cluster => ({
    data,
    start: (under) => start(bin, data, user, under),
    copy() {
      const copy = join(folder, `copy-${++copies}`);
      copyCluster(data, copy);
      return clusterIn(copy);
    },
    remove: () => rmSync(data, { recursive: true }),
  });
  return clusterIn(original);
}

/** With its owner. */
export const copyCluster = (from: string, to: string): void =>
  void execFileSync("cp", ["-a", from, to]);

/** Resolves as soon as it takes connections. */
async function start(
  bin: string,
  data: string,
  user: User | undefined,
  under: readonly string[] = [],
): Promise<Postgres> {
  const [command, ...args] = [...under, join(bin, "postgres"), "-D", data, "-k", data];
  const child = endWithUs(
    spawn(command, args, {
      ...(under.length === 0 && user),
      cwd: data,
      stdio: ["ignore", "ignore", "pipe"],
    }),
  );
  let log = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (log += text));
  const deadline = performance.now() + startMillisecondsMax;
  while (!isReady(data)) {
    if (child.exitCode !== null || performance.now() > deadline)
      throw new Error(`PostgreSQL did not start: ${log}`);
    await wait(20);
  }
  return {
    child,
    pid: child.pid!,
    url: `postgresql://postgres@${encodeURIComponent(data)}/postgres`,
    async stop() {
      const ended = once(child, "exit", { signal: AbortSignal.timeout(stopMillisecondsMax) });
      // "Fast": connections are ended, everything is written.
      child.kill("SIGINT");
      await ended;
    },
  };
}

/** Sends a signal to its first process and to those of its connections. */
export function signalPostgres({ pid }: Pick<Postgres, "pid">, signal: NodeJS.Signals): void {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  for (const one of [pid, ...children.split(" ").filter(Boolean).map(Number)])
    try {
      process.kill(one, signal);
    } catch (error) {
      // One that has just ended by itself.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
}

/** The eighth line of its lock file, which goes with it. */
function isReady(data: string): boolean {
  const path = join(data, "postmaster.pid");
  return existsSync(path) && readFileSync(path, "utf8").split("\n")[7]?.trim() === "ready";
}
