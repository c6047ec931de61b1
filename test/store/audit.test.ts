import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test as onTheFileAlone, type TestContext } from "node:test";
import { setTimeout } from "node:timers/promises";
import {
  listAudit,
  type AuditAction,
  auditActions,
  removeOldAudit,
  writeAudit,
} from "#store/audit.ts";
import { openControl } from "#store/stores.ts";
import { controlWithAccount, day, hour, noon } from "../support/control.ts";
import { forEachStore as test } from "../support/for-each-store.ts";
import { startServer } from "../support/server-process.ts";

test("an entry and its change are written together or not at all", async (t) => {
  const { control } = await controlWithAccount(t);
  const before = await listAudit(control.database, { limit: 10 });
  const failing = control.write(async (transaction) => {
    await writeAudit(transaction, "plan.set", { actor: "operator", now: noon });
    throw new Error("changed my mind");
  });
  await assert.rejects(failing, /changed my mind/);
  assert.deepEqual(await listAudit(control.database, { limit: 10 }), before);
  // And the lock is free again.
  await control.write(async () => {});
});

test("entries of several processes at once have one number each, in the order they were written", async (t) => {
  const { place, control } = await controlWithAccount(t);
  const other = await openControl(place.dataDir, place);
  t.after(() => other.close());
  const write = (store: typeof control, subject: string) =>
    store.write((transaction) =>
      writeAudit(transaction, "plan.set", { actor: "operator", subject, now: noon }),
    );
  for (let i = 0; i < 20; i++) await write(i % 2 === 0 ? control : other, String(i));
  const entries = await listAudit(control.database, { action: "plan.set", limit: 50 });
  assert.deepEqual(
    entries.map(({ subject }) => subject),
    Array.from({ length: 20 }, (_, i) => String(19 - i)),
  );
  assert.equal(new Set(entries.map(({ number }) => number)).size, 20);
});

test("the log is read by account, actor, action and time, a page after the other", async (t) => {
  const { control, account } = await controlWithAccount(t);
  await control.write(async (transaction) => {
    for (let i = 0; i < 6; i++)
      await writeAudit(transaction, i < 3 ? "key.created" : "key.revoked", {
        actor: i % 2 === 0 ? "pe_a" : "pe_b",
        account: i === 5 ? null : account.number,
        subject: String(i),
        now: noon + i * hour,
      });
  });
  const subjects = async (filter: object) =>
    (await listAudit(control.database, { limit: 3, ...filter })).map(({ subject }) => subject);
  assert.deepEqual(await subjects({}), ["5", "4", "3"]);
  assert.deepEqual(await subjects({ actor: "pe_a" }), ["4", "2", "0"]);
  assert.deepEqual(await subjects({ action: "key.revoked", account: account.number }), ["4", "3"]);
  assert.deepEqual(await subjects({ since: noon + 4 * hour }), ["5", "4"]);
  const [first] = await listAudit(control.database, { limit: 1 });
  assert.equal(first?.account, null);
});

test("every action stands in docs/accounts.md, and no other", () => {
  const text = readFileSync("docs/accounts.md", "utf8");
  const table = text.slice(text.indexOf("## The audit log"), text.indexOf("## What is stored"));
  const documented = [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, action]) => action!);
  assert.deepEqual(documented, [...auditActions]);
});

/** A store with nothing in its audit log but these entries. */
async function storeWith(
  t: TestContext,
  entries: readonly { subject: string; now: number; action?: AuditAction }[],
) {
  const { place, control } = await controlWithAccount(t);
  await control.write(async (transaction) => {
    await transaction.deleteFrom("audit").execute();
    for (const { action = "plan.set", ...one } of entries)
      await writeAudit(transaction, action, { actor: "operator", ...one });
  });
  const left = async () => (await listAudit(control.database, { limit: 10_000 })).toReversed();
  return { place, control, left };
}

test("entries older than AUDIT_DAYS are removed, no others, and the log says how many", async (t) => {
  const { control, left } = await storeWith(
    t,
    [0, 1, 2, 3, 4].map((i) => ({ subject: String(i), now: noon + i * day })),
  );
  const now = noon + 32 * day;
  assert.equal(await removeOldAudit(control, { days: 30, now }), 2);
  const entries = await left();
  const told = entries.map(({ number, subject }) => `${number} ${subject}`);
  assert.deepEqual(told, ["3 2", "4 3", "5 4", "6 null"]);
  const { actor, action, at, detail } = entries.at(-1)!;
  assert.deepEqual(
    { actor, action, at, detail },
    {
      actor: "service",
      action: "audit.pruned",
      at: new Date(now).toISOString(),
      detail: { removed: 2, before: new Date(noon + 2 * day).toISOString() },
    },
  );
  assert.equal(await removeOldAudit(control, { days: 30, now }), 0);
  assert.equal((await left()).length, 4, "where nothing goes, nothing is written");
});

test("no number is given twice, also where every entry goes", async (t) => {
  const { control, left } = await storeWith(t, [{ subject: "only", now: noon }]);
  assert.equal(await removeOldAudit(control, { days: 1, now: noon + 9 * day }), 1);
  const found = (await left()).map(({ number, action }) => [number, action]);
  assert.deepEqual(found, [[2, "audit.pruned"]]);
});

test("what says that a person was deleted stays, for a restore deletes them anew by it", async (t) => {
  const { control, left } = await storeWith(t, [
    { subject: "pe_gone", action: "person.deleted", now: noon },
    { subject: "pe_gone", action: "person.exported", now: noon },
  ]);
  assert.equal(await removeOldAudit(control, { days: 1, now: noon + 9 * day }), 1);
  const actions = (await left()).map(({ action }) => action);
  assert.deepEqual(actions, ["person.deleted", "audit.pruned"]);
});

test("an entry that a clock set back has dated is removed by its time, and one of the future keeps no other", async (t) => {
  const { control, left } = await storeWith(t, [
    { subject: "future", now: noon + 900 * day },
    { subject: "old", now: noon },
    { subject: "new", now: noon + 9 * day },
    { subject: "older", now: noon - 9 * day },
  ]);
  assert.equal(await removeOldAudit(control, { days: 5, now: noon + 10 * day }), 2);
  const subjects = (await left()).map(({ subject }) => subject);
  assert.deepEqual(subjects, ["future", "new", null]);
});

// Which of two writers PostgreSQL lets go first is its own affair.
onTheFileAlone(
  "a long log is shortened in steps that let others write in between, and can be broken off",
  async (t) => {
    const many = Array.from({ length: 2500 }, (_, i) => ({ subject: String(i), now: noon }));
    const { control, left } = await storeWith(t, many);
    const stop = new AbortController();
    const order = { days: 1, now: noon + 9 * day };
    const removal = removeOldAudit(control, { ...order, signal: stop.signal });
    const between = { actor: "operator", now: order.now };
    await control.write((transaction) => writeAudit(transaction, "plan.set", between));
    stop.abort();
    const removed = await removal;
    assert.ok(removed > 0 && removed < 2500, `${removed}`);
    assert.equal(await removeOldAudit(control, order), 2500 - removed);
    const details = (await left()).filter(({ action }) => action === "audit.pruned");
    const found = details.map(({ detail }) => (detail as { removed: number }).removed);
    assert.deepEqual(found, [1000, 1000, 500]);
  },
);

test("a server without AUDIT_DAYS keeps entries for good, and one with it removes older ones without anybody's asking for a page", async (t) => {
  const now = Date.now();
  const { place, left } = await storeWith(t, [
    { subject: "old", now: now - 9000 * day },
    { subject: "old, too", now: now - 40 * day },
    { subject: "new", now: now - 20 * day },
  ]);
  const subjects = async () => (await left()).map(({ subject }) => subject);
  const settings = { DATABASE_URL: place.databaseUrl ?? "" };
  const server = await startServer(t, { ...place, settings });
  // The thread that would remove them is open once it has answered.
  assert.equal((await server.get("/account/sign-in")).status, 200);
  server.signal("SIGTERM");
  await server.ended;
  assert.deepEqual(await subjects(), ["old", "old, too", "new"]);
  await startServer(t, { ...place, settings: { ...settings, AUDIT_DAYS: "30" } });
  while ((await subjects()).includes("old")) await setTimeout(20);
  assert.deepEqual(await subjects(), ["new", null]);
});
