/** The worker of a server that talks to the database of the shared datasets, so that the HTTP thread never waits for it. */
import { hostname } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { type GateMemory, openGate } from "#store/postgres.ts";
import { openCache } from "./dataset-cache.ts";
import { followRemote } from "./follow-remote.ts";
import type { Instance } from "./instances.ts";
import { openPostgresRemote } from "./postgres-remote.ts";
import { lowerOwnPriority } from "./priority.ts";
import { ownFormat } from "./remote.ts";

export interface RemoteOrder {
  /** `DATABASE_URL`. */
  url: string;
  /** Shared with the other threads, so that together they try a server that is away once a second. */
  gateMemory: GateMemory;
  folder: string;
  /** Whether the pinned datasets are to be in the folder, too. */
  fetchesPinned: boolean;
  /** Version of the program. */
  program: string;
  /** One for each start of a server. */
  id: string;
  startedAt: string;
}

/** What the server says: what it serves, what it could not load, that it ends. */
export type ToRemoteWorker = { served: string | null } | { mend: string } | "close";

/** What it is told: what is to be served, that the folder has something new, what does not work (null: works again). */
export type FromRemoteWorker = { wanted: string | null } | "pointed" | { fault: Error | null };

const noteEveryMilliseconds = 2000;

const { url, gateMemory, folder, fetchesPinned, program, id, startedAt } =
  workerData as RemoteOrder;
const port = parentPort!;
const tell = (message: FromRemoteWorker) => port.postMessage(message);
lowerOwnPriority();
const cache = openCache(folder);
const remote = openPostgresRemote(url, cache, openGate(gateMemory));
const follower = followRemote({
  remote,
  cache,
  fetchesPinned,
  onSeen: (wanted) => tell({ wanted }),
  onPointed: () => tell("pointed"),
  onFault: (fault) => tell({ fault }),
  now: () => performance.now(),
});
const instance: Instance = {
  id,
  host: hostname(),
  pid: process.pid,
  startedAt,
  program,
  formats: [ownFormat],
  served: null,
};
// The follower reports what is wrong with the database.
const noteInstance = () => remote.instances.note(instance).catch(() => {});
const timer = setInterval(() => void noteInstance(), noteEveryMilliseconds);
void noteInstance();

port.on("message", (message: ToRemoteWorker) => {
  if (message === "close") return void close();
  if ("mend" in message) return follower.mend(message.mend);
  instance.served = message.served;
  void noteInstance();
});

async function close(): Promise<void> {
  clearInterval(timer);
  await Promise.all([follower.close(), remote.instances.forget(id).catch(() => {})]);
  remote.close();
  port.close();
}
