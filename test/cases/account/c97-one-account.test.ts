import assert from "node:assert/strict";
import { test } from "node:test";
import { openInsideWorker, tokenFor } from "../../support/inside-worker.ts";
import { goodPassword } from "../../support/people.ts";

const email = "ada@example.org";

test("C97 · a sign-up takes no role, limits or proof from the form, and an address in other letter case is the same person", async (t) => {
  const worker = await openInsideWorker(t);
  const { database } = worker.control;
  const extras = {
    role: "admin",
    limits: "999999",
    verified: "true",
    per_day: "999999",
    plan: "x",
  };
  const asked = await worker.post("/account/sign-up", { email, ...extras });
  assert.equal(asked.status, 200);
  assert.deepEqual(await database.selectFrom("person").selectAll().execute(), []);
  const token = tokenFor(worker.messages, email);
  const fields = {
    token,
    password: goodPassword,
    account: "Ada",
    ...extras,
    email: "eve@evil.example",
  };
  assert.equal((await worker.post("/account/link", fields)).status, 303);
  const [person, ...others] = await database.selectFrom("person").selectAll().execute();
  assert.deepEqual([person!.email, others], [email, []]);
  const account = await database.selectFrom("account").selectAll().executeTakeFirstOrThrow();
  const { per_minute, per_hour, per_day, plan } = account;
  assert.deepEqual([per_minute, per_hour, per_day, plan], [null, null, null, null]);
  const members = await database.selectFrom("member").select(["person", "role"]).execute();
  assert.deepEqual(
    members.map(({ person: id, role }) => [id, role]),
    [[person!.id, "owner"]],
  );

  for (const written of ["ADA@EXAMPLE.ORG", " Ada@Example.org "]) {
    const again = await worker.post("/account/sign-up", { email: written });
    assert.equal(again.status, 200);
    assert.equal(worker.messages.at(-1)!.subject, "You have signed up already");
  }
  const signedIn = await worker.post("/account/sign-in", {
    email: "aDa@example.ORG",
    password: goodPassword,
  });
  assert.equal(signedIn.status, 303);
});
