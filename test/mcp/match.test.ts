import assert from "node:assert/strict";
import { test } from "node:test";
import { gp } from "../datasets/published.ts";
import { callInPages, callTool } from "../support/mcp.ts";
import { startService } from "../support/service.ts";

const records = [
  gp("a", { name: "Alpha Capital", hq_city: "Dallas", external_ids: { crd: ["9900002"] } }),
  gp("b", { name: "Beta Realty", hq_city: "Boston", external_ids: { crd: ["9900001"] } }),
  gp("c", { name: "Beta Realty", hq_city: "Miami" }),
];

test("match_gps finds names by their facts, page by page, and counts each started 100 names", async (t) => {
  const service = await startService(t, { records });
  const { key } = await service.newKey({ quotas: { minute: 1000, hour: 1000, day: 1000 } });
  const own = { url: service.url, key };
  const spent = async () => {
    const { headers } = await service.get("/vocabulary", { "x-api-key": key });
    return 1000 - Number(/r=(\d+)/.exec(headers.get("ratelimit")!)![1]);
  };
  const { structuredContent } = await callTool(own, "match_gps", {
    names: ["ALPHA CAPITAL, LLC", "Beta Realty", "other", `no ${key}`],
    cities: ["", "miami", "", ""],
    crds: ["n/a", "", "9900001", ""],
  });
  assert.deepEqual(
    structuredContent.data.map(({ certainty, gp: found }: any) => [certainty, found?.hq_city]),
    [
      ["sure", "Dallas"],
      ["sure", "Miami"],
      ["sure", "Boston"],
      ["none", undefined],
    ],
  );
  assert.equal(structuredContent.data[1].runner_up.hq_city, "Boston");
  assert.equal(structuredContent.data[3].name, `no ${key.slice(0, 8)}…`);
  assert.equal(await spent(), 2);
  const names = Array.from({ length: 101 }, (_, i) => `Unknown ${i}`);
  await callTool(own, "match_gps", { names, limit: 200 });
  assert.equal(await spent(), 5);
  const found: any[] = [];
  for await (const called of callInPages(own, "match_gps", {
    names: [...names, "Alpha Capital"],
    limit: 60,
  }))
    found.push(...called.structuredContent.data);
  assert.deepEqual(
    found.map(({ name }) => name),
    [...names, "Alpha Capital"],
  );
  assert.equal(found.at(-1).gp.name, "Alpha Capital");
});

test("match_gps refuses more than 200 names, and lists of facts of another length", async (t) => {
  const service = await startService(t, { records });
  const refused = async (args: Record<string, unknown>, words: RegExp) => {
    const { isError, content } = await callTool(service, "match_gps", args);
    assert.equal(isError, true);
    assert.match(content[0]!.text, words);
  };
  await refused({ names: Array(201).fill("a") }, /at most 200 values/);
  await refused(
    { names: ["a", "b"], cities: ["x"], states: ["TX", "TX"], crds: ["1", "2", "3"] },
    /2 problems: 'cities' must have 2 entries, one for each of 'names', but has only 1; 'crds' must have 2 .* but has 3\..*"code":"too_short".*"minimum":2.*"code":"too_many_values".*"maximum":2/,
  );
});
