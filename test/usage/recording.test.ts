import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test as onFile, type TestContext } from "node:test";
import { findAccount } from "#accounts/accounts.ts";
import { openRecorder, readLastUse } from "#usage/recording.ts";
import { type LoggedRequest, readRequests } from "#usage/request-log.ts";
import { readTotalsBy } from "#usage/totals.ts";
import { openRecording, openWriter } from "#usage/writer.ts";
import { hour, minute, noon, useControl } from "../support/control.ts";
import { forEachStore as test, type StorePlace, storePlace } from "../support/for-each-store.ts";
import { startService, type TestService } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { lockUsage, readUsage, request } from "../support/usage.ts";

const numberOf = (place: StorePlace, account: string): Promise<number> =>
  useControl(place, async ({ database }) => (await findAccount(database, account))!.number);

/** Everything in the log of the first account, oldest first. */
const logOf = (place: StorePlace, account = 1) =>
  readUsage(place, async (usage) =>
    (await readRequests(usage, { account, limit: 1000 })).requests.toReversed(),
  );

/** Of an account with one key. */
const totalOf = (place: StorePlace, account = 1) =>
  readUsage(place, async (usage) => {
    const byKey = await readTotalsBy(usage, { account, since: 0, until: noon * 2 }, "key");
    assert.equal(byKey.length, 1);
    return byKey[0]![1];
  });

/** The lines of requests that came with an accepted key, as the log of the process has them. */
const linesOf = ({ log }: TestService) =>
  log
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ msg, key }) => msg === "request" && key !== undefined);

const asLine = (one: LoggedRequest) => ({
  request_id: one.requestId,
  key: one.key,
  status: one.status,
  ms: one.milliseconds,
  bytes: one.bytes,
  problem: one.problem ?? undefined,
});

const path = "/fetch-gp?gp_name=northwind";

test("what is recorded is what was answered, whatever the answer was", async (t) => {
  const service = await startService(t);
  const first = await service.get(path, { "accept-encoding": "identity" });
  const etag = first.headers.get("etag")!;
  const version = first.headers.get("dataset-version");
  const asked = [
    [path, {}, "HEAD"],
    [path, { "if-none-match": etag }],
    [path, { "accept-encoding": "gzip" }],
    ["/v1/fetch-signals?limit=1", { "x-request-id": "mine-1" }],
    ["/fetch-principals?limit=x", {}],
    ["/fetch-projects", { accept: "text/html" }],
    ["/v1/vocabulary", {}],
  ] as const;
  const answers = [first];
  for (const [target, headers, method] of asked)
    answers.push(await service.get(target, headers, method));
  await service.stop();
  const requests = await logOf(service.place);
  assert.deepEqual(
    requests.map((one) => [one.status, one.operation, one.dataset, one.problem]),
    [
      [200, "fetch-gp", version, null],
      [200, "fetch-gp", version, null],
      [304, "fetch-gp", version, null],
      [200, "fetch-gp", version, null],
      [200, "fetch-signals", version, null],
      [400, "fetch-principals", null, "invalid-parameters"],
      [406, "fetch-projects", null, "not-acceptable"],
      [200, "vocabulary", version, null],
    ],
  );
  assert.deepEqual(
    requests.map(({ status, requestId }) => [status, requestId]),
    answers.map(({ status, headers }) => [status, headers.get("x-request-id")]),
  );
  assert.equal(requests[4]!.requestId, "mine-1");
  const isContent = ({ status }: { status: number }, i: number) => status !== 304 && i !== 1;
  assert.deepEqual(
    requests.map(({ bytes }) => bytes),
    answers.map((answer, i) =>
      isContent(answer, i) ? Number(answer.headers.get("content-length")) : 0,
    ),
  );
  assert.ok(requests[3]!.bytes < requests[0]!.bytes);
  const kept = requests.map((one) => Object.entries(asLine(one)));
  const names = kept[0]!.map(([name]) => name);
  assert.deepEqual(
    linesOf(service).map((line) => names.map((name) => [name, line[name]])),
    kept,
  );
  const totals = await totalOf(service.place);
  assert.equal(totals.requests, 8);
  assert.deepEqual(totals.byClass, { "2xx": 5, "3xx": 1, "4xx": 2, "5xx": 0 });
  assert.equal(
    totals.bytes,
    requests.reduce((sum, { bytes }) => sum + bytes, 0),
  );
});

test("a refusal for the quota is recorded for its account, and each account has its own", async (t) => {
  const service = await startService(t);
  const { key, account } = await service.newKey({ quotas: { minute: 2 } });
  for (const expected of [200, 200, 429])
    assert.equal((await service.get(path, { "x-api-key": key })).status, expected);
  await service.get(path);
  await service.stop();
  const number = await numberOf(service.place, account);
  assert.deepEqual(
    (await logOf(service.place, number)).map(({ status, problem }) => [status, problem]),
    [
      [200, null],
      [200, null],
      [429, "quota-exceeded"],
    ],
  );
  assert.equal((await totalOf(service.place, number)).overQuota, 1);
  assert.equal((await logOf(service.place)).length, 1);
});

test("what passed no key check, and what needs none, is not recorded", async (t) => {
  const service = await startService(t);
  await service.get(path, { "x-api-key": "" });
  await service.get(path, { "x-api-key": `gpr_${"x".repeat(36)}` });
  await service.get(path, {}, "OPTIONS");
  await service.get(path, {}, "DELETE");
  for (const other of ["/", "/docs", "/health", "/ready", "/nothing"]) await service.get(other);
  await service.get(path);
  await service.stop();
  const statuses = (await logOf(service.place)).map(({ status }) => status);
  assert.deepEqual(statuses, [200]);
});

test("a request without a dataset to answer from is recorded as such", async (t) => {
  const service = await startService(t, { records: null });
  assert.equal((await service.get(path)).status, 503);
  await service.stop();
  const [found] = await logOf(service.place);
  assert.deepEqual([found!.status, found!.problem, found!.dataset], [503, "unavailable", null]);
});

/** Every file of a data folder but the datasets, as text. */
const everythingIn = (dataDir: string) =>
  readdirSync(dataDir, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => readFileSync(join(dataDir, name), "latin1"))
    .join("\n");

test("the parameters of a request are kept only with USAGE_LOG_PARAMETERS=on, and never a key in them", async (t) => {
  const asked = async (settings: Record<string, string>) => {
    const service = await startService(t, { settings });
    const { key, dataDir, place } = service;
    const escaped = [...key]
      .map((letter) => `%${letter.charCodeAt(0).toString(16).padStart(2, "0")}`)
      .join("");
    await service.get("/fetch-gp?gp_name=northw%69nd&limit=1");
    await service.get(`/fetch-gp?gp_name=${key}`);
    await service.get(`/fetch-gp?gp_name=${escaped}&limit=2`);
    await service.get(`/fetch-gp?gp_name=${"x".repeat(480)}${key}`);
    await service.get("/fetch-gp");
    await service.stop();
    return { key, dataDir, escaped, queries: (await logOf(place)).map(({ query }) => query) };
  };
  const off = await asked({});
  assert.deepEqual(new Set(off.queries), new Set([null]));
  const on = await asked({ USAGE_LOG_PARAMETERS: "on" });
  const masked = `${on.key.slice(0, 8)}…`;
  assert.deepEqual(on.queries, [
    "gp_name=northw%69nd&limit=1",
    `gp_name=${masked}`,
    `gp_name=${masked}&limit=2`,
    `gp_name=${"x".repeat(480)}${masked}`,
    "",
  ]);
  for (const { key, dataDir, escaped } of [off, on]) {
    assert.ok(!everythingIn(dataDir).includes(key.slice(0, 20)));
    assert.ok(!everythingIn(dataDir).includes(escaped.slice(0, 60)));
  }
});

test("with USAGE_LOG_DAYS=0 totals are kept and no request", async (t) => {
  const service = await startService(t, {
    settings: { USAGE_LOG_DAYS: "0", USAGE_LOG_PARAMETERS: "on" },
  });
  await service.get(path);
  await service.stop();
  assert.deepEqual(await logOf(service.place), []);
  assert.equal((await totalOf(service.place)).requests, 1);
});

test("the last use of a key is kept with the neighbourhood it came from", async (t) => {
  const service = await startService(t, { settings: { TRUSTED_PROXIES: "127.0.0.1" } });
  await service.get(path, { "x-forwarded-for": "203.0.113.77" });
  await service.stop();
  const [use] = await readUsage(service.place, async (usage) => [
    ...(await readLastUse(usage)).values(),
  ]);
  assert.equal(use!.network, "203.0.113.0/24");
});

onFile(
  "what is lost is counted, told when it begins, and told in full once it is over",
  async (t) => {
    const dataDir = temporaryFolder(t);
    const told: (string | null | [number, boolean])[] = [];
    const recording = openRecording({
      dataDir,
      databaseUrl: null,
      retention: { logDays: 14, logRowsMax: 1000 },
      now: () => noon,
      onFault: (fault) => void told.push(fault && "fault"),
      onLoss: (requests, isOver) => void told.push([requests, isOver]),
      busyMilliseconds: 20,
    });
    const unlock = await lockUsage(dataDir);
    for (let i = 0; i < 3; i++) recording.record(request());
    await recording.close();
    unlock();
    assert.deepEqual(told, ["fault", [3, false], [3, true]]);
    assert.equal(recording.lostCount(), 3);
    assert.deepEqual(await logOf({ dataDir, databaseUrl: null }), []);
  },
);

test("the times of requests are those of the service's clock", async (t) => {
  const service = await startService(t);
  await service.get(path);
  service.clock.advance((3 * hour) / 1000);
  await service.get(path);
  const now = service.clock.now();
  await service.stop();
  const found = (await logOf(service.place)).map(({ at }) => Date.parse(at));
  assert.deepEqual(found, [now - 3 * hour, now]);
});

async function openUse(t: TestContext) {
  const place = await storePlace(t);
  const writer = openWriter({ ...place, onFault: (fault) => assert.equal(fault, null) });
  t.after(() => writer.close());
  const use = openRecorder(writer.write, () => noon);
  const close = () => {
    use.close();
    return writer.settled();
  };
  return { place, use, close };
}

const at = (time: number) => new Date(time).toISOString();

test("a clock that was set back does not keep a key from being noted again", async (t) => {
  const { place, use, close } = await openUse(t);
  use.noteKeyUse("key_a", noon);
  use.noteKeyUse("key_a", noon - 60 * minute);
  use.noteKeyUse("key_a", noon - 59 * minute);
  use.noteKeyUse("key_b", noon - 59 * minute);
  await close();
  const found = await readUsage(place, (usage) => readLastUse(usage));
  assert.equal(found.get("key_a")!.at, at(noon - 59 * minute));
});

test("a key's use is written with its network at most once a minute, each key by itself", async (t) => {
  const { place, use, close } = await openUse(t);
  let asked = 0;
  const networkOf = () => `203.0.113.${asked++}/24`;
  for (let time = noon; time <= noon + minute; time += 1000)
    use.noteKeyUse("key_a", time, networkOf);
  use.noteKeyUse("key_b", noon, networkOf);
  use.noteKeyUse("key_b", noon + minute - 1, networkOf);
  use.noteKeyUse("key_c", noon);
  await close();
  assert.equal(asked, 3);
  await readUsage(place, async (usage) => {
    const ofA = { at: at(noon + minute), network: "203.0.113.1/24" };
    assert.deepEqual(await readLastUse(usage, ["key_a", "key_d"]), new Map([["key_a", ofA]]));
    const all = await readLastUse(usage);
    assert.deepEqual(all.get("key_b"), { at: at(noon), network: "203.0.113.2/24" });
    assert.deepEqual(all.get("key_c"), { at: at(noon), network: null });
    assert.equal((await readLastUse(usage, [])).size, 0);
  });
});
