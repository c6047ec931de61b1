import assert from "node:assert/strict";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { completeSignUp } from "#accounts/credentials.ts";
import { openPasswords } from "#accounts/passwords.ts";
import { exitCodes } from "#cli/command-fault.ts";
import { prepareDemo } from "#cli/demo.ts";
import { openControl } from "#store/stores.ts";
import { gp } from "../datasets/published.ts";
import { allCommands, listCommands } from "../support/all-commands.ts";
import { noon } from "../support/control.ts";
import { changeDatabase } from "../support/damage.ts";
import { secWorld } from "../support/fake-sec.ts";
import { writeFilingFolder } from "../support/filing-folder.ts";
import { linesOf } from "../support/json-lines.ts";
import { cheap, clientAt, goodPassword } from "../support/people.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const at = "2026-11-21T12:00:00.000Z";
const mapping = { records: [{ record: "gp", id: { column: "Name" }, fields: { name: "Name" } }] };

/** A data folder with what the commands below need, and the commands. */
async function openWorld(t: TestContext) {
  const folder = temporaryFolder(t);
  const dataDir = join(folder, "data");
  const commands = allCommands(dataDir, { CONTACT: "ops@example.com" });
  const records = (...ids: string[]) => {
    const path = join(folder, `${ids.join("-")}.ndjson`);
    writeFileSync(path, linesOf(...ids.map((id) => gp(id))));
    return path;
  };
  return { t, folder, dataDir, records, ...commands };
}

type World = Awaited<ReturnType<typeof openWorld>>;

/** Runs its command once, or changes nothing. @param actions of `operator` in it, the newest first. */
const does = (actions: readonly string[], walk: (world: World) => Promise<unknown>) => ({
  actions,
  walk,
});

/** Those that are null only read. */
const walks: Record<string, ReturnType<typeof does> | null> = {
  serve: null,
  "datasets list": null,
  "datasets show": null,
  "datasets diff": null,
  "datasets verify": null,
  instances: null,
  "accounts list": null,
  "accounts members": null,
  "plans list": null,
  migrate: null,
  "keys list": null,
  match: null,
  explain: null,
  "audit list": null,
  "requests find": null,
  "requests list": null,
  "usage export": null,
  backup: null,
  // What it copies stays the same to the last row, this log among it.
  doctor: null,
  openapi: null,
  export: null,
  "import ndjson": does(["dataset.published"], ({ text, records }) =>
    text("import ndjson --source own", records("a")),
  ),
  "import csv": does(["dataset.published"], async ({ folder, text }) => {
    const [rows, map] = [join(folder, "rows.csv"), join(folder, "map.json")];
    writeFileSync(rows, "Name\nBirch\n");
    writeFileSync(map, JSON.stringify(mapping));
    await text("import csv --source rows", rows, "--map", map);
  }),
  "import sec": does(["dataset.published"], async ({ t, text }) => {
    const folder = temporaryFolder(t);
    await writeFilingFolder(folder, { size: 2 });
    await text("import sec", folder);
  }),
  "sync sec": does(["dataset.published"], async ({ t, text }) => {
    const { sec, folder } = await secWorld(t);
    await text("sync sec", folder, "--origin", sec.origin);
  }),
  "datasets rollback": does(["dataset.rolled_back"], ({ text }) => text("datasets rollback")),
  "datasets publish": does(["dataset.published"], async ({ json, text, records }) => {
    const { version } = await json("import ndjson --source own", records("a", "b"), "--stage");
    await text("datasets publish", version);
  }),
  "datasets prune": does(["dataset.pruned"], async ({ json, text }) => {
    const { length } = await json("datasets list");
    await text("datasets prune --keep", String(length - 1));
  }),
  "datasets pin": does(["dataset.pinned"], async ({ json, text }) => {
    const { version } = await json("datasets show");
    await text("datasets pin", version);
    await text("datasets pin", version);
  }),
  "datasets unpin": does(["dataset.unpinned"], async ({ json, text }) => {
    const { version } = await json("datasets show");
    await text("datasets unpin", version);
    await text("datasets unpin", version);
  }),
  "suppress list": null,
  "suppress add": does(["suppression.added"], async ({ text }) => {
    await text("suppress add", "Jane Roe", "--reason", "asked");
    await text("suppress add", "Jane Roe", "--reason", "asked again");
  }),
  "suppress remove": does(["suppression.removed"], ({ text }) => text("suppress remove 1")),
  "accounts create": does(["account.created"], ({ text }) => text("accounts create --name Acme")),
  "accounts limits": does(["account.limits_changed"], ({ text }) =>
    text("accounts limits Acme --per-day 5"),
  ),
  "accounts suspend": does(["account.suspended"], ({ text }) => text("accounts suspend Acme")),
  "accounts resume": does(["account.resumed"], ({ text }) => text("accounts resume Acme")),
  "plans set": does(["plan.set"], ({ text }) => text("plans set gold --per-day 9")),
  "accounts plan": does(["account.plan_changed"], ({ text }) => text("accounts plan Acme gold")),
  "plans remove": does(["plan.removed", "account.plan_changed"], async ({ text }) => {
    await text("accounts plan Acme none");
    await text("plans remove gold");
  }),
  "accounts invite": does(["member.invited", "member.invited"], async ({ json, text, dataDir }) => {
    await text("accounts invite a@b.com --account Acme");
    const { link } = await json("accounts invite ada@b.com");
    const control = await openControl(dataDir);
    await completeSignUp(control, openPasswords(cheap), {
      token: new URL(link).searchParams.get("token")!,
      password: goodPassword,
      accountName: null,
      client: clientAt("10.0.0.1"),
      now: noon,
    });
    await control.close();
  }),
  "accounts reset-link": does(["person.reset_asked"], ({ text }) =>
    text("accounts reset-link ada@b.com"),
  ),
  "keys create": does(["key.created"], ({ text }) => text("keys create --account Acme --name web")),
  "keys rotate": does(["key.rotated"], async ({ json, text }) => {
    const [key] = await json("keys list --account Acme");
    await text("keys rotate", key.id, "--overlap", "0");
  }),
  "keys revoke": does(["key.revoked"], async ({ json, text }) => {
    const keys = await json("keys list --account Acme");
    await text("keys revoke", keys.at(-1).id);
  }),
  restore: does(["backup.restored"], async ({ folder, text }) => {
    const file = join(folder, "backup.tar");
    await text("backup", file);
    await text("restore", file, "--replace");
  }),
};

test("every command that changes something is in the audit log, as often as it changes something", async (t) => {
  const world = await openWorld(t);
  const all = listCommands().map(({ path }) => path);
  assert.deepEqual(Object.keys(walks).toSorted(), all.toSorted());
  const entries = async () => world.json("audit list --limit 1000");
  for (const [command, doing] of Object.entries(walks)) {
    if (doing === null) continue;
    const before = existsSync(world.dataDir) ? (await entries())[0]?.number : undefined;
    await doing.walk(world);
    const fresh = (await entries()).filter(
      ({ number, actor }: any) => number > (before ?? 0) && actor === "operator",
    );
    assert.deepEqual(
      fresh.map(({ action }: any) => action),
      doing.actions,
      command,
    );
    for (const entry of fresh) {
      assert.equal(entry.at, at);
      assert.ok(entry.subject !== null, command);
    }
  }
});

test("what is refused, repeated or only tried leaves no entry", async (t) => {
  const { json, text, refusal, start, records } = await openWorld(t);
  await text("accounts create --name Acme");
  await text("accounts suspend Acme");
  const { id } = await json("keys create --account Acme --name web");
  await text("keys revoke", id);
  const before = await json("audit list");
  await refusal(exitCodes.conflict, "accounts create --name ACME");
  await refusal(exitCodes.conflict, "keys rotate", id);
  await refusal(exitCodes.conflict, "plans remove gold");
  await text("accounts suspend Acme");
  await text("accounts limits Acme");
  await text("accounts plan Acme none");
  await text("keys revoke", id);
  await text("import ndjson --source own", records("a"), "--dry-run");
  await text("import ndjson --source own", records("a"), "--stage");
  await start("datasets rollback");
  assert.deepEqual(await json("audit list"), before);
});

test("the demo's own doings are the service's, not the operator's", async (t) => {
  const { dataDir, json } = await openWorld(t);
  const context = { environment: { DATA_DIR: dataDir }, now: () => noon };
  const silent = { ...context, print: assert.fail, reportError: assert.fail };
  const size = { seed: 1, gps: 3, principals: 3, signals: 3, projects: 3 };
  await prepareDemo(silent, size);
  // A key that nobody can show any more gives way to another.
  rmSync(join(dataDir, "demo.key"));
  await prepareDemo(silent, size);
  const entries = await json("audit list");
  assert.deepEqual(
    entries.map(({ action }: any) => action),
    ["key.created", "key.revoked", "key.created", "account.created", "dataset.published"],
  );
  for (const { actor } of entries) assert.equal(actor, "service");
});

test("a publication whose entry cannot be written is a publication, and the command says so", async (t) => {
  const { dataDir, start, text, json, records } = await openWorld(t);
  await text("import ndjson --source own", records("a"));
  // The suppressions, without which nothing is published, can be read.
  changeDatabase(join(dataDir, "control.sqlite"), "drop table audit");
  const { exitCode, err } = await start("import ndjson --source own", records("a", "b"));
  assert.equal(exitCode, exitCodes.done);
  assert.match(
    err,
    /^warning: The change is done, but its entry \(dataset\.published of \S+\) could not be written to the audit log: no such table: audit/,
  );
  assert.equal((await json("datasets show")).records.gp, 2);
});

test("audit list filters by account, action and time, the newest first, as text, JSON and JSON lines", async (t) => {
  const { json, text, refusal } = await openWorld(t);
  assert.equal(await text("audit list"), "The audit log has no matching entry.\n");
  const { id } = await json("accounts create --name Acme");
  await text("accounts create --name Beta");
  await text("accounts limits Acme --per-day 5");
  const actions = async (...args: string[]) =>
    (await json("audit list", ...args)).map(({ action }: any) => action);
  assert.deepEqual(await actions("--account", "acme"), [
    "account.limits_changed",
    "account.created",
  ]);
  assert.equal((await actions("--action", "account.created")).length, 2);
  assert.equal((await actions("--limit", "1")).length, 1);
  assert.equal((await actions("--since", "2026-11-21T12:00:00Z")).length, 3);
  assert.equal((await actions("--since", "2026-11-21T12:00:01Z")).length, 0);
  assert.equal((await actions("--since", "1m")).length, 3);
  assert.deepEqual((await json("audit list"))[0], {
    number: 3,
    at,
    actor: "operator",
    account: id,
    action: "account.limits_changed",
    subject: id,
    detail: {
      former: { minute: null, hour: null, day: null },
      limits: { minute: null, hour: null, day: 5 },
    },
  });
  await text(`keys create --account Acme --name web`);
  const [headings, made, row] = (await text("audit list")).split("\n");
  assert.match(made!, / key\.created .* -$/);
  assert.match(headings!, /^AT +ACTOR +ACTION +ACCOUNT +SUBJECT +DETAIL$/);
  assert.match(row!, /^2026-11-21T12:00:00Z +operator +account\.limits_changed +ac_/);
  assert.match(await refusal(exitCodes.usage, "audit list --action x"), /Allowed choices/);
  assert.match(await refusal(exitCodes.usage, "audit list --limit 0"), /whole number from 1/);
  assert.match(await refusal(exitCodes.usage, "audit list --since x"), /how long ago/);
  await refusal(exitCodes.conflict, "audit list --account nobody");
});
