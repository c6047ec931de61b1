/** Changes the state of a server, and ends its parts in order. */
import type { Logger } from "pino";
import type { ServiceState } from "#http/dependencies.ts";

interface Lifecycle {
  /** Lets queries be answered from now on, unless the server is already ending. */
  run(): void;
  stop(): Promise<void>;
}

/** Parts that a server ends. `openLifecycle` knows their order. */
interface Endings {
  log: Logger;
  /** Resolves when the last connection is closed. */
  drain(): Promise<void>;
  /** Closes the datasets. This and the following are called once, however the server ends. */
  closeDatasets(): Promise<void>;
  closeStores(): Promise<void>;
  closeAdmin(): Promise<void>;
  releaseLock(): void;
}

/** Time in `closing`, in ms: enough to close idle connections, and for the last answer of busy ones, unless it is slow. */
const closingMilliseconds = 1000;

/** @param life state that requests read. Only this changes it. */
export function openLifecycle(life: { state: ServiceState }, endings: Endings): Lifecycle {
  const closeDatasets = once(endings.closeDatasets);
  const closeStores = once(endings.closeStores);
  const releaseLock = once(endings.releaseLock);
  return {
    run() {
      if (life.state === "starting") life.state = "running";
    },
    async stop() {
      if (life.state !== "draining") life.state = "closing";
      const closed = setTimeout(() => (life.state = "draining"), closingMilliseconds);
      await Promise.all([endings.drain(), closeDatasets()]);
      clearTimeout(closed);
      await closeStores();
      await endings.closeAdmin();
      releaseLock();
    },
  };
}

/** Returns a function that calls `work` only the first time. */
function once<R>(work: () => R): () => R {
  let result: { value: R } | null = null;
  return () => (result ??= { value: work() }).value;
}
