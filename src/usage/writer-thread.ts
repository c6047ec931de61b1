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
  /** PostgreSQL to write to, and the gate through which this process connects; null for a file in `dataDir`. */
  database: { url: string; gateMemory: GateMemory } | null;
  busyMilliseconds: number;
  retention: Retention;
  /** Id of the writer that numbers the batches, a new one for each start of a server. */
  writer: string;
}

export type WriterMessage = NumberedBatch | "close";

/** The reply to each batch. */
export interface WriterReply {
  isWritten: boolean;
  /** Reason why the batch was not written, or old records are not removed; null if there is none. */
  fault: string | null;
}

/** The store that is written to. Calls on SQLite are done when they return. */
interface OpenStore {
  write(batch: NumberedBatch): void | Promise<void>;
  /** Removes some old records. Returns false if there are none. */
  tidy(now: number): boolean | Promise<boolean>;
  close(): void;
}

const { dataDir, database, busyMilliseconds, retention, writer } = workerData as WriterSetting;
const port = parentPort!;
let store: OpenStore | undefined;
let queue = Promise.resolve();
let isTidying = false;
/** Reason why PostgreSQL does not let this role remove old records, which no write would tell. */
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
  // Detaching frees the bytes at once. This thread makes so little garbage that the collector would run megabytes late.
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

/** Removes old records step by step, each step after the batches that arrived meanwhile. */
function tidy(now: number): void {
  isTidying = true;
  setImmediate(() => {
    queue = queue.then(async () => {
      isTidying = false;
      try {
        if ((await store?.tidy(now)) === true) tidy(now);
        tidyFault = null;
      } catch (error) {
        // The next batch meets an error of SQLite again and reports it. What is only busy is tried again.
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

/** Connects with the first statement, and again after an outage. Each step of removal keeps to one connection. */
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
      // A clock here that is ahead must not remove records that others are to keep.
      const [clock] = await session.query<{ now: number }>(
        "select floor(extract(epoch from clock_timestamp()) * 1000) as now",
      );
      return removeOld(session, Math.min(now, clock!.now));
    },
    close: () => session?.close(),
  };
}
