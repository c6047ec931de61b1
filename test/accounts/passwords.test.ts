import assert from "node:assert/strict";
import { test } from "node:test";
import { cleanName } from "#accounts/accounts.ts";
import { checkPassword, openPasswords } from "#accounts/passwords.ts";
import { foldAddress, readAddress } from "#accounts/people.ts";
import { browserOf } from "#accounts/sessions.ts";
import { makeId, randomText } from "#store/random-text.ts";
import { listed } from "../support/awkward/words.ts";
import { cheap, clientAt, faultOf, goodPassword } from "../support/people.ts";

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
    ["password", /easy to guess/],
    ["PassWord123", /easy to guess/],
    ["Summer2031", /easy to guess/],
    ["qwertyuiop", /easy to guess/],
    ["aaaaaaaaaa", /easy to guess/],
    ["xyxyxyxyxyx", /easy to guess/],
    ["Ada@Example.com", /e-mail address/],
    ["lovelace.ada", /e-mail address/],
  ] as const)
    assert.throws(
      () => checkPassword(bad, bad.includes("lovelace") ? "Lovelace.Ada@x.com" : "ada@example.com"),
      faultOf("invalid", words),
      bad,
    );
});

test("an address is kept as it was written, and is the same in any letter case and Unicode form", () => {
  assert.deepEqual(readAddress("  Ada.Lovelace@Example.COM "), {
    email: "Ada.Lovelace@Example.COM",
    folded: "ada.lovelace@example.com",
  });
  const composed = readAddress("José@Bücher.example");
  assert.deepEqual(readAddress("JOSE\u0301@xn--bcher-kva.example").folded, composed.folded);
});

test("what is no address is refused with what one looks like", () => {
  for (const text of [
    ...listed(`
      ada @example.com ada@ ada@localhost ada@example ada@127.0.0.1 ada@[127.0.0.1]
      ada@example.com/path ada@exa%6dple.com ada@example..com ada@-example.com .ada@example.com
      ada..l@example.com "ada"@example.com
    `),
    "",
    "ada lovelace@example.com",
    "ada@example.com\r\nBcc: all@example.com",
    "Ada <ada@example.com>",
    `${"a".repeat(65)}@example.com`,
  ])
    assert.throws(() => readAddress(text), faultOf("invalid", /name@company\.example/), text);
  const longest = `ada@${"a".repeat(60)}.${"b.".repeat(91)}example`;
  assert.equal(readAddress(longest).email.length, 254);
  assert.throws(() => readAddress(`${longest}s`), faultOf("invalid", /at most 254 bytes/));
});

test("any text can be folded, so that a wrong address is looked up like a right one", () => {
  assert.equal(foldAddress(" ADA@Example.com"), "ada@example.com");
  for (const text of ["", "@", "\u0000", "a@b@C", "a@%zz"])
    assert.equal(foldAddress(text), text.toLowerCase());
});

test("people are told their browsers by name and system, and no more of the header is kept", () => {
  for (const [userAgent, name] of [
    ["Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox on Linux"],
    [
      "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36 Edg/140.0",
      "Edge on Windows",
    ],
    [
      "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Mobile Safari/537.36",
      "Chrome on Android",
    ],
    [
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1",
      "Safari on iPhone",
    ],
    ["curl/8.5.0", "curl"],
    ["", "another browser"],
    ["<img src=x onerror=alert(1)>", "another browser"],
  ] as const)
    assert.equal(browserOf({ ...clientAt("10.0.0.1"), userAgent }), name);
});

test("a name is kept trimmed and in one Unicode form, with at most 100 characters, however many bytes they take", () => {
  assert.equal(cleanName("key", "  Cafe\u0301 \t"), "Caf\u00e9");
  assert.equal(cleanName("key", "𝒜".repeat(100)), "𝒜".repeat(100));
  assert.throws(() => cleanName("key", "a".repeat(101)), /name of the key must have at most 100/);
});

test("a name that is empty or would garble a terminal is refused", () => {
  assert.throws(() => cleanName("account", " \n "), /name of the account must not be empty/);
  for (const name of ["a\nb", "a\u001b[31mb", "a\u0000b", "a\u2028b", "a\ud800b", "a\u009bb"])
    assert.throws(() => cleanName("account", name), /control characters/, JSON.stringify(name));
});

test("an id is its prefix and 16 characters of [0-9a-z], another one each time", () => {
  const ids = Array.from({ length: 1000 }, () => makeId("ac"));
  for (const id of ids) assert.match(id, /^ac_[0-9a-z]{16}$/);
  assert.equal(new Set(ids).size, ids.length);
});

test("every character of the alphabet is equally likely", () => {
  const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  const expected = 4000;
  const counts = new Map<string, number>();
  for (const character of randomText(alphabet, expected * alphabet.length))
    counts.set(character, (counts.get(character) ?? 0) + 1);
  assert.equal(counts.size, alphabet.length);
  // The remainder of a byte would give the first 8 characters 21 % more; 10 % is over six standard deviations.
  for (const [character, count] of counts)
    assert.ok(Math.abs(count - expected) < expected * 0.1, `${character}: ${count}`);
});
