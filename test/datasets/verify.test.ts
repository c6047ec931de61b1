import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { copyFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { crc32 } from "node:zlib";
import { DatasetFault } from "#datasets/dataset-fault.ts";
import { datasetHash, hashOfContent } from "#datasets/dataset-hash.ts";
import { formatVersion, versionOf } from "#datasets/generation.ts";
import { hexadecimal, indexChecksum } from "#datasets/served.ts";
import { readArrays } from "#datasets/stored-arrays.ts";
import { verifyGeneration } from "#datasets/verify.ts";
import { cast } from "../support/cast.ts";
import { changeDatabase } from "../support/damage.ts";
import { entriesOf, importRecords } from "../support/dataset.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { day, evidenceOf, gp, imported, signal } from "./published.ts";

/** Path of a sound generation in which every table has rows. */
async function soundFile(t: TestContext): Promise<string> {
  const catalogue = await imported(t, [...cast, gp("merged", { former_ids: ["a", "b"] })]);
  const entries = entriesOf([gp("a"), gp("b")]).map((entry) => ({
    ...entry,
    claims: [],
    evidence: [evidenceOf(1)],
  }));
  await importRecords(catalogue, [], { source: "claims", entries, nowMilliseconds: day(2) });
  return catalogue.pathOf(catalogue.currentVersion()!);
}

/** The file after some SQL. */
async function changedFile(t: TestContext, sql: string): Promise<string> {
  const path = await soundFile(t);
  changeDatabase(path, sql);
  return path;
}

/** Makes checksums, hash and version those of what the file has now, as a writer does that is wrong itself. */
function seal(db: DatabaseSync): void {
  const all = ["gp", "principal", "signal", "project"].flatMap((kind) =>
    db.prepare(`select content_hash, document from ${kind} order by position`).all(),
  );
  const hashes = Buffer.concat(all.map((row) => row["content_hash"] as Uint8Array));
  const hash = datasetHash(createHash("sha256").update(hashes).digest("hex"));
  const builtAt = db.prepare("select value from meta where key = 'built_at'").get()!["value"];
  const set = db.prepare("update meta set value = ? where key = ?");
  set.run(hash, "hash");
  set.run(versionOf(builtAt as string, hash), "version");
  set.run(indexChecksum(readArrays(db)), "index_crc32");
  set.run(hexadecimal(crc32(all.map(({ document }) => document).join(""))), "documents_crc32");
}

const refuses = (path: string, words: RegExp) =>
  assert.throws(
    () => verifyGeneration(path),
    (error) => {
      assert.ok(error instanceof DatasetFault, String(error));
      assert.ok(error.message.includes(path));
      assert.match(error.message, words);
      return true;
    },
  );

test("a sound generation passes", async (t) => {
  verifyGeneration(await soundFile(t));
});

test("a flipped byte anywhere in a document is found", async (t) => {
  const path = await soundFile(t);
  const bytes = readFileSync(path);
  const db = new DatabaseSync(path, { readOnly: true });
  const { document } = db.prepare("select document from principal limit 1").get()!;
  db.close();
  const start = bytes.indexOf(document as string);
  const length = Buffer.byteLength(document as string);
  for (let at = start; at < start + length; at += 29) {
    const damaged = Buffer.from(bytes);
    damaged[at]! ^= 1;
    writeFileSync(path, damaged);
    refuses(path, /is damaged/);
  }
});

test("of more documents than are parsed a changed one is found too, whichever it is", async (t) => {
  const titled = (i: number) => signal(`s${i}`, { title: "Fund closes" });
  const catalogue = await imported(
    t,
    Array.from({ length: 2001 }, (_, i) => titled(i)),
  );
  const path = catalogue.pathOf(catalogue.currentVersion()!);
  verifyGeneration(path);
  const change = (position: number, from: string, to: string) =>
    changeDatabase(
      path,
      `update signal set document = replace(document, '${from}', '${to}') where position = ${position}`,
    );
  for (const position of [0, 1, 2, 500, 1999, 2000]) {
    change(position, "Fund closes", "Fund c1oses");
    refuses(path, /is damaged/);
    change(position, "Fund c1oses", "Fund closes");
  }
  verifyGeneration(path);
});

const elements = { u8: Uint8Array, u32: Uint32Array, f64: Float64Array };

test("a wrong number in any array is found, and its array named", async (t) => {
  const path = await soundFile(t);
  const db = new DatabaseSync(path);
  const write = db.prepare("update array set bytes = ? where name = ?");
  const arrays = [...readArrays(db)];
  for (const { name, element, bytes } of arrays) {
    const count = bytes.length / elements[element].BYTES_PER_ELEMENT;
    for (const at of new Set(count === 0 ? [] : [0, count >> 1, count - 1])) {
      const numbers = new elements[element](bytes.slice().buffer);
      numbers[at]! ^= 1;
      write.run(new Uint8Array(numbers.buffer), name);
      seal(db);
      refuses(path, new RegExp(`its array ${name} does not match its documents\\.$`));
    }
    write.run(bytes, name);
  }
  seal(db);
  db.close();
  verifyGeneration(path);
});

test("a missing, cut, retyped or superfluous array is found", async (t) => {
  for (const [sql, words] of [
    ["delete from array where name = 'ids.gpOfId'", /it has no array ids\.gpOfId\./],
    [
      "update array set bytes = substr(bytes, 1, 4) where name = 'ids.gpOfId'",
      /its array ids\.gpOfId does not match/,
    ],
    [
      "update array set element = 'u8' where name = 'ids.gpOfId'",
      /its array ids\.gpOfId of u8 is unexpected/,
    ],
    ["insert into array values ('other', 'u8', x'00')", /its array other of u8 is unexpected/],
  ] as const) {
    const path = await changedFile(t, sql);
    const db = new DatabaseSync(path);
    seal(db);
    db.close();
    refuses(path, words);
  }
});

test("documents out of display order are found", async (t) => {
  const dated = (id: string, date: string) => signal(id, { date, gps: ["a"] });
  const catalogue = await imported(t, [
    gp("a"),
    dated("s", "2026-10-02"),
    dated("t", "2026-10-03"),
  ]);
  const path = catalogue.pathOf(catalogue.currentVersion()!);
  const db = new DatabaseSync(path);
  db.exec("update signal set position = position - 2; update signal set position = -1 - position");
  seal(db);
  db.close();
  refuses(path, /document sg_\w+ is out of order after sg_\w+/);
});

test("a document that names a GP that is not there is found", async (t) => {
  const catalogue = await imported(t, [gp("a"), signal("s", { gps: ["a"] })]);
  const path = catalogue.pathOf(catalogue.currentVersion()!);
  const db = new DatabaseSync(path);
  const other = "gp_0000000000000000";
  db.exec(`update signal set document = replace(document, (select id from gp), '${other}')`);
  const { document, updated_at: time } = db.prepare("select * from signal").get()!;
  const hash = hashOfContent(Buffer.from((document as string).replace(time as string, "")));
  db.prepare("update signal set content_hash = unhex(?)").run(hash);
  seal(db);
  db.close();
  refuses(path, /document sg_\w+ names gp_0000000000000000, which does not exist/);
});

test("a missing row of any table is found", async (t) => {
  const path = await soundFile(t);
  const db = new DatabaseSync(path, { readOnly: true });
  const tables = db
    // No record depends on an id that is withheld: only the hash of the whole file tells that one is missing.
    .prepare("select name from sqlite_schema where type = 'table' and name <> 'withheld_id'")
    .all()
    .map(({ name }) => name as string);
  db.close();
  assert.equal(tables.length, 12);
  const damaged = join(temporaryFolder(t), "damaged.sqlite");
  for (const table of tables)
    for (const end of ["asc", "desc"]) {
      copyFileSync(path, damaged);
      const open = new DatabaseSync(damaged);
      const key = open.prepare(`select * from ${table} limit 1`).columns()[0]!.name;
      const first = `select ${key} from ${table} order by ${key} ${end} limit 1`;
      const { changes } = open.prepare(`delete from ${table} where ${key} = (${first})`).run();
      open.close();
      assert.ok(Number(changes) > 0, table);
      refuses(damaged, /./);
    }
});

const setMeta = (key: string, value: number | string) =>
  `update meta set value = '${value}' where key = '${key}'`;

test("what a row or the whole says beside its documents is found where it does not match them", async (t) => {
  for (const [sql, words] of [
    [
      "update meta set value = replace(value, substr(value, -1), 'x') where key = 'hash'",
      /the hash of its documents differs/,
    ],
    [setMeta("version", "20200101T000000Z-00000000"), /its version does not match/],
    [setMeta("built_at", "2020-01-01T00:00:00Z"), /its version does not match/],
    ["update gp set content_hash = randomblob(16) where position = 3", /document gp_/],
    ["update gp set position = -1 where position = 0", /the positions of its gp documents/],
    [
      "update gp set document = replace(document, '2026-11-01T', '2026-11-02T')",
      /document gp_\w+ does not match its row/,
    ],
    [
      `create temp table old as select position, id from signal;
       update signal set id = position;
       update signal set id = (select id from old where old.position = (signal.position + 1) % 5)`,
      /document sg_\w+ does not match its row/,
    ],
    ...[
      "update principal set own_length = own_length + 1",
      "update principal set own_length = own_length - 1",
      `update principal set own_length = instr(document, ',"name"') - 1`,
      `update principal set own_length = instr(document, ',"gps"') - 1`,
      "update project set own_length = 0",
    ].map((sql) => [sql, /document p[rj]_\w+ does not match its row/] as const),
  ] as const)
    refuses(await changedFile(t, sql), words);
});

test("a half file is found, wherever it ends", async (t) => {
  const path = await soundFile(t);
  const whole = readFileSync(path);
  for (const share of [0.02, 0.25, 0.5, 0.75, 0.99]) {
    writeFileSync(path, whole);
    truncateSync(path, Math.floor(whole.length * share));
    refuses(path, /is damaged|cannot be read/);
  }
});

test("an empty file, a text file, another database and no file are found", async (t) => {
  const path = join(temporaryFolder(t), "file.sqlite");
  refuses(path, /cannot be read/);
  writeFileSync(path, "");
  refuses(path, /cannot be read/);
  changeDatabase(path, "create table other (a); insert into other values (1)");
  refuses(path, /cannot be read/);
  writeFileSync(path, "record,id,name\n".repeat(1000));
  refuses(path, /cannot be read/);
});

test("another format version and another fold version are refused with both numbers", async (t) => {
  for (const [other, age] of [
    [formatVersion - 1, "an older"],
    [formatVersion + 1, "a newer"],
  ] as const)
    refuses(
      await changedFile(t, setMeta("format_version", other)),
      new RegExp(
        `has format ${other} of ${age} version of gp-records; this program reads only format ${formatVersion}\\. .* import every source again\\.$`,
      ),
    );
  refuses(
    await changedFile(t, setMeta("fold_version", 7)),
    /folded by rule 7 \(fold_version\); this program reads only rule 1/,
  );
});
