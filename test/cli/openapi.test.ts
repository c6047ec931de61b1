import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { allCommands } from "../support/all-commands.ts";
import { startService } from "../support/service.ts";

test("openapi prints what /openapi.json serves under the same settings", async (t) => {
  const settings = { PAGE_SIZE_MAX: "250" };
  const { get, dataDir } = await startService(t, { records: null, settings });
  const { body } = await get("/openapi.json", { "x-api-key": "" });
  const printed = JSON.parse(await allCommands(dataDir, settings).text("openapi"));
  assert.deepEqual(printed, body);
  const { parameters } = printed.paths["/fetch-gp"].get;
  assert.equal(parameters.find(({ name }: any) => name === "limit").schema.maximum, 250);
});

test("openapi.json is what openapi prints; `npm run openapi` writes it anew", async () => {
  assert.equal(readFileSync("openapi.json", "utf8"), await allCommands("unused").text("openapi"));
});
