import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { allCommands } from "../support/all-commands.ts";
import { forEachStore as test, storePlace } from "../support/for-each-store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { putRequests, request } from "../support/usage.ts";

async function commandsAfterRequests(t: TestContext) {
  const place = await storePlace(t);
  const commands = allCommands(place.dataDir, { DATABASE_URL: place.databaseUrl ?? "" });
  const { id } = await commands.json("accounts", "create", "--name", "Acme");
  await putRequests(place, [
    request(),
    request({ status: 304, bytes: 0 }),
    request({ status: 429, operation: "fetch-signals" }),
    request({ account: 7, key: "key_z" }),
    request({ at: Date.parse("2026-12-01T00:00:00Z") }),
  ]);
  const exported = (...args: string[]) =>
    commands.text("usage", "export", "--month", "2026-11", ...args);
  return { ...commands, id: id as string, exported };
}

const sums = "requests,status_2xx,status_3xx,status_4xx,status_5xx,status_429,bytes,ms";

test("a month is exported by account, operation and key, one that is not known any more too", async (t) => {
  const { id, exported } = await commandsAfterRequests(t);
  assert.equal(
    await exported("--by", "account,operation,key", "--csv"),
    [
      `account,account_name,operation,key,${sums}`,
      `${id},Acme,fetch-gp,key_a,2,1,1,0,0,0,1000,2.5`,
      `${id},Acme,fetch-signals,key_a,1,0,0,1,0,1,1000,1.25`,
      "unknown (7),,fetch-gp,key_z,1,1,0,0,0,0,1000,1.25",
      "",
    ].join("\n"),
  );
  assert.equal(
    await exported("--by", "operation", "--csv"),
    `operation,${sums}\nfetch-gp,3,2,1,0,0,0,2000,3.75\nfetch-signals,1,0,0,1,0,1,1000,1.25\n`,
  );
});

test("an export is a table for people, and JSON for programs", async (t) => {
  const { id, exported, json } = await commandsAfterRequests(t);
  const [headings, row] = (await exported("--by", "account")).split("\n");
  assert.match(headings!, /^ACCOUNT +ACCOUNT NAME +REQUESTS +STATUS 2XX .* BYTES +MS$/);
  assert.match(row!, new RegExp(`^${id} +Acme +3 `));
  const lines = (await exported("--by", "account", "--ndjson")).trim().split("\n");
  const documents = await json("usage", "export", "--month", "2026-11", "--by", "account");
  assert.deepEqual(
    lines.map((line) => JSON.parse(line)),
    documents,
  );
  assert.deepEqual(Object.keys(documents[0]), `account,account_name,${sums}`.split(","));
  assert.equal(documents[0].status_429, 1);
});

test("a month in which nothing was asked has no rows", async (t) => {
  const { text } = await commandsAfterRequests(t);
  const of = (...args: string[]) =>
    text("usage", "export", "--month", "2025-01", "--by", "account", ...args);
  assert.equal(await of(), "Nothing was asked in 2025-01.\n");
  assert.equal(await of("--csv"), `account,account_name,${sums}\n`);
  assert.equal(await of("--ndjson"), "");
});

test("a month or a part that there is not is refused with what there is", async (t) => {
  const { refusal } = allCommands(temporaryFolder(t));
  const month = ["usage", "export", "--by", "account", "--month"];
  assert.match(await refusal(exitCodes.usage, ...month, "2026-13"), /such as 2026-11/);
  const by = ["usage", "export", "--month", "2026-11", "--by"];
  for (const parts of ["account,day", "", "account,,key"])
    assert.match(await refusal(exitCodes.usage, ...by, parts), /account, operation, key/);
});
