import assert from "node:assert/strict";
import { test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { preferredEncoding } from "#gateway/headers.ts";
import { operations } from "#operations/index.ts";
import { listed } from "../support/awkward/words.ts";
import { heapBytes } from "../support/heap-bytes.ts";
import { requestText, sendRaw } from "../support/raw-client.ts";
import { startService } from "../support/service.ts";
import { filledCells, readTable, rowOf } from "../support/tables.ts";

const contentTypes = {
  "application/json": "application/json; charset=utf-8",
  "application/x-ndjson": "application/x-ndjson; charset=utf-8",
  "text/csv": "text/csv; charset=utf-8; header=present",
};
const mediaTypes = Object.keys(contentTypes);

const exampleOf = (path: string) =>
  `${path}?limit=3&offset=1${path === "/fetch-gp" ? "&gp_name=re" : ""}`;

test("each operation answers in JSON, NDJSON and CSV with the same records, totals, links and version, and under /v1 with the same bytes and tag", async (t) => {
  const service = await startService(t);
  for (const { path } of operations) {
    const target = exampleOf(path);
    const [json, ndjson, csv] = await Promise.all(
      mediaTypes.map((accept) => service.get(target, { accept })),
    );
    const { data } = json!.body;
    assert.ok(data.length > 0);
    assert.equal(ndjson!.text, data.map((one: object) => `${JSON.stringify(one)}\n`).join(""));
    const rows = data.map((one: object) => filledCells(rowOf(one)));
    assert.deepEqual(readTable(csv!.text).rows, rows);
    for (const [i, { status, headers }] of [json!, ndjson!, csv!].entries()) {
      assert.equal(status, 200);
      assert.equal(headers.get("content-type"), Object.values(contentTypes)[i]);
      for (const name of ["x-total-count", "dataset-version", "link", "cache-control", "vary"])
        assert.equal(headers.get(name), json!.headers.get(name), name);
      assert.match(headers.get("vary")!, /\bAccept\b/);
      const versioned = await service.get(`/v1${target}`, { accept: mediaTypes[i]! });
      assert.equal(versioned.text, [json, ndjson, csv][i]!.text);
      for (const name of ["etag", "link", "x-total-count"])
        assert.equal(versioned.headers.get(name), headers.get(name), name);
    }
    const { pagination, meta } = json!.body;
    assert.equal(json!.headers.get("x-total-count"), String(pagination.total));
    assert.equal(json!.headers.get("dataset-version"), meta.dataset_version);
  }
});

test("the format is the one the client likes best, by its q-values, and JSON where it does not mind", async (t) => {
  const service = await startService(t);
  const [json, ndjson, csv] = Object.values(contentTypes);
  for (const [accept, type] of [
    ["*/*", json],
    ["application/json", json],
    ["application/*", json],
    ["text/html, application/json;q=0.5", json],
    ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", json],
    ["application/json;charset=utf-8", json],
    ["application/json, text/csv", json],
    ["text/csv;q=0.9, application/json;q=0.91", json],
    ["application/x-ndjson", ndjson],
    ["APPLICATION/X-NDJSON; charset=UTF-8", ndjson],
    ["application/x-ndjson;q=0.2, application/json;q=0.1", ndjson],
    ["application/json;q=0, application/*", ndjson],
    ["text/csv", csv],
    ["text/*", csv],
    ["text/csv; charset=utf-8; header=present", csv],
    ['text/csv; header="present"', csv],
    ["text/csv, application/json;q=0.9", csv],
    ["application/*;q=0.5, */*;q=0.1, text/csv", csv],
    ["application/json;q=0, application/x-ndjson;q=0, */*", csv],
    ["text/csv, application/json", json],
    ["text/csv;q=0.5, application/x-ndjson;q=0.5", ndjson],
    ["text/*, application/*", json],
    ["text/csv, */*", csv],
  ] as const) {
    const { status, headers } = await service.get("/fetch-signals", { accept });
    assert.equal(status, 200, accept);
    assert.equal(headers.get("content-type"), type, accept);
  }
  for (const accept of [
    "image/png",
    "application/xml",
    "text/csv; header=absent",
    "text/csv;q=0, application/*;q=0",
  ]) {
    const { status, body } = await service.get("/fetch-signals", { accept });
    assert.equal(status, 406, accept);
    assert.deepEqual(body.available, mediaTypes);
  }
});

test("only elements within 1,024 characters of a long Accept are read", async (t) => {
  const service = await startService(t);
  const [, , csv] = Object.values(contentTypes);
  const until = (length: number) => "image/png,".repeat(200).slice(0, length - ",text/csv".length);
  const ask = (accept: string) => service.get("/fetch-signals", { accept });
  for (const rest of ["", ",", ",application/json", `,${"x/y,".repeat(3500)}*/*`]) {
    const { status, headers } = await ask(`${until(1024)},text/csv${rest}`);
    assert.deepEqual([status, headers.get("content-type")], [200, csv], rest.slice(0, 20));
    const { status: refused, body } = await ask(`${until(1025)},text/csv${rest}`);
    if (rest !== "")
      assert.deepEqual([refused, body.code], [406, "not-acceptable"], rest.slice(0, 20));
  }
  const { status } = await ask(`text/csv;x=${"y".repeat(1024)},text/csv`);
  assert.equal(status, 406);
});

test("an empty Accept header is as good as none, at every path that chooses by it", async (t) => {
  const { port, key } = await startService(t);
  const answerTo = (path: string, lines: string) =>
    sendRaw(
      port,
      `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nx-api-key: ${key}\r\n${lines}\r\n`,
    );
  for (const path of ["/fetch-signals", "/vocabulary", "/changes", "/", "/docs", "/nowhere"]) {
    const without = await answerTo(path, "");
    assert.notEqual(without.status, 406);
    for (const lines of ["Accept:\r\n", "Accept: \t\r\n", "Accept:\r\nAccept:\r\n"]) {
      const { status, headers } = await answerTo(path, lines);
      const name = `${path} ${JSON.stringify(lines)}`;
      assert.equal(status, without.status, name);
      assert.equal(headers["content-type"], without.headers["content-type"], name);
    }
  }
});

test("whatever is read, HEAD has its headers without its content, a kept answer is a 304, and each counts 1", async (t) => {
  const service = await startService(t);
  const left = (headers: Headers) => Number(/"minute";r=(\d+)/.exec(headers.get("ratelimit")!)![1]);
  let before = left((await service.get("/fetch-signals")).headers);
  for (const [path, accept] of [
    ...mediaTypes.map((one) => ["/fetch-signals", one] as const),
    ["/list-gps?updated_at_from=2020&sort=-name&limit=2", "text/csv"] as const,
    ["/vocabulary", "*/*"] as const,
  ]) {
    const get = await service.get(path, { accept });
    const head = await service.get(path, { accept }, "HEAD");
    const known = { accept, "if-none-match": `"other", ${get.headers.get("etag")}` };
    const unchanged = await service.get(path, known);
    assert.deepEqual([head.status, head.text], [200, ""]);
    for (const name of listed(`
      content-type content-length etag x-total-count link dataset-version cache-control
    `))
      assert.equal(head.headers.get(name), get.headers.get(name), name);
    assert.deepEqual([unchanged.status, unchanged.text], [304, ""]);
    assert.equal(unchanged.headers.get("dataset-version"), get.headers.get("dataset-version"));
    const counted = [get, head, unchanged].map(({ headers }) => left(headers));
    assert.deepEqual(counted, [before - 1, before - 2, before - 3]);
    before -= 3;
  }
});

test("a body over 1 KiB is sent in br or gzip to whoever accepts it, whatever is read and as often as it is asked for", async (t) => {
  const names = Array.from({ length: 20 }, (_, i) => `Harbour ${i}`);
  const records = names.map((name) => ({ record: "gp", id: name, name }));
  const { port, key } = await startService(t, { records, settings: { EXPORTS: "on" } });
  const asking = (path: string, accept: string, encoding: string) => {
    const headers = ["Connection: close", `Accept: ${accept}`, `Accept-Encoding: ${encoding}`];
    return sendRaw(port, requestText(path, { key, headers }));
  };
  const decoded = { br: brotliDecompressSync, gzip: gunzipSync };
  const read = [
    ...mediaTypes.map((accept) => ["/fetch-gp?gp_name=harbour", accept] as const),
    ["/vocabulary", "*/*"],
    ["/exports", "*/*"],
  ] as const;
  for (const [path, accept] of read) {
    const plain = await asking(path, accept, "identity");
    assert.equal(plain.headers["content-encoding"], undefined);
    for (const [accepted, encoding] of [
      ["br", "br"],
      ["gzip", "gzip"],
      ["gzip, deflate, br", "br"],
      ["gzip;q=1, br;q=0.1", "gzip"],
    ] as const) {
      const answer = await asking(path, accept, accepted);
      assert.equal(answer.headers["content-encoding"], encoding, `${path} ${accept}`);
      assert.equal(answer.headers["content-type"], plain.headers["content-type"]);
      assert.equal(answer.headers["etag"], plain.headers["etag"]);
      assert.ok(answer.body.length < plain.body.length / 2);
      const body = decoded[encoding](Buffer.from(answer.body, "latin1"));
      assert.equal(body.toString("latin1"), plain.body);
    }
  }
  const small = await asking("/fetch-gp?gp_name=zzzz", "*/*", "br");
  assert.equal(small.headers["content-encoding"], undefined);
});

test("an error is a problem in JSON whatever format is asked for, by a browser too", async (t) => {
  const service = await startService(t);
  for (const accept of [...mediaTypes, "text/html,application/xhtml+xml,*/*;q=0.8"]) {
    const { status, headers, body } = await service.get("/fetch-signals?limit=0", { accept });
    assert.equal(status, 400);
    assert.equal(headers.get("content-type"), "application/problem+json; charset=utf-8");
    assert.equal(body.code, "invalid-parameters");
    const refused = await service.get("/v1/fetch-signals", { accept, "x-api-key": "" });
    assert.equal(refused.body.code, "api-key-missing");
  }
});

/** As long as a client may send it: two hundred of them take more than 3 MiB. */
const longHeader = (number: number) => Buffer.from(`${number}, gzip,${"x,".repeat(8000)}`);

test("an Accept-Encoding header means the same however many and long others came before, and none is kept", () => {
  const understood = (from: number, to: number) => {
    for (let number = from; number < to; number++)
      assert.equal(preferredEncoding(longHeader(number).toString("latin1")), "gzip");
    return heapBytes();
  };
  const before = understood(0, 1);
  const grownMebibytes = (understood(1, 300) - before) / 2 ** 20;
  assert.ok(grownMebibytes < 1, `${grownMebibytes} MiB`);
  for (let number = 0; number < 1000; number++) {
    assert.equal(preferredEncoding(`x-${number}`), null);
    assert.equal(preferredEncoding("gzip, deflate, br"), "br");
    assert.equal(preferredEncoding("gzip;q=1, br;q=0"), "gzip");
  }
});

test("the service's order decides among encodings of equal q, up to 1,024 characters", () => {
  for (const [header, encoding] of [
    ["gzip, br", "br"],
    ["identity, gzip;q=1.0", "gzip"],
    ["gzip;q=0.5, *;q=0.5", "br"],
    ["br;q=0.5, gzip", "gzip"],
    [`${"x,".repeat(510)}gzip,br`, "gzip"],
    [`${"x,".repeat(511)}gzip,br`, null],
  ] as const)
    assert.equal(preferredEncoding(header), encoding, header.slice(-20));
});
