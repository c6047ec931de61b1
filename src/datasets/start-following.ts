/** Starts the worker that keeps the folder of a server equal to the shared datasets, and restarts it if it ends. */
import { randomUUID } from "node:crypto";
import { Worker } from "node:worker_threads";
import { openCache } from "./dataset-cache.ts";
import type { FollowOrder, FromFollower, ToFollower } from "./follow-shared-worker.ts";

export interface SharedDatasetsLink {
  /** Returns the version that all servers should serve, as last heard. Returns undefined until then. */
  wanted(): string | null | undefined;
  /** Returns the time since this server was last known to serve the wanted version; 0 up to 2 s. */
  behindSeconds(): number;
  /** Notes that this server took over a dataset. */
  noteServed(version: string): void;
  /** Reports a version that could not be loaded; its file may be damaged. */
  mend(version: string): void;
  /** Ends the worker. Resolves within 2 s. */
  close(): Promise<void>;
}

interface StartRequest extends Omit<FollowOrder, "id"> {
  /** Version that the server serves already. */
  served: string | null;
  /** Called when the folder points at another dataset, or has replaced a damaged one. */
  onPointed: () => void;
  /** Called once for each fault, and with null when all works again. */
  onFault: (error: Error | null) => void;
  /** Returns the ms of a monotonic clock. */
  now: () => number;
}

const startAgainMilliseconds = 1000;
const closeMilliseconds = 2000;
/** Time for which a server that agreed with the database is not behind. The database is asked twice a second. */
const agreedLatelyMilliseconds = 2000;

/** Starts the worker. @throws DatasetFault if the folder is no cache. */
export function startFollowing(request: StartRequest): SharedDatasetsLink {
  const { url, gateMemory, folder, fetchesPinned, program, onPointed, onFault, now } = request;
  openCache(folder);
  const id = randomUUID();
  const workerData: FollowOrder = { url, gateMemory, folder, fetchesPinned, program, id };
  let wanted: string | null | undefined;
  let { served } = request;
  let agreedAt = now();
  let isClosing = false;
  /** Error that ended the worker, reported once. */
  let lastError = "";
  let timer: NodeJS.Timeout | undefined;
  let worker = start();

  function start(): Worker {
    const started = new Worker(new URL("./follow-shared-worker.ts", import.meta.url), {
      workerData,
    });
    started.on("message", hear);
    started.on("error", (error: Error) => {
      if (error.message !== lastError) onFault(error);
      lastError = error.message;
    });
    started.once("exit", () => {
      if (isClosing) return;
      timer = setTimeout(() => (worker = start()), startAgainMilliseconds);
    });
    if (served !== null) started.postMessage({ served } satisfies ToFollower);
    return started;
  }

  function hear(message: FromFollower): void {
    if (message === "pointed") return onPointed();
    if ("fault" in message) return onFault(message.fault);
    ({ wanted } = message);
    if (wanted === served) agreedAt = now();
  }

  const tell = (message: ToFollower) => worker.postMessage(message);
  return {
    wanted: () => wanted,
    behindSeconds() {
      const behind = now() - agreedAt;
      return behind < agreedLatelyMilliseconds ? 0 : behind / 1000;
    },
    noteServed(version) {
      served = version;
      if (wanted === served) agreedAt = now();
      tell({ served });
    },
    mend: (version) => tell({ mend: version }),
    async close() {
      isClosing = true;
      clearTimeout(timer);
      const ended = new Promise((resolve) => worker.once("exit", resolve));
      if (worker.threadId === -1) return;
      tell("close");
      const late = setTimeout(() => void worker.terminate(), closeMilliseconds);
      await ended;
      clearTimeout(late);
    },
  };
}
