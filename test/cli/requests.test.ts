import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { parse } from "csv-parse/sync";
import { exitCodes } from "#cli/command-fault.ts";
import { allCommands, commandsOnStore } from "../support/all-commands.ts";
import { day, hour, noon } from "../support/control.ts";
import { forEachStore as test } from "../support/for-each-store.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { putRequests, request } from "../support/usage.ts";

/** Two accounts, each of which asked something. */
async function commandsAfterRequests(t: TestContext) {
  const { place, ...commands } = await commandsOnStore(t);
  const acme = await commands.json("accounts create --name Acme");
  const ofBeta = { account: 2, key: "key_b" };
  const beta = await commands.json("accounts create --name =Beta()");
  await putRequests(place, [
    request({ at: noon - day, requestId: "req_old" }),
    request({ at: noon - hour, requestId: "req_1", status: 429, problem: "quota-exceeded" }),
    request({ at: noon - 1, requestId: "shared", milliseconds: 0.5, query: "q=1,2" }),
    request({ ...ofBeta, at: noon - 2, requestId: "shared", query: "=cmd|' /C calc'!A0" }),
  ]);
  return { ...commands, acme: acme.id as string, beta: beta.id as string };
}

test("requests find shows all that is known of a request, whoever sent it, or of the account beside its id", async (t) => {
  const { json, text, acme, beta } = await commandsAfterRequests(t);
  const found = await json("requests find shared");
  assert.deepEqual(found[0], {
    account: acme,
    account_name: "Acme",
    at: "2026-11-21T11:59:59.999Z",
    request_id: "shared",
    key: "key_a",
    operation: "fetch-gp",
    status: 200,
    ms: 0.5,
    bytes: 1000,
    dataset: "20261121T090000Z-1",
    problem: null,
    query: "q=1,2",
  });
  const accounts = found.map((one: { account: string }) => one.account);
  assert.deepEqual(accounts, [acme, beta]);
  const [ofBeta, ...others] = await json("requests find shared --account", beta);
  assert.deepEqual([ofBeta.key, others], ["key_b", []]);
  const [headings, row] = (await text("requests find req_1")).split("\n");
  assert.match(headings!, /^AT +REQUEST ID +KEY +OPERATION +STATUS +MS +BYTES +PROBLEM$/);
  assert.equal(
    row!.replaceAll(/ +/g, " "),
    "2026-11-21T11:00:00Z req_1 key_a fetch-gp 429 1.25 1,000 quota-exceeded",
  );
});

test("requests list shows those of one account, newest first, between two times and up to a number, as CSV without what a spreadsheet would run", async (t) => {
  const { json, text, beta } = await commandsAfterRequests(t);
  const list = async (...args: string[]): Promise<string[]> =>
    (await json("requests list --account Acme", ...args)).map((one: any) => one.request_id);
  assert.deepEqual(await list(), ["shared", "req_1", "req_old"]);
  assert.deepEqual(await list("--since", "2026-11-21"), ["shared", "req_1"]);
  assert.deepEqual(await list("--until", "2026-11-21"), ["req_old"]);
  assert.deepEqual(await list("--since", "2026-11-20T12:00Z", "--until", "1h"), ["req_old"]);
  assert.deepEqual(await list("--limit", "1"), ["shared"]);
  assert.deepEqual(await list("--since", "1m", "--until", "2026-11-21T11:59:59Z"), []);
  assert.match(
    await text("requests list --account", beta, "--until", "1h"),
    /^The request log has no matching requests from this account\.\n$/,
  );
  const csv = await text("requests list --account", beta, "--csv");
  const rows = parse(csv, { columns: true }) as Record<string, string>[];
  const found = rows.map((row) => [row["account"], row["account_name"], row["key"], row["query"]]);
  assert.deepEqual(found, [[beta, "'=Beta()", "key_b", "'=cmd|' /C calc'!A0"]]);
});

test("requests find shows as many of one id as asked for, of the time asked for", async (t) => {
  const dataDir = temporaryFolder(t);
  const { json, refusal } = allCommands(dataDir);
  const times = Array.from({ length: 250 }, (_, i) => noon - hour + i);
  const requests = times.map((at) => request({ at, requestId: "same" }));
  await putRequests(dataDir, requests);
  const count = async (...args: string[]) => (await json("requests find same", ...args)).length;
  assert.equal(await count(), 100);
  assert.equal(await count("--limit", "200"), 200);
  assert.equal(await count("--until", "2026-11-21T11:00:00.060Z"), 60);
  await refusal(exitCodes.conflict, "requests find same --since 2026-11-21T11:01Z");
});

test("what cannot be found or understood is refused in words", async (t) => {
  const { refusal } = await commandsAfterRequests(t);
  const missing = await refusal(exitCodes.conflict, "requests find req_2");
  assert.match(
    missing,
    /^error: The request log has no matching request with the id 'req_2'\..*USAGE_LOG_DAYS days, or until USAGE_LOG_ROWS newer ones are in the log\.\n$/,
  );
  const ofNobody = await refusal(exitCodes.conflict, "requests list --account Gamma");
  assert.match(ofNobody, /no account 'Gamma'/);
  assert.match(await refusal(exitCodes.usage, "requests find"), /missing required argument 'id'/);
  for (const wrong of ["--limit 0", "--since soon", "--csv --json"])
    await refusal(exitCodes.usage, `requests list --account Acme ${wrong}`);
});

async function commandsAfterAMonth(t: TestContext) {
  const { place, ...commands } = await commandsOnStore(t);
  const { id } = await commands.json("accounts create --name Acme");
  await putRequests(place, [
    request({ milliseconds: 0.1 }),
    request({ status: 304, bytes: 0, milliseconds: 0.2 }),
    request({ status: 429, operation: "fetch-signals" }),
    request({ account: 7, key: "key_z" }),
    request({ at: Date.parse("2026-12-01T00:00:00Z") }),
  ]);
  const exported = (...args: string[]) => commands.text("usage export --month 2026-11", ...args);
  return { ...commands, id: id as string, exported };
}

const sums = "requests,status_2xx,status_3xx,status_4xx,status_5xx,status_429,bytes,ms";

test("a month is exported by account, operation and key, one that is not known any more too", async (t) => {
  const { id, exported } = await commandsAfterAMonth(t);
  assert.equal(
    await exported("--by", "account,operation,key", "--csv"),
    [
      `account,account_name,operation,key,${sums}`,
      `${id},Acme,fetch-gp,key_a,2,1,1,0,0,0,1000,0.3`,
      `${id},Acme,fetch-signals,key_a,1,0,0,1,0,1,1000,1.25`,
      "unknown (7),,fetch-gp,key_z,1,1,0,0,0,0,1000,1.25",
      "",
    ].join("\r\n"),
  );
  assert.equal(
    await exported("--by", "operation", "--csv"),
    `operation,${sums}\r\nfetch-gp,3,2,1,0,0,0,2000,1.55\r\nfetch-signals,1,0,0,1,0,1,1000,1.25\r\n`,
  );
});

test("an export is a table for people and JSON for programs, and of a month in which nothing was asked it has no rows", async (t) => {
  const { id, exported, json, text } = await commandsAfterAMonth(t);
  const [headings, row] = (await exported("--by", "account")).split("\n");
  assert.match(headings!, /^ACCOUNT +ACCOUNT NAME +REQUESTS +STATUS 2XX .* BYTES +MS$/);
  assert.match(row!, new RegExp(`^${id} +Acme +3 `));
  const documents = await json("usage export --month 2026-11 --by account");
  assert.deepEqual(Object.keys(documents[0]), `account,account_name,${sums}`.split(","));
  assert.equal(documents[0].status_429, 1);
  const of = (...args: string[]) => text("usage export --month 2025-01 --by account", ...args);
  assert.equal(await of(), "No requests were recorded in 2025-01.\n");
  assert.equal(await of("--csv"), `account,account_name,${sums}\r\n`);
  assert.equal(await of("--json"), "[]\n");
});

test("a month or a part that there is not is refused with what there is", async (t) => {
  const { refusal } = allCommands(temporaryFolder(t));
  const month = ["usage", "export", "--by", "account", "--month"];
  assert.match(await refusal(exitCodes.usage, ...month, "2026-13"), /such as 2026-11/);
  const by = ["usage", "export", "--month", "2026-11", "--by"];
  for (const parts of ["account,day", "", "account,,key"])
    assert.match(await refusal(exitCodes.usage, ...by, parts), /account, operation, key/);
});
