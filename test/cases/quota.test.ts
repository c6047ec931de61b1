import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { waitingMax } from "#http/connections.ts";
import { allCommands } from "../support/all-commands.ts";
import { type Random, seededRandom } from "../support/awkward/random.ts";
import { someQuotas } from "../support/limits-life.ts";
import { newKey, startOwnProcess } from "../support/own-process.ts";
import { assertProblem } from "../support/problem-answer.ts";
import {
  ask,
  askBytes,
  type RequestParts,
  requestText,
  statusesIn,
} from "../support/raw-client.ts";
import { startServer } from "../support/server-process.ts";
import { startService, type TestService } from "../support/service.ts";
import { type CaseOf, casesOf, inThisProcess } from "../support/still-well.ts";

/** Quarters of a second, which floating-point numbers add without rounding. */
const someSeconds = (random: Random) =>
  random.pick([0, 0.25, 1, 7.5, 20, 59.75, 60, 600, 3599.75, 80_000]) + random.between(0, 8) / 4;

const path = "/fetch-gp?gp_name=kkr";

/** How many requests an account is admitted. */
async function countedCases(it: CaseOf, { port, clock, newKey }: TestService): Promise<void> {
  /** Sends them one after the other on one connection. @returns how many were admitted and how many refused. */
  async function spend(key: string, requests: number) {
    const unchanged = requestText(path, { key, headers: ["If-None-Match: *"] });
    const statuses: number[] = [];
    // As many as one connection may send ahead.
    for (let left = requests; left > 0; left -= waitingMax) {
      const { text } = await askBytes(port, unchanged.repeat(Math.min(left, waitingMax)));
      statuses.push(...statusesIn(text));
    }
    const count = (status: number) => statuses.filter((one) => one === status).length;
    assert.equal(count(304) + count(429), requests);
    return { admitted: count(304), refused: count(429) };
  }

  await it("C42 · sixty requests in a row are answered and say what is left, the sixty-first is a 429 that says when to come back", async () => {
    const { key } = await newKey();
    for (let left = 59; left >= 0; left--) {
      const { status, headers } = await ask(port, path, { key });
      assert.equal(status, 200);
      const expected = `"minute";r=${left};t=60, "hour";r=${940 + left};t=3600, "day";r=${9940 + left};t=86400`;
      assert.equal(headers["ratelimit"], expected);
    }
    clock.advance(12.5);
    const refused = await ask(port, path, { key });
    const problem = assertProblem(refused, 429, "quota-exceeded");
    assert.deepEqual(problem["violated-policies"], ["minute"]);
    assert.equal(refused.headers["retry-after"], "48");
    const { ratelimit, "ratelimit-policy": policy } = refused.headers;
    assert.equal(ratelimit, '"minute";r=0;t=48, "hour";r=940;t=3588, "day";r=9940;t=86388');
    assert.equal(policy, '"minute";q=60;w=60, "hour";q=1000;w=3600, "day";q=10000;w=86400');
  });

  await it("C43 · of two hundred requests at once over a hundred connections sixty are admitted, every time", async () => {
    for (let round = 0; round < 3; round++) {
      const { key } = await newKey();
      const all = await Promise.all(
        Array.from({ length: 100 }, () => askBytes(port, requestText(path, { key }).repeat(2))),
      );
      const statuses = all.flatMap(({ text }) => statusesIn(text));
      assert.equal(statuses.filter((status) => status === 200).length, 60);
      assert.equal(statuses.filter((status) => status === 429).length, 140);
    }
  });

  await it("C45 · a thousand in an hour and the account's number in a day are exact, and the answer names the windows that bind", async () => {
    const { key } = await newKey({ quotas: { day: 2000 } });
    const binding = async () => {
      const refused = await ask(port, path, { key });
      const problem = assertProblem(refused, 429, "quota-exceeded");
      assert.match(refused.headers["ratelimit-policy"]!, /"day";q=2000;w=86400$/);
      return [problem["violated-policies"], problem.retry_after] as const;
    };
    const spendAnHour = async () => {
      for (let minute = 0; minute < 16; minute++) {
        assert.deepEqual(await spend(key, 60), { admitted: 60, refused: 0 });
        clock.advance(60);
      }
      assert.deepEqual(await spend(key, 41), { admitted: 40, refused: 1 });
    };
    await spendAnHour();
    assert.deepEqual(await binding(), [["hour"], 3600 - 960]);
    clock.advance(3600 - 960);
    await spendAnHour();
    assert.deepEqual(await binding(), [["hour", "day"], 86_400 - 3600 - 960]);
    clock.advance(3600 - 960);
    assert.deepEqual(await binding(), [["day"], 86_400 - 7200]);
    clock.advance(86_400 - 7200 - 1);
    assert.deepEqual(await binding(), [["day"], 1]);
    clock.advance(1);
    assert.deepEqual(await spend(key, 61), { admitted: 60, refused: 1 });
    assert.deepEqual(await binding(), [["minute", "day"], 60]);
  });
}

/** When an account may send again. */
async function waitCases(it: CaseOf, { port, clock, newKey }: TestService): Promise<void> {
  await it("C44 · after a 429 a request that waits Retry-After is admitted, one that waits a second less is not, and refusals lengthen no wait", async () => {
    let waits = 0;
    for (let seed = 1; seed <= 6; seed++) {
      const random = seededRandom(seed);
      const { key } = await newKey({ quotas: someQuotas(random) });
      for (let step = 0; step < 10; step++) {
        clock.advance(someSeconds(random));
        let answer = await ask(port, path, { key });
        while (answer.status === 200) answer = await ask(port, path, { key });
        const wait = assertProblem(answer, 429, "quota-exceeded").retry_after;
        assert.ok(wait <= 86_400);
        clock.advance(wait - 1);
        for (let impatient = random.between(1, 3); impatient > 0; impatient--) {
          const again = await ask(port, path, { key });
          assert.equal(assertProblem(again, 429, "quota-exceeded").retry_after, 1, `seed ${seed}`);
        }
        clock.advance(1);
        assert.equal((await ask(port, path, { key })).status, 200, `seed ${seed}`);
        waits++;
      }
    }
    assert.equal(waits, 60);
  });
}

/** The headers by which a proxy might name the client. */
const claims = [
  "X-Forwarded-For: ",
  "Forwarded: for=",
  "X-Real-IP: ",
  "CF-Connecting-IP: ",
  "True-Client-IP: ",
  "X-Client-IP: ",
  "X-Cluster-Client-IP: ",
  "Via: 1.1 ",
];

/** Whose requests are counted together, and which count. */
async function sharedCases(it: CaseOf, service: TestService): Promise<void> {
  const { port, clock } = service;

  await it("C46 · no header moves a request to another quota; behind a trusted proxy the right-most address that is not a proxy's counts for wrong keys", async (inner) => {
    const { key } = await service.newKey();
    const forged = (i: number) => claims.map((claim) => `${claim}203.0.113.${i}`);
    for (let i = 0; i < 61; i++) {
      const { status } = await ask(port, path, { key, headers: forged(i) });
      assert.equal(status, i < 60 ? 200 : 429);
      const wrong = await ask(port, path, { key: "nope", headers: forged(i) });
      assert.equal(wrong.status, i < 30 ? 401 : 429);
    }
    await assertRightMost(inner);
  });

  async function assertRightMost(inner: TestContext): Promise<void> {
    const settings = { TRUSTED_PROXIES: "127.0.0.0/8, 10.0.0.0/8, fd00::/8" };
    const behind = await startService(inner, { settings });
    const wrongFrom = async (hops: string) =>
      (await ask(behind.port, path, { key: "nope", headers: [`X-Forwarded-For: ${hops}`] })).status;
    for (let i = 0; i < 30; i++)
      assert.equal(await wrongFrom(`203.0.113.${i}, 198.51.100.7, 10.1.2.3, fd00::1`), 401);
    for (const hops of [
      "198.51.100.7",
      "1.2.3.4, 198.51.100.7",
      "junk, 198.51.100.7, 10.9.9.9",
      "1.1.1.1,198.51.100.7\r\nX-Forwarded-For: 10.0.0.1",
      "::ffff:198.51.100.7",
    ])
      assert.equal(await wrongFrom(hops), 429, hops);
    assert.equal(await wrongFrom("198.51.100.7, 198.51.100.8"), 401);
    for (let i = 0; i < 30; i++) assert.equal(await wrongFrom(`2001:db8:0:1::${i}`), 401);
    assert.equal(await wrongFrom("2001:db8:0:1:ffff::1"), 429);
    assert.equal(await wrongFrom("2001:db8:0:2::1"), 401);
    await behind.stop();
  }

  await it("C47 · client, operation, path, query, connection and HTTP version share one quota", async () => {
    const { key } = await service.newKey();
    const variants = [
      requestText("/fetch-gp?gp_name=kkr", { key, headers: ["User-Agent: one"] }),
      requestText("/v1/fetch-gp?gp_name=gem", { key, headers: ["User-Agent: two"] }),
      requestText("/fetch-signals", { key, method: "HEAD" }),
      requestText("/fetch-principals?tag=qof", { key, version: "1.0" }),
      requestText("/v1/fetch-projects?limit=1", { key, headers: ["Accept-Encoding: br"] }),
      requestText("http://x/%66etch-signals?offset=3", { key, headers: ["Connection: close"] }),
    ];
    for (let i = 0; i < 66; i++) {
      const { status, headers } = await askBytes(port, variants[i % variants.length]!);
      assert.equal(status, i < 60 ? 200 : 429);
      if (i < 60) assert.match(headers["ratelimit"]!, new RegExp(`^"minute";r=${59 - i};`));
    }
  });

  await it("C48 · every request with a valid key counts 1 whatever the answer, and what is refused before it or for the quota counts nothing", async (inner) => {
    const { key } = await service.newKey({ quotas: { minute: 1000 } });
    const left = async () => {
      const { headers } = await ask(port, path, { key });
      return Number(/^"minute";r=(\d+)/.exec(headers["ratelimit"]!)![1]);
    };
    const assertCosts = async (
      cost: number,
      status: number,
      target: string,
      parts: RequestParts,
    ) => {
      const before = await left();
      const answer = await ask(port, target, parts);
      assert.equal(answer.status, status, target);
      assert.equal(answer.headers["ratelimit"] !== undefined, cost === 1);
      assert.equal(before - (await left()), cost + 1, `${status} ${target}`);
    };
    clock.advance(60);
    await assertCosts(1, 200, path, { key });
    await assertCosts(1, 200, path, { key, method: "HEAD" });
    await assertCosts(1, 304, path, { key, headers: ["If-None-Match: *"] });
    await assertCosts(1, 400, "/fetch-gp", { key });
    await assertCosts(1, 406, path, { key, headers: ["Accept: a/b"] });
    await assertCosts(1, 200, "/v1/fetch-signals", { key });
    await assertCosts(0, 401, path, {});
    await assertCosts(0, 401, path, { key: `${key.slice(0, -1)}!` });
    await assertCosts(0, 404, "/nowhere", { key });
    await assertCosts(0, 405, path, { key, method: "POST" });
    await assertCosts(0, 204, path, { key, method: "OPTIONS" });
    await assertCosts(0, 400, "/%zz", { key });
    await assertCosts(0, 400, `${path}#`, { key });
    await assertCosts(0, 413, path, { key, headers: ["Content-Length: 99999"] });
    await assertCosts(0, 414, `${path}${"x".repeat(8192)}`, { key });
    await assertCosts(0, 417, path, { key, headers: ["Expect: tea"] });
    for (const target of ["/", "/docs", "/health", "/ready", "/openapi.json"])
      await assertCosts(0, 200, target, { key });

    const { key: one } = await service.newKey({ quotas: { minute: 1 } });
    for (const status of [200, 429, 429, 429])
      assert.equal((await ask(port, path, { key: one })).status, status);
    clock.advance(60);
    assert.match((await ask(port, path, { key: one })).headers["ratelimit"]!, /"hour";r=998;/);

    const empty = await startService(inner, { records: null });
    assertProblem(await ask(empty.port, path, { key: empty.key }), 503, "unavailable");
    const second = await ask(empty.port, path, { key: empty.key });
    assert.match(second.headers["ratelimit"]!, /^"minute";r=58;/);
    await empty.stop();
  });

  await it("C49 · all keys of an account share its quota, and no key of another account does", async () => {
    const { key, account } = await service.newKey();
    const { key: stranger } = await service.newKey();
    const { json } = allCommands(service.dataDir, {}, clock.now);
    const { key: second } = await json(`keys create --account ${account} --name second`);
    for (let i = 0; i < 60; i++)
      assert.equal((await ask(port, path, { key: i % 3 === 0 ? second : key })).status, 200);
    for (const spent of [key, second])
      assertProblem(await ask(port, path, { key: spent }), 429, "quota-exceeded");
    const { headers } = await ask(port, path, { key: stranger });
    assert.match(headers["ratelimit"]!, /^"minute";r=59;/);
  });
}

test("what an account may use", async (t) => {
  const service = await startService(t);
  const it = casesOf(t, inThisProcess(service));
  await countedCases(it, service);
  await waitCases(it, service);
  await sharedCases(it, service);
});

test("C50 · thirty requests before a stop or a kill and thirty after it are the sixty of the minute: the next is a 429", async (t) => {
  const { dataDir, ...first } = await startOwnProcess(t);
  const [stopped, killed] = [await newKey(dataDir, "stopped"), await newKey(dataDir, "killed")];
  const spendThirty = async (port: number, key: string, left: number) => {
    for (let i = 0; i < 30; i++) {
      const { status, headers } = await ask(port, path, { key });
      assert.equal(status, 200);
      const after = left - 1 - i;
      const shown = `"minute";r=${after};t=\\d+, "hour";r=${940 + after};t=\\d+, "day";r=${9940 + after};`;
      assert.match(headers["ratelimit"]!, new RegExp(`^${shown}`));
    }
  };
  const assertSpent = async (port: number, key: string) => {
    const problem = assertProblem(await ask(port, path, { key }), 429, "quota-exceeded");
    assert.deepEqual(problem["violated-policies"], ["minute"]);
  };

  await spendThirty(first.port, stopped, 60);
  first.signal("SIGTERM");
  assert.deepEqual(await first.ended, { exitCode: 0, signal: null });

  const second = await startServer(t, { dataDir });
  await spendThirty(second.port, stopped, 30);
  await assertSpent(second.port, stopped);
  await spendThirty(second.port, killed, 60);
  second.signal("SIGKILL");
  await second.ended;

  const third = await startServer(t, { dataDir });
  await spendThirty(third.port, killed, 30);
  await assertSpent(third.port, killed);
  await assertSpent(third.port, stopped);
});
