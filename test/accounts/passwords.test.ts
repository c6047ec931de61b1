import assert from "node:assert/strict";
import { test } from "node:test";
import { checkPassword, openPasswords } from "#accounts/passwords.ts";
import { cheap, faultOf, goodPassword } from "../support/people.ts";

test("a password is stored with its parameters and a nonce of its own, and only the same one fits", async () => {
  const { inTurn } = openPasswords(cheap);
  await inTurn(async (hasher) => {
    const stored = await hasher.hash(goodPassword);
    assert.match(stored, /^\$argon2id\$v=19\$m=8,t=1,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
    assert.notEqual(await hasher.hash(goodPassword), stored);
    assert.equal(await hasher.isPassword(goodPassword, stored), true);
    for (const other of [`${goodPassword} `, goodPassword.toUpperCase(), ""])
      assert.equal(await hasher.isPassword(other, stored), false);
  });
});

test("nobody's password, and a stored text that is none, fit nothing and cost the same work", async () => {
  const { inTurn } = openPasswords(cheap);
  await inTurn(async (hasher) => {
    assert.equal(await hasher.isPassword(goodPassword, null), false);
    assert.equal(await hasher.isPassword(goodPassword, ""), false);
  });
});

test("the usual parameters are those the documentation states", async () => {
  const stored = await openPasswords().inTurn((hasher) => hasher.hash(goodPassword));
  assert.match(stored, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
});

test("a password hashed with other parameters fits still, and is known to be out of date", async () => {
  const stored = await openPasswords(cheap).inTurn((hasher) => hasher.hash(goodPassword));
  await openPasswords({ ...cheap, passes: 2 }).inTurn(async (hasher) => {
    assert.equal(await hasher.isPassword(goodPassword, stored), true);
    assert.equal(hasher.isOutdated(stored), true);
    assert.equal(hasher.isOutdated(await hasher.hash(goodPassword)), false);
  });
});

test("each step of trust has places in the queue that no lower one can take", async () => {
  const { inTurn } = openPasswords({ ...cheap, runningMax: 1, waitingMax: 2 });
  const gate = Promise.withResolvers<void>();
  const turns = [inTurn(() => gate.promise)];
  for (const trust of ["failed", "clean", "known"] as const) {
    for (let place = 0; place < 2; place++) turns.push(inTurn(() => gate.promise, trust));
    await assert.rejects(
      inTurn(async () => assert.fail(), trust),
      faultOf("busy"),
    );
  }
  gate.resolve();
  await Promise.all(turns);
});

test("a turn that fails gives its place to the next", async () => {
  const { inTurn } = openPasswords({ ...cheap, runningMax: 1, waitingMax: 5 });
  const turns = Array.from({ length: 6 }, (_, i) =>
    inTurn(async () => {
      if (i % 2 === 0) throw new Error("no luck");
      return i;
    }),
  );
  const outcomes = await Promise.allSettled(turns);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ["rejected", "fulfilled", "rejected", "fulfilled", "rejected", "fulfilled"],
  );
});

test("8 to 128 characters of any kind make a password; common ones and the address do not", () => {
  for (const good of ["🦊".repeat(3) + "abcde", "a1".repeat(3) + "zz", `${"x y".repeat(42)}ab`])
    checkPassword(good, "ada@example.com");
  for (const [bad, words] of [
    ["sevenup", /at least 8 characters/],
    ["🦊🦊🦊", /at least 8/],
    ["ab ".repeat(43), /at most 128/],
    ["password", /everybody tries/],
    ["PassWord123", /everybody tries/],
    ["qwertyuiop", /everybody tries/],
    ["aaaaaaaaaa", /everybody tries/],
    ["xyxyxyxyxyx", /everybody tries/],
    ["Ada@Example.com", /e-mail address/],
    ["lovelace.ada", /e-mail address/],
  ] as const)
    assert.throws(
      () => checkPassword(bad, bad.includes("lovelace") ? "Lovelace.Ada@x.com" : "ada@example.com"),
      faultOf("invalid", words),
      bad,
    );
});
