import assert from "node:assert/strict";
import { suspendAccount } from "#accounts/accounts.ts";
import { issueKey, revokeKey } from "#keys/keys.ts";
import { day } from "../support/control.ts";
import { forEachStore as test } from "../support/for-each-store.ts";
import { createKey, keysIn, orderKey } from "../support/key-forms.ts";
import { accountOf, withControl } from "../support/own-account.ts";
import { wordsOf } from "../support/record-pages.ts";
import { startService } from "../support/service.ts";
import { putRequests, readUsage, request } from "../support/usage.ts";
import { signedIn } from "../support/user.ts";

/** The words of the table row that names a key; empty where none does. */
const rowOf = (text: string, name: string): string =>
  wordsOf((text.match(/<tr>.*?<\/tr>/gs) ?? []).find((row) => row.includes(name)) ?? "");

test("keys by the page", async (t) => {
  const service = await startService(t);
  const { clock, place } = service;
  const ada = await signedIn(service);
  const statusWith = async (key: string) =>
    (await service.get("/fetch-gp?gp_name=kkr", { "x-api-key": key })).status;
  const { id } = await createKey(ada, { name: "nightly" });

  await t.test(
    "a new key works, and is in lines to paste with the URL of the service",
    async () => {
      const { key, page } = await createKey(ada, { name: "new" });
      assert.equal(await statusWith(key), 200);
      const text = page.text.replaceAll("&#39;", "'").replaceAll("&#34;", '"');
      const target = `${service.url}/fetch-gp?gp_name=capital`;
      assert.ok(text.includes(`curl -H "x-api-key: ${key}" "${target}"`));
      assert.ok(text.includes(`GP_RECORDS_KEY=${key}<`));
      assert.match(text, /expires <time datetime="2027-02-19T09:00:00.000Z"/);
      assert.equal(page.headers.get("cache-control"), "no-store");
    },
  );

  await t.test("the list shows state, last use, from where, and requests today", async () => {
    const { number } = await accountOf(service, "ada@example.org");
    const usedAt = clock.now() - 240_000;
    const asked = request({ account: number, key: id, at: usedAt });
    const night = { ...asked, at: Date.parse("2026-11-20T23:59:00Z") };
    await putRequests(place, [night, asked, { ...asked, status: 304 }, asked]);
    const last_used_at = new Date(usedAt).toISOString();
    const use = { key_id: id, last_used_at, network: "203.0.113.0/24" };
    await readUsage(place, ({ database }) => database.insertInto("key_use").values(use).execute());
    const row = rowOf((await ada.get("/account/keys")).text, "nightly");
    assert.match(row, /nightly gpr_\w{4}… 4 minutes ago from 203.0.113.0\/24 3 in 90 days /);
  });

  await t.test("before it is revoked a key says when and from where it was last used", async () => {
    const { text } = await ada.get(`/account/keys/${id}`);
    const words = wordsOf(text);
    assert.match(
      words,
      /last used 4 minutes ago from 203.0.113.0\/24 ?\. Once it is revoked, every request/,
    );
    assert.match(words, /Created just now by ada@example.org/);
  });

  await t.test(
    "a key is renamed, and a name that cannot be is refused above the form",
    async () => {
      const path = `/account/keys/${id}`;
      const renamed = await ada.submit(path, `${path}/rename`, { name: " weekly " });
      assert.equal(renamed.location, `${path}?done=renamed`);
      const shown = await ada.get(renamed.location);
      assert.match(shown.text, /<h1>weekly<\/h1>\s*<p class="done" role="status">/);
      const refused = await ada.submit(path, `${path}/rename`, { name: " " });
      assert.equal(refused.status, 400);
      assert.match(refused.text, /role="alert">The name of the key must not be empty/);
    },
  );

  await t.test(
    "what cannot be made is refused with what was typed, and makes nothing",
    async () => {
      for (const [fields, words] of [
        [{ name: "" }, /must not be empty/],
        [{ name: "kept name", expiry: "soon" }, /Choose when the key expires/],
        [{ name: "kept name", form: "" }, /Send the form below/],
      ] as const) {
        const { status, text } = await orderKey(ada, fields);
        assert.equal(status, 400);
        assert.match(text, words);
        assert.deepEqual(keysIn(text), []);
        if (fields.name !== "") assert.match(text, /value="kept name"/);
      }
      assert.equal(rowOf((await ada.get("/account/keys")).text, "kept name"), "");
    },
  );

  await t.test(
    "at the cap the page offers no form and says what to do, and none is taken",
    async () => {
      const account = await accountOf(service, "ada@example.org");
      await withControl(service, async (control) => {
        for (let i = 3; i <= 10; i++)
          await issueKey(control, { account, name: `${i}`, expiresAt: null, now: clock.now() });
      });
      const { text } = await ada.get("/account/keys");
      assert.match(text, /<h1>\s*10 keys\s*<\/h1>/);
      assert.match(text, /may have 10 keys that work\. First revoke a key/);
      assert.doesNotMatch(text, /Create key<\/button>/);
      const fields = { name: "one more", expiry: "never", form: "form-of-the-test" };
      const refused = await ada.post("/account/keys", fields);
      assert.equal(refused.status, 409);
      assert.match(refused.text, /the limit is 10\. Revoke a key/);
      assert.deepEqual(keysIn(refused.text), []);
    },
  );

  await t.test("keys that have ended are listed separately, the newest twenty", async () => {
    const account = await accountOf(service, "ada@example.org");
    await withControl(service, async (control) => {
      for (let i = 1; i <= 21; i++) {
        const now = clock.now() + i;
        await issueKey(control, { account, name: `old ${i}.`, expiresAt: now + 1000, now });
      }
    });
    clock.advance(3600);
    const { text } = await ada.get("/account/keys");
    assert.match(text, /<summary>21 expired or revoked<\/summary>/);
    assert.match(rowOf(text, "old 21."), /expired 59 minutes ago/);
    assert.equal(rowOf(text, "old 1."), "");
    assert.notEqual(rowOf(text, "old 2."), "");
  });

  await t.test(
    "the keys of a suspended account are shown as suspended, and no records",
    async () => {
      const { id: account } = await accountOf(service, "ada@example.org");
      await withControl(service, (control) => suspendAccount(control, account, clock.now()));
      assert.match(rowOf((await ada.get("/account/keys")).text, "weekly"), / suspended /);
      for (const path of ["/browse/gps", "/browse/signals"]) {
        const { status, text } = await ada.get(path);
        assert.equal(status, 403, path);
        assert.doesNotMatch(text, /Northwind/);
      }
    },
  );
});

test("the notices show what happened, and nothing of other accounts", async (t) => {
  const service = await startService(t);
  const ada = await signedIn(service, { email: "ada@example.org" });
  const eve = await signedIn(service, { email: "eve@example.org" });
  const account = await accountOf(service, "ada@example.org");
  const now = service.clock.now();
  await withControl(service, async (control) => {
    const issue = (name: string, createdDay: number) =>
      issueKey(control, { account, name, expiresAt: null, now: now + createdDay * day });
    await issue("long ago", -31);
    const { id } = await issue("leaked", -80);
    await revokeKey(control, id, now - day);
    await issue("new", 0);
  });
  const words = wordsOf((await ada.get("/account/notices")).text);
  assert.match(words, /Key revoked 1 day ago the operator leaked/);
  assert.match(words, /Key created just now the operator new/);
  assert.match(words, /You signed in just now you/);
  assert.doesNotMatch(words, /long ago|eve@/);
  assert.doesNotMatch(wordsOf((await eve.get("/account/notices")).text), /leaked|new|ada@/);
});
