/** Extras of `serve --demo`: its settings, invented records, and a key for the person at the machine. */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { createAccount, findAccount } from "#accounts/accounts.ts";
import { type Config, ConfigFault, isLoopback, readConfig } from "#config.ts";
import { writeSynced } from "#store/whole-file.ts";
import type { DatasetList } from "#datasets/catalogue.ts";
import type { DatasetStore } from "#datasets/store.ts";
import type { DemoSize } from "#demo/invent.ts";
import { digestKey } from "#keys/api-key.ts";
import { isLive, issueKey, listKeys, revokeKey } from "#keys/keys.ts";
import { demoSource } from "#records/common.ts";
import { service } from "#store/audit.ts";
import { dayMilliseconds } from "#store/durations.ts";
import type { ControlStore } from "#store/stores.ts";
import { grouped } from "#words.ts";
import type { CliContext } from "./command.ts";
import { noteChange, withControl } from "./data-dir.ts";
import { dataFolderFault, lookAtDatasets } from "./datasets-folder.ts";
import { showProgress } from "./output.ts";
import { changePublished } from "./publishing.ts";

const demoAccount = "demo";

/**
 * Returns the settings of a demo: anybody may browse, and may sign up without mail. Only errors are logged unless
 * LOG_LEVEL is set.
 * @throws ConfigFault if others could reach the demo, or if a setting is meant for a real installation.
 */
export function demoConfig(config: Config, environment: CliContext["environment"]): Config {
  const { host, isProduction, publicUrl, trustedProxies, databaseUrl } = config;
  const faults = [
    !isLoopback(host) && `HOST must be a loopback address for --demo, but is '${host}'.`,
    isProduction && "NODE_ENV must not be 'production' for --demo. Unset it.",
    databaseUrl !== null && "DATABASE_URL must not be set for --demo. Unset it.",
    publicUrl !== null && "PUBLIC_URL must not be set for --demo. Unset it.",
    trustedProxies !== null && "TRUSTED_PROXIES must not be set for --demo. Unset it.",
  ].filter((fault) => fault !== false);
  if (faults.length > 0) throw new ConfigFault(faults);
  const isLevelSet = (environment["LOG_LEVEL"]?.trim() ?? "") !== "";
  const logLevel = isLevelSet ? config.logLevel : "error";
  return Object.freeze({ ...config, isDemo: true, signUp: "open", browse: "everyone", logLevel });
}

/** Age given to the first dataset, in ms, so that the second one's changes span some days. */
const firstAgeMilliseconds = 4 * dayMilliseconds;

/**
 * Publishes invented records if the data folder has no current dataset, and finds or makes the demo's key.
 * @param size numbers of records; those of the whole demo if left out.
 * @returns the key, and the number of records invented now, which is 0 if there was already a dataset.
 */
export async function prepareDemo(context: CliContext, size?: DemoSize) {
  const { dataDir } = readConfig(context.environment);
  const now = context.now();
  const earlier = { ...context, now: () => now - firstAgeMilliseconds };
  const progress = showProgress({ isPipedToo: true });
  try {
    const inventedCount = await publishState(earlier, {
      state: "inventEarlier",
      size,
      isWanted: (kept) => kept.current() === null,
      onProgress: (some, done, all) =>
        progress.show(some, `of about ${all} records ${done === "read" ? "invented" : done}`),
    });
    const key = await withControl(context, (control) => demoKey(control, dataDir, now));
    return { ...key, inventedCount };
  } catch (error) {
    throw dataFolderFault(error, dataDir);
  } finally {
    progress.clear();
  }
}

interface DemoState {
  /** Name of the function that invents the records. */
  state: "inventEarlier" | "inventRecords";
  size?: DemoSize | undefined;
  isWanted(kept: DatasetList): boolean;
  onProgress?(some: number, done: string, all: string): void;
}

/** Imports and publishes a state of the demo. @returns the number of its records; 0 if it is not wanted. */
async function publishState(
  context: CliContext,
  { state, size: given, isWanted, onProgress }: DemoState,
): Promise<number> {
  const isWantedIn = async (store: DatasetStore) => isWanted(await store.read());
  // Also checked before the lock is taken, so that a filled folder never waits for an import.
  if (!(await lookAtDatasets(context, isWantedIn))) return 0;
  const { demoSize, recordCount, [state]: invent } = await import("#demo/invent.ts");
  const { importSource } = await import("#datasets/publish.ts");
  const size = given ?? demoSize;
  return changePublished(context, { isDryRun: false }, async (store, kept) => {
    if (!(await isWantedIn(store))) return 0;
    const { collected, published } = await importSource(store, {
      source: demoSource,
      entries: invent(size),
      ...kept,
      rejectedMax: { lines: 0 },
      isDryRun: false,
      nowMilliseconds: context.now(),
      onProgress: (some, done) => onProgress?.(some, done, grouped(recordCount(size))),
    });
    const subject = published!.version;
    await noteChange(context, { actor: service, action: "dataset.published", subject });
    return collected.accepted;
  });
}

/** Publishes the second dataset of a demo if the first one is the only dataset. */
export async function publishSecond(context: CliContext, size: DemoSize): Promise<void> {
  const isWanted = (kept: DatasetList) => {
    const [first, ...others] = kept.list();
    const { gp = 0, principal = 0 } = first?.records ?? {};
    return others.length === 0 && gp === size.gps && principal < size.principals;
  };
  await publishState(context, { state: "inventRecords", size, isWanted });
}

/**
 * Publishes the second dataset in its own thread, so that it does not slow down the first start. The next start
 * publishes it if the process ends too early.
 */
export function startSecond({ environment }: CliContext, onError: (error: Error) => void): void {
  const worker = new Worker(new URL("./demo-worker.ts", import.meta.url), {
    workerData: { ...environment },
  });
  worker.on("error", onError);
  worker.unref();
}

/** Returns the path of the key's file. Later starts read the key there, because the store has only its digest. */
const keyFile = (dataDir: string) => join(dataDir, "demo.key");

/** Returns the key made at an earlier start, or a new one if that one no longer works or its file is gone. */
async function demoKey(control: ControlStore, dataDir: string, now: number) {
  const kept = await findKeptKey(control, dataDir, now);
  if (kept !== null) return kept;
  const account =
    (await findAccount(control.database, demoAccount)) ??
    (await createAccount(control, { name: demoAccount, quotas: {}, actor: service, now }));
  // A key may still work although its file is gone. The new key replaces it.
  for (const lost of await listKeys(control, { accountNumber: account.number, now }))
    if (lost.isDemo && isLive(lost)) await revokeKey(control, lost.id, now, service);
  const expiresAt = now + dayMilliseconds;
  const order = { account, name: "demo", expiresAt, isDemo: true, actor: service, now };
  const { key } = await issueKey(control, order);
  // Removed first: an existing file would keep its mode.
  rmSync(keyFile(dataDir), { force: true });
  writeSynced(keyFile(dataDir), `${key}\n`);
  return { key, expiresAt: new Date(expiresAt).toISOString() };
}

/** Returns the key in the file. Returns null if there is none, or if it is not a demo key that still works. */
async function findKeptKey(control: ControlStore, dataDir: string, now: number) {
  const file = keyFile(dataDir);
  const key = existsSync(file) ? readFileSync(file, "utf8").trim() : "";
  const [found] = await listKeys(control, { digest: digestKey(key), now });
  if (found === undefined || !found.isDemo || !isLive(found) || found.expiresAt === null)
    return null;
  return { key, expiresAt: found.expiresAt };
}

export function demoText(
  address: string,
  { key, expiresAt, inventedCount }: Awaited<ReturnType<typeof prepareDemo>>,
): string {
  const until = `${expiresAt.slice(0, 16).replace("T", " ")} UTC`;
  const records = inventedCount > 0 ? ` with ${grouped(inventedCount)} invented records` : "";
  return `
gp-records answers at ${address}${records}

  your key                  ${key}
  valid until               ${until}, even after a restart
  first query               curl -H 'x-api-key: ${key}' '${address}/fetch-gp?gp_name=stone&limit=1'
  API reference             ${address}/docs
  browse the records        ${address}/browse/gps
  create your own keys      ${address}/account

Press Ctrl-C to stop the server.
`;
}
