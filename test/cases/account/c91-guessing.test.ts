import assert from "node:assert/strict";
import { test } from "node:test";
import { minute, noon } from "../../support/control.ts";
import { cookiesOf, openInsideWorker, tokenFor } from "../../support/inside-worker.ts";
import { goodPassword } from "../../support/people.ts";

const email = "ada@example.org";
const tries = 1000;
const longestWait = 15 * minute;

test("C91 · a thousand wrong passwords for one person, and a thousand people from one address, are slowed down; the owner still gets in", async (t) => {
  const worker = await openInsideWorker(t);
  await worker.post("/account/sign-up", { email });
  const token = tokenFor(worker.messages, email);
  const signedUp = await worker.post("/account/link", { token, password: goodPassword });
  const signIn = (password: string, address: string, cookie = "", now = noon, who = email) =>
    worker.post(
      "/account/sign-in",
      { email: who, password },
      { address, now, headers: { cookie } },
    );
  /** Statuses of a thousand guesses, and how often each. */
  const guesses = async (guess: (i: number) => ReturnType<typeof signIn>) => {
    const counts: Record<number, number> = {};
    for (let i = 0; i < tries; i++) {
      const { status } = await guess(i);
      counts[status] = (counts[status] ?? 0) + 1;
    }
    return counts;
  };

  const onePerson = await guesses((i) => signIn(`wrong ${i}`, `10.0.${i >> 8}.${i & 255}`));
  assert.deepEqual(onePerson, { 401: 5, 429: 995 });
  assert.equal((await signIn(goodPassword, "10.9.9.9", cookiesOf(signedUp))).status, 303);
  const stranger = await signIn(goodPassword, "10.9.9.9");
  assert.equal(stranger.status, 429);
  const wait = Number(new Headers(stranger.headers as [string, string][]).get("retry-after"));
  assert.ok(wait > 0 && wait * 1000 <= longestWait, String(wait));

  const oneAddress = await guesses((i) =>
    signIn("wrong", "10.8.8.8", "", noon, `person${i}@example.org`),
  );
  assert.deepEqual(oneAddress, { 401: 20, 429: 980 });
  const later = noon + longestWait;
  assert.equal((await signIn(goodPassword, "10.9.9.9", "", later)).status, 303);
  assert.equal((await signIn(goodPassword, "10.8.8.8", "", later)).status, 303);
});
