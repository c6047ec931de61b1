import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { digestKey, makeKey } from "#keys/api-key.ts";
import { openKeyVerifier, openKnownKeys } from "#keys/key-verifier.ts";
import { watchControl } from "#store/control-watch.ts";
import { createOwnKey } from "#keys/own-keys.ts";
import { up as firstStep } from "#store/migrations/control-0001-accounts-and-keys.ts";
import { openStore } from "#store/open-store.ts";
import { readyControl } from "#store/ready-control.ts";
import { controlFile } from "#store/files.ts";
import { openControl } from "#store/stores.ts";
import { noon } from "../support/control.ts";
import { forEachStore } from "../support/for-each-store.ts";
import { faultOf, openPeople } from "../support/people.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("accounts and keys of a store from before there were people work on, with the quotas they had", async (t) => {
  const dataDir = temporaryFolder(t);
  const file = controlFile(dataDir);
  const old = await openStore({
    file,
    migrations: { "0001-accounts-and-keys": { up: firstStep } },
    synchronous: "full",
    busyMilliseconds: 50,
  });
  await old.close();
  const key = makeKey();
  const database = new DatabaseSync(file);
  database.exec(
    "insert into account values (1, 'ac_a', 'Acme', 'acme', 5, null, null, null, '2026-01-01')",
  );
  database
    .prepare(
      "insert into api_key values ('key_a', ?, 1, 'web', ?, 0, '2026-01-01', null, null, null)",
    )
    .run(digestKey(key), key.slice(0, 8));
  database.close();
  await readyControl(dataDir);
  const keys = openKnownKeys({
    source: watchControl(file, () => noon),
    onFault: (fault) => assert.fail(String(fault)),
  });
  const verifier = openKeyVerifier({ keys, now: () => noon });
  t.after(() => verifier.close());
  assert.deepEqual((await verifier.verify(key)).quotas, { minute: 5, hour: null, day: null });
  const control = await openControl(dataDir);
  t.after(() => control.close());
  const account = await control.database
    .selectFrom("account")
    .selectAll()
    .executeTakeFirstOrThrow();
  assert.equal(account.plan, null);
  assert.equal(account.closed_at, null);
});

forEachStore(
  "the store itself refuses two people of one address and two keys of one form",
  async (t) => {
    const { control, signUp } = await openPeople(t);
    const { account, person } = await signUp("ada@example.com");
    const row = await control.database.selectFrom("person").selectAll().executeTakeFirstOrThrow();
    const again = control.database.insertInto("person").values({ ...row, id: "pe_other" });
    await assert.rejects(again.execute(), faultOf("conflict", /taken this name/));
    const order = { account, person: person.id, name: "web", expiresAt: null, now: noon };
    await createOwnKey(control, { ...order, form: "one" });
    const key = await control.database.selectFrom("api_key").selectAll().executeTakeFirstOrThrow();
    const digest = digestKey(makeKey());
    const second = control.database.insertInto("api_key").values({ ...key, id: "key_b", digest });
    await assert.rejects(second.execute(), faultOf("conflict", /taken this name/));
  },
);
