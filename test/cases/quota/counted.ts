/** How many requests an account is admitted. */
import assert from "node:assert/strict";
import { waitingMax } from "#http/connections.ts";
import { assertProblem } from "../../support/problem-answer.ts";
import { ask, askBytes, requestText, statusesIn } from "../../support/raw-client.ts";
import type { TestService } from "../../support/service.ts";
import type { CaseOf } from "../../support/still-well.ts";

const path = "/fetch-gp?gp_name=kkr";

export async function countedCases(
  caseOf: CaseOf,
  { port, clock, newKey }: TestService,
): Promise<void> {
  /** Sends them one after the other on one connection. @returns how many were admitted and how many refused. */
  async function spend(key: string, requests: number) {
    const unchanged = requestText(path, { key, headers: ["If-None-Match: *"] });
    const statuses: number[] = [];
    // As many as one connection may send ahead.
    for (let left = requests; left > 0; left -= waitingMax) {
      const { text } = await askBytes(port, unchanged.repeat(Math.min(left, waitingMax)));
      statuses.push(...statusesIn(text));
    }
    const count = (status: number) => statuses.filter((one) => one === status).length;
    assert.equal(count(304) + count(429), requests);
    return { admitted: count(304), refused: count(429) };
  }

  await caseOf(
    "C42 · sixty requests in a row are answered and say what is left, the sixty-first is a 429 that says when to come back",
    async () => {
      const { key } = await newKey();
      for (let left = 59; left >= 0; left--) {
        const { status, headers } = await ask(port, path, { key });
        assert.equal(status, 200);
        assert.match(headers["ratelimit"]!, new RegExp(`^"minute";r=${left};t=60, "hour"`));
      }
      clock.advance(12.5);
      const refused = await ask(port, path, { key });
      const problem = assertProblem(refused, 429, "quota-exceeded");
      assert.deepEqual(problem["violated-policies"], ["minute"]);
      assert.equal(refused.headers["retry-after"], "48");
      assert.match(refused.headers["ratelimit"]!, /^"minute";r=0;t=48, "hour";r=940;t=3588, /);
      assert.equal(
        refused.headers["ratelimit-policy"],
        '"minute";q=60;w=60, "hour";q=1000;w=3600, "day";q=10000;w=86400',
      );
    },
  );

  await caseOf(
    "C43 · of two hundred requests at once over a hundred connections sixty are admitted, every time",
    async () => {
      for (let round = 0; round < 3; round++) {
        const { key } = await newKey();
        const all = await Promise.all(
          Array.from({ length: 100 }, () => askBytes(port, requestText(path, { key }).repeat(2))),
        );
        const statuses = all.flatMap(({ text }) => statusesIn(text));
        assert.equal(statuses.filter((status) => status === 200).length, 60);
        assert.equal(statuses.filter((status) => status === 429).length, 140);
      }
    },
  );

  await caseOf(
    "C45 · a thousand in an hour and the account's number in a day are exact, and the answer names the windows that bind",
    async () => {
      const { key } = await newKey({ quotas: { day: 2000 } });
      const binding = async () => {
        const refused = await ask(port, path, { key });
        const problem = assertProblem(refused, 429, "quota-exceeded");
        return [problem["violated-policies"], problem.retry_after] as const;
      };
      const spendAnHour = async () => {
        for (let minute = 0; minute < 16; minute++) {
          assert.deepEqual(await spend(key, 60), { admitted: 60, refused: 0 });
          clock.advance(60);
        }
        assert.deepEqual(await spend(key, 41), { admitted: 40, refused: 1 });
      };
      await spendAnHour();
      assert.deepEqual(await binding(), [["hour"], 3600 - 960]);
      clock.advance(3600 - 960);
      await spendAnHour();
      assert.deepEqual(await binding(), [["hour", "day"], 86_400 - 3600 - 960]);
      clock.advance(3600 - 960);
      assert.deepEqual(await binding(), [["day"], 86_400 - 7200]);
      clock.advance(86_400 - 7200 - 1);
      assert.deepEqual(await binding(), [["day"], 1]);
      clock.advance(1);
      assert.deepEqual(await spend(key, 61), { admitted: 60, refused: 1 });
      assert.deepEqual(await binding(), [["minute", "day"], 60]);
    },
  );
}
