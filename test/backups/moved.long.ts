/** Moves 200,000 requests and three datasets from a folder into PostgreSQL and back, and prints the sums and hashes of each side. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { openCatalogue } from "#datasets/catalogue.ts";
import { allCommands } from "../support/all-commands.ts";
import { hour, noon } from "../support/control.ts";
import type { StorePlace } from "../support/for-each-store.ts";
import { freshDatabase, hasPostgres, runSql } from "../support/postgres.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { putRequests, request, tidyUsage } from "../support/usage.ts";
import { usageOf } from "../support/usage.ts";
import { fillInstallation } from "./installation.ts";

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

interface Sum {
  rows: number;
  bytes?: number;
  sha256: string;
}

const hashOf = (rows: readonly unknown[]): Sum => {
  const digest = createHash("sha256");
  for (const row of rows) digest.update(`${JSON.stringify(row)}\n`);
  return { rows: rows.length, sha256: digest.digest("hex") };
};

/** The client of PostgreSQL gives large whole numbers as text. */
const plain = (value: unknown) => {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  return typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
};

const tables = ["plan", "account", "api_key", "person", "member", "throttle", "audit", "notice"];

function rowsIn(file: string, table: string): Record<string, unknown>[] {
  const db = new DatabaseSync(file, { readOnly: true });
  const rows = db.prepare(`select * from ${table}`).all();
  db.close();
  return rows;
}

async function sumsOf(place: StorePlace): Promise<Record<string, Sum>> {
  const { dataDir, databaseUrl } = place;
  const sums: Record<string, Sum> = {};
  for (const table of tables) {
    const rows =
      databaseUrl === null
        ? rowsIn(join(dataDir, "control.sqlite"), table)
        : await runSql(databaseUrl, `select * from ${table}`);
    const texts = rows
      // Each restore adds an entry of its own.
      .filter((row) => row["action"] !== "backup.restored")
      .map((row) =>
        JSON.stringify(
          Object.keys(row)
            .toSorted()
            .map((name) => [name, plain(row[name])]),
        ),
      );
    sums[table] = hashOf(texts.toSorted());
  }
  const usage = (await usageOf(place)) as Record<"requests" | "lastUse" | "totals", unknown[]>;
  for (const [name, rows] of Object.entries(usage)) sums[name] = hashOf(rows);
  sums["requests"]!.bytes = (usage.requests as { bytes: number }[]).reduce(
    (sum, { bytes }) => sum + bytes,
    0,
  );
  const datasets =
    databaseUrl === null
      ? openCatalogue(join(dataDir, "datasets")).list()
      : await runSql<any>(
          databaseUrl,
          "select name as version, sha256, bytes from dataset_file join dataset on version = name order by 1",
        );
  for (const { version, sha256, bytes } of datasets)
    sums[`dataset ${version}`] = { rows: 1, bytes: Number(bytes), sha256 };
  return sums;
}

test("200,000 requests and three datasets go from a folder into PostgreSQL and back, sum for sum and hash for hash", async (t) => {
  if (!hasPostgres(t)) return;
  const here = join(temporaryFolder(t), "here");
  await fillInstallation(here);
  await fillLog(here);
  const url = await freshDatabase(t);
  const back = join(temporaryFolder(t), "back");
  const files = ["there.tar", "back.tar"].map((name) => join(temporaryFolder(t), name));
  const [there, again] = files as [string, string];
  await allCommands(here).text("backup", there, "--requests");
  await allCommands(here).text("keys revoke key_b");
  t.diagnostic(await allCommands(here).text("restore", there, "--to", url));
  const onDatabase = allCommands(temporaryFolder(t), { DATABASE_URL: url });
  await onDatabase.text("backup", again, "--requests");
  t.diagnostic(await onDatabase.text("restore", again, "--to", back));
  const sides = {
    "the folder": { dataDir: here, databaseUrl: null },
    PostgreSQL: { dataDir: temporaryFolder(t), databaseUrl: url },
    "the folder again": { dataDir: back, databaseUrl: null },
  };
  const sums: Record<string, Sum>[] = [];
  for (const [side, place] of Object.entries(sides)) {
    const found = await sumsOf(place);
    for (const [name, { rows, bytes, sha256 }] of Object.entries(found))
      t.diagnostic(
        `${side}: ${name} ${rows} rows${bytes === undefined ? "" : `, ${bytes} bytes`}, ${sha256}`,
      );
    sums.push(found);
  }
  assert.ok(sums[0]!["requests"]!.rows > requests);
  // The revocation came after the backup: its entry of the audit log stays behind, the revocation itself does not.
  const { audit: _, ...ofFolder } = sums[0]!;
  const { audit, ...ofDatabase } = sums[1]!;
  assert.deepEqual(ofDatabase, ofFolder);
  assert.deepEqual(sums[2], { ...ofDatabase, audit });
  for (const place of [onDatabase, allCommands(back)]) {
    const keys = await place.json("keys list");
    assert.equal(keys.find(({ id }: { id: string }) => id === "key_b").state, "revoked");
  }
});
