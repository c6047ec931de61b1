import { readAddress, insertPerson } from "#accounts/people.ts";
import assert from "node:assert/strict";
import { test as onFile, type TestContext } from "node:test";
import { suspendAccount } from "#accounts/accounts.ts";
import { insertMember } from "#accounts/members.ts";
import type { Mail } from "#dashboard/mail-templates.ts";
import type { LookAtQuota } from "#dashboard/messages.ts";
import { dueNotice, watchNotices } from "#dashboard/watch-notices.ts";
import type { ListedKey } from "#keys/keys.ts";
import { openMemoryCounters } from "#limits/memory-counters.ts";
import type { Role } from "#store/control-tables.ts";
import { controlWithAccount, day, hour, noon } from "../support/control.ts";
import { forEachStore as test } from "../support/for-each-store.ts";
import { fixedClock } from "../support/service.ts";

const base = "https://records.example";

const at = (time: number) => new Date(time).toISOString();
const expiring = (days: number, more: Partial<ListedKey> = {}) =>
  ({
    createdAt: at(noon - 60 * day),
    expiresAt: at(noon + days * day),
    revokedAt: null,
    replacedBy: null,
    ...more,
  }) as ListedKey;
const dueDays = (key: ListedKey) => dueNotice(key, noon);

onFile(
  "a key causes a notice in its last 14 days and another in its last 3, but none that has ended, was rotated, never ends or was made for a few days",
  () => {
    const found = [15, 14.001, 14, 9, 3.001, 3, 0.5].map((days) => dueDays(expiring(days)));
    assert.deepEqual(found, [null, null, 14, 14, 14, 3, 3]);
    for (const [days, more, due] of [
      [0, {}, null],
      [-1, {}, null],
      [2, { revokedAt: at(noon) }, null],
      [2, { replacedBy: "key_other" }, null],
      [2, { expiresAt: null }, null],
      [10, { createdAt: at(noon) }, null],
      [3, { createdAt: at(noon - 7 * day) }, 3],
      [2, { createdAt: at(noon - day) }, null],
    ] as const)
      assert.equal(dueDays(expiring(days, more)), due, `${days} ${JSON.stringify(more)}`);
  },
);

/** An account with two owners and a member, and the messages that were sent to them. */
async function watched(t: TestContext, { isOff = false } = {}) {
  const { control, account, issue } = await controlWithAccount(t);
  const add = (address: string, role: Role) =>
    control.write(async (transaction) => {
      const order = { address: readAddress(address), password: "$argon2id$", now: noon };
      const { id: person } = await insertPerson(transaction, order);
      await insertMember(transaction, { account: account.number, person, role, now: noon });
    });
  await add("ada@example.org", "owner");
  await add("bob@example.org", "owner");
  await add("cem@example.org", "member");
  const clock = fixedClock(noon);
  const counters = openMemoryCounters(clock);
  const outage = { isOn: false };
  const lookAtQuota: LookAtQuota = async (number, quotas) =>
    outage.isOn
      ? {
          ...openMemoryCounters(clock).look(number, quotas),
          isPartial: true,
        }
      : counters.look(number, quotas);
  const messages: Mail[] = [];
  const mailer = {
    isOff,
    send: (message: Mail) => void messages.push(message),
    close: async () => {},
  };
  /** One round, and who was sent what in it. */
  const round = async (now: number) => {
    messages.length = 0;
    const services = { control, lookAtQuota, mailer, base };
    await watchNotices(services, now, new AbortController().signal);
    return messages.map(({ to, subject }) => `${to}: ${subject}`).toSorted();
  };
  const use = (count: number) => {
    for (let i = 0; i < count; i++)
      counters.take(account.number, { minute: 1e6, hour: 1e6, day: 1e6 });
  };
  return { control, account, issue, clock, messages, outage, round, use };
}

test("owners are mailed 14 days and 3 days before a key expires, once each, and nobody else is", async (t) => {
  const { issue, round, messages } = await watched(t);
  const { id } = await issue({ name: "nightly", expiresAt: noon + 90 * day });
  assert.deepEqual(await round(noon + 70 * day), []);
  const told = await round(noon + 77 * day);
  assert.deepEqual(told, [
    "ada@example.org: A key of Acme expires soon",
    "bob@example.org: A key of Acme expires soon",
  ]);
  assert.match(messages[0]!.text, new RegExp(`"nightly".*${base}/account/keys/${id}\n`, "s"));
  assert.deepEqual(await round(noon + 77 * day + hour), []);
  assert.equal((await round(noon + 88 * day)).length, 2);
  assert.deepEqual(await round(noon + 89 * day), []);
  assert.deepEqual(await round(noon + 91 * day), []);
});

test("nobody is mailed about the keys of a suspended account", async (t) => {
  const { control, account, issue, round } = await watched(t);
  await issue({ expiresAt: noon + 90 * day });
  await suspendAccount(control, account.id, noon);
  assert.deepEqual(await round(noon + 80 * day), []);
});

test("owners are mailed once that 80 % of the day's quota is used, and again only after less than half was used", async (t) => {
  const { clock, round, messages, use } = await watched(t);
  use(7999);
  assert.deepEqual(await round(clock.now()), []);
  use(1);
  const told = await round(clock.now());
  assert.equal(told.length, 2);
  assert.equal(told[0], "ada@example.org: Acme has used 80% of its daily quota");
  assert.match(messages[0]!.text, new RegExp(`8000 of the 10000.*${base}/account/usage\n`, "s"));
  use(500);
  assert.deepEqual(await round(clock.now()), []);
  clock.advance(86_401);
  assert.deepEqual(await round(clock.now()), []);
  use(9000);
  assert.equal((await round(clock.now())).length, 2);
});

test("an outage of the shared counts makes no notice about the quota due again", async (t) => {
  const { clock, outage, round, use } = await watched(t);
  use(8000);
  assert.equal((await round(clock.now())).length, 2);
  outage.isOn = true;
  assert.deepEqual(await round(clock.now()), []);
  outage.isOn = false;
  assert.deepEqual(await round(clock.now()), []);
});

test("without a mail server no notice counts as sent", async (t) => {
  const off = await watched(t, { isOff: true });
  await off.issue({ expiresAt: noon + 90 * day });
  assert.deepEqual(await off.round(noon + 80 * day), []);
  assert.deepEqual(await off.control.database.selectFrom("notice").selectAll().execute(), []);
});
