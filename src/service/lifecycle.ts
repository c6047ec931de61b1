/** The states of a server, and the order in which it ends. */
import type { Logger } from "pino";
import type { ServiceState } from "#http/dependencies.ts";

interface Lifecycle {
  /** Has queries answered from now on, unless it ends already. */
  run(): void;
  stop(): Promise<void>;
}

/** What a server ends, in the order that `openLifecycle` knows. */
interface Endings {
  log: Logger;
  /** Resolves when the last connection is closed. */
  drain(): Promise<void>;
  /** Each of the following is called once, whichever way it ends. */
  closeDatasets(): Promise<void>;
  closeStores(): Promise<void>;
  closeAdmin(): Promise<void>;
  releaseLock(): void;
}

/** By then an idle connection is closed, and a busy one has had its last answer, unless that one is slow. */
const closingMilliseconds = 1000;

/** @param life what requests look at; its state is changed here alone. */
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

/** Calls `work` the first time only. */
function once<R>(work: () => R): () => R {
  let result: { value: R } | null = null;
  return () => (result ??= { value: work() }).value;
}
