import assert from "node:assert/strict";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setPlan } from "#accounts/plans.ts";
import { openPublications } from "#datasets/publications.ts";
import { openControl } from "#store/stores.ts";
import { day, gp, principal, signal } from "../datasets/published.ts";
import { commandDone } from "../support/command-line.ts";
import { rollBack } from "../support/dataset.ts";
import { eventually } from "../support/eventually.ts";
import { applyStep, emptyMirror, hashOf, linesOf, type Mirror } from "../support/mirror.ts";
import { startPublished } from "../support/publications.ts";
import { startService, type TestService } from "../support/service.ts";

/** Two publications, and the service. */
async function startFollowed(t: TestContext) {
  const { versions, ...published } = await startPublished(t, [
    [gp("a", { name: "Alpha" }), gp("b", { name: "Alphabet" }), principal("p", ["a"])],
    [
      gp("a", { name: "Alpha & <A>", former_ids: ["b"] }),
      principal("p", ["a"]),
      ...Array.from({ length: 250 }, (_, i) =>
        signal(`s${i}`, { gps: ["a"], summary: "x".repeat(40) }),
      ),
    ],
  ]);
  const [first = "", second = ""] = versions;
  return { ...published, first, second };
}

const stepOf = (from: string, to: string) => `/changes/${from}..${to}.ndjson`;

/** What `counted` of the minute is left after this answer. */
const leftOf = ({ headers }: { headers: Headers }) =>
  Number(/"minute";r=(\d+)/.exec(headers.get("ratelimit")!)![1]);

/** A copy made from pages of the operations, as a client makes it. */
async function copyOf(service: TestService): Promise<Mirror> {
  const mirror = emptyMirror();
  for (const kind of ["gp", "principal", "signal", "project"] as const) {
    const operation = kind === "gp" ? "fetch-gp?gp_name=alpha&" : `fetch-${kind}s?`;
    for (let offset: number | null = 0; offset !== null;) {
      const { body } = await service.get(`/${operation}limit=100&offset=${offset}`);
      for (const record of body.data) {
        for (const name of ["principals", "principals_total", "signals", "signals_total"])
          delete record[name];
        mirror[kind].set(record.id, JSON.stringify(record));
      }
      offset = body.pagination.next_offset;
    }
  }
  return mirror;
}

test("a copy of what the operations answer that applies a step is what they answer of the next dataset, and after a roll-back of the one before", async (t) => {
  const { service, catalogue, first, second } = await startFollowed(t);
  const { key } = await service.newKey({
    quotas: { minute: 100_000, hour: 100_000, day: 100_000 },
  });
  const get = (path: string) => service.get(path, { "x-api-key": key });
  const mine = { ...service, get };
  const copy = await copyOf(mine);
  const list = await get("/changes");
  const steps = list.body.data.map(({ from, version }: any) => `${from} ${version}`);
  assert.deepEqual(steps, [`${first} ${second}`, `null ${first}`]);
  assert.equal(list.body.data[0].hash, hashOf(copy));
  await rollBack(catalogue, day(3));
  await eventually(async () => {
    const { headers } = await get("/fetch-projects");
    assert.equal(headers.get("dataset-version"), first);
  });
  const [newest] = (await get("/changes?limit=1")).body.data;
  const { version, from, published_at: publishedAt } = newest;
  assert.deepEqual([version, from, publishedAt], [first, second, "2026-11-03T03:00:00Z"]);
  const head = applyStep(copy, (await get(newest.step)).text);
  assert.equal(head["to_hash"], hashOf(copy));
  assert.deepEqual(linesOf(copy), linesOf(await copyOf(mine)));
});

test("a step says what was added, changed, merged and removed, with a head, and the list and the feed say how much", async (t) => {
  const { service, first, second } = await startFollowed(t);
  const { status, headers, text } = await service.get(stepOf(first, second), {
    "x-api-key": service.key,
  });
  assert.equal(status, 200);
  assert.equal(headers.get("content-type"), "application/x-ndjson; charset=utf-8");
  assert.equal(headers.get("x-total-count"), "253");
  assert.equal(headers.get("dataset-version"), second);
  const [head, ...lines] = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  assert.deepEqual([head.format, head.from, head.to, head.changes], [1, first, second, 253]);
  assert.deepEqual(head.counts.gp, { added: 0, changed: 1, removed: 0, merged: 1 });
  assert.equal(head.counts.signal.added, 250);
  const [one] = lines.filter(({ kind, change }) => kind === "gp" && change === "changed");
  assert.deepEqual(Object.keys(one.after), ["former_ids", "name", "updated_at"]);
  assert.deepEqual([one.before.name, one.after.name], ["Alpha", "Alpha & <A>"]);
  const [merged] = lines.filter(({ change }) => change === "merged");
  assert.deepEqual(one.after.former_ids, [merged.id]);
  assert.equal(merged.into, one.id);
  const [listed] = (await service.get("/changes")).body.data;
  assert.deepEqual([listed.changes, listed.counts], [head.changes, head.counts]);
  const feed = await service.get("/changes.atom", { "x-api-key": "" });
  assert.equal(feed.status, 200);
  assert.match(feed.text, /gp: 1 changed, 1 merged; principal: 1 changed; signal: 250 added</);
  assert.ok(!feed.text.includes("Alpha"));
});

test("a step counts one request for each started hundred changes, before the first byte; HEAD, 304 and refusals count one", async (t) => {
  const { service, first, second } = await startFollowed(t);
  const path = stepOf(first, second);
  const whole = await service.get(path);
  assert.equal(leftOf(whole), 57);
  const etag = whole.headers.get("etag")!;
  const known = await service.get(path, { "if-none-match": etag });
  assert.deepEqual([known.status, leftOf(known)], [304, 56]);
  const head = await service.get(path, {}, "HEAD");
  assert.deepEqual([head.status, leftOf(head)], [200, 55]);
  assert.equal(head.headers.get("x-total-count"), "253");
  assert.equal(leftOf(await service.get(`${path}?limit=101`)), 53);
  assert.equal(leftOf(await service.get(`${path}?limit=100&offset=253`)), 52);
  assert.equal(leftOf(await service.get(`${path}?limit=0`)), 51);
  assert.equal(leftOf(await service.get(stepOf(second, first))), 50);
  assert.equal(leftOf(await service.get("/changes")), 49);
  for (let i = 0; i < 47; i++) await service.get("/changes");
  service.clock.advance(20);
  const refused = await service.get(path);
  assert.deepEqual([refused.status, leftOf(refused)], [429, 2]);
  assert.equal(
    refused.body.detail,
    "This request counts as 3 requests, but only 2 of the 60 allowed per minute are left. Try again in 40 seconds.",
  );
});

test("the parts of a step, put together, are the step, and lead to each other", async (t) => {
  const { service, first, second } = await startFollowed(t);
  const path = stepOf(first, second);
  const { text } = await service.get(path);
  let parts = "";
  for (let next: string | undefined = `${path}?limit=100`; next !== undefined;) {
    const part = await service.get(next);
    parts += part.text;
    next = /<([^>]*)>; rel="next"/.exec(part.headers.get("link")!)?.[1];
  }
  assert.equal(parts, text);
  assert.equal((await service.get(`${path}?limit=1&offset=9999`)).text, "");
  for (const encoding of ["gzip", "br"])
    assert.equal((await service.get(path, { "accept-encoding": encoding })).text, text);
});

test("what would count more than the quota ever admits is a 400 that says how much to ask for, and no wait", async (t) => {
  const { service, first, second } = await startFollowed(t);
  const { key } = await service.newKey({ quotas: { minute: 2 } });
  const headers = { "x-api-key": key };
  const path = stepOf(first, second);
  const { status, body } = await service.get(path, headers);
  assert.equal(status, 400);
  const [fault] = body.errors;
  assert.deepEqual([fault.parameter, fault.code, fault.maximum], ["limit", "missing", 200]);
  service.clock.advance(61);
  const tooMany = await service.get(`${path}?limit=201`, headers);
  assert.equal(tooMany.body.errors[0].code, "out_of_range");
  service.clock.advance(61);
  const part = await service.get(`${path}?limit=200`, headers);
  assert.deepEqual([part.status, leftOf(part)], [200, 0]);
});

test("checks come in the order of the operations, and a plan may refuse: not counted, and no feed", async (t) => {
  const { service, first, second } = await startFollowed(t);
  const control = await openControl(service.dataDir, service.place);
  t.after(() => control.close());
  await setPlan(control, { name: "default", quotas: {}, changes: false, now: service.clock.now() });
  for (const path of ["/changes", stepOf(first, second), "/v1/changes"]) {
    assert.equal((await service.get(path, {}, "POST")).status, 405);
    assert.equal((await service.get(path, { "x-api-key": "" })).status, 401);
    const refused = await service.get(path, { accept: "image/png" });
    const { code, reason } = refused.body;
    assert.deepEqual([refused.status, code, reason], [403, "access-denied", "plan"]);
    assert.equal(leftOf(refused), 60);
  }
  await setPlan(control, { name: "default", quotas: {}, changes: true, now: service.clock.now() });
  assert.equal((await service.get("/changes", { accept: "text/csv" })).status, 406);
  const asJson = await service.get(stepOf(first, second), { accept: "application/json" });
  assert.equal(asJson.status, 406);
  assert.equal((await service.get("/changes?tag=a")).body.errors[0].allowed_on.length, 6);
  assert.equal((await service.get("/changes?limit=101")).status, 400);
});

test("a step that is not kept is a 404 that names those that are, and the one that leads on", async (t) => {
  const { service, first, second } = await startFollowed(t);
  const { status, body } = await service.get(stepOf(first, first));
  assert.equal(status, 404);
  assert.deepEqual(body.kept, [stepOf(first, second)]);
  assert.equal(body.suggestion, stepOf(first, second));
  for (const name of [
    "x",
    "a..b",
    "20261120T030000Z-9f3c2a7e..20261120T030000Z-9f3c2a7f.ndjson",
    "x".repeat(8000),
  ])
    for (const path of ["/changes", "/v1/changes"])
      assert.equal((await service.get(`${path}/${name}`)).status, 404, name.slice(0, 80));
});

test("the list shows at once, under another tag, that steps were withdrawn", async (t) => {
  const jane = principal("p", ["a"], { name: "Jane Roe" });
  const { service } = await startPublished(t, [[gp("a")], [gp("a"), jane], [gp("a")]]);
  const before = await service.get("/changes");
  await commandDone(service.dataDir, "suppress", "add", "Jane Roe", "--reason", "objection");
  const after = await service.get("/changes", { "if-none-match": before.headers.get("etag")! });
  assert.equal(after.status, 200);
  assert.ok(before.body.data[1].step !== null && after.body.data[1].step === null);
});

test("a step whose file is not here yet is asked for again, and is no reason to begin anew", async (t) => {
  const { service, folder, first, second } = await startFollowed(t);
  rmSync(openPublications(folder.folder).stepPath(first, second));
  const { status, body } = await service.get(stepOf(first, second));
  assert.deepEqual([status, body.reason], [503, "starting"]);
  assert.equal((await service.get("/changes")).body.data[0].step, stepOf(first, second));
});

test("a step whose file cannot be opened or was cut off is a 503, and one that cannot be read ends its connection; the log says why of which request", async (t) => {
  const { service, folder, first, second } = await startFollowed(t);
  const file = openPublications(folder.folder).stepPath(first, second);
  const path = stepOf(first, second);
  const told = (id: string) => service.log.filter((line) => line.includes(id)).join("");
  rmSync(file);
  // Nobody opens a socket as a file, not even root.
  const socket = join(service.dataDir, "socket");
  const other = createServer().listen(socket);
  t.after(() => other.close());
  symlinkSync(socket, file);
  const { status, body, headers } = await service.get(path);
  assert.deepEqual([status, body.reason, headers.get("retry-after")], [503, "store_down", "5"]);
  assert.match(told(body.request_id), /ENXIO.*"status":503/s);
  rmSync(file);
  writeFileSync(file, "{");
  const short = await service.get(path);
  assert.deepEqual([short.status, short.body.reason], [503, "store_down"]);
  assert.match(
    told(short.body.request_id),
    /has 1 bytes, but should have at least \d+\..*"status":503/s,
  );
  rmSync(file);
  mkdirSync(file);
  await assert.rejects(service.get(path, { "x-request-id": "unread" }));
  assert.match(told("unread"), /EISDIR.*file cannot be read/s);
});

test("a publication that was noted and never came about is not listed, nor is its step served", async (t) => {
  const { service, folder, first, second } = await startFollowed(t);
  const path = join(folder.folder, "changes", "publications.json");
  const noted = JSON.parse(readFileSync(path, "utf8"));
  const about = { ...noted[1], version: first, from: second };
  writeFileSync(path, JSON.stringify([...noted, about]));
  assert.equal((await service.get("/changes")).body.data[0].version, second);
  assert.equal((await service.get(stepOf(second, first))).status, 404);
});

test("without any step the list is what is known of, and an installation of before has an empty one", async (t) => {
  const service = await startService(t);
  const { status, body } = await service.get("/changes");
  assert.deepEqual([status, body.data, body.pagination.total], [200, [], 0]);
  const feed = await service.get("/changes.atom", { "x-api-key": "" });
  assert.match(feed.text, /<updated>2026-11-21T09:00:00Z<\/updated>/);
});
