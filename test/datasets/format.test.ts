import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { crc32 } from "node:zlib";
import { openCatalogue } from "#datasets/catalogue.ts";
import { mintId } from "#datasets/draft-record.ts";
import { formatVersion } from "#datasets/generation.ts";
import { foldVersion } from "#records/fold.ts";
import { recordKinds } from "#records/kinds.ts";
import { cast } from "../support/cast.ts";
import { gp, importDaily, principal, project, rows, signal } from "./published.ts";

const page = readFileSync("docs/dataset-format.md", "utf8");

/** The text under a heading, up to the next one of its level or above. */
function section(heading: string): string {
  const start = page.indexOf(`\n${heading}\n`);
  assert.notEqual(start, -1, `the page has no '${heading}'`);
  const level = /^#+/.exec(heading)![0].length;
  const text = page.slice(start + heading.length + 2);
  const end = text.search(new RegExp(`^#{1,${level}} `, "m"));
  return end === -1 ? text : text.slice(0, end);
}

/** First cells of all rows in the table whose head begins with this word. */
function firstCells(text: string, head: string): string[] {
  const lines = text.split("\n").map((line) => line.split("|").map((cell) => cell.trim())[1]);
  const start = lines.indexOf(head) + 2;
  const end = lines.indexOf(undefined, start);
  return lines.slice(start, end).map((cell) => cell!.replaceAll("`", ""));
}

const folder = mkdtempSync(join(tmpdir(), "gp-records-"));
after(() => rmSync(folder, { recursive: true }));
const catalogue = openCatalogue(folder);
/** A text that looks like the end of a record's own members. */
const awkward = 'Zoë 三井 𐌰 "quoted" \\ ,"updated_at":"2020" \u2028';
await importDaily(catalogue, [
  ...cast,
  gp("merged", { former_ids: ["a"], description: awkward }),
  principal("awkward", ["merged"], { name: awkward, title: awkward }),
  project("awkward", { name: awkward, gps: ["merged"] }),
  signal("awkward", { title: awkward, summary: awkward, gps: ["merged"] }),
]);

const meta = () =>
  Object.fromEntries(
    rows(catalogue, "select key, value from meta").map(({ key, value }) => [key, value]),
  );

const tables = () =>
  rows(catalogue, "select name from sqlite_schema where type in ('table', 'view')").map(
    ({ name }) => name,
  );

test("the page tells of every table of the file, and of no other", () => {
  const headings = [...section("## Tables").matchAll(/^### (.+)$/gm)];
  const told = headings.flatMap(([, heading]) => [...heading!.matchAll(/`(\w+)`/g)]);
  assert.deepEqual(new Set(told.map(([, name]) => name)), new Set(tables()));
});

test("the page tells of every column of every table in its order, and of no other", () => {
  for (const table of tables()) {
    const heading = page
      .split("\n")
      .find((line) => line.startsWith("### ") && line.includes(`\`${table}\``))!;
    assert.deepEqual(
      firstCells(section(heading), "column"),
      rows(catalogue, `select name from pragma_table_info('${table}')`).map(({ name }) => name),
      table,
    );
  }
});

test("the page tells of every array, and of no other", () => {
  const text = section("### `array`");
  const ends = firstCells(text, "name ends");
  const told = firstCells(text, "name begins").flatMap((name) =>
    name.endsWith("*") ? ends.map((end) => name.replace("*", end)) : [name],
  );
  const stored = rows(catalogue, "select name from array").map(({ name }) =>
    name
      .replace(/\.(?:tag|theme|market)\./, ".<parameter>.")
      .replace(/^(documents|recordsOfGp)\.\w+/, "$1.<kind>")
      .replace(/\.(?:starts|items|bytes|ownLengths)$/, ""),
  );
  assert.deepEqual(new Set(told), new Set(stored));
});

test("the checksums can be worked out as the page says", () => {
  const { index_crc32, documents_crc32 } = meta();
  const arrays = rows(catalogue, "select name, element, bytes from array order by rowid");
  const index = Buffer.concat(
    arrays.flatMap(({ name, element, bytes }) => [Buffer.from(`${name} ${element} `), bytes]),
  );
  const all = ["gp", "principal", "signal", "project"].flatMap((kind) =>
    rows(catalogue, `select document from ${kind} order by position`),
  );
  const digits = (data: Buffer | string) => crc32(data).toString(16).padStart(8, "0");
  assert.equal(digits(index), index_crc32);
  assert.equal(digits(all.map(({ document }) => document).join("")), documents_crc32);
});

test("the page tells of every key of meta, and of the versions that are written now", () => {
  const told = firstCells(section("### `meta`"), "key");
  assert.deepEqual(new Set(told), new Set(Object.keys(meta())));
  assert.match(page, new RegExp(`\`format_version\` +\\| +\`${formatVersion}\`;`));
  assert.match(page, new RegExp(`\`fold_version\` +\\| +\`${foldVersion}\`;`));
  assert.ok(page.includes(`This page describes format ${formatVersion}.`));
});

/** Format → kinds of record in its files. A line stays as it is: files of its format exist. */
const kindsOfFormat: Readonly<Record<number, string>> = { 3: "gp principal signal project" };

test("a new kind of record takes a new format, as programs that lack it would call its files damaged", () => {
  assert.equal(
    kindsOfFormat[formatVersion],
    recordKinds.join(" "),
    "give the kind the next format",
  );
});

test("the page tells of every member of what is known of a dataset, in its order", () => {
  const facts = Object.keys(catalogue.current()!);
  assert.deepEqual(firstCells(section("## What is known of a dataset"), "member"), facts);
});

test("the page tells of every file of the folder", () => {
  const told = firstCells(section("## The folder"), "file");
  const version = catalogue.currentVersion()!;
  for (const name of readdirSync(catalogue.folder))
    assert.ok(told.includes(name.replace(version, "<version>")), name);
});

/** Members of a document that a GP which embeds it leaves out. */
const leftOutInGps = {
  gp: [],
  principal: ["tags", "themes", "markets", "gps"],
  project: ["gps"],
  signal: ["gps"],
};

test("the hash, an id and own_length can be worked out as the page says", () => {
  const { hash: published, format_version, fold_version } = meta();
  const hashes = ["gp", "principal", "signal", "project"].flatMap((kind) =>
    rows(catalogue, `select content_hash from ${kind} order by position`),
  );
  const content = hash(
    "sha256",
    Buffer.concat(hashes.map(({ content_hash }) => content_hash)),
    "hex",
  );
  const text = `gp-records ${format_version} ${fold_version} ${content}`;
  assert.equal(hash("sha256", text, "hex"), published);

  const digest = hash("sha256", "gp\nown\nkkr", "hex");
  const id = BigInt(`0x${digest.slice(0, 32)}`)
    .toString(36)
    .slice(-16);
  assert.equal(mintId("gp", "own", "kkr"), `gp_${id}`);

  for (const kind of recordKinds)
    for (const { document, own_length, content_hash } of rows(catalogue, `select * from ${kind}`)) {
      const own = JSON.parse(`${Buffer.from(document).toString("utf8", 0, own_length)}}`);
      assert.equal(Object.keys(own).at(-1), "updated_at");
      const members = [...Object.keys(own), ...leftOutInGps[kind]];
      assert.deepEqual(Object.keys(JSON.parse(document)), members);
      const withoutTime = document.replace(own.updated_at, "");
      assert.deepEqual(
        Buffer.from(content_hash),
        Buffer.from(hash("sha256", withoutTime, "hex").slice(0, 32), "hex"),
      );
    }
});

test("every query on the page runs, and the one for a market finds its GPs", () => {
  const queries = [...page.matchAll(/^```sql\n(.*?)^```$/gms)].map(([, sql]) => sql!);
  assert.equal(queries.length, 4);
  const found = queries.map((sql) => rows(catalogue, sql));
  assert.equal(found[2]!.length, cast.filter(({ record }) => record === "gp").length);
  assert.equal(found[3]!.length, 2);
});
