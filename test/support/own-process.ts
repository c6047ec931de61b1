/** A whole service in a process of its own, with records, an account and a key, for the length of one test. */
import { join } from "node:path";
import type { TestContext } from "node:test";
import { createAccount } from "#accounts/accounts.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { issueKey } from "#keys/keys.ts";
import type { Quotas } from "#limits/policy.ts";
import { cast } from "./cast.ts";
import { useControl } from "./control.ts";
import { importRecords } from "./dataset.ts";
import { startServer } from "./server-process.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** So much that no test meets its end. */
export const roomy: Quotas = { minute: 100_000, hour: 100_000, day: 100_000 };

export type OwnProcess = Awaited<ReturnType<typeof startOwnProcess>>;

export async function startOwnProcess(t: TestContext, records: readonly unknown[] = cast) {
  const dataDir = temporaryFolder(t);
  await importRecords(openCatalogue(join(dataDir, "datasets")), records);
  const key = await newKey(dataDir, "roomy", roomy);
  const server = await startServer(t, { dataDir });
  return { ...server, dataDir, key, log: server.out };
}

/** A key of a new account, made beside a server that may be running on this folder, or on this database in its place. */
export async function newKey(
  dataDir: string,
  name: string,
  quotas: Partial<Quotas> = {},
  databaseUrl: string | null = null,
): Promise<string> {
  return useControl({ dataDir, databaseUrl }, async (control) => {
    const account = await createAccount(control, { name, quotas, now: Date.now() });
    const order = { account, name, expiresAt: null, now: Date.now() };
    return (await issueKey(control, order)).key;
  });
}
