import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { openCommitBarrier } from "#http/commit-barrier.ts";
import { openExplorerCalls } from "#http/explorer-calls.ts";
import { defaultQuotas } from "#limits/policy.ts";
import { json } from "#operations/formats.ts";
import { operations } from "#operations/index.ts";
import type { AnsweredRequest } from "#usage/request-chunk.ts";
import { deprecatedTheme } from "../support/deprecations.ts";
import { openHttpServer } from "../support/http-server.ts";

const call = { account: 7, quotas: defaultQuotas, operation: "fetch-signals", query: "" } as const;

test("a call that cannot be answered is the problem the API would send, counted and recorded all the same", async (t) => {
  for (const { model, status, code, retryAfter } of [
    { model: () => null, status: 503, code: "unavailable", retryAfter: "5" },
    {
      model: () => assert.fail("the records are broken"),
      status: 500,
      code: "internal-error",
      retryAfter: undefined,
    },
  ]) {
    const recorded: AnsweredRequest[] = [];
    const record = (request: AnsweredRequest) => void recorded.push(request);
    const { http, log } = await openHttpServer(t, { model, record });
    const answered = await openExplorerCalls(http)(call);
    const problem = JSON.parse(Buffer.from(answered.body).toString());
    const id = answered.headers["x-request-id"];
    assert.equal(answered.status, status);
    assert.equal(answered.headers["retry-after"], retryAfter);
    assert.match(answered.headers["ratelimit"]!, /^"minute";r=59/);
    assert.equal(problem.code, code);
    assert.equal(problem.request_id, id);
    assert.doesNotMatch(JSON.stringify(problem), /broken/);
    const { milliseconds: _, ...request } = recorded[0]!;
    assert.deepEqual(request, {
      account: 7,
      key: "explorer",
      operation: "fetch-signals",
      status,
      bytes: answered.body.length,
      dataset: null,
      problem: code,
      requestId: id,
      query: null,
    });
    await setImmediate();
    const lines = log.map((line) => JSON.parse(line)).filter((line) => line.request_id === id);
    assert.equal(lines.at(-1).problem, code);
    assert.equal(
      lines.some(({ err }) => err?.message === "the records are broken"),
      status === 500,
    );
  }
});

test("a call whose count could not be committed is the 503 that the API would send", async (t) => {
  const afterCommit = openCommitBarrier(() => Promise.reject(new Error("The counters are away.")));
  const { http } = await openHttpServer(t, { afterCommit });
  const { status, headers, body } = await openExplorerCalls(http)(call);
  const { code, reason } = JSON.parse(Buffer.from(body).toString());
  assert.deepEqual([status, code, reason], [503, "unavailable", "store_down"]);
  assert.equal(headers["ratelimit"], undefined);
});

test("a request over HTTP, a call of the explorer and a direct question give the same bytes", async (t) => {
  const { http, get } = await openHttpServer(t);
  const explore = openExplorerCalls(http);
  for (const [operation, query] of [
    ["fetch-gp", "gp_name=northwind&limit=2"],
    ["fetch-principals", "tag=multifamily"],
    ["fetch-signals", "gp_name=nobody"],
    ["fetch-projects", "offset=100"],
  ] as const) {
    const { text } = await get(`/${operation}?${query}`);
    const explored = await explore({ ...call, operation, query });
    const outcome = await http.api.ask({
      caller: { account: { id: "key_2", accountNumber: 8, quotas: defaultQuotas } },
      operation: operations.find(({ name }) => name === operation)!,
      text: query,
      chooseFormat: () => json,
    });
    assert.ok(outcome.result.kind === "answer");
    assert.equal(Buffer.from(explored.body).toString(), text, operation);
    assert.equal(outcome.result.answer.body.toString(), text, operation);
  }
});

test("a call that uses what is deprecated has the headers that the API sends for it, and is recorded as such a use", async (t) => {
  const recorded: AnsweredRequest[] = [];
  const { http, get } = await openHttpServer(t, {
    deprecations: [deprecatedTheme],
    record: (one) => void recorded.push(one),
  });
  const explore = openExplorerCalls(http);
  for (const query of [
    "gp_name=northwind&theme=build_to_rent",
    "gp_name=northwind",
    "theme=build_to_rent",
  ]) {
    const over = await get(`/fetch-gp?${query}`);
    const explored = await explore({ ...call, operation: "fetch-gp", query });
    assert.equal(explored.status, over.status);
    for (const name of ["deprecation", "sunset", "link"])
      assert.equal(explored.headers[name] ?? null, over.headers.get(name), `${name} of ${query}`);
    assert.equal(explored.headers["sunset"] !== undefined, query.includes("theme"));
  }
  assert.deepEqual(
    recorded.filter(({ key }) => key === "explorer").map(({ operation }) => operation),
    ["fetch-gp?theme", "fetch-gp", "fetch-gp?theme"],
  );
});
