import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { listAudit } from "#accounts/list-audit.ts";
import { auditActions, writeAudit } from "#store/audit.ts";
import { openControl } from "#store/stores.ts";
import { controlWithAccount, hour, noon } from "../support/control.ts";

test("an entry and its change are written together or not at all", async (t) => {
  const { control } = await controlWithAccount(t);
  const before = await listAudit(control.database, { limit: 10 });
  const failing = control.write(async (transaction) => {
    await writeAudit(transaction, { actor: "operator", action: "plan.set", now: noon });
    throw new Error("changed my mind");
  });
  await assert.rejects(failing, /changed my mind/);
  assert.deepEqual(await listAudit(control.database, { limit: 10 }), before);
});

test("entries of several processes at once have one number each, in the order they were written", async (t) => {
  const { dataDir, control } = await controlWithAccount(t);
  const other = await openControl(dataDir);
  t.after(() => other.close());
  const write = (store: typeof control, subject: string) =>
    store.write((transaction) =>
      writeAudit(transaction, { actor: "operator", action: "plan.set", subject, now: noon }),
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
      await writeAudit(transaction, {
        actor: i % 2 === 0 ? "pe_a" : "pe_b",
        action: i < 3 ? "key.created" : "key.revoked",
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
