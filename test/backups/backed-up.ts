/** A data folder with keys and a dataset, backups of it, and backups that were tampered with. */
import { createHash } from "node:crypto";
import { appendFileSync, createReadStream, rmSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { createAccount, suspendAccount } from "#accounts/accounts.ts";
import { backupToFile } from "#backups/make-backup.ts";
import { type FolderOrder, restoreBackup } from "#backups/restore.ts";
import { readTar, writeTar } from "#backups/tar.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { issueKey, listKeys, revokeKey } from "#keys/keys.ts";
import type { ControlStore } from "#store/stores.ts";
import { cast } from "../support/cast.ts";
import { hour, noon, useControl } from "../support/control.ts";
import { importRecords } from "../support/dataset.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

export const withControl = <R>(
  dataDir: string,
  work: (control: ControlStore) => Promise<R>,
): Promise<R> => useControl({ dataDir, databaseUrl: null }, work);

/** State of each key by its name. */
export const keyStates = (dataDir: string) =>
  withControl(dataDir, async (control) =>
    Object.fromEntries(
      (await listKeys(control, { now: noon + hour })).map(({ name, state }) => [name, state]),
    ),
  );

export const currentOf = (dataDir: string) =>
  openCatalogue(join(dataDir, "datasets")).currentVersion();

/** An account with three keys, a dataset of `cast`, and a backup of both. */
export async function backedUp(t: TestContext) {
  const dataDir = join(temporaryFolder(t), "data");
  const file = join(temporaryFolder(t), "backup.tar");
  await importRecords(openCatalogue(join(dataDir, "datasets")), cast);
  const issue = (name: string) =>
    withControl(dataDir, async (control) => {
      const account = { number: 1, id: "ac_unused" };
      return issueKey(control, { account, name, expiresAt: null, now: noon });
    });
  await withControl(dataDir, (control) =>
    createAccount(control, { name: "Acme", quotas: {}, now: noon }),
  );
  const keys = [await issue("first"), await issue("second"), await issue("third")] as const;
  const made = await backup(dataDir, file);
  return {
    dataDir,
    file,
    keys,
    made,
    issue,
    revoke: (id: string) => withControl(dataDir, (control) => revokeKey(control, id, noon)),
    suspend: () => withControl(dataDir, (control) => suspendAccount(control, "Acme", noon)),
  };
}

export const backup = (dataDir: string, file: string, isControlOnly = false) =>
  backupToFile(
    { dataDir, databaseUrl: null, program: "1.2.3", now: noon, isControlOnly, hasRequests: false },
    file,
    false,
  );

export const restore = (dataDir: string, file: string, options: Partial<FolderOrder> = {}) =>
  restoreBackup({
    dataDir,
    archive: { name: file, read: () => createReadStream(file) },
    former: { dataDir, databaseUrl: null },
    now: noon,
    mayReplace: false,
    undoesEndings: false,
    isTrial: false,
    ...options,
  });

const contentOf = (path: string, bytes: Buffer) => ({
  path,
  bytes: bytes.length,
  sha256: createHash("sha256").update(bytes).digest("hex"),
  async *read() {
    yield bytes;
  },
});

/** All that is in a backup except its manifest, by path. */
export type Contents = Map<string, Buffer>;

/**
 * Writes `to`, the backup `from` with other contents, all of whose sizes and hashes are right.
 * @param change edits the contents in place. @param manifest edits what the manifest would then say, or returns its text.
 */
export async function tamper(
  from: string,
  to: string,
  change: (files: Contents) => void,
  manifest: (sound: any) => string | void = () => {},
): Promise<void> {
  const reader = readTar(createReadStream(from));
  const files: Contents = new Map();
  for (let entry = await reader.next(); entry !== null; entry = await reader.next())
    files.set(entry.path, Buffer.concat(await Array.fromAsync(reader.content())));
  const said = JSON.parse(files.get("manifest.json")!.toString());
  files.delete("manifest.json");
  change(files);
  const contents = [...files].map(([path, bytes]) => contentOf(path, bytes));
  said.files = contents.map(({ path, bytes, sha256 }) => ({ path, bytes, sha256 }));
  const text = manifest(said) ?? JSON.stringify(said);
  rmSync(to, { force: true });
  await writeTar(
    [contentOf("manifest.json", Buffer.from(text)), ...contents],
    noon,
    async (bytes) => appendFileSync(to, bytes),
  );
}
