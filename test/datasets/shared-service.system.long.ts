import assert from "node:assert/strict";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { openCatalogue } from "#datasets/catalogue.ts";
import { quotaMax } from "#limits/policy.ts";
import { takeLock } from "#store/lock.ts";
import { cast } from "../support/cast.ts";
import { eventually } from "../support/eventually.ts";
import { freshDatabase, onPostgres as test, postgresOfFile, runSql } from "../support/postgres.ts";
import { readExposition } from "../support/read-exposition.ts";
import { startService, type TestService } from "../support/service.ts";
import { add, publishBuilt, twoMachines } from "../support/shared-datasets.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const startOn = (t: TestContext, url: string, dataDir?: string, settings = {}) =>
  startService(t, {
    records: null,
    ...(dataDir !== undefined && { dataDir }),
    settings: {
      DATABASE_URL: url,
      ADMIN_ADDRESS: "127.0.0.1:0",
      ANSWER_CACHE_BYTES: "0",
      ...settings,
    },
  });

/** A key whose quota no test uses up. */
const roomyKey = async (service: TestService) => {
  const quotas = { minute: quotaMax, hour: quotaMax, day: quotaMax };
  return { "x-api-key": (await service.newKey({ quotas })).key };
};

const adminReady = async ({ adminAddress }: TestService) => {
  const response = await fetch(`${adminAddress}/ready`);
  return { status: response.status, body: (await response.json()) as any };
};

/** Asks until the answer fits, and returns it. */
async function until<A>(ask: () => Promise<A>, fits: (answer: A) => boolean): Promise<A> {
  const fitting = async () => {
    const answer = await ask();
    assert.ok(fits(answer));
    return answer;
  };
  return (await eventually(fitting, 60_000)).result;
}

const served = (service: TestService, version: string) =>
  until(
    () => adminReady(service),
    ({ body }) => body.dataset.served === version,
  );

const metric = async ({ adminAddress }: TestService, name: string) => {
  const text = await (await fetch(`${adminAddress}/metrics`)).text();
  return readExposition(text).get(name)?.samples.get(name);
};

test("a start that fails leaves no connection to the database", async (t) => {
  const dataDir = temporaryFolder(t);
  const { release } = takeLock(join(dataDir, "server.lock"), "");
  t.after(release);
  const url = await freshDatabase(t);
  await assert.rejects(startOn(t, url, dataDir), /Another server is running/);
  const others =
    "select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";
  await eventually(async () => assert.deepEqual(await runSql(url, others), []));
});

test("a server with an empty folder becomes ready by itself, and takes over what any machine publishes", async (t) => {
  const [database, importer, , first, second] = await twoMachines(t, "alpha", "beta");
  const services = [await startOn(t, database), await startOn(t, database)];
  for (const service of services) {
    const { status, body } = await service.get("/ready", { "x-api-key": "" });
    assert.equal(status, 503);
    assert.equal(body.reason, "no_dataset");
  }
  for (const [built, name] of [
    [first, "alpha"],
    [second, "beta"],
  ] as const) {
    const version = await publishBuilt(importer.store, built);
    for (const service of services) {
      const { status, body } = await served(service, version);
      assert.equal(status, 200);
      assert.deepEqual(body.dataset, { served: version, wanted: version });
      const answer = await service.get(`/fetch-gp?gp_name=${name}`);
      assert.equal(answer.body.pagination.total, 1);
    }
  }
  const instances = await until(
    () => importer.store.servers(),
    (found) => found.every((one) => one.served === second.generation.version),
  );
  assert.equal(instances.length, 2);
  for (const one of instances) {
    assert.ok(one.live);
    assert.equal(one.pid, process.pid);
    assert.deepEqual(one.formats, ["3.1"]);
  }
  await services[0]!.stop();
  assert.equal((await importer.store.servers()).length, 1);
});

test("through an outage of PostgreSQL a server answers from what it has and stays ready, and says how far behind it is", async (t) => {
  const [database, importer, , first, second] = await twoMachines(t, "alpha", "beta");
  const service = await startOn(t, database);
  const one = await publishBuilt(importer.store, first);
  await served(service, one);
  assert.equal(await metric(service, "gp_records_dataset_behind_seconds"), 0);
  const key = await roomyKey(service);
  // Known to the server from then on.
  assert.equal((await service.get("/fetch-gp?gp_name=alpha", key)).status, 200);
  const postgres = await postgresOfFile();
  await postgres.stop();
  const behindSeconds = async () => {
    const ready = await service.get("/ready", { "x-api-key": "" });
    assert.equal(ready.status, 200);
    const answer = await service.get("/fetch-gp?gp_name=alpha", key);
    assert.equal(answer.body.pagination.total, 1);
    const { body } = await adminReady(service);
    assert.deepEqual(body.dataset, { served: one, wanted: one });
    return metric(service, "gp_records_dataset_behind_seconds");
  };
  await until(behindSeconds, (found) => found! > 2);
  const faults = service.log.filter((line) => /shared datasets cannot be followed/.test(line));
  assert.equal(faults.length, 1, faults.join("\n"));
  await postgres.start();
  const two = await until(
    () => publishBuilt(importer.store, second).catch(() => null),
    (version) => version !== null,
  );
  await served(service, two!);
  await until(
    () => metric(service, "gp_records_dataset_behind_seconds"),
    (seconds) => seconds === 0,
  );
  assert.ok(
    service.log.some((line) => line.includes("resolved: shared datasets cannot be followed")),
  );
});

test("what cannot be fetched is wanted, not served, and told once, the server stays ready with what it has, and the next one is fetched", async (t) => {
  const [database, importer, , first, second, third] = await twoMachines(
    t,
    "alpha",
    "beta",
    "gamma",
  );
  const one = await publishBuilt(importer.store, first);
  const version = await add(importer.store, second);
  await runSql(
    database,
    "update dataset_part set bytes = set_byte(bytes, 99, get_byte(bytes, 99) # 4) where name = $1",
    [version],
  );
  const service = await startOn(t, database);
  await served(service, one);
  await importer.store.publish(version, one, null);
  const { status, body } = await until(
    () => adminReady(service),
    (ready) => ready.body.dataset.wanted === version,
  );
  assert.equal(status, 200);
  assert.equal(body.dataset.served, one);
  assert.equal((await service.get("/ready", { "x-api-key": "" })).status, 200);
  const failing = await (await fetch(`${service.adminAddress}/metrics`)).text();
  assert.match(failing, /^gp_records_failing\{part="dataset"\} 1$/m);
  const told = (words: string) => service.log.filter((line) => line.includes(words)).length;
  const damaged = `Part 1 of 1 of the file ${version} in the database is damaged`;
  await until(
    () => service.get("/health", { "x-api-key": "" }),
    () => told(damaged) > 0,
  );
  await served(service, await publishBuilt(importer.store, third));
  assert.deepEqual([told(damaged), told("resolved: shared datasets cannot be followed")], [1, 1]);
});

test("a server whose folder has a flipped byte fetches the dataset anew and serves it", async (t) => {
  const [database, importer, , first] = await twoMachines(t, "alpha");
  const service = await startOn(t, database);
  const version = await publishBuilt(importer.store, first);
  await served(service, version);
  await service.stop();
  const path = openCatalogue(join(service.dataDir, "datasets")).pathOf(version);
  const bytes = readFileSync(path);
  const at = bytes.indexOf('"name":"alpha"');
  bytes[at + 9]! ^= 1;
  writeFileSync(path, bytes);
  const restarted = await startOn(t, database, service.dataDir);
  await served(restarted, version);
  const answer = await restarted.get("/fetch-gp?gp_name=alpha");
  assert.equal(answer.body.data[0].name, "alpha");
  assert.ok(restarted.log.some((line) => /dataset cannot be served/.test(line)));
});

const exporting = { EXPORTS: "on" };

type Key = Awaited<ReturnType<typeof roomyKey>>;

const offeredBy = async (service: TestService, key: Key) =>
  (await service.get("/exports", key)).body.data;

/** The files that a service offers, by path. */
async function filesOf(service: TestService) {
  const headers = await roomyKey(service);
  const files = new Map<string, Buffer>();
  for (const { path } of (await offeredBy(service, headers)).flatMap(
    (dataset: any) => dataset.files,
  )) {
    const response = await fetch(service.url + path, { headers });
    assert.equal(response.status, 200, path);
    files.set(path, Buffer.from(await response.arrayBuffer()));
  }
  return files;
}

test("every server on a database offers the files that one on a folder of its own offers, a new one too, and ranges of one go on at another", async (t) => {
  const [database, importer, , built] = await twoMachines(t, cast);
  const version = await publishBuilt(importer.store, built);
  const first = await startOn(t, database, undefined, exporting);
  await served(first, version);
  const files = await filesOf(first);
  assert.equal(files.size, 12);

  const dataDir = temporaryFolder(t);
  const draft = join(dataDir, "draft.sqlite");
  copyFileSync(built.path, draft);
  const { generation } = built;
  openCatalogue(join(dataDir, "datasets")).publishDraft(draft, generation, generation.built_at);
  const embedded = await startService(t, { dataDir, records: null, settings: exporting });
  assert.deepEqual(await filesOf(embedded), files);

  const fresh = await startOn(t, database, undefined, exporting);
  await served(fresh, version);
  assert.deepEqual(await filesOf(fresh), files);
  const headers = await roomyKey(fresh);
  for (const [path, whole] of files) {
    const { headers: known } = await first.get(path, {}, "HEAD");
    const middle = whole.length >> 1;
    const range = { range: `bytes=${middle}-`, "if-range": known.get("etag")! };
    const rest = await fetch(fresh.url + path, { headers: { ...headers, ...range } });
    assert.equal(rest.status, 206, path);
    assert.deepEqual(Buffer.from(await rest.arrayBuffer()), whole.subarray(middle), path);
  }
});

test("every server on a database offers the datasets that are pinned, a new one too, until they are unpinned", async (t) => {
  const [database, importer, , first, second, third] = await twoMachines(t, "a", "b", "c");
  const one = await publishBuilt(importer.store, first);
  const before = await startOn(t, database, undefined, exporting);
  await served(before, one);
  await publishBuilt(importer.store, second);
  const current = await publishBuilt(importer.store, third);
  await served(before, current);
  await importer.store.pin(one, true);
  const fresh = await startOn(t, database, undefined, exporting);
  await served(fresh, current);
  const offers = async (service: TestService, expected: string[]) => {
    const key = await roomyKey(service);
    return until(
      () => offeredBy(service, key),
      (found) =>
        isDeepStrictEqual(
          found.map((dataset: any) => dataset.version),
          expected,
        ),
    );
  };
  for (const service of [before, fresh]) await offers(service, [current, one]);
  const files = await filesOf(before);
  assert.deepEqual(await filesOf(fresh), files);
  const [line] = String(files.get(`/exports/${one}/gp.ndjson`)).split("\n");
  assert.equal(JSON.parse(line!).name, "a");
  await importer.store.pin(one, false);
  for (const service of [before, fresh]) await offers(service, [current]);
});
