import assert from "node:assert/strict";
import { test } from "node:test";
import { Compile } from "typebox/compile";
import { operations } from "#operations/index.ts";
import { cast } from "../support/cast.ts";
import { startService } from "../support/service.ts";

const names = (records: { name?: string; title?: string }[]) =>
  records.map(({ name, title }) => name ?? title);
const gp = (name: string, rest: object = {}) => ({ record: "gp", id: name, name, ...rest });

test("every operation answers with data, pagination and meta, and every record has exactly its members", async (t) => {
  const service = await startService(t);
  for (const { path, record } of operations) {
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
    const members = Object.keys((record as unknown as { properties: object }).properties);
    for (const one of body.data) {
      assert.deepEqual(Object.keys(one), members, path);
      assert.deepEqual(Compile(record).Errors(one), [], path);
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

test("a GP embeds its principals by name and its signals newest first, without what they inherit", async (t) => {
  const service = await startService(t);
  const [northwind] = (await service.get("/fetch-gp?gp_name=northwind")).body.data;
  assert.deepEqual(names(northwind.principals), ["Ana Müller", "Ben Okafor"]);
  assert.deepEqual(names(northwind.signals), [
    "Northwind files a new offering",
    "Northwind names a partner",
    "Northwind is founded anew",
  ]);
  for (const member of ["gps", "tags", "themes", "markets"])
    assert.equal(member in northwind.principals[0], false);
  assert.equal("gps" in northwind.signals[0], false);
  assert.ok("tags" in northwind.signals[0]);
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

test("the filters of fetch-principals describe one GP that satisfies all of them", async (t) => {
  const service = await startService(t);
  const total = async (query: string) =>
    (await service.get(`/fetch-principals?${query}`)).body.pagination.total;
  assert.equal(await total("tag=qof&theme=build_to_rent"), 0);
  assert.equal(await total("tag=qof&theme=opportunity_zones"), 1);
  assert.equal(await total("market=dallas"), 2);
  assert.equal(await total(""), 3);
});

test("signals and projects are those of the GPs that gp_name matches, and without it all of them", async (t) => {
  const service = await startService(t);
  const found = async (path: string) => names((await service.get(path)).body.data);
  assert.deepEqual(await found("/fetch-signals?gp_name=stonehaven"), ["Stonehaven sells"]);
  assert.deepEqual(await found("/fetch-projects?gp_name=kkr"), ["The Alder at Mueller"]);
  assert.equal((await found("/fetch-signals")).length, 5);
  assert.deepEqual(await found("/fetch-projects"), ["The Alder at Mueller", "Zeta Yard"]);
});

test("signals come newest first, a day before its month before its year", async (t) => {
  const service = await startService(t);
  const dates = (await service.get("/fetch-signals")).body.data.map(
    ({ date }: { date: string }) => date,
  );
  assert.deepEqual(dates, ["2026-10-02", "2026-10", "2026-09-01", "2026", "2025-12-31"]);
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

test("past the end is an empty page with the right total and a hint", async (t) => {
  const service = await startService(t);
  for (const offset of [5, 6, 2147483647]) {
    const { data, pagination, meta } = (await service.get(`/fetch-signals?offset=${offset}`)).body;
    assert.deepEqual(data, []);
    assert.deepEqual(
      [pagination.total, pagination.has_more, pagination.next_offset],
      [5, false, null],
    );
    assert.equal(meta.hints[0].code, "past_the_end");
  }
});

test("a name nobody has is a 200 with nothing in it and at most three names like it", async (t) => {
  const service = await startService(t);
  const { status, body } = await service.get("/fetch-gp?gp_name=northwnd+residental+partners");
  assert.equal(status, 200);
  assert.deepEqual(body.data, []);
  const [hint] = body.meta.hints;
  assert.deepEqual([hint.code, hint.parameter], ["no_match", "gp_name"]);
  assert.equal(hint.suggestions[0], "Northwind Residential Partners");
  assert.ok(hint.suggestions.length <= 3);
});

test("a value no GP carries brings the values like it, for each parameter", async (t) => {
  const service = await startService(t);
  const { hints } = (
    await service.get("/fetch-principals?tag=serial_filr&theme=bild_to_rent&market=dalas")
  ).body.meta;
  assert.deepEqual(
    hints.map((hint: any) => [hint.code, hint.parameter, hint.suggestions[0]]),
    [
      ["unknown_value", "tag", "serial_filer"],
      ["unknown_value", "theme", "build_to_rent"],
      ["unknown_value", "market", "Dallas"],
    ],
  );
});

test("what holds no letter and no digit finds nothing and a hint says so", async (t) => {
  const service = await startService(t);
  for (const query of [
    "gp_name=%25%25",
    "gp_name=kkr&tag=--",
    "gp_name=kkr&theme=%21",
    "gp_name=kkr&market=%2C",
  ]) {
    const { body } = await service.get(`/fetch-gp?${query}`);
    assert.equal(body.pagination.total, 0);
    assert.ok(
      body.meta.hints.some(({ code }: { code: string }) => code === "no_searchable_character"),
    );
  }
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

test("ids have the prefix of their kind and 16 characters", async (t) => {
  const service = await startService(t, { records: cast });
  for (const [path, prefix] of [
    ["/fetch-gp?gp_name=kkr", "gp"],
    ["/fetch-principals", "pr"],
    ["/fetch-signals", "sg"],
    ["/fetch-projects", "pj"],
  ])
    for (const { id } of (await service.get(path!)).body.data)
      assert.match(id, new RegExp(`^${prefix}_[0-9a-z]{16}$`));
});
