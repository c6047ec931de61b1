import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { versionShape } from "#datasets/generation.ts";
import { openAdmin } from "#http/admin.ts";
import type { ServiceState } from "#http/dependencies.ts";
import { gauge } from "#metrics/metric.ts";
import { readNames } from "#operations/reads.ts";
import { recordKinds } from "#records/kinds.ts";
import { openHttpServer } from "../support/http-server.ts";
import { readExposition } from "../support/read-exposition.ts";
import { startService } from "../support/service.ts";

async function startWithAdmin(t: TestContext, options: Parameters<typeof startService>[1] = {}) {
  const settings = { ...options.settings, ADMIN_ADDRESS: "127.0.0.1:0" };
  const service = await startService(t, { ...options, settings });
  const admin = service.adminAddress!;
  const ask = (path: string, method = "GET") => fetch(admin + path, { method });
  const scrape = async () => readExposition(await (await ask("/metrics")).text());
  /** The value of one sample; undefined where there is none. */
  const read = async (sample: string) =>
    (await scrape()).get(sample.replace(/\{.*/, ""))!.samples.get(sample);
  return { service, admin, ask, scrape, read };
}

test("the metrics of a running service", async (t) => {
  const { service, ask, scrape, read } = await startWithAdmin(t);
  const it = (name: string, run: () => Promise<void>) => t.test(name, run);

  await it("every answer is counted under its operation and status, and its time measured", async () => {
    // Faults are there as 0 from the start: the growth that an alarm looks at begins with the first one.
    assert.deepEqual(
      [...(await scrape()).get("gp_records_requests_total")!.samples],
      [...readNames, "other"].flatMap((name) =>
        [500, 503].map((status) => [
          `gp_records_requests_total{operation="${name}",status="${status}"}`,
          0,
        ]),
      ),
    );
    const found = ["/fetch-gp?gp_name=northwind", "/v1/fetch-gp?gp_name=northwind"];
    for (const path of [...found, "/fetch-gp", "/vocabulary", "/docs", "/nowhere"])
      await service.get(path);
    await service.get("/fetch-signals", { "x-api-key": "" });
    const requests = (operation: string, status: number) =>
      read(`gp_records_requests_total{operation="${operation}",status="${status}"}`);
    assert.equal(await requests("fetch-gp", 200), 2);
    assert.equal(await requests("fetch-gp", 400), 1);
    assert.equal(await requests("fetch-signals", 401), 1);
    assert.equal(await requests("vocabulary", 200), 1);
    assert.equal(await requests("other", 200), 1);
    assert.equal(await requests("other", 404), 1);
  });

  await it("the cache tells its hits, misses and size", async () => {
    assert.equal(await read("gp_records_cache_hits_total"), 1);
    // Of an operation and of the vocabulary.
    assert.equal(await read("gp_records_cache_misses_total"), 2);
    assert.equal(await read("gp_records_cache_entries"), 2);
    assert.ok((await read("gp_records_cache_bytes"))! > 1000);
  });

  await it("what is served at /metrics is Prometheus' text format, and every metric stands in docs/running.md", async () => {
    const metrics = await scrape();
    const { headers } = await ask("/metrics");
    assert.equal(headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    const page = readFileSync("docs/running.md", "utf8");
    const section = page.slice(page.indexOf("## Metrics and alarms"), page.indexOf("## Overload"));
    const documented = [
      ...section.matchAll(/^\| `([a-z_0-9]+)` \| (counter|gauge|histogram) \|/gm),
    ];
    const found = documented.map(([, name, type]) => `${name} ${type}`).toSorted();
    assert.deepEqual(found, [...metrics].map(([name, { type }]) => `${name} ${type}`).toSorted());
  });

  await it("the dataset is named with its time and its records", async () => {
    const { body } = await service.get("/fetch-gp?gp_name=northwind");
    const { dataset_version: version, dataset_updated_at: updatedAt } = body.meta;
    assert.equal(await read(`gp_records_dataset_info{version="${version}"}`), 1);
    const updated = await read("gp_records_dataset_updated_timestamp_seconds");
    assert.equal(updated, Date.parse(updatedAt) / 1000);
    const published = await read("gp_records_dataset_published_timestamp_seconds");
    assert.equal(published, service.clock.now() / 1000);
    const { samples } = (await scrape()).get("gp_records_dataset_records")!;
    const ofKinds = recordKinds.map((kind) => `gp_records_dataset_records{kind="${kind}"}`);
    assert.deepEqual([...samples.keys()], ofKinds);
  });

  await it("nothing else is at the admin address, and nothing there can be changed", async () => {
    for (const path of ["/", "/fetch-gp?gp_name=kk", "/metrics/"])
      assert.equal((await ask(path)).status, 404, path);
    for (const method of ["POST", "DELETE", "OPTIONS"]) {
      const refused = await ask("/metrics", method);
      assert.equal(refused.status, 405, method);
      assert.equal(refused.headers.get("allow"), "GET, HEAD");
    }
    const head = await ask("/metrics", "HEAD");
    assert.equal(head.status, 200);
    assert.equal(await head.text(), "");
  });
});

test("refusals are counted by the quota that was used up, wrong keys among them", async (t) => {
  const { service, read } = await startWithAdmin(t);
  const { key } = await service.newKey({ quotas: { minute: 1, hour: 2 } });
  for (let i = 0; i < 3; i++) await service.get("/fetch-projects", { "x-api-key": key });
  service.clock.advance(60);
  for (let i = 0; i < 2; i++) await service.get("/fetch-projects", { "x-api-key": key });
  for (let i = 0; i < 31; i++) await service.get("/fetch-projects", { "x-api-key": "gpr_no" });
  const refusals = (policy: string) => read(`gp_records_quota_refusals_total{policy="${policy}"}`);
  assert.equal(await refusals("minute"), 3);
  assert.equal(await refusals("hour"), 1);
  assert.equal(await refusals("day"), 0);
  assert.equal(await refusals("failed-keys"), 1);
});

interface AdminReady {
  status: string;
  reason?: string;
  dataset: { served: string | null; wanted: string | null };
}

test("/ready of the admin address tells which dataset is served and which is wanted", async (t) => {
  const life: { state: ServiceState } = { state: "running" };
  const { get, http } = await openHttpServer(t, { life });
  let wanted: string | null = "20261122T030000Z-00000000";
  const admin = openAdmin({ host: "127.0.0.1", port: 0 }, null, http, [], () => wanted);
  await admin.listen();
  t.after(() => admin.close());
  const served = (await get("/fetch-gp?gp_name=kkr")).body.meta.dataset_version;
  const ready = async () => {
    const answer = await fetch(`${admin.address()!}/ready`);
    return [answer.status, await answer.json()];
  };
  assert.deepEqual(await ready(), [200, { status: "ok", dataset: { served, wanted } }]);
  wanted = served;
  assert.deepEqual(await ready(), [200, { status: "ok", dataset: { served, wanted } }]);
  for (const reason of ["starting", "draining"] as const) {
    life.state = reason;
    const dataset = { served, wanted };
    assert.deepEqual(await ready(), [503, { status: "unavailable", reason, dataset }]);
  }
});

test("a scrape that fails is answered, logged, and disturbs none after it", async (t) => {
  const { http, log } = await openHttpServer(t);
  let isBroken = true;
  const metric = gauge("test_value", "Value of the test", () => {
    if (isBroken) throw new Error("cannot be measured");
    return 7;
  });
  const admin = openAdmin({ host: "127.0.0.1", port: 0 }, null, http, [metric], () => null);
  await admin.listen();
  t.after(() => admin.close());
  const scrape = async () => {
    const answer = await fetch(`${admin.address()!}/metrics`);
    return [answer.status, /^test_value .*$/m.exec(await answer.text())?.[0]];
  };
  assert.deepEqual(await scrape(), [500, undefined]);
  assert.ok(log.some((line) => line.includes("cannot be measured")));
  isBroken = false;
  assert.deepEqual(await scrape(), [200, "test_value 7"]);
});

test("a dataset that cannot be served is counted, and shown for as long as it is so", async (t) => {
  const { service, ask, read } = await startWithAdmin(t);
  assert.equal(await read('gp_records_failing{part="dataset"}'), 0);
  const pointer = join(service.dataDir, "datasets", "current");
  const sound = readFileSync(pointer);
  writeFileSync(pointer, "nonsense\n");
  while ((await read("gp_records_dataset_load_failures_total")) === 0);
  assert.equal(await read('gp_records_failing{part="dataset"}'), 1);
  const { status, dataset } = (await (await ask("/ready")).json()) as AdminReady;
  assert.deepEqual([status, dataset.wanted], ["ok", null]);
  assert.match(dataset.served!, versionShape);
  assert.equal(await read("gp_records_dataset_published_timestamp_seconds"), undefined);
  writeFileSync(pointer, sound);
  assert.equal(await read('gp_records_failing{part="dataset"}'), 0);
});

test("without a dataset the metrics are there, and say so", async (t) => {
  const { ask, scrape, read } = await startWithAdmin(t, { records: null });
  assert.equal(await read('gp_records_failing{part="dataset"}'), 0);
  assert.equal((await scrape()).get("gp_records_dataset_info")!.samples.size, 0);
  const ready = await ask("/ready");
  assert.equal(ready.status, 503);
  const dataset = { served: null, wanted: null };
  assert.deepEqual(await ready.json(), { status: "unavailable", reason: "no_dataset", dataset });
  assert.deepEqual(await (await ask("/health")).json(), { status: "ok" });
});

test("an admin address that others can reach is warned of, one of this machine is not", async (t) => {
  const { service } = await startWithAdmin(t);
  assert.ok(service.log.some((line) => line.includes("metrics are served")));
  assert.ok(!service.log.some((line) => line.includes("loopback")));
  const open = await startService(t, { settings: { ADMIN_ADDRESS: "0.0.0.0:0" } });
  assert.ok(
    open.log.some((line) => JSON.parse(line).level === 40 && line.includes("ADMIN_ADDRESS")),
  );
});
