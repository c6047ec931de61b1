/** What `serve --demo` does before it serves: invented records, and a key for whoever sits at this machine. */
import { ConfigFault, isLoopback, type Config } from "#config.ts";
import { createAccount } from "#accounts/accounts.ts";
import { findAccount } from "#accounts/find-account.ts";
import type { DemoSize } from "#demo/invent.ts";
import { issueKey, listKeys, revokeKey } from "#keys/keys.ts";
import { service, writeAudit } from "#store/audit.ts";
import { openControl, type ControlStore } from "#store/stores.ts";
import { dataFolderFault, openDatasets, takeImportLock } from "./datasets-folder.ts";
import { showProgress } from "./progress.ts";

const demoAccount = "demo";
const keyLifetimeMilliseconds = 24 * 3_600_000;

/**
 * The settings of a demo: everyone may sign up, and nobody has to read mail.
 * @throws ConfigFault where others than this machine could reach the demo.
 */
export function demoConfig(config: Config): Config {
  const { host, isProduction, publicUrl, trustedProxies } = config;
  const faults = [
    !isLoopback(host) && `HOST must be a loopback address for --demo, but is '${host}'.`,
    isProduction && "NODE_ENV must not be 'production' for --demo.",
    publicUrl !== null && "PUBLIC_URL must not be set for --demo.",
    trustedProxies !== null && "TRUSTED_PROXIES must not be set for --demo.",
  ].filter((fault) => fault !== false);
  if (faults.length > 0) throw new ConfigFault(faults);
  return Object.freeze({ ...config, isDemo: true, signUp: "open" });
}

export interface Demo {
  key: string;
  /** How many records were invented now; 0 where some were there already. */
  inventedCount: number;
}

/**
 * Real records are left alone: only an empty data folder is filled.
 * @param size what `inventRecords` makes; the whole demo if left out.
 */
export async function prepareDemo(
  { dataDir }: Config,
  now: number,
  size?: Readonly<DemoSize>,
): Promise<Demo> {
  const inventedCount = await inventIfEmpty(dataDir, now, size);
  const control = await openControl(dataDir);
  try {
    if (inventedCount > 0) await noteInvented(control, dataDir, now);
    return { key: await renewKey(control, now), inventedCount };
  } finally {
    await control.close();
  }
}

async function inventIfEmpty(
  dataDir: string,
  nowMilliseconds: number,
  size: Readonly<DemoSize> | undefined,
): Promise<number> {
  const catalogue = openDatasets(dataDir);
  const isEmpty = () => catalogue.current() === null;
  // Whoever only looks at records need not wait for an import.
  if (!isEmpty()) return 0;
  const { demoSize, inventRecords } = await import("#demo/invent.ts");
  const { demoSource, importSource } = await import("#datasets/publish.ts");
  const lock = takeImportLock(dataDir);
  const progress = showProgress("records invented");
  try {
    // An import may have ended before the lock was taken.
    if (!isEmpty()) return 0;
    const { collected } = await importSource(catalogue, {
      source: demoSource,
      entries: inventRecords(size ?? demoSize),
      rejectedMax: { lines: 0 },
      isDryRun: false,
      nowMilliseconds,
      onRead: progress.show,
    });
    return collected.accepted;
  } catch (error) {
    throw dataFolderFault(error, dataDir);
  } finally {
    progress.clear();
    lock.release();
  }
}

async function noteInvented(control: ControlStore, dataDir: string, now: number): Promise<void> {
  const subject = openDatasets(dataDir).currentVersion();
  const entry = { actor: service, subject, now };
  await control.write((transaction) =>
    writeAudit(transaction, { ...entry, action: "dataset.published" }),
  );
}

/** The key of an earlier start is printed on some screen still, so it ends now. */
async function renewKey(control: ControlStore, now: number): Promise<string> {
  const account =
    (await findAccount(control.database, demoAccount)) ??
    (await createAccount(control, { name: demoAccount, quotas: {}, actor: service, now }));
  for (const old of await listKeys(control, { accountNumber: account.number, now }))
    if (old.isDemo && old.state !== "revoked") await revokeKey(control, old.id, now, service);
  const issued = await issueKey(control, {
    account,
    name: "demo",
    expiresAt: now + keyLifetimeMilliseconds,
    isDemo: true,
    actor: service,
    now,
  });
  return issued.key;
}

export function demoText(address: string, { key, inventedCount }: Demo): string {
  const records =
    inventedCount > 0 ? ` with ${inventedCount.toLocaleString("en-US")} invented records` : "";
  return `
gp-records answers at ${address}${records}

  your key, for 24 hours    ${key}
  a first query             curl -H 'x-api-key: ${key}' '${address}/fetch-gp?gp_name=stone&limit=1'
  the reference             ${address}/docs
  keys of your own          ${address}/account

Ctrl-C ends it.
`;
}
