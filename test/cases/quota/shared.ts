/** Whose requests are counted together, and which count. */
import assert from "node:assert/strict";
import { command } from "../../support/command-line.ts";
import { assertProblem } from "../../support/problem-answer.ts";
import { ask, askBytes, type RequestParts, requestText } from "../../support/raw-client.ts";
import { startService, type TestService } from "../../support/service.ts";
import type { TestContext } from "node:test";
import type { CaseOf } from "../../support/still-well.ts";

const path = "/fetch-gp?gp_name=kkr";

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

export async function sharedCases(caseOf: CaseOf, service: TestService): Promise<void> {
  const { port, clock } = service;

  await caseOf(
    "C46 · no header moves a request to another quota; behind a trusted proxy the right-most address that is not a proxy's counts for wrong keys",
    async (inner) => {
      const { key } = await service.newKey();
      const forged = (i: number) => claims.map((claim) => `${claim}203.0.113.${i}`);
      for (let i = 0; i < 61; i++) {
        const { status } = await ask(port, path, { key, headers: forged(i) });
        assert.equal(status, i < 60 ? 200 : 429);
        const wrong = await ask(port, path, { key: "nope", headers: forged(i) });
        assert.equal(wrong.status, i < 30 ? 401 : 429);
      }
      await assertRightMost(inner);
    },
  );

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

  await caseOf(
    "C47 · client, operation, path, query, connection and HTTP version share one quota",
    async () => {
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
    },
  );

  await caseOf(
    "C48 · every request with a valid key counts 1 whatever the answer, and what is refused before it or for the quota counts nothing",
    async (inner) => {
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
    },
  );

  await caseOf(
    "C49 · all keys of an account share its quota, and no key of another account does",
    async () => {
      const { key, account } = await service.newKey();
      const { key: stranger } = await service.newKey();
      const made = await command(
        ["keys", "create", "--account", account, "--name", "second", "--json"],
        { dataDir: service.dataDir, now: clock.now },
      );
      const { key: second } = JSON.parse(made.out) as { key: string };
      for (let i = 0; i < 60; i++)
        assert.equal((await ask(port, path, { key: i % 3 === 0 ? second : key })).status, 200);
      for (const spent of [key, second])
        assertProblem(await ask(port, path, { key: spent }), 429, "quota-exceeded");
      const { headers } = await ask(port, path, { key: stranger });
      assert.match(headers["ratelimit"]!, /^"minute";r=59;/);
    },
  );
}
