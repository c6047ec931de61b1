/** The worker that follows the shared datasets, so that the HTTP thread never waits for their database. */
import { hostname } from "node:os";
import { parentPort, workerData } from "node:worker_threads";
import { openCache } from "./dataset-cache.ts";
import {
  type FollowOrder,
  followShared,
  type FromFollower,
  type ToFollower,
} from "./follow-shared.ts";
import { openSharedStore } from "./postgres.ts";
import { lowerOwnPriority } from "./priority.ts";
import { type Instance, ownFormat } from "./store.ts";

const noteEveryMilliseconds = 2000;

const { url, folder, fetchesPinned, program, id } = workerData as FollowOrder;
const port = parentPort!;
const tell = (message: FromFollower) => port.postMessage(message);
lowerOwnPriority();
const cache = openCache(folder);
// This thread publishes nothing, so it makes no steps.
const store = openSharedStore(url, cache, { changesDays: 0, warn() {} });
const follower = followShared({
  store,
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
  program,
  formats: [ownFormat],
  served: null,
};
// Errors are ignored here, because the follower reports faults of the database.
const noteInstance = () => store.noteServer(instance).catch(() => {});
const timer = setInterval(() => void noteInstance(), noteEveryMilliseconds);
void noteInstance();

port.on("message", (message: ToFollower) => {
  if (message === "close") return void close();
  if ("mend" in message) return follower.mend(message.mend);
  instance.served = message.served;
  void noteInstance();
});

async function close(): Promise<void> {
  clearInterval(timer);
  await Promise.all([follower.close(), store.forgetServer(id).catch(() => {})]);
  store.close();
  port.close();
}
