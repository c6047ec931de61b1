import assert from "node:assert/strict";
import { test } from "node:test";
import { listAudit } from "#store/audit.ts";
import { requirePerson } from "#accounts/people.ts";
import { createKey } from "../../support/key-forms.ts";
import { accountOf, withControl } from "../../support/own-account.ts";
import { startService } from "../../support/service.ts";
import { signedIn } from "../../support/user.ts";

test("C93 · the key of another account is a 404 like one that never was, nothing happens to it, and the audit log has who asked", async (t) => {
  const service = await startService(t);
  const ada = await signedIn(service, { email: "ada@example.org" });
  const eve = await signedIn(service, { email: "eve@example.org" });
  const { id, key } = await createKey(ada, { name: "secret project" });

  const form = "A".repeat(43);
  const ways = (of: string) => [
    () => eve.get(`/account/keys/${of}`),
    () => eve.post(`/account/keys/${of}/revoke`, {}),
    () => eve.post(`/account/keys/${of}/rotate`, { form, overlap: "0" }),
    () => eve.post(`/account/keys/${of}/rename`, { name: "mine" }),
  ];
  const never = ways("key_0000000000000000");
  for (const [i, ask] of ways(id).entries()) {
    const foreign = await ask();
    assert.equal(foreign.status, 404);
    const unknown = await never[i]!();
    assert.deepEqual(
      [foreign.status, foreign.text],
      [unknown.status, unknown.text.replaceAll("key_0000000000000000", id)],
    );
    assert.doesNotMatch(foreign.text, /secret project/);
  }

  assert.equal((await service.get("/fetch-projects?limit=1", { "x-api-key": key })).status, 200);
  assert.match((await ada.get(`/account/keys/${id}`)).text, /<h1 class="name">secret project</);
  const entries = await withControl(service, async ({ database }) => {
    const { id: actor } = await requirePerson(database, "eve@example.org");
    return listAudit(database, { actor, action: "key.foreign", limit: 10 });
  });
  const { id: asker } = await accountOf(service, "eve@example.org");
  assert.deepEqual(
    entries.map(({ account, subject }) => [account, subject]),
    never.map(() => [asker, id]),
  );
});
