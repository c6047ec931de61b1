import assert from "node:assert/strict";
import { test } from "node:test";
import { dueNotice } from "#dashboard/watch-notices.ts";
import type { ListedKey } from "#keys/keys.ts";
import { day, noon } from "../support/control.ts";
import { createKey } from "../support/key-forms.ts";
import { accountOf } from "../support/own-account.ts";
import { startService } from "../support/service.ts";
import { putRequests, request } from "../support/usage.ts";
import { signedIn } from "../support/user.ts";

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

test("a key causes a notice in its last 14 days and another in its last 3, but none that has ended, was rotated, never ends or was made for a few days", () => {
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
});

test("a log that is switched off names the setting, and an empty one says what to do", async (t) => {
  const off = await startService(t, { records: null, settings: { USAGE_LOG_DAYS: "0" } });
  const { text } = await (await signedIn(off, {})).get("/account/requests");
  assert.match(text, /<h1>No log of requests<\/h1>.*<code>USAGE_LOG_DAYS<\/code> is 0/s);
  assert.doesNotMatch(text, /<form method="get"|requests\.csv/);
  const user = await signedIn(await startService(t, { records: null }), {});
  assert.match(
    (await user.get("/account/requests")).text,
    /No requests in this time\. Send one with/,
  );
  assert.match((await user.get("/account/requests?id=x")).text, /No request matches/);
});

test("a problem that is no longer known is no link", async (t) => {
  const service = await startService(t, { records: null });
  const ada = await signedIn(service, { email: "ada@example.org" });
  const { id: key } = await createKey(ada);
  const { number: account } = await accountOf(service, "ada@example.org");
  await putRequests(service.place, [request({ account, key, status: 400, problem: "gone-code" })]);
  const { text } = await ada.get("/account/requests");
  assert.match(text, /400<br \/>\s*gone-code/);
  assert.doesNotMatch(text, /errors\/gone-code/);
});
