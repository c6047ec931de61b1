import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  mkdirSync,
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { openCatalogue } from "#datasets/catalogue.ts";
import { cast } from "../support/cast.ts";
import { importRecords, pinVersion } from "../support/dataset.ts";
import { eventually } from "../support/eventually.ts";
import { startService } from "../support/service.ts";
import { smallDisk } from "../support/machine.ts";

const on = { EXPORTS: "on" };
const oneMore = [...cast, { record: "gp", id: "new", name: "New Partners" }];

/** The exports of a service, as they are listed first. */
async function offered(t: TestContext) {
  const service = await startService(t, { settings: on });
  const list = async () => (await service.get("/exports")).body.data;
  const versions = async (): Promise<string[]> =>
    (await list()).map((one: { version: string }) => one.version);
  const [{ version, files }] = await list();
  const download = (path: string, headers: Record<string, string> = {}) =>
    fetch(service.url + path, { headers: { "x-api-key": service.key, ...headers } });
  const catalogue = openCatalogue(join(service.dataDir, "datasets"));
  const madeCount = () => service.log.filter((line) => line.includes("an export was made")).length;
  return { ...service, list, versions, version, files, download, catalogue, madeCount };
}

test("without EXPORTS=on there is nothing at /exports, with a key or without, and programs and people learn of the setting", async (t) => {
  const { get } = await startService(t);
  const said =
    /does not offer whole datasets as files. Its operator can turn this on with the setting EXPORTS=on/;
  for (const path of ["/exports", "/exports/", "/exports/20261120T030000Z-9f3c2a7e/gp.csv?limit=1"])
    for (const headers of [{}, { "x-api-key": "" }]) {
      const { status, body } = await get(path, headers);
      assert.deepEqual([status, body.code, body.suggestion], [404, "unknown-path", null]);
      assert.match(body.detail, said);
      const page = await get(path, { ...headers, accept: "text/html" });
      assert.equal(page.status, 404);
      assert.equal(page.headers.get("content-type"), "text/html; charset=utf-8");
      assert.match(page.text, said);
      assert.doesNotMatch(page.text, /Did you mean/);
    }
  assert.doesNotMatch((await get("/exportss")).body.detail, /EXPORTS/);
});

test("/exports lists each kind in each format, and the size and hash of what somebody has asked for", async (t) => {
  const { list, version, files, download } = await offered(t);
  const paths = files.map(({ path }: { path: string }) => path);
  const expected = ["gp", "principal", "signal", "project"].flatMap((kind) =>
    ["ndjson", "csv", "parquet"].map((format) => `/exports/${version}/${kind}.${format}`),
  );
  assert.deepEqual(paths, expected);
  assert.deepEqual(files[0], {
    path: `/exports/${version}/gp.ndjson`,
    kind: "gp",
    format: "ndjson",
    records: 10,
    bytes: null,
    sha256: null,
  });
  for (const { path } of files) {
    const response = await download(path);
    assert.equal(response.status, 200, path);
    const content = Buffer.from(await response.arrayBuffer());
    const [{ files: known }] = await list();
    const { bytes, sha256 } = known.find((file: { path: string }) => file.path === path);
    assert.equal(content.length, bytes);
    assert.equal(createHash("sha256").update(content).digest("hex"), sha256);
  }
});

test("a file names its type, its dataset and a strong tag, and is confirmed by it; HEAD has the same without the content", async (t) => {
  const { get, download, version } = await offered(t);
  const path = `/exports/${version}/gp.csv`;
  const whole = await get(path);
  assert.match(whole.text, /^id,former_ids,name,/);
  assert.equal(whole.headers.get("content-type"), "text/csv; charset=utf-8; header=present");
  assert.equal(whole.headers.get("dataset-version"), version);
  assert.equal(whole.headers.get("accept-ranges"), "bytes");
  assert.equal(whole.headers.get("content-disposition"), 'attachment; filename="gp.csv"');
  assert.equal(whole.headers.get("cache-control"), "private, no-cache");
  const tag = whole.headers.get("etag")!;
  assert.match(tag, /^"[0-9a-f]{32}"$/);
  for (const known of [tag, `W/${tag}`, "*"])
    assert.equal((await get(path, { "if-none-match": known })).status, 304);
  const head = await get(path, {}, "HEAD");
  assert.equal(head.status, 200);
  assert.equal(head.text, "");
  assert.equal(head.headers.get("content-length"), String(Buffer.byteLength(whole.text)));
  assert.equal(head.headers.get("etag"), tag);
  const types = {
    ndjson: "application/x-ndjson; charset=utf-8",
    parquet: "application/vnd.apache.parquet",
  };
  for (const [format, type] of Object.entries(types)) {
    const { headers } = await download(`/exports/${version}/gp.${format}`);
    assert.equal(headers.get("content-type"), type);
  }
});

test("a download goes on where it was cut, by a range of the same file", async (t) => {
  const { get, download, version } = await offered(t);
  const path = `/exports/${version}/gp.parquet`;
  const contentOf = async (response: Response) => Buffer.from(await response.arrayBuffer());
  const whole = await download(path);
  const tag = whole.headers.get("etag")!;
  const bytes = await contentOf(whole);
  const last = bytes.length - 1;
  for (const [range, from, to] of [
    ["bytes=0-9", 0, 9],
    ["bytes=10-", 10, last],
    [`bytes=${last}-`, last, last],
    [`bytes=5-${last + 1000}`, 5, last],
    ["bytes=-7", last - 6, last],
    [`bytes=-${last + 1000}`, 0, last],
    ["BYTES=0-0", 0, 0],
  ] as const) {
    const part = await download(path, { range, "if-range": tag });
    assert.equal(part.status, 206, range);
    assert.equal(part.headers.get("content-range"), `bytes ${from}-${to}/${bytes.length}`, range);
    assert.deepEqual(await contentOf(part), bytes.subarray(from, to + 1), range);
  }
  for (const ignored of ["bytes=0-1,5-6", "bytes=9-3", "lines=1-2", "bytes=-", "bytes=a-b"])
    assert.equal((await get(path, { range: ignored })).status, 200, ignored);
  for (const other of ['"another"', `W/${tag}`, "Fri, 20 Nov 2026 03:00:00 GMT"])
    assert.equal((await get(path, { range: "bytes=0-9", "if-range": other })).status, 200, other);
  assert.equal((await get(path, { range: "bytes=0-9" }, "HEAD")).status, 200);
  for (const beyond of [`bytes=${bytes.length}-`, "bytes=-0", "bytes=99999999999999999999-"]) {
    const refused = await get(path, { range: beyond });
    assert.equal(refused.status, 416, beyond);
    assert.equal(refused.body.code, "range-not-satisfiable");
    assert.equal(refused.body.bytes, bytes.length);
    assert.equal(refused.headers.get("content-range"), `bytes */${bytes.length}`);
  }
});

test("clients that ask for a file at the same time get one making of it, and another server the same bytes", async (t) => {
  const { download, version, madeCount, stop, dataDir } = await offered(t);
  const path = `/exports/${version}/principal.parquet`;
  const tags = await Promise.all(
    Array.from({ length: 5 }, async () => (await download(path)).headers.get("etag")),
  );
  assert.equal(new Set(tags).size, 1);
  assert.equal(madeCount(), 1);
  await stop();
  const later = await startService(t, { dataDir, records: null, settings: on });
  const again = await later.get(path);
  assert.equal(again.headers.get("etag"), tags[0]);
  assert.ok(!later.log.some((line) => line.includes("an export was made")));
});

test("a file that was cut short, or made by another version of the program, is made anew", async (t) => {
  const { get, version, dataDir, stop } = await offered(t);
  const path = `/exports/${version}/gp.csv`;
  const { text } = await get(path);
  await stop();
  const folder = join(dataDir, "datasets", "exports", version);
  writeFileSync(join(folder, "gp.csv"), text.slice(0, 10));
  const second = await startService(t, { dataDir, records: null, settings: on });
  assert.equal((await second.get(path)).text, text);
  await second.stop();
  writeFileSync(
    join(folder, "gp.csv.json"),
    JSON.stringify({ bytes: Buffer.byteLength(text), sha256: "0".repeat(64), program: "0.0.1" }),
  );
  const third = await startService(t, { dataDir, records: null, settings: on });
  const { headers } = await third.get(path);
  assert.notEqual(headers.get("etag"), `"${"0".repeat(32)}"`);
});

test("the current dataset and the pinned ones are offered; the files of others go", async (t) => {
  const { list, download, version, catalogue, get } = await offered(t);
  await download(`/exports/${version}/gp.csv`);
  await importRecords(catalogue, oneMore);
  const current = catalogue.currentVersion()!;
  const isServed = async () => assert.equal((await list())[0].version, current);
  await eventually(isServed, 20_000);
  assert.equal((await download(`/exports/${version}/gp.csv`)).status, 404);
  const folder = join(catalogue.exportsFolder, version);
  assert.ok(!existsSync(folder));
  await pinVersion(catalogue, version, Date.now());
  const listed = (await list()).map((one: any) => `${one.version} ${one.is_current}`);
  assert.deepEqual(listed, [`${current} true`, `${version} false`]);
  const pinned = await get(`/exports/${version}/gp.csv`);
  assert.equal(pinned.status, 200);
  assert.equal(pinned.headers.get("dataset-version"), version);
  assert.deepEqual(readdirSync(folder).toSorted(), ["gp.csv", "gp.csv.json"]);
  catalogue.remove(version);
  assert.ok(!existsSync(folder));
});

test("a pinned dataset that this version of the program cannot read is not offered", async (t) => {
  const { versions, download, version, catalogue, get } = await offered(t);
  await importRecords(catalogue, oneMore);
  await pinVersion(catalogue, version, Date.now());
  const current = catalogue.currentVersion()!;
  await eventually(async () => assert.deepEqual(await versions(), [current, version]), 20_000);

  const path = catalogue.pathOf(version);
  const original = readFileSync(path);
  const isRefused = async () => {
    assert.deepEqual(await versions(), [current]);
    assert.equal((await get(`/exports/${version}/gp.csv`)).body.code, "unknown-path");
  };
  for (const rule of ["format_version", "fold_version"]) {
    chmodSync(path, 0o600);
    const db = new DatabaseSync(path);
    db.prepare("update meta set value = '0' where key = ?").run(rule);
    db.close();
    assert.equal(statSync(path).size, original.length);
    await isRefused();
    writeFileSync(path, original);
    assert.deepEqual(await versions(), [current, version]);
  }
  writeFileSync(path, original.subarray(0, 4096));
  await isRefused();
  writeFileSync(path, "x".repeat(original.length));
  await isRefused();
  writeFileSync(path, original);
  assert.equal((await download(`/exports/${version}/gp.csv`)).status, 200);
});

test("a staged dataset is not offered before it is published, pinned or not", async (t) => {
  const { versions, download, version, catalogue } = await offered(t);
  await importRecords(catalogue, oneMore, { isStaged: true });
  const staged = catalogue.versions().find((one) => one !== version)!;
  await pinVersion(catalogue, staged, Date.now());
  assert.deepEqual(await versions(), [version]);
  assert.equal((await download(`/exports/${staged}/gp.csv`)).status, 404);
  catalogue.publish(staged, catalogue.find(staged).built_at);
  await eventually(async () => assert.equal((await versions())[0], staged), 20_000);
  assert.equal((await download(`/exports/${staged}/gp.csv`)).status, 200);
});

test("exports are checked in the order of the contract, count one request each, and are recorded by name", async (t) => {
  const { get, newKey, version, log } = await offered(t);
  const path = `/exports/${version}/gp.csv`;
  const code = async (of: string, headers: Record<string, string> = {}, method = "GET") =>
    (await get(of, headers, method)).body?.code;
  assert.equal(await code(path, {}, "POST"), "method-not-allowed");
  assert.equal(await code(path, { "x-api-key": "" }), "api-key-missing");
  const { key } = await newKey({ quotas: { minute: 7 } });
  const own = { "x-api-key": key };
  assert.equal(await code(`${path}?limit=1`, { ...own, accept: "text/html" }), "not-acceptable");
  assert.equal(await code(`${path}?limit=1`, own), "invalid-parameters");
  assert.equal(await code("/exports?limit=1", own), "invalid-parameters");
  assert.equal(await code("/exports", { ...own, accept: "text/csv" }), "not-acceptable");
  assert.equal(await code(`/exports/20000101T000000Z-00000000/gp.csv`, own), "unknown-path");
  const left = await get(`/exports/${version}/..%2f..%2fcurrent`, own);
  assert.equal(left.body.code, "unknown-path");
  assert.match(left.headers.get("ratelimit")!, /"minute";r=1;/);
  assert.equal(await code(path, own), undefined);
  assert.equal(await code(path, own), "quota-exceeded");
  // Written once all of it was sent, which may be after the next answer.
  await eventually(() => {
    const line = JSON.parse(log.findLast((one) => one.includes('"status":200'))!);
    assert.equal(line.path, "/exports/*");
    assert.ok(line.bytes > 0);
  });
  const tag = (await get("/exports")).headers.get("etag")!;
  assert.match(tag, new RegExp(`^W/"${version}-[\\w-]{22}"$`));
  assert.equal((await get("/exports", { "if-none-match": tag })).status, 304);
});

test("a file that cannot be made is a 503 that the log explains, and no mistake of the program", async (t) => {
  const { version, get, catalogue, log } = await offered(t);
  rmSync(catalogue.exportsFolder, { recursive: true, force: true });
  mkdirSync(catalogue.exportsFolder);
  writeFileSync(join(catalogue.exportsFolder, version), "not a folder");
  const { status, body } = await get(`/exports/${version}/gp.ndjson`);
  assert.deepEqual([status, body.code, body.reason], [503, "unavailable", "store_down"]);
  const told = log.filter((line) => line.includes("EEXIST"));
  assert.match(told.join(), /request cannot be answered/);
});

test("a dataset that is removed while its file is made is a 404, like ever after", async (t) => {
  const { version, files, get, catalogue } = await offered(t);
  await importRecords(catalogue, oneMore, { isStaged: true });
  const staged = catalogue.versions().find((one) => one !== version)!;
  const asked = get(files[0].path);
  const isBegun = () => assert.ok(existsSync(join(catalogue.exportsFolder, version)));
  await eventually(isBegun, 30_000, 1);
  catalogue.publish(staged, catalogue.find(staged).built_at);
  catalogue.remove(version);
  const { status, body } = await asked;
  assert.deepEqual([status, body.code, body.suggestion], [404, "unknown-path", "/exports"]);
});

test("a full disk is a 503 that says so, in the log too, and the file comes once there is room", async (t) => {
  const { version, get, catalogue, log } = await offered(t);
  const disk = smallDisk(t, "4k");
  if (disk === null) return;
  rmSync(catalogue.exportsFolder, { recursive: true, force: true });
  symlinkSync(disk.folder, catalogue.exportsFolder);
  const path = `/exports/${version}/gp.ndjson`;
  const refused = await get(path);
  assert.equal(refused.status, 503);
  assert.equal(refused.headers.get("retry-after"), "60");
  assert.deepEqual([refused.body.code, refused.body.reason], ["unavailable", "store_down"]);
  assert.match(refused.body.detail, /^The disk of this service has no room for the file\./);
  const told = log.filter((line) => line.includes("request cannot be answered"));
  assert.equal(told.length, 1);
  assert.match(told[0]!, /ENOSPC.*free some space on the disk of DATA_DIR/);
  assert.ok(!log.some((line) => line.includes("internal error")));
  assert.deepEqual(readdirSync(join(disk.folder, version)), []);
  disk.resize("2m");
  assert.equal((await get(path)).status, 200);
});
