import assert from "node:assert/strict";
import { forgetNotices, noticeOnce } from "#accounts/notices.ts";
import { controlWithAccount, noon } from "../support/control.ts";
import { forEachStore as test } from "../support/for-each-store.ts";

test("an account is told of a thing once, until it is forgotten", async (t) => {
  const { control, account } = await controlWithAccount(t);
  const about = (subject: string) => ({ account: account.number, kind: "key.expiring", subject });
  const isNews = (subject: string) =>
    control.write((transaction) => noticeOnce(transaction, { ...about(subject), now: noon }));
  assert.equal(await isNews("key_a"), true);
  assert.equal(await isNews("key_a"), false);
  assert.equal(await isNews("key_b"), true);
  await control.write((transaction) => forgetNotices(transaction, about("key_a")));
  assert.equal(await isNews("key_a"), true);
  assert.equal(await isNews("key_b"), false);
  await control.write((transaction) =>
    forgetNotices(transaction, { account: account.number, kind: "key.expiring" }),
  );
  assert.equal(await isNews("key_b"), true);
});
