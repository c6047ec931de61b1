/** The real program in a process of its own, with records and keys, watched from outside. */
import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openCatalogue } from "#datasets/catalogue.ts";
import type { CanonicalRecord } from "#records/canonical.ts";
import { endWithUs, temporaryFolder } from "../../bench/clean-up.ts";
import { importRecords } from "../../test/support/dataset.ts";
import { watchLog, type LogWatch } from "./watch-log.ts";
import { issueSecrets, type Secrets } from "./secrets.ts";

export const source = "own";

export interface FuzzServer {
  port: number;
  secrets: Secrets;
  log: LogWatch;
  /** Memory in bytes, after a garbage collection; null where the process does not answer. */
  measure(): Promise<NodeJS.MemoryUsage | null>;
  /** Why it is not running any more; null while it is. */
  death(): string | null;
  /** @returns the exit code after a SIGTERM. */
  stop(): Promise<number | null>;
}

const mainPath = fileURLToPath(import.meta.resolve("#cli/main.ts"));
const collectorPath = join(import.meta.dirname, "collect-garbage.ts");
/** Small, so that the cache is full soon and what it holds does not look like a leak. */
const answerCacheBytes = 4 * 1024 * 1024;
const patienceMilliseconds = 10_000;

export async function startServer(records: readonly CanonicalRecord[]): Promise<FuzzServer> {
  const dataDir = temporaryFolder("fuzz");
  const { outcome } = await importRecords(openCatalogue(join(dataDir, "datasets")), records, {
    source,
    nowMilliseconds: Date.now(),
  });
  if (outcome !== "built") throw new Error(`the records of the fuzz were ${outcome}`);
  const secrets = await issueSecrets(dataDir, Date.now());
  const child = endWithUs(
    spawn(process.execPath, ["--expose-gc", "--import", collectorPath, mainPath, "serve"], {
      env: {
        PATH: process.env["PATH"],
        NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
        DATA_DIR: dataDir,
        PORT: "0",
        ANSWER_CACHE_BYTES: String(answerCacheBytes),
      },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    }),
  );
  const log = watchLog(child, secrets);
  const ended = new Promise<void>((resolve) => void child.once("exit", () => resolve()));
  let isStopping = false;
  const address = await Promise.race([log.address, ended.then(() => null)]);
  if (address === null) throw new Error(`the server did not start: ${log.takeFaults().join("\n")}`);
  return {
    port: Number(new URL(address).port),
    secrets,
    log,
    measure: () => measure(child),
    death: () =>
      isStopping || (child.exitCode === null && child.signalCode === null)
        ? null
        : `exit code ${child.exitCode}, signal ${child.signalCode}`,
    async stop() {
      isStopping = true;
      child.kill("SIGTERM");
      const patience = setTimeout(() => child.kill("SIGKILL"), patienceMilliseconds);
      await ended;
      clearTimeout(patience);
      return child.exitCode;
    },
  };
}

function measure(child: ChildProcess): Promise<NodeJS.MemoryUsage | null> {
  if (!child.connected) return Promise.resolve(null);
  return new Promise((resolve) => {
    const patience = setTimeout(() => resolve(null), patienceMilliseconds);
    child.once("message", (usage) => {
      clearTimeout(patience);
      resolve(usage as NodeJS.MemoryUsage);
    });
    child.send("measure");
  });
}
