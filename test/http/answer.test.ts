import assert from "node:assert/strict";
import { test } from "node:test";
import { Compile } from "typebox/compile";
import { operations } from "#operations/index.ts";
import { declarations } from "#records/declarations.ts";
import { startService } from "../support/service.ts";

const names = (records: { name?: string; title?: string }[]) =>
  records.map(({ name, title }) => name ?? title);
const gp = (name: string, rest: object = {}) => ({ record: "gp", id: name, name, ...rest });

test("every operation answers with data, pagination and meta, and every record has exactly its members", async (t) => {
  const service = await startService(t);
  for (const { path, kind } of operations) {
    const { body } = await service.get(`${path}?gp_name=northwind`);
    assert.deepEqual(Object.keys(body), ["data", "pagination", "meta"]);
    assert.deepEqual(Object.keys(body.pagination), [
      "limit",
      "offset",
      "returned",
      "total",
      "has_more",
      "next_offset",
    ]);
    assert.deepEqual(Object.keys(body.meta), [
      "api_version",
      "dataset_version",
      "dataset_updated_at",
      "hints",
    ]);
    assert.equal(body.meta.api_version, "1.3");
    assert.ok(body.data.length > 0, path);
    const { schema } = declarations[kind];
    const members = Object.keys(schema.properties);
    for (const one of body.data) {
      assert.deepEqual(Object.keys(one), members, path);
      assert.deepEqual(Compile(schema).Errors(one), [], path);
    }
  }
});

test("an unknown scalar is null and an empty list is a list, never left out", async (t) => {
  const service = await startService(t, { records: [gp("Bare")] });
  const [bare] = (await service.get("/fetch-gp?gp_name=bare")).body.data;
  assert.equal(bare.description, null);
  assert.deepEqual(bare.aliases, []);
  assert.deepEqual(bare.external_ids, {});
  assert.deepEqual(bare.provenance, { source: "own", basis: "stated", confidence: 1, url: null });
});

test("enums that a source leaves out say other or unknown", async (t) => {
  const service = await startService(t, {
    records: [
      { record: "signal", id: "s", title: "T", date: "2026" },
      { record: "project", id: "p", name: "P" },
    ],
  });
  const [signal] = (await service.get("/fetch-signals")).body.data;
  const [project] = (await service.get("/fetch-projects")).body.data;
  assert.equal(signal.type, "other");
  assert.deepEqual(
    [project.type, project.property_type, project.status],
    ["other", "unknown", "unknown"],
  );
});

test("at most 100 records of a kind are embedded, the totals are true, a hint says so, and the rest is found by id", async (t) => {
  const signals = Array.from({ length: 103 }, (_, i) => ({
    record: "signal",
    id: `s${i}`,
    title: `S${i}`,
    date: "2026",
    gps: ["Busy"],
  }));
  const service = await startService(t, { records: [gp("Busy"), ...signals] });
  const { data, meta } = (await service.get("/fetch-gp?gp_name=busy")).body;
  assert.equal(data[0].signals.length, 100);
  assert.equal(data[0].signals_total, 103);
  assert.deepEqual([meta.hints[0].code, meta.hints[0].parameter], ["embedded_list_cut", null]);
  const rest = (await service.get(`/fetch-signals?gp_name=${data[0].id}&limit=100&offset=100`))
    .body;
  assert.equal(rest.pagination.total, 103);
  assert.equal(rest.data.length, 3);
});

test("a principal inherits tags, themes and markets of its GPs and stands once with all of them", async (t) => {
  const service = await startService(t);
  const { data, pagination } = (await service.get("/fetch-principals?gp_name=northwind")).body;
  assert.equal(pagination.total, 2);
  const [ana] = data;
  assert.deepEqual(names(ana.gps), ["Northwind Residential Partners", "Blackstone Ridge Capital"]);
  assert.deepEqual(ana.tags, ["reg_d_506c", "serial_filer", "qof"]);
  assert.deepEqual(ana.markets, ["Dallas-Fort Worth-Arlington, TX", "Winston-Salem, NC"]);
});

test("pages by offset neither repeat nor miss a record, and say what comes next", async (t) => {
  const records = Array.from({ length: 45 }, (_, i) => ({
    record: "project",
    id: String(i),
    name: `P${i % 7}`,
  }));
  const service = await startService(t, { records });
  const ids: string[] = [];
  let next: number | null = 0;
  while (next !== null) {
    const { data, pagination }: any = (await service.get(`/fetch-projects?limit=7&offset=${next}`))
      .body;
    assert.equal(pagination.total, 45);
    assert.equal(pagination.returned, data.length);
    assert.equal(pagination.has_more, pagination.next_offset !== null);
    ids.push(...data.map(({ id }: { id: string }) => id));
    next = pagination.next_offset;
  }
  assert.equal(new Set(ids).size, 45);
});

test("nothing in the body depends on host, key or request id", async (t) => {
  const service = await startService(t);
  const { key } = await service.newKey();
  const one = await service.get("/fetch-gp?gp_name=northwind");
  const other = await service.get("/fetch-gp?gp_name=northwind", {
    "x-api-key": key,
    "x-request-id": "other",
  });
  assert.equal(other.text, one.text);
  assert.equal(other.headers.get("etag"), one.headers.get("etag"));
});
