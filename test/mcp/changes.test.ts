import assert from "node:assert/strict";
import { test } from "node:test";
import { setPlan } from "#accounts/plans.ts";
import { openControl } from "#store/stores.ts";
import { gp, principal, signal } from "../datasets/published.ts";
import { readLines } from "../support/json-lines.ts";
import { callInPages, callTool } from "../support/mcp.ts";
import { startPublished } from "../support/publications.ts";

const signals = Array.from({ length: 130 }, (_, i) =>
  signal(`s${i}`, { gps: ["a"], summary: "x".repeat(400) }),
);
const deliveries = [
  [gp("a", { name: "Alpha" }), principal("p", ["a"])],
  [gp("a", { name: "Alpha & <A>" }), principal("p", ["a"]), ...signals],
  [gp("a", { name: "Alpha", description: "y".repeat(9000) }), ...signals],
];

test("from an earlier dataset to the one that is served every change comes once, as over HTTP", async (t) => {
  const { service, versions } = await startPublished(t, deliveries);
  const [first = "", second = "", third = ""] = versions;
  for (const [from, to] of [
    [first, second],
    [second, third],
  ] as const) {
    const { text } = await service.get(`/changes/${from}..${to}.ndjson?limit=200`);
    const expected = readLines(text).filter(({ change }) => change !== undefined);
    const found: unknown[] = [];
    let rest: string | null = null;
    const args = { version: from, limit: 100, detail: "full" };
    for await (const called of callInPages(service, "changes_since", args)) {
      const { structuredContent, content } = called;
      assert.ok(Buffer.byteLength(JSON.stringify({ structuredContent, content })) < 32_000);
      assert.equal(structuredContent.pagination.total, expected.length);
      found.push(...structuredContent.data);
      rest = structuredContent.rest;
    }
    assert.deepEqual(found, expected);
    if (to === third) assert.equal(rest, null);
    else assert.match(rest!, new RegExp(`^These changes lead to version ${to}\\. `));
  }
  const brief = await callTool(service, "changes_since", { version: first, limit: 1 });
  const [{ change, kind, id }] = brief.structuredContent.data;
  assert.ok(change && kind && id);
  const none = await callTool(service, "changes_since", { version: third });
  assert.deepEqual([none.structuredContent.data, none.structuredContent.rest], [[], null]);
});

test("after a change that had to be shortened come those that fit beside it", async (t) => {
  const long = gp("a", { description: "<".repeat(5000) });
  const { service, versions } = await startPublished(t, [
    [gp("a")],
    [long, principal("p", ["a"]), principal("q", ["a"])],
  ]);
  const args = { version: versions[0], detail: "full" };
  const { structuredContent } = await callTool(service, "changes_since", args);
  const found = structuredContent.data as { kind: string; record?: object }[];
  const told = found.map(({ kind, record }) => `${kind}${record === undefined ? "" : " whole"}`);
  assert.deepEqual(told, ["gp", "principal whole", "principal whole"]);
  assert.equal(structuredContent.rest, null);
});

test("past its end each list has the hint that records have", async (t) => {
  const { service, versions } = await startPublished(t, deliveries);
  const told = async (tool: string, args: object, offset: number) => {
    const { structuredContent } = await callTool(service, tool, { ...args, limit: 1, offset });
    const { meta, pagination } = structuredContent;
    return { total: pagination.total, hint: meta.hints[0]?.code };
  };
  for (const [tool, args] of [
    ["vocabulary", { list: "enums" }],
    ["changes_since", { version: versions[1] }],
    ["match_gps", { names: ["Alpha", "Beta"] }],
  ] as const) {
    const { total } = await told(tool, args, 0);
    assert.equal((await told(tool, args, total - 1)).hint, undefined, tool);
    assert.equal((await told(tool, args, total)).hint, "past_the_end", tool);
  }
  const none = await told("changes_since", { version: versions[2] }, 1);
  assert.deepEqual(none, { total: 0, hint: undefined });
  const hintAt = async (offset: number) =>
    (await service.get(`/changes?offset=${offset}`)).body.meta.hints[0]?.code;
  assert.deepEqual([await hintAt(2), await hintAt(3)], [undefined, "past_the_end"]);
});

test("a version that nothing is kept of gets an answer that names those there are", async (t) => {
  const { service, versions } = await startPublished(t, deliveries);
  const { isError, content } = await callTool(service, "changes_since", { version: "../../x" });
  assert.equal(isError, true);
  const [fault] = JSON.parse(content[0]!.text).errors;
  assert.deepEqual(
    [fault.parameter, fault.code, fault.allowed],
    ["version", "unknown_value", versions],
  );
});

test("a plan without changes refuses them as over HTTP, and does not count it", async (t) => {
  const { service, versions } = await startPublished(t, deliveries);
  const control = await openControl(service.dataDir, service.place);
  t.after(() => control.close());
  await setPlan(control, { name: "default", quotas: {}, changes: false, now: service.clock.now() });
  const { isError, content } = await callTool(service, "changes_since", { version: versions[0] });
  assert.equal(isError, true);
  const { code, reason } = JSON.parse(content[0]!.text);
  assert.deepEqual([code, reason], ["access-denied", "plan"]);
  const { headers } = await service.get("/fetch-signals");
  assert.match(headers.get("ratelimit")!, /^"minute";r=59;/);
});
