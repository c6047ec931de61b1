import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { hasOutside, importOutside } from "../outside/outside.ts";
import { post } from "../support/mcp.ts";
import { startService } from "../support/service.ts";

for (const mode of ["legacy", "auto"])
  test(`the client package of others lists the tools and calls each, with what it gives as declared (${mode})`, async (t) => {
    if (!hasOutside(t, "@modelcontextprotocol/client")) return;
    const { Client, StreamableHTTPClientTransport } = await importOutside<any>(
      "@modelcontextprotocol/client",
    );
    const service = await startService(t);
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
    const requestInit = { headers: { authorization: `Bearer ${service.key}` } };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), { requestInit }),
    );
    t.after(() => client.close());
    assert.equal(client.getProtocolEra(), mode === "auto" ? "modern" : "legacy");
    const { tools } = await client.listTools();
    const { body, headers } = await service.get("/fetch-signals");
    const argsOf: Record<string, object> = {
      explain: { id: body.data[0].gps[0].id },
      fetch_gp: { gp_name: "northwind" },
      vocabulary: { list: "enums" },
      match_gps: { names: ["Northwind"] },
    };
    const version = headers.get("dataset-version")!;
    const unchanged = await client.callTool({ name: "changes_since", arguments: { version } });
    assert.deepEqual(unchanged.structuredContent.data, []);
    for (const { name } of tools.filter((one: any) => one.name !== "changes_since"))
      for (const detail of ["vocabulary", "explain", "match_gps"].includes(name)
        ? [{}]
        : [{ detail: "brief" }, { detail: "full" }]) {
        // It holds what comes to the declared schema, and throws where it does not fit.
        const { structuredContent, isError } = await client.callTool({
          name,
          arguments: { ...argsOf[name], ...detail },
        });
        assert.ok(isError !== true && structuredContent.data.length > 0, name);
      }
    const refused = await client.callTool({ name: "fetch_gp", arguments: { gp_nme: "x" } });
    assert.equal(refused.isError, true);
    assert.match(refused.content[0].text, /did you mean 'gp_name'/);
    const { resources } = await client.listResources();
    const { contents } = await client.readResource({ uri: resources[0]!.uri });
    assert.match(contents[0]!.text, /^# The records/);
  });

test("each message of examples/agent-session.ndjson is answered as docs/mcp.md says", async (t) => {
  const service = await startService(t);
  const lines = readFileSync("examples/agent-session.ndjson", "utf8").trimEnd().split("\n");
  const answers = [];
  for (const line of lines) answers.push((await post(service, line)).body);
  const [initialized, nothing, listed, ...called] = answers;
  assert.equal(initialized.result.serverInfo.name, "gp-records");
  assert.equal(nothing, undefined);
  assert.equal(listed.result.tools.length, 12);
  for (const { result } of called) {
    assert.notEqual(result.isError, true, JSON.stringify(result.content));
    assert.ok(result.structuredContent.pagination.total >= 0);
  }
});
