import assert from "node:assert/strict";
import { digestKey, makeKey } from "#keys/api-key.ts";
import { createOwnKey } from "#keys/own-keys.ts";
import { noon } from "../support/control.ts";
import { forEachStore } from "../support/for-each-store.ts";
import { faultOf, openPeople } from "../support/people.ts";

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
