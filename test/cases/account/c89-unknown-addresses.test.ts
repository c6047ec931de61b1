import assert from "node:assert/strict";
import { test } from "node:test";
import { hour, noon } from "../../support/control.ts";
import { openInsideWorker, tokenFor } from "../../support/inside-worker.ts";
import { goodPassword } from "../../support/people.ts";

const tries = 200;
// Of one length, so that a page that echoes them has one, too.
const known = "ada@example.org";
const unknown = "eve@example.org";

test("C89 · sign-in, sign-up and a forgotten password look and cost the same for an address that is known and one that is not", async (t) => {
  const worker = await openInsideWorker(t);
  await worker.post("/account/sign-up", { email: known });
  const token = tokenFor(worker.messages, known);
  await worker.post("/account/link", { token, password: goodPassword });
  const { hashes, queries } = worker;

  const told = async (path: string, email: string, now: number) => {
    const before = { hashes: hashes.count, queries: queries.length };
    // An address of its own each time, so that neither is counted with the other.
    const address = email === known ? "10.0.0.1" : "10.0.0.2";
    const answer = await worker.post(path, { email, password: "wrong" }, { now, address });
    return {
      ...answer,
      body: answer.body.replaceAll(email, "ADDRESS"),
      hashes: hashes.count - before.hashes,
      queries: queries.slice(before.queries),
    };
  };
  let now = noon;
  for (const [path, status, hashed] of [
    ["/account/sign-in", 401, 1],
    ["/account/sign-up", 200, 0],
    ["/account/forgot", 200, 0],
  ] as const)
    for (let i = 0; i < tries; i++) {
      // No try waits longer for the one before.
      now += hour;
      const outcome = await told(path, known, now);
      assert.deepEqual(await told(path, unknown, now), outcome);
      assert.deepEqual([outcome.status, outcome.hashes], [status, hashed], `${path} ${i}`);
    }
});

test("C89 · they are slowed down after the same number of tries and in the same words", async (t) => {
  const worker = await openInsideWorker(t);
  await worker.post("/account/sign-up", { email: known });
  const token = tokenFor(worker.messages, known);
  await worker.post("/account/link", { token, password: goodPassword });
  const now = noon + hour;
  for (const path of ["/account/sign-in", "/account/sign-up", "/account/forgot"]) {
    const statuses = async (email: string, network: string) => {
      const answers = [];
      for (let i = 0; i < 12; i++)
        answers.push(
          await worker.post(
            path,
            { email, password: "wrong" },
            { now, address: `${network}.${i}` },
          ),
        );
      return answers.map(({ status, headers, body }) => ({
        status,
        headers,
        body: body.replaceAll(email, "ADDRESS"),
      }));
    };
    const outcome = await statuses(known, `10.${path.length}.1`);
    assert.deepEqual(await statuses(unknown, `10.${path.length}.2`), outcome, path);
    assert.equal(outcome.at(-1)!.status, 429, path);
  }
});
