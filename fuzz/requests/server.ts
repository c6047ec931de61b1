/** The real program in a process of its own, with records and keys, watched from outside. */
import { join } from "node:path";
import { openCatalogue } from "#datasets/catalogue.ts";
import type { CanonicalRecord } from "#records/canonical.ts";
import { temporaryFolder } from "../../bench/clean-up.ts";
import { serve, type Server } from "../../bench/program.ts";
import { importRecords } from "../../test/support/dataset.ts";
import { openLogWatch, type LogWatch } from "./watch-log.ts";
import { issueSecrets, type IssuedSecrets } from "./secrets.ts";

export const source = "own";

export interface FuzzServer extends Server {
  secrets: IssuedSecrets;
  log: LogWatch;
  /** Why it is not running any more; null while it is. */
  death(): string | null;
}

/** Small, so that the cache is full soon and what it holds does not look like a leak. */
const answerCacheBytes = 4 * 1024 * 1024;

export async function startServer(records: readonly CanonicalRecord[]): Promise<FuzzServer> {
  const dataDir = temporaryFolder("fuzz");
  const { outcome } = await importRecords(openCatalogue(join(dataDir, "datasets")), records, {
    source,
    nowMilliseconds: Date.now(),
  });
  if (outcome !== "built") throw new Error(`the records of the fuzz were ${outcome}`);
  const secrets = await issueSecrets(dataDir, Date.now());
  const log = openLogWatch(secrets);
  const server = await serve({
    dataDir,
    settings: { ANSWER_CACHE_BYTES: String(answerCacheBytes) },
    nodeArgs: ["--expose-gc"],
    isWatched: true,
    hear: log.hear,
  });
  const { child } = server;
  child.stderr!.on("data", log.hearError);
  const death = () =>
    child.exitCode === null && child.signalCode === null
      ? null
      : `exit code ${child.exitCode}, signal ${child.signalCode}`;
  return { ...server, secrets, log, death };
}
