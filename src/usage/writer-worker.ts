/** The writer thread: writes batches one after another, and removes old records. */
import { parentPort, workerData } from "node:worker_threads";
import { openFile, shapeOf, usageFile } from "#store/sqlite-file.ts";
import { postgresCodeOf, sqliteFault, StoreFault } from "#store/store-fault.ts";
import type { NumberedBatch } from "./recording.ts";
import { openPostgresRetention, openRetention } from "./retention.ts";
import type { WriterMessage, WriterReply, WriterSetting } from "./writer.ts";
import { openPostgresWrites, openWrites } from "./writes.ts";

const { dataDir, databaseUrl, busyMilliseconds, retention, writer } = workerData as WriterSetting;
const port = parentPort!;
const removeOld = openPostgresRetention(retention);
let store: Awaited<ReturnType<typeof openStore>> | undefined;
let queue = Promise.resolve();
let isTidying = false;
/**
 * Reason why old records cannot be removed from PostgreSQL; null if they can, or if the database was only busy. It is
 * reported with the next reply, because the write itself may succeed.
 */
let tidyFault: string | null = null;

port.on("message", (message: WriterMessage) => {
  queue = queue.then(() => (message === "close" ? close() : answer(message)));
});

async function answer(numbered: NumberedBatch): Promise<void> {
  let outcome: WriterReply["outcome"] = "written";
  let fault: string | null = null;
  try {
    if (store?.isOver() !== false) store = await openStore();
    await store.write(numbered);
  } catch (error) {
    // A code of class 22 means that the data is wrong. Trying the batch again would hold up all later ones.
    outcome = postgresCodeOf(error)?.startsWith("22") === true ? "refused" : "failed";
    fault = (sqliteFault(error, usageFile(dataDir)) as Error).message;
  }
  const { requests, now } = numbered.batch;
  // Detaching frees the bytes at once. This thread makes so little garbage that the collector would free them far too
  // late.
  requests.bytes.transfer(0);
  // PostgreSQL can seldom remove rows when it cannot write. The fault of the write is told, and ends with it.
  if (databaseUrl !== null && fault !== null) tidyFault = null;
  else if (!isTidying) tidy(now);
  port.postMessage({ outcome, fault: fault ?? tidyFault } satisfies WriterReply);
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
        // An SQLite error recurs when the next batch is written, which reports it. A step that was only busy is
        // tried again after the next batch.
        const isBusy = error instanceof StoreFault && error.kind === "busy";
        tidyFault = databaseUrl === null || isBusy ? null : (error as Error).message;
      }
    });
  });
}

/**
 * Opens the store that batches are written to. Its `tidy` removes some old records, and reports whether it removed any.
 * With SQLite, its functions are synchronous.
 */
async function openStore() {
  if (databaseUrl !== null) return openPostgresStore(databaseUrl);
  const connection = openFile(shapeOf("usage.sqlite", dataDir, busyMilliseconds));
  const write = openWrites(connection, retention.logDays > 0);
  return {
    write: ({ batch }: NumberedBatch) => write(batch),
    tidy: openRetention(connection, retention),
    isOver: () => false,
    close: () => connection.close(),
  };
}

/** Opens a store on one connection. A crash of the server may lose words, so their numbers are forgotten with it. */
async function openPostgresStore(url: string) {
  const { connectPostgres } = await import("#store/postgres.ts");
  // A server crash may lose the last second's writes. Usage is not worth a wait for the disk at each commit.
  const session = await connectPostgres(url, {
    name: "gp-records usage",
    settings: { synchronous_commit: "off" },
  });
  const write = openPostgresWrites(session.query, retention.logDays > 0, writer);
  let newest = 0;
  return {
    async write(numbered: NumberedBatch) {
      newest = (await write(numbered)) ?? newest;
    },
    async tidy(now: number) {
      // This machine's clock may be ahead. Records that are still to be kept must not be removed because of it.
      const [clock] = await session.query<{ now: number }>(
        "select floor(extract(epoch from clock_timestamp()) * 1000) as now",
      );
      return removeOld(session, Math.min(now, clock!.now), newest);
    },
    isOver: () => session.isOver,
    close: session.close,
  };
}
