import assert from "node:assert/strict";
import { setImmediate as nextTurn } from "node:timers/promises";
import { cast } from "../support/cast.ts";
import { startService } from "../support/service.ts";
import { publish } from "./publish.ts";
import { forEachClient as test, type GivenError, type Order, type Result } from "./each-client.ts";

const newSignal = { record: "signal", id: "newest", title: "A fund closes", date: "2026-11-20" };

const titlesOf = (signals: { title: string }[]) => signals.map(({ title }) => title);
const allTitles = [
  "Northwind files a new offering",
  "Northwind names a partner",
  "Rates fall",
  "Northwind is founded anew",
  "Stonehaven sells",
];

/** What a try of `order` gave, whose error must not be the one that proves nothing. */
function valueOf({ value, error, trace }: Result): any {
  assert.equal(error, undefined, trace);
  return value;
}

test("a page is what the operation answers", async (t, client) => {
  const service = await startService(t);
  const options = { baseUrl: service.url, key: service.key };
  const ask = async (operation: Order["operation"] & string, query: Order["query"] = {}) =>
    valueOf(await client.do({ what: "page", operation, query, options } as Order));
  const { requestId, quota, ...page } = await ask("gp", {
    gp_name: "northwind",
    tag: ["serial_filer", "qof"],
    limit: 1,
  });
  const { body } = await service.get(
    "/fetch-gp?gp_name=northwind&tag=serial_filer&tag=qof&limit=1",
  );
  assert.deepEqual(page, body);
  assert.match(requestId, /^client_[0-9a-f]{20}\.1$/);
  assert.deepEqual(quota[0], { name: "minute", quota: 60, window: 60, remaining: 59, reset: 60 });
  assert.equal((await ask("principals", { gp_name: "southwind" })).pagination.total, 0);
  assert.deepEqual((await ask("projects")).data[0].name, "The Alder at Mueller");
  assert.ok(service.log.some((line) => line.includes(requestId)));
});

test("a listing gives every record of all pages, in order", async (t, client) => {
  const service = await startService(t);
  const options = { baseUrl: `${service.url}/v1/`, key: service.key };
  for (const [isList, operation, query, target] of [
    [false, "signals", {}, "/fetch-signals?"],
    [false, "gps", { gp_name: "an" }, "/fetch-gp?gp_name=an"],
    ...(["gps", "principals", "signals", "projects"] as const).map(
      (kind) => [true, kind, { sort: "-updated_at" }, `/list-${kind}?sort=-updated_at`] as const,
    ),
  ] as const) {
    const { body } = await service.get(`${target}&limit=100`);
    for (const what of ["records", "list"] as const) {
      const order = { what, isList, operation, query: { ...query, limit: 2 }, options };
      assert.deepEqual(valueOf(await client.do(order)), body.data, target);
    }
  }
  const offsets: number[] = [];
  await client.do({
    what: "pages",
    operation: "principals",
    query: { limit: 2, gp_name: "northwind" },
    options,
    onPage: ({ pagination }) => void offsets.push(pagination.offset),
  });
  assert.deepEqual(offsets, [0]);
});

test("a list is asked by any values, and answers what the service does", async (t, client) => {
  const service = await startService(t);
  const options = { baseUrl: service.url, key: service.key };
  for (const [operation, query, target] of [
    [
      "gps",
      { property_type: ["multifamily", "retail"], sort: "-name", limit: 1 },
      "/list-gps?property_type=multifamily&property_type=retail&sort=-name&limit=1",
    ],
    ["gps", { signal_date_from: "2026", aum_usd_min: 1e9 }, "/list-gps?signal_date_from=2026"],
    ["principals", { role: "managing_member" }, "/list-principals?role=managing_member"],
    ["signals", { has_gp: false, date_to: "2026-09" }, "/list-signals?has_gp=false"],
    ["projects", { has_gp: true, units_min: 100 }, "/list-projects?units_min=100"],
  ] as const) {
    const order = { what: "page", isList: true, operation, query, options } as const;
    const { requestId: _, quota, ...page } = valueOf(await client.do(order));
    const { body } = await service.get(target);
    assert.ok(body.pagination.total > 0, target);
    assert.deepEqual(page, body);
    assert.equal(quota.length, 3);
  }
  const wrong = { what: "page", isList: true, operation: "projects", options } as const;
  const { error } = await client.do({ ...wrong, query: { status: "planed", units_min: -1 } });
  assert.deepEqual(
    error!.problem!.errors!.map(({ parameter, code }) => `${parameter} ${code}`),
    ["status unknown_value", "units_min not_an_integer"],
  );
});

test("a listing fails where the dataset changes between its pages, unless it is told to begin again", async (t, client) => {
  const service = await startService(t);
  const options = { baseUrl: service.url, key: service.key };
  const first = (await service.get("/fetch-signals")).body.meta.dataset_version;
  let published = "";
  /** Publishes after the second page, and after the next second one goes back. */
  const reader = (changes: (readonly unknown[] | "roll back")[]) => {
    const seen: [number, string][] = [];
    const onPage: Order["onPage"] = async ({ pagination, data }) => {
      seen.push([pagination.offset, data[0].title]);
      if (pagination.offset === 2 && changes.length > 0)
        published = await publish(service, changes.shift()!);
    };
    return { seen, onPage };
  };
  const pages = { what: "pages", operation: "signals", query: { limit: 2 }, options } as const;

  const failing = reader([[...cast, newSignal]]);
  const { error } = await client.do({ ...pages, onPage: failing.onPage });
  assert.equal(error!.name, "VersionChangedError");
  assert.deepEqual([error!.from, error!.to], [first, published]);
  assert.deepEqual(failing.seen.length, 2);

  const restarting = reader(["roll back", [...cast, { ...newSignal, title: "It closes" }]]);
  valueOf(await client.do({ ...pages, onVersionChange: "restart", onPage: restarting.onPage }));
  assert.deepEqual(restarting.seen, [
    [0, "A fund closes"],
    [2, "Northwind names a partner"],
    [0, "Northwind files a new offering"],
    [2, "Rates fall"],
    [0, "It closes"],
    [2, "Northwind names a partner"],
    [4, "Northwind is founded anew"],
  ]);
});

test("a list holds the records of one dataset alone, whatever is published while it is gathered, and quotas are kept to", async (t, client) => {
  const service = await startService(t);
  const { key } = await service.newKey({ quotas: { minute: 2 } });
  const changes = [[...cast, newSignal], "roll back"] as const;
  let waits = 0;
  const result = await client.do({
    what: "list",
    operation: "signals",
    query: { limit: 1 },
    onVersionChange: "restart",
    options: { baseUrl: service.url, key },
    async onSleep(seconds) {
      if (waits < changes.length) await publish(service, changes[waits++]!);
      service.clock.advance(seconds);
    },
  });
  assert.deepEqual(titlesOf(valueOf(result)), allTitles);
  assert.ok(result.waits.length >= 3);
  for (const { error, seconds, attempt } of result.waits) {
    assert.ok(error.problem?.code === "quota-exceeded");
    assert.equal(seconds, error.problem.retry_after);
    // What Retry-After says is enough.
    assert.equal(attempt, 1);
  }
});

test("a wait is bounded, and can be ended", async (t, client) => {
  const service = await startService(t);
  const { key } = await service.newKey({ quotas: { minute: 1 } });
  const fetch = { what: "page", operation: "signals" } as const;
  const options = { baseUrl: service.url, key };
  valueOf(await client.do({ ...fetch, options }));

  const bounded = await client.do({ ...fetch, options: { ...options, waitMaxSeconds: 59 } });
  assert.deepEqual([bounded.error!.code, bounded.waits], ["quota-exceeded", []]);
  assert.match(bounded.error!.message, /Try again in 60 seconds\. \(request client_\w+\.1\)$/);

  const none = await client.do({ ...fetch, options: { ...options, retriesMax: 0 } });
  assert.deepEqual([none.error!.code, none.waits], ["quota-exceeded", []]);

  // The clock stands still: every try is refused.
  const tired = await client.do({ ...fetch, options: { ...options, retriesMax: 2 }, onSleep() {} });
  assert.equal(tired.error!.code, "quota-exceeded");
  assert.deepEqual(
    tired.waits.map(({ seconds, attempt }) => [seconds, attempt]),
    [
      [60, 1],
      [60, 2],
    ],
  );

  const stopped = await client.do({ ...fetch, options, onSleep: () => true });
  assert.equal(stopped.error!.name, "Stopped");
  assert.equal(stopped.waits.length, 1);
});

test("a service without records is waited for", async (t, client) => {
  const service = await startService(t, { records: null });
  const result = await client.do({
    what: "list",
    operation: "signals",
    options: { baseUrl: service.url, key: service.key },
    async onSleep() {
      await publish(service, cast);
    },
  });
  assert.deepEqual(titlesOf(valueOf(result)), allTitles);
  const problems = result.waits.map(({ error }) => error.problem);
  assert.ok(problems[0]?.code === "unavailable" && problems[0].reason === "no_dataset");
});

test("an error is told by its code, has its members and the id under which the service logs it", async (t, client) => {
  const service = await startService(t);
  const options = { baseUrl: service.url, key: service.key };
  const fails = async (order: Omit<Order, "what" | "operation">): Promise<GivenError> => {
    const result = await client.do({ what: "page", operation: "gp", ...order });
    assert.deepEqual(result.waits, []);
    return result.error!;
  };
  const invalid = await fails({ query: { gp_nme: "kkr", limit: 101 }, options });
  assert.ok(invalid.problem?.code === "invalid-parameters");
  const found = invalid.problem.errors!.map(({ parameter, code }) => `${parameter} ${code}`);
  assert.deepEqual(found, ["gp_nme unknown_parameter", "limit out_of_range", "gp_name missing"]);
  assert.deepEqual([invalid.name, invalid.status], ["ProblemError", 400]);
  assert.match(invalid.message, /^invalid-parameters: 3 problems: /);

  const unknown = await fails({ options: { ...options, baseUrl: `${service.url}/v9` } });
  assert.deepEqual([unknown.code, unknown.status], ["unknown-path", 404]);
  for (const { requestId, message } of [invalid, unknown]) {
    assert.ok(message.endsWith(`(request ${requestId})`));
    await nextTurn();
    assert.ok(service.log.some((line) => line.includes(`"${requestId}"`)));
  }
});

test("no error and no print of a client shows the key", async (t, client) => {
  const service = await startService(t);
  const wrong = service.key.replace(/.$/, (last) => (last === "a" ? "b" : "a"));
  const refused = client.name === "Python" ? "ValueError" : "TypeError";
  for (const [what, more, expected] of [
    ["page", { key: wrong }, "api-key-invalid"],
    ["page", { key: `${wrong}\n` }, refused],
    ["page", { key: `${wrong}é` }, refused],
    ["page", { baseUrl: "http://127.0.0.1:1", key: wrong, retriesMax: 0 }, "NetworkError"],
    ["page", { baseUrl: `${service.url}/v9`, key: wrong }, "unknown-path"],
    ["show", { key: wrong }, undefined],
  ] as const) {
    const options = { baseUrl: service.url, ...more };
    const result = await client.do({ what, operation: "signals", options });
    assert.equal(result.error?.code ?? result.error?.name, expected);
    for (const text of [JSON.stringify(result), result.trace])
      assert.ok(!text.includes(wrong.slice(4)), text);
  }
});

test("a wrong key is no reason to wait", async (t, client) => {
  const service = await startService(t);
  const wrong = `${service.key.slice(0, -1)}${service.key.endsWith("a") ? "b" : "a"}`;
  for (let i = 0; i < 30; i++) await service.get("/fetch-signals", { "x-api-key": wrong });
  const options = { baseUrl: service.url, key: wrong };
  const { error, waits } = await client.do({ what: "page", operation: "signals", options });
  assert.ok(error?.problem?.code === "quota-exceeded");
  assert.deepEqual(error.problem["violated-policies"], ["failed-keys"]);
  assert.deepEqual(waits, []);
});

test("with a cache an unchanged answer is not sent again, and is the same", async (t, client) => {
  const service = await startService(t);
  const options = { baseUrl: service.url, key: service.key, usesCache: true };
  const ask = async () => {
    const order = { what: "page", operation: "signals", query: { limit: 3 }, options } as const;
    const { requestId, quota, ...page } = valueOf(await client.do(order));
    await nextTurn();
    const line = service.log.find((one) => one.includes(requestId))!;
    return { page, status: JSON.parse(line).status as number, quota };
  };
  const first = await ask();
  const second = await ask();
  assert.deepEqual([first.status, second.status], [200, 304]);
  assert.deepEqual(second.page, first.page);
  assert.equal(second.quota[0].remaining, first.quota[0].remaining - 1);
  await publish(service, [...cast, newSignal]);
  const third = await ask();
  assert.equal(third.status, 200);
  assert.equal(third.page.data[0].title, "A fund closes");
});
