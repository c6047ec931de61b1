import assert from "node:assert/strict";
import { test } from "node:test";
import { operations } from "#operations/index.ts";
import { openInsideWorker } from "../../support/inside-worker.ts";
import { startService } from "../../support/service.ts";
import { openUser } from "../../support/user.ts";

const crowd = Array.from({ length: 500 }, (_, i) => ({
  email: `person${i}@example.org`,
  password: "wrong password",
  address: `10.1.${i >> 8}.${i & 255}`,
}));

test("C96 · of 500 sign-ins at once two are hashed at a time, sixteen wait, and all others are told to come back", async (t) => {
  const worker = await openInsideWorker(t);
  const { promise, resolve: open } = Promise.withResolvers<void>();
  worker.hashes.gate = promise;
  let refusedCount = 0;
  const answers = await Promise.all(
    crowd.map(async ({ address, ...fields }) => {
      const answer = await worker.post("/account/sign-in", fields, { address });
      if (answer.status === 503 && ++refusedCount === 482) open();
      return answer;
    }),
  );
  const refused = answers.filter(({ status }) => status === 503);
  assert.equal(worker.hashes.most, 2);
  assert.equal(worker.hashes.count, 18);
  assert.equal(refused.length, 482);
  assert.equal(answers.filter(({ status }) => status === 401).length, 18);
  for (const { headers, body } of refused) {
    assert.equal(new Headers(headers as [string, string][]).get("retry-after"), "1");
    assert.match(body, /Too many people are signing in/);
  }
});

test("C96 · while 500 sign in at once, the four operations go on answering", async (t) => {
  const service = await startService(t, { settings: { TRUSTED_PROXIES: "127.0.0.1" } });
  const user = openUser(service);
  await user.get("/account/sign-in");
  let isOver = false;
  const signIns = Promise.all(
    crowd.map(({ address, ...fields }) =>
      user.post("/account/sign-in", fields, { "x-forwarded-for": address }),
    ),
  ).finally(() => (isOver = true));
  let rounds = 0;
  do {
    for (const { path } of operations)
      assert.equal((await service.get(`${path}?gp_name=kkr`)).status, 200);
    rounds += 1;
  } while (!isOver && rounds < 10);
  const statuses = new Set((await signIns).map(({ status }) => status));
  assert.deepEqual(statuses, new Set([401, 503]));
});
