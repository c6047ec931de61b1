/** The worker that talks to the database of shared datasets, so that the HTTP thread never waits for it. */
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
  /** Memory shared by all threads, so that together they try a server that is away once a second. */
  gateMemory: GateMemory;
  folder: string;
  /** Are pinned datasets fetched, too? */
  fetchesPinned: boolean;
  /** Version of the program. */
  program: string;
  /** Id of this start of a server. */
  id: string;
  startedAt: string;
}

/** A message of the server: the version that it serves, one that it could not load, or its end. */
export type ToRemoteWorker = { served: string | null } | { mend: string } | "close";

/** A message to the server: the version to serve, news in the folder, or a fault (null: all works again). */
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
// The follower reports faults of the database.
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
