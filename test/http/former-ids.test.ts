import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { openCatalogue } from "#datasets/catalogue.ts";
import { mintId } from "#datasets/draft-record.ts";
import { day, gp, principal } from "../datasets/published.ts";
import { entriesOf, importRecords } from "../support/dataset.ts";
import { callTool } from "../support/mcp.ts";
import { openPages } from "../support/record-pages.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("a former id of a person leads on over HTTP, MCP and to its page, as that of a GP does", async (t) => {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const [ada, bo] = [principal("ada", ["a"]), principal("bo", ["a"])];
  for (const [i, [records, claims]] of [
    [[gp("a"), gp("b"), ada, bo], {}],
    [[gp("a"), ada], { a: ["b"], ada: ["bo"] }],
  ].entries() as Iterable<[number, [{ id: string }[], Record<string, string[]>]]>) {
    const entries = entriesOf(records).map((entry, at) => ({
      ...entry,
      claims: claims[records[at]!.id] ?? [],
    }));
    await importRecords(catalogue, [], { entries, nowMilliseconds: day(i + 1) });
  }
  const { service, user } = await openPages(t, { records: null, dataDir });
  for (const [kind, stays, goes, folder] of [
    ["gp", "a", "b", "gps"],
    ["principal", "ada", "bo", "people"],
  ] as const) {
    const [id, former] = [mintId(kind, "own", stays), mintId(kind, "own", goes)];
    const { body } = await service.get(`/list-${kind}s?id=${former}`);
    const { structuredContent } = await callTool(service, `list_${kind}s`, { id: [former] });
    for (const { data } of [body, structuredContent])
      assert.deepEqual([data.length, data[0].id], [1, id]);
    const { status, location } = await user.get(`/browse/${folder}/${former}`);
    assert.deepEqual([status, location], [308, `/browse/${folder}/${id}`]);
  }
});
