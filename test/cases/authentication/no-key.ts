/** What is served without a valid key. */
import assert from "node:assert/strict";
import { routes as accountRoutes } from "#dashboard/screens/index.ts";
import { makeKey } from "#keys/api-key.ts";
import { openReads } from "#gateway/open-reads.ts";
import type { ReadDependencies } from "#gateway/reads.ts";
import { tableOfRoutes } from "#http/build-server.ts";
import type { HttpDependencies } from "#http/dependencies.ts";
import { operations } from "#operations/index.ts";
import { problemCodes } from "#problems.ts";
import { assertProblem } from "../../support/problem-answer.ts";
import { ask } from "../../support/raw-client.ts";
import type { TestService } from "../../support/service.ts";
import type { CaseOf } from "../../support/still-well.ts";

const path = "/fetch-gp?gp_name=kkr";

/** Everything that may be served without a key. */
const publicPaths = [
  "/",
  "/openapi.json",
  "/docs",
  "/docs/vocabulary",
  "/docs/mcp",
  "/errors",
  "/changelog",
  "/docs/samples",
  "/changes.atom",
  "/llms.txt",
  "/account",
  "/account/sign-in",
  "/account/sign-up",
  "/account/forgot",
  "/account/link",
  "/health",
  "/ready",
  ...problemCodes.map((code) => `/errors/${code}`),
];

export async function noKeyCases(caseOf: CaseOf, { port, clock, key }: TestService): Promise<void> {
  await caseOf(
    "C38 · thirty wrong keys a minute from one address are 401, all further ones 429, and a valid client among them is always answered",
    async () => {
      clock.advance(60);
      const wrongKeys = ["nope", makeKey(), makeKey(), key.slice(0, -1)] as const;
      for (let i = 0; i < 200; i++) {
        const wrong = await ask(port, path, { key: wrongKeys[i % 4]! });
        if (i < 30) assertProblem(wrong, 401, "api-key-invalid");
        else {
          const problem = assertProblem(wrong, 429, "quota-exceeded");
          assert.deepEqual(problem["violated-policies"], ["failed-keys"]);
          assert.deepEqual(
            [wrong.headers["ratelimit"], wrong.headers["ratelimit-policy"]],
            [undefined, undefined],
          );
          assert.equal(problem.retry_after, 60);
        }
        if (i % 5 === 0) assert.equal((await ask(port, path, { key })).status, 200);
      }
      assertProblem(await ask(port, path), 401, "api-key-missing");
      const others = await Promise.all(
        Array.from({ length: 200 }, (_, i) => ask(port, path, { key: i % 2 === 0 ? key : "nope" })),
      );
      assert.deepEqual(
        others.map(({ status }) => status),
        others.map((_, i) => (i % 2 === 0 ? 200 : 429)),
      );
      clock.advance(59.9);
      assert.equal(
        assertProblem(await ask(port, path, { key: "nope" }), 429, "quota-exceeded").retry_after,
        1,
      );
      clock.advance(0.1);
      assertProblem(await ask(port, path, { key: "nope" }), 401, "api-key-invalid");
    },
  );

  await caseOf(
    "C39 · without a key every operation is a 401 in every spelling, an unknown path is the same 404 as with one, and nothing is public beside what is listed",
    async () => {
      for (const { path: operation } of operations)
        for (const target of [
          operation,
          `/v1${operation}`,
          operation.replace("-", "%2D"),
          `/%66${operation.slice(2)}`,
          `http://x${operation}`,
          `${operation}?gp_name=kkr&limit=0`,
          `${operation}?x-api-key=`,
        ]) {
          const answer = await ask(port, target);
          assertProblem(answer, 401, "api-key-missing");
          const head = await ask(port, target, { method: "HEAD" });
          assert.deepEqual([head.status, head.body], [401, ""]);
          assert.equal(head.headers["www-authenticate"], answer.headers["www-authenticate"]);
        }
      for (const target of ["/nowhere", "/v1/nowhere", "/fetch-gp/", "/metrics", "/admin"]) {
        const [without, withKey] = [await ask(port, target), await ask(port, target, { key })];
        const { request_id: _, ...problem } = assertProblem(without, 404, "unknown-path");
        assert.deepEqual(
          { ...withKey.json, request_id: undefined },
          { ...problem, request_id: undefined },
        );
        assert.equal(withKey.headers["ratelimit"], undefined);
      }
      const answering = { operations, offers: null } as unknown as ReadDependencies;
      const table = tableOfRoutes({
        config: { publicUrl: null },
        reads: openReads(answering, () => assert.fail("nothing is asked")),
        clock,
      } as unknown as HttpDependencies);
      assert.ok(table.some(({ path: route }) => route === "/v1/fetch-gp"));
      assert.ok(table.some(({ path: route }) => route === "/errors/unavailable"));
      for (const { path: route, methods, who } of table) {
        // What a person may see is asked below, page by page.
        if (who === "person") continue;
        const [method = ""] = methods;
        const { status } = await ask(port, route, { method });
        assert.equal(status === 401, who === "key", route);
        // A page as Markdown is as public as the page.
        const page = route.replace(/\.md$/, "");
        if (who === "public")
          assert.ok(publicPaths.includes(page) || page.startsWith("/assets/"), route);
      }
      for (const { path: page } of accountRoutes) {
        if (publicPaths.includes(page)) continue;
        const { status } = await ask(port, page.replaceAll(/\{\w+\}/g, "x"), { key });
        // 405 where a page only takes forms; what those need is C90's.
        assert.ok(status === 401 || status === 405, `${page}: ${status}`);
      }
    },
  );
}
