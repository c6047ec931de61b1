import assert from "node:assert/strict";
import { test } from "node:test";
import { createdADayMax, liveKeysMax } from "#keys/caps.ts";
import { createKey, keysIn, orderRotation, shownKey } from "../../support/key-forms.ts";
import { startService } from "../../support/service.ts";
import { signedIn } from "../../support/user.ts";

test("C98 · an account has ten keys that work and makes twenty a day, however they are asked for", async (t) => {
  const service = await startService(t, { records: null });
  const ada = await signedIn(service);
  let forms = 0;
  /** Without the page, which offers no form at the cap. */
  const order = (name: string) =>
    ada.post("/account/keys", {
      name,
      expiry: "never",
      form: `form-of-the-test-${forms++}`,
    });
  const refused = async (words: RegExp) => {
    const page = await order("one-more");
    assert.equal(page.status, 409);
    assert.match(page.text, words);
    assert.deepEqual(keysIn(page.text), []);
  };
  const ids: string[] = [];
  for (let i = 0; i < liveKeysMax; i++) ids.push((await createKey(ada, { name: `key ${i}` })).id);
  assert.deepEqual([liveKeysMax, createdADayMax], [10, 20]);

  await refused(/10 is the most\. Revoke one/);
  const { text } = await ada.get("/account/keys");
  assert.match(text, /<h1>10 keys<\/h1>/);
  assert.match(text, /may have 10 keys that work\. Revoke one first/);
  assert.doesNotMatch(text, /Create key<\/button>/);

  shownKey(await orderRotation(ada, ids[0]!, "604800000"));
  await refused(/10 is the most/);
  for (let made = 11; made < createdADayMax; made++) {
    await ada.post(`/account/keys/${ids[made - 10]!}/revoke`, {});
    ids.push(shownKey(await order(`again-${made}`)).id);
  }
  await ada.post(`/account/keys/${ids.at(-1)!}/revoke`, {});
  await refused(/20 is the most\. Try again tomorrow/);
  service.clock.advance(11 * 3600);
  await ada.get("/account/keys");
  service.clock.advance(11 * 3600);
  await refused(/20 is the most/);
  service.clock.advance(2 * 3600 + 1);
  shownKey(await order("tomorrow"));
});
