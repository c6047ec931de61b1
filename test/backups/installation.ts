/** An installation in a folder in which every table, and every column of it, has something, and how two of them are compared. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { openCatalogue } from "#datasets/catalogue.ts";
import { hashFile } from "#datasets/dataset-hash.ts";
import { openControl, openUsage } from "#store/stores.ts";
import { makeRequestId } from "#http/routes.ts";
import { day, hour, minute, noon } from "../support/control.ts";
import { importRecords, keepingSteps, publishVersion } from "../support/dataset.ts";
import { putRequests, request, tidyUsage, usageOf } from "../support/usage.ts";

type Rows = Record<string, Record<string, SQLInputValue>[]>;

/** Tables of either engine that a backup does not hold row by row, each with the reason. */
export const tablesLeft: Readonly<Record<string, string>> = {
  key_change: "tells servers what to read anew, and each installation counts by itself",
  schema_step: "the schema of the file, or of the database",
  instance: "the servers that run on the database",
  dataset: "a file of its own",
  dataset_file: "a file of its own",
  dataset_part: "part of such a file",
  dataset_state: "the file that names the current dataset, and that of publications",
  quota_count: "counts begin anew",
  quota_charge: "counts begin anew",
  request_log_start: "moved by whoever writes",
};

const at = (minute: number) => `2026-11-21T12:${String(minute).padStart(2, "0")}:00.000Z`;
const bytes = (first: number) => Uint8Array.from({ length: 32 }, (_, i) => (first + 7 * i) % 256);

/** A table's rows from the names of its columns and the values of each row. */
const rowsOf = (columns: string, ...rows: readonly SQLInputValue[][]) =>
  rows.map((row) => Object.fromEntries(columns.split(" ").map((name, i) => [name, row[i]!])));

/** With texts beyond ASCII whose order differs by bytes and by UTF-16, empty ones, and quotes. */
const controlRows: Rows = {
  plan: rowsOf(
    "name per_minute per_hour per_day changes created_at",
    ["default", 60, 1000, 10_000, 0, at(0)],
    ["größer ￦ 🏠", null, 1_000_000, null, 1, at(1)],
    ["größer 🏠 ￦", 7, null, null, null, at(1)],
  ),
  account: [
    account(1, { name: "Acme 'Ltd' \"x\"\n\\", plan: "größer ￦ 🏠" }),
    account(2, { per_minute: 5, per_hour: 50, per_day: 500, suspended_at: at(3) }),
    account(3, { name: "closed", name_folded: "acc_3", closed_at: at(4) }),
    account(2_000_000_000),
  ],
  api_key: [
    key("key_b", 1, { replaced_by: "key_a", expires_at: at(5), made_by: "per_1", form: "f1" }),
    key("key_a", 1, { revoked_at: at(6), form: "f2" }),
    key("key_c", 2, { is_demo: 1, name: "" }),
  ],
  person: rowsOf(
    "id email email_folded password created_at",
    [
      "per_1",
      "Ada@Example.org",
      "ada@example.org",
      "$argon2id$v=19$m=8,t=1,p=1$c2FsdA$aGFzaA",
      at(1),
    ],
    ["per_2", "bö@example.org", "bö@example.org", "$argon2id$x", at(2)],
  ),
  member: rowsOf(
    "account person role joined_at",
    [1, "per_1", "owner", at(1)],
    [1, "per_2", "member", at(2)],
  ),
  session: rowsOf(
    "digest id person account created_at seen_at ends_at network browser",
    [bytes(0), "ses_1", "per_1", 1, at(1), at(2), at(3), "203.0.113.7", "Firefox on Linux"],
    [bytes(200), "ses_2", "per_2", null, at(1), at(2), at(3), "2001:db8::/64", ""],
  ),
  known_browser: [{ digest: bytes(9), person: "per_1", seen_at: at(2) }],
  link: [
    link(10, { kind: "invite", person: "per_2", account: 1, role: "member", used_at: at(3) }),
    link(11),
  ],
  throttle: [{ subject: "a1b2", failures: 3, next_at: at(7) }],
  audit: Array.from({ length: 2500 }, (_, i) => ({
    number: i + 1,
    at: at(i % 60),
    actor: i % 2 === 0 ? "operator" : "per_1",
    account: i % 3 === 0 ? null : 1,
    action: "key.issued",
    subject: i % 5 === 0 ? null : `key_${i}`,
    detail: JSON.stringify({ i, text: "ü 🏠" }),
  })),
  notice: [{ account: 1, kind: "quota", subject: "day", at: at(8) }],
  followed_view: rowsOf("digest id account kind query made_by created_at", [
    bytes(12),
    "fv_1",
    1,
    "gp",
    "market=dallas",
    "per_1",
    at(9),
  ]),
  suppression: rowsOf("number name gp cik crd reason created_at applied_at gp_ids", [
    1,
    "Ada Moss",
    "Acme",
    "0001900001",
    "123",
    "She asked",
    at(9),
    // A restore applies it anew.
    at(0),
    "gp_1 gp_2",
  ]),
  sync: [{ source: "sec", succeeded_at: at(10) }],
};

function account(number: number, own: Record<string, SQLInputValue> = {}) {
  const id = `acc_${number}`;
  const quotas = { per_minute: null, per_hour: null, per_day: null };
  const times = { suspended_at: null, created_at: at(number % 60), closed_at: null };
  return {
    number,
    id,
    name: id,
    name_folded: typeof own["name"] === "string" ? own["name"].toLowerCase() : id,
    ...quotas,
    ...times,
    plan: null,
    ...own,
  };
}

function link(number: number, own: Record<string, SQLInputValue> = {}) {
  const address = { email: `C${number}@example.org`, email_folded: `c${number}@example.org` };
  const times = { created_at: at(1), expires_at: at(9), used_at: null };
  const none = { person: null, account: null, role: null };
  const id = `lnk_${number}`;
  return { digest: bytes(number), id, kind: "sign-up", ...address, ...none, ...times, ...own };
}

function key(id: string, ofAccount: number, own: Record<string, SQLInputValue>) {
  const digest = bytes(id.charCodeAt(4));
  const none = { expires_at: null, revoked_at: null, replaced_by: null, made_by: null, form: null };
  const of = { id, digest, account: ofAccount, name: "n", hint: "gpr_abcd", is_demo: 0 };
  return { ...of, created_at: at(2), ...none, ...own };
}

export async function fillInstallation(dataDir: string): Promise<void> {
  await (await openControl(dataDir)).close();
  await (await openUsage(dataDir)).close();
  insertRows(join(dataDir, "control.sqlite"), controlRows);
  await fillUsage(dataDir);
  const catalogue = keepingSteps(openCatalogue(join(dataDir, "datasets")), (sentence) => {
    throw new Error(sentence);
  });
  const gps = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ record: "gp", id: `gp${i}`, name: `Name ${i}` }));
  for (const [i, count] of [2, 3, 5].entries())
    await importRecords(catalogue, gps(count), {
      nowMilliseconds: Date.UTC(2026, 10, i + 1, 3),
      isStaged: i === 2,
    });
  const [first, second, third] = catalogue.list();
  for (const [i, { version }] of [first!, second!].entries())
    await publishVersion(catalogue, { version, nowMilliseconds: Date.UTC(2026, 10, 3, 4 + i) });
  for (const { version } of [first!, third!]) catalogue.pin(version, "2026-11-04T03:00:00Z");
}

/** Requests of several batches and their totals; ids that clients sent, and such as the service makes. */
async function fillUsage(dataDir: string): Promise<void> {
  const ids = [makeRequestId(noon - 5), "client's own 🏠"];
  const some = (count: number, at: number) =>
    Array.from({ length: count }, (_, i) =>
      request({
        at: at + Math.floor(i / 3),
        account: 1 + (i % 3),
        key: `key_${i % 4}`,
        status: i % 7 === 0 ? 400 : 200,
        problem: i % 7 === 0 ? "invalid-parameters" : null,
        milliseconds: (i % 1000) / 100,
        requestId: `${ids[i % 2]}${i % 2 === 0 ? "" : i}`,
        query: i % 5 === 0 ? "gp_name=ü" : null,
      }),
    );
  for (const [i, count] of [1500, 40, 2500].entries())
    await putRequests(dataDir, some(count, noon - 2 * day + i * hour));
  await tidyUsage(dataDir, noon);
  await putRequests(dataDir, some(700, noon - hour));
  for (const i of Array.from({ length: 12 }).keys())
    await putRequests(dataDir, some(3, noon - 30 * minute + i));
  insertRows(join(dataDir, "usage.sqlite"), {
    key_use: [
      { key_id: "key_b", last_used_at: at(1), network: "203.0.113.0/24" },
      { key_id: "key_a", last_used_at: at(2), network: null },
    ],
    usage_writer: rowsOf("id batch written_at", [
      "0b5c1f0e-8a54-4a3b-9d0e-6f7c5c1d2e3f",
      17,
      "2026-11-21T12:00:00.000Z",
    ]),
    usage_hour: rowsOf("account hour key operation status requests bytes milliseconds", [
      1,
      "2025-11-21T12",
      "key_a",
      "fetch-gp",
      200,
      1,
      9_007_199_254_740_991,
      0.1 + 0.2,
    ]),
  });
}

export function insertRows(file: string, tables: Rows): void {
  const db = new DatabaseSync(file, { timeout: 5000 });
  for (const [table, rows] of Object.entries(tables))
    for (const row of rows) {
      const names = Object.keys(row);
      const sql = `insert into "${table}" (${names.map((name) => `"${name}"`).join(", ")}) values (${names.map(() => "?").join(", ")})`;
      db.prepare(sql).run(
        ...Object.values(row).map((value) =>
          typeof value === "number" && Number.isInteger(value) ? BigInt(value) : value,
        ),
      );
    }
  db.close();
}

/** Every table of a file with its rows, types included, in an order of their own. */
export function tablesIn(file: string, left: readonly string[]): Record<string, unknown[]> {
  const db = new DatabaseSync(file, { readOnly: true });
  const names = db
    .prepare("select name from sqlite_schema where type = 'table' order by name")
    .all()
    .map(({ name }) => String(name))
    .filter((name) => !left.includes(name) && !name.startsWith("sqlite_"));
  const found = names.map((name) => {
    const columns = db.prepare("select name from pragma_table_info(?) order by name").all(name);
    const parts = columns.map(
      ({ name: column }) => `typeof("${String(column)}"), quote("${String(column)}")`,
    );
    const rows = db.prepare(`select ${parts.join(", ")} from "${name}"`);
    rows.setReturnArrays(true);
    const texts = rows.all().map((row) => JSON.stringify(row));
    return [name, texts.toSorted()] as const;
  });
  db.close();
  return Object.fromEntries(found);
}

/** What is known of each dataset, with the SHA-256 of its file as it is; the current one; and each file of the steps. */
function datasetsIn(dataDir: string) {
  const folder = join(dataDir, "datasets");
  const catalogue = openCatalogue(folder);
  return {
    current: catalogue.currentVersion(),
    isCache: existsSync(join(folder, ".cache")),
    datasets: catalogue.list().map((one) => ({
      ...one,
      read: hashFile(catalogue.pathOf(one.version)),
    })),
    changes: Object.fromEntries(
      readdirSync(join(folder, "changes")).map((name) => [
        name,
        readFileSync(join(folder, "changes", name), "latin1"),
      ]),
    ),
  };
}

/** Nobody is signed in after a restore, and the audit log tells of it. */
const ended = ["session", "known_browser", "link"];

function tablesOf(dataDir: string): Record<string, unknown[]> {
  const left = [...Object.keys(tablesLeft), ...ended];
  const { audit, ...tables } = tablesIn(join(dataDir, "control.sqlite"), left);
  const others = (audit as string[]).filter((row) => !row.includes("'backup.restored'"));
  return { ...tables, audit: others };
}

/** Everything in a data folder that a backup with the request log brings back. */
export const pictureOf = async (dataDir: string) => ({
  tables: tablesOf(dataDir),
  datasets: datasetsIn(dataDir),
  usage: await usageOf({ dataDir, databaseUrl: null }),
  writers: tablesIn(join(dataDir, "usage.sqlite"), [])["usage_writer"],
});
