/** Starts the worker that keeps a server's folder in step with the shared datasets, and restarts it if it ends. */
import { randomUUID } from "node:crypto";
import { Worker } from "node:worker_threads";
import { openCache } from "./dataset-cache.ts";
import type { FollowOrder, FromFollower, ToFollower } from "./follow-shared-worker.ts";

interface StartRequest extends Omit<FollowOrder, "id"> {
  /** Called when the folder points at another dataset, or when the current dataset's facts or file have changed. */
  onPointed: () => void;
  /** Called with each new fault. Called with null once the database answers and fetches work again. */
  onFault: (error: Error | null) => void;
  /** Returns monotonic milliseconds. */
  now: () => number;
}

const startAgainMilliseconds = 1000;
const closeMilliseconds = 2000;
/** Grace period before a server counts as behind, in ms. The database is read twice a second. */
const agreedLatelyMilliseconds = 2000;

/** Starts the worker. @throws DatasetFault if the folder has datasets that were not fetched. */
export function startFollowing(request: StartRequest) {
  const { url, folder, fetchesPinned, program, onPointed, onFault, now } = request;
  openCache(folder);
  const id = randomUUID();
  const workerData: FollowOrder = { url, folder, fetchesPinned, program, id };
  let wanted: string | null | undefined;
  let served: string | null = null;
  let agreedAt = now();
  let isClosing = false;
  /** Message of the last error that ended the worker, so that an equal one is not reported again. */
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
    /**
     * Returns the version that all servers should serve; null if there is none, undefined until the database first
     * answers.
     */
    wanted: () => wanted,
    /**
     * Returns the seconds since following started or this server was last known to serve the wanted version; 0 if fewer
     * than 2.
     */
    behindSeconds(): number {
      const behind = now() - agreedAt;
      return behind < agreedLatelyMilliseconds ? 0 : behind / 1000;
    },
    /** Notes that this server has taken over a dataset. */
    noteServed(version: string): void {
      served = version;
      if (wanted === served) agreedAt = now();
      tell({ served });
    },
    /** Reports a version that could not be loaded, because its file may be damaged. */
    mend: (version: string) => tell({ mend: version }),
    /** Ends the worker. Terminates it if it has not ended after 2 s. */
    async close(): Promise<void> {
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
