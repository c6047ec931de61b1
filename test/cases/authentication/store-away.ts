/** What goes on while the store of keys cannot be reached. */
import assert from "node:assert/strict";
import { renameSync } from "node:fs";
import { join } from "node:path";
import { assertProblem } from "../../support/problem-answer.ts";
import { ask } from "../../support/raw-client.ts";
import type { TestService } from "../../support/service.ts";
import type { CaseOf } from "../../support/still-well.ts";

const path = "/fetch-gp?gp_name=kkr";

export async function storeAwayCases(caseOf: CaseOf, service: TestService): Promise<void> {
  const { port, clock, dataDir } = service;
  const { key } = await service.newKey();

  await caseOf(
    "C104 · while the store of keys is away health is 200 and readiness 503, for whoever asks, uncounted and without a version; metrics are not on this port",
    async () => {
      const asLongAs = async (status: number, body: unknown) => {
        for (const sent of [key, undefined, "nope"])
          for (const target of ["/health", "/ready"]) {
            const answer = await ask(port, target, { key: sent });
            if (target === "/ready" && status === 503)
              assert.equal(assertProblem(answer, 503, "unavailable").reason, "store_down");
            else assert.deepEqual([answer.status, answer.json], [200, body]);
            assert.equal(answer.headers["ratelimit"], undefined);
            assert.doesNotMatch(answer.body, /\d\.\d/);
          }
      };
      await asLongAs(200, { status: "ok" });
      const store = join(dataDir, "control.sqlite");
      renameSync(store, `${store}.away`);
      clock.advance(2);
      await asLongAs(503, { status: "ok" });
      const { status, headers } = await ask(port, path, { key });
      assert.equal(status, 200, "keys that were read stay in force");
      assert.match(headers["ratelimit"]!, /^"minute";r=59;/);
      renameSync(`${store}.away`, store);
      clock.advance(2);
      await asLongAs(200, { status: "ok" });
      for (const target of ["/metrics", "/admin", "/debug", "/status", "/health/", "/v1/metrics"])
        assertProblem(await ask(port, target, { key }), 404, "unknown-path");
    },
  );
}
