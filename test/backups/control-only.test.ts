import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { createAccount } from "#accounts/accounts.ts";
import { issueKey } from "#keys/keys.ts";
import { openUsage } from "#store/stores.ts";
import { noon } from "../support/control.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { backedUp, backup, currentOf, keyStates, restore, withControl } from "./backed-up.ts";

/** A folder with a nightly backup, and a key that was made after it and is in a backup of the control store. */
async function withLaterKey(t: TestContext) {
  const made = await backedUp(t);
  await (await openUsage(made.dataDir)).close();
  await made.issue("later");
  await made.revoke(made.keys[0].id);
  const later = `${made.file}.control`;
  const { manifest } = await backup(made.dataDir, later, true);
  return { ...made, later, manifest };
}

const afterAll = { first: "revoked", second: "active", third: "active", later: "active" };
const bytesOf = (folder: string, name: string) => readFileSync(join(folder, name));

test("a backup of the control store holds it and nothing else", async (t) => {
  const { manifest } = await withLaterKey(t);
  assert.deepEqual(
    manifest.files.map(({ path }) => path),
    ["control.sqlite"],
  );
  assert.deepEqual([manifest.dataset, manifest.pinned], [null, []]);
});

test("restored over the backup of the night, it brings what came since, and leaves records and usage as they are", async (t) => {
  const { file, later } = await withLaterKey(t);
  const dataDir = join(temporaryFolder(t), "new");
  await restore(dataDir, file);
  const [version, usage] = [currentOf(dataDir), bytesOf(dataDir, "usage.sqlite")];
  const trial = await restore(dataDir, later, { mayReplace: true, isTrial: true });
  assert.deepEqual([trial.manifest.control_only, trial.dataset], [true, version]);
  const restored = await restore(dataDir, later, { mayReplace: true });
  assert.deepEqual([restored.keys, restored.dataset], [3, version]);
  assert.deepEqual(await keyStates(dataDir), afterAll);
  assert.equal(currentOf(dataDir), version);
  assert.deepEqual(bytesOf(dataDir, "usage.sqlite"), usage);
  assert.deepEqual(
    readdirSync(restored.replaced!).filter((name) => name !== "counts"),
    ["control.sqlite"],
  );
});

test("it mends a control store that is damaged, and what is kept of usage stays", async (t) => {
  const { dataDir, later } = await withLaterKey(t);
  const usage = bytesOf(dataDir, "usage.sqlite");
  truncateSync(join(dataDir, "control.sqlite"), 5000);
  await assert.rejects(restore(dataDir, later, { mayReplace: true }), /--undo-revocations/);
  await restore(dataDir, later, { mayReplace: true, undoesEndings: true });
  assert.deepEqual(await keyStates(dataDir), afterAll);
  assert.deepEqual(bytesOf(dataDir, "usage.sqlite"), usage);
});

test("restored where nothing is, the folder has the keys and no dataset", async (t) => {
  const { later } = await withLaterKey(t);
  const dataDir = join(temporaryFolder(t), "new");
  const restored = await restore(dataDir, later);
  assert.deepEqual([restored.dataset, restored.keys, restored.replaced], [null, 3, null]);
  assert.deepEqual(await keyStates(dataDir), afterAll);
});

test("where the accounts of the folder are others, what they used is not taken for that of the accounts in the backup", async (t) => {
  const { later } = await withLaterKey(t);
  const dataDir = join(temporaryFolder(t), "other");
  await withControl(dataDir, async (control) => {
    const account = await createAccount(control, { name: "Other", quotas: {}, now: noon });
    await issueKey(control, { account, name: "theirs", expiresAt: null, now: noon });
  });
  await (await openUsage(dataDir)).close();
  const { replaced } = await restore(dataDir, later, { mayReplace: true });
  assert.ok(existsSync(join(replaced!, "usage.sqlite")));
  assert.deepEqual(await keyStates(dataDir), afterAll);
});

test("a folder without a control store has nothing of it to back up", async (t) => {
  const dataDir = temporaryFolder(t);
  await (await openUsage(dataDir)).close();
  const file = join(temporaryFolder(t), "control.tar");
  await assert.rejects(backup(dataDir, file, true), /There is nothing to back up in .*DATA_DIR/);
  assert.equal(existsSync(file), false);
});
