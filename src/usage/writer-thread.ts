/** The writer thread: writes each batch in one transaction, and removes old records. */
import { parentPort, workerData } from "node:worker_threads";
import { StoreFault } from "#store/domain-error.ts";
import type { GateMemory, PostgresSession } from "#store/postgres.ts";
import { usageFile, usageShape, openFile } from "#store/sqlite-file.ts";
import { sqliteFault } from "#store/store-fault.ts";
import type { NumberedBatch } from "./recording.ts";
import { openRetention, type Retention } from "./retention.ts";
import { openWrites } from "./writes.ts";

export interface WriterSetting {
  dataDir: string;
  /** PostgreSQL to write to, and the memory of this process's gate to it; null for a file in `dataDir`. */
  database: { url: string; gateMemory: GateMemory } | null;
  busyMilliseconds: number;
  retention: Retention;
  /** Id of the writer that numbers the batches. A server has a new writer each time it starts. */
  writer: string;
}

export type WriterMessage = NumberedBatch | "close";

/** The reply to each batch. */
export interface WriterReply {
  isWritten: boolean;
  /** Reason why the batch was not written, or why old records cannot be removed; null if there is none. */
  fault: string | null;
}

/** The store that batches are written to. SQLite's calls are finished when they return. */
interface OpenStore {
  write(batch: NumberedBatch): void | Promise<void>;
  /** Removes some old records. Returns false if none are left. */
  tidy(now: number): boolean | Promise<boolean>;
  close(): void;
}

const { dataDir, database, busyMilliseconds, retention, writer } = workerData as WriterSetting;
const port = parentPort!;
let store: OpenStore | undefined;
let queue = Promise.resolve();
let isTidying = false;
/** Reason why this role cannot remove old records from PostgreSQL. A successful write would not reveal it. */
let tidyFault: string | null = null;

port.on("message", (message: WriterMessage) => {
  queue = queue.then(() => (message === "close" ? close() : answer(message)));
});

async function answer(numbered: NumberedBatch): Promise<void> {
  let fault: string | null = null;
  try {
    store ??= await openStore();
    await store.write(numbered);
  } catch (error) {
    fault = (sqliteFault(error, usageFile(dataDir)) as Error).message;
  }
  const { requests, now } = numbered.batch;
  // Detaching frees the bytes at once. With so little garbage in this thread, the collector would run megabytes late.
  requests.bytes.transfer(0);
  if (!isTidying) tidy(now);
  const reply: WriterReply = { isWritten: fault === null, fault: fault ?? tidyFault };
  port.postMessage(reply);
}

function close(): void {
  store?.close();
  store = undefined;
  port.close();
}

/** Removes old records step by step. Batches that arrive in between are written first. */
function tidy(now: number): void {
  isTidying = true;
  setImmediate(() => {
    queue = queue.then(async () => {
      isTidying = false;
      try {
        if ((await store?.tidy(now)) === true) tidy(now);
        tidyFault = null;
      } catch (error) {
        // The next batch meets an SQLite error again and reports it. A step that was only busy is tried again.
        const isBusy = error instanceof StoreFault && error.kind === "busy";
        tidyFault = database === null || isBusy ? null : (error as Error).message;
      }
    });
  });
}

async function openStore(): Promise<OpenStore> {
  if (database !== null) return openPostgres(database);
  const connection = openFile(usageShape(dataDir, busyMilliseconds));
  const write = openWrites(connection, retention.logDays > 0);
  return {
    write: ({ batch }) => write(batch),
    tidy: openRetention(connection, retention),
    close: () => connection.close(),
  };
}

/** Opens a store that connects with the first statement, and again after an outage. A step uses one connection. */
async function openPostgres({ url, gateMemory }: NonNullable<typeof database>): Promise<OpenStore> {
  const { connectPostgres, openGate } = await import("#store/postgres.ts");
  const { openPostgresRetention, openPostgresWrites } = await import("./postgres.ts");
  const place = { url, gate: openGate(gateMemory) };
  const removeOld = openPostgresRetention(retention);
  let session: PostgresSession | undefined;
  const connected = async (): Promise<PostgresSession> => {
    if (session?.isOver === false) return session;
    // As with usage.sqlite, a crash may lose the writes of the last second.
    session = await connectPostgres(place, {
      name: "gp-records usage",
      settings: { synchronous_commit: "off" },
    });
    return session;
  };
  return {
    write: openPostgresWrites(
      async (text, values) => (await connected()).query(text, values),
      retention.logDays > 0,
      writer,
    ),
    async tidy(now) {
      if (session === undefined || session.isOver) return false;
      // If this machine's clock is ahead, it must not remove records that are still to be kept.
      const [clock] = await session.query<{ now: number }>(
        "select floor(extract(epoch from clock_timestamp()) * 1000) as now",
      );
      return removeOld(session, Math.min(now, clock!.now));
    },
    close: () => session?.close(),
  };
}
