/** Moves 200,000 requests and three datasets from a folder into PostgreSQL and back, and compares each side. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { allCommands } from "../support/all-commands.ts";
import { hour, noon } from "../support/control.ts";
import { freshDatabase, hasPostgres, runSql } from "../support/postgres.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { putRequests, request, tidyUsage, usageOf } from "../support/usage.ts";
import { fillInstallation, pictureOf } from "./installation.ts";

const requests = 200_000;
const atOnce = 4000;

async function fillLog(dataDir: string): Promise<void> {
  for (let done = 0; done < requests; done += atOnce)
    await putRequests(
      dataDir,
      Array.from({ length: atOnce }, (_, i) =>
        request({
          at: noon - 20 * hour + Math.floor((done + i) / 4),
          account: 1 + ((done + i) % 3),
          key: `key_${(done + i) % 5}`,
          status: i % 9 === 0 ? 400 : 200,
          problem: i % 9 === 0 ? "invalid-parameters" : null,
          bytes: 100 + ((done + i) % 5000),
          milliseconds: ((done + i) % 1000) / 100,
          requestId: `request ${done + i}`,
          query: i % 3 === 0 ? `gp_name=${i}` : null,
        }),
      ),
    );
  await tidyUsage(dataDir, noon);
}

const control = [
  "plan",
  "account",
  "api_key",
  "person",
  "member",
  "throttle",
  "audit",
  "notice",
  "followed_view",
];

/** What SQLite says of a value: its type and its text. The client of PostgreSQL gives large whole numbers as text. */
function quoted(value: string | number | Uint8Array | null): string[] {
  if (value === null) return ["null", "NULL"];
  if (value instanceof Uint8Array) return ["blob", `X'${value.toHex().toUpperCase()}'`];
  const text = String(value);
  return /^-?\d+$/.test(text) ? ["integer", text] : ["text", `'${text.replaceAll("'", "''")}'`];
}

async function rowsIn(url: string, table: string): Promise<string[]> {
  const rows = await runSql<any>(url, `select * from ${table}`);
  const texts = rows.map((row) => {
    const names = Object.keys(row).toSorted();
    return JSON.stringify(names.flatMap((name) => quoted(row[name])));
  });
  return texts.filter((row) => !row.includes("'backup.restored'")).toSorted();
}

test("200,000 requests and three datasets go from a folder into PostgreSQL and back, row for row and hash for hash", async (t) => {
  if (!hasPostgres(t)) return;
  const here = join(temporaryFolder(t), "here");
  await fillInstallation(here);
  await fillLog(here);
  const url = await freshDatabase(t);
  const back = join(temporaryFolder(t), "back");
  const [there, again] = ["there.tar", "back.tar"].map((name) => join(temporaryFolder(t), name));
  await allCommands(here).text("backup", there!, "--requests");
  await allCommands(here).text("keys revoke key_b");
  const { tables, ...before } = await pictureOf(here);
  assert.ok((before.usage as { requests: unknown[] }).requests.length > requests);
  t.diagnostic(await allCommands(here).text("restore", there!, "--to", url));
  assert.deepEqual(await usageOf({ dataDir: here, databaseUrl: url }), before.usage);
  const stored = await runSql<any>(url, "select facts from dataset order by version");
  assert.deepEqual(
    stored.map(({ facts }) => ({ ...facts, read: { sha256: facts.sha256, bytes: facts.bytes } })),
    before.datasets.datasets,
  );
  // The revocation came after the backup: its entry of the audit log stays behind, the revocation itself does not.
  const audit = (tables["audit"] as string[]).filter((row) => !row.includes("'key.revoked'"));
  const expected: typeof tables = { ...tables, audit };
  for (const table of control) assert.deepEqual(await rowsIn(url, table), expected[table], table);
  const onDatabase = allCommands(temporaryFolder(t), { DATABASE_URL: url });
  await onDatabase.text("backup", again!, "--requests");
  t.diagnostic(await onDatabase.text("restore", again!, "--to", back));
  const { tables: tablesBack, ...after } = await pictureOf(back);
  assert.deepEqual(after, before);
  assert.deepEqual(tablesBack, expected);
  for (const place of [onDatabase, allCommands(back)]) {
    const keys = await place.json("keys list");
    assert.equal(keys.find(({ id }: { id: string }) => id === "key_b").state, "revoked");
  }
});
