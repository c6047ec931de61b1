import assert from "node:assert/strict";
import { test } from "node:test";
import { Compile } from "typebox/compile";
import { operations } from "#operations/index.ts";
import { declarations } from "#records/declarations.ts";
import { ListedGp } from "#records/gp.ts";
import { gp, project, signal } from "../datasets/published.ts";
import { listed } from "../support/awkward/words.ts";
import { startService } from "../support/service.ts";

test("every operation answers with data, pagination and meta, and every record has exactly its members", async (t) => {
  const service = await startService(t);
  for (const { path, kind, embeds } of operations) {
    const { body } = await service.get(`${path}?gp_name=northwind`);
    assert.deepEqual(Object.keys(body), ["data", "pagination", "meta"]);
    const ofPage = listed("limit offset returned total has_more next_offset");
    assert.deepEqual(Object.keys(body.pagination), ofPage);
    const ofMeta = listed("api_version dataset_version dataset_updated_at hints");
    assert.deepEqual(Object.keys(body.meta), ofMeta);
    assert.equal(body.meta.api_version, "1.3");
    assert.ok(body.data.length > 0, path);
    const schema = embeds || kind !== "gp" ? declarations[kind].schema : ListedGp;
    const members = Object.keys(schema.properties);
    for (const one of body.data) {
      assert.deepEqual(Object.keys(one), members, path);
      assert.deepEqual(Compile(schema).Errors(one), [], path);
    }
  }
});

test("an unknown scalar is null, an empty list a list and an enum other or unknown, never left out", async (t) => {
  const service = await startService(t, { records: [gp("Bare"), signal("s"), project("p")] });
  const [bare] = (await service.get("/fetch-gp?gp_name=bare")).body.data;
  assert.equal(bare.description, null);
  assert.deepEqual(bare.aliases, []);
  assert.deepEqual(bare.external_ids, {});
  assert.deepEqual(bare.provenance, { source: "own", basis: "stated", confidence: 1, url: null });
  const [event] = (await service.get("/fetch-signals")).body.data;
  const [building] = (await service.get("/fetch-projects")).body.data;
  const enums = [event.type, building.type, building.property_type, building.status];
  assert.deepEqual(enums, ["other", "other", "unknown", "unknown"]);
});

test("at most 100 records of a kind are embedded, the totals are true, a hint says so, and the rest is found by id", async (t) => {
  const signals = Array.from({ length: 103 }, (_, i) => signal(`s${i}`, { gps: ["Busy"] }));
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
