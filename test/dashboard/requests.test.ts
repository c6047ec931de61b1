import assert from "node:assert/strict";
import { test } from "node:test";
import { createKey } from "../support/key-forms.ts";
import { accountOf } from "../support/own-account.ts";
import { startService } from "../support/service.ts";
import { putRequests, request } from "../support/usage.ts";
import { signedIn } from "../support/user.ts";

test("a log that is switched off names the setting, and an empty one says what to do", async (t) => {
  const off = await startService(t, { records: null, settings: { USAGE_LOG_DAYS: "0" } });
  const { text } = await (await signedIn(off, {})).get("/account/requests");
  assert.match(text, /<h1>No log of requests<\/h1>.*<code>USAGE_LOG_DAYS<\/code> is 0/s);
  assert.doesNotMatch(text, /<form method="get"|requests\.csv/);
  const user = await signedIn(await startService(t, { records: null }), {});
  assert.match((await user.get("/account/requests")).text, /No request yet\. Send one with/);
  assert.match((await user.get("/account/requests?id=x")).text, /No request is like that/);
});

test("names of keys are cut between characters, and a problem that is no longer known is no link", async (t) => {
  const service = await startService(t, { records: null });
  const ada = await signedIn(service, { email: "ada@example.org" });
  const { id: key } = await createKey(ada, { name: "😀".repeat(30) });
  const { number: account } = await accountOf(service, "ada@example.org");
  await putRequests(service.place, [request({ account, key, status: 400, problem: "gone-code" })]);
  const { text } = await ada.get("/account/requests");
  assert.ok(text.includes(`>${"😀".repeat(23)}…<`));
  assert.match(text, /400<br \/>\s*gone-code/);
  assert.doesNotMatch(text, /errors\/gone-code/);
});
