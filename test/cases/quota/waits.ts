/** When an account may send again. */
import assert from "node:assert/strict";
import { randomFrom } from "../../support/limits-random.ts";
import { assertProblem } from "../../support/problem-answer.ts";
import { ask } from "../../support/raw-client.ts";
import type { TestService } from "../../support/service.ts";
import type { CaseOf } from "../../support/still-well.ts";
import { someQuotas, someSeconds } from "./schedule.ts";

const path = "/fetch-gp?gp_name=kkr";

export async function waitCases(
  caseOf: CaseOf,
  { port, clock, newKey }: TestService,
): Promise<void> {
  await caseOf(
    "C44 · after a 429 a request that waits Retry-After is admitted, one that waits a second less is not, and refusals lengthen no wait",
    async () => {
      let waits = 0;
      for (let seed = 1; seed <= 6; seed++) {
        const random = randomFrom(seed);
        const { key } = await newKey({ quotas: someQuotas(random) });
        for (let step = 0; step < 10; step++) {
          clock.advance(someSeconds(random));
          let answer = await ask(port, path, { key });
          while (answer.status === 200) answer = await ask(port, path, { key });
          const wait = assertProblem(answer, 429, "quota-exceeded").retry_after;
          assert.ok(wait <= 86_400);
          clock.advance(wait - 1);
          for (let impatient = random.between(1, 3); impatient > 0; impatient--) {
            const again = await ask(port, path, { key });
            assert.equal(
              assertProblem(again, 429, "quota-exceeded").retry_after,
              1,
              `seed ${seed}`,
            );
          }
          clock.advance(1);
          assert.equal((await ask(port, path, { key })).status, 200, `seed ${seed}`);
          waits++;
        }
      }
      assert.equal(waits, 60);
    },
  );
}
