/** What keeps working while the key store cannot be read. */
import assert from "node:assert/strict";
import { renameSync } from "node:fs";
import { join } from "node:path";
import { makeKey } from "#keys/api-key.ts";
import { assertProblem } from "../../support/problem-answer.ts";
import { ask } from "../../support/raw-client.ts";
import type { TestService } from "../../support/service.ts";
import type { CaseOf } from "../../support/still-well.ts";

const path = "/fetch-gp?gp_name=kkr";

export async function storeAwayCases(caseOf: CaseOf, service: TestService): Promise<void> {
  const { port, clock, dataDir } = service;
  const { key } = await service.newKey();

  await caseOf(
    "C104 · while the store of keys is away health and readiness are 200 as before, for whoever asks, uncounted and without a version; metrics are not on this port",
    async () => {
      const assertWell = async () => {
        for (const sent of [key, undefined, "nope"])
          for (const target of ["/health", "/ready"]) {
            const answer = await ask(port, target, { key: sent });
            assert.deepEqual([answer.status, answer.json], [200, { status: "ok" }]);
            assert.equal(answer.headers["ratelimit"], undefined);
          }
      };
      await assertWell();
      assert.equal((await ask(port, path, { key })).status, 200);
      const store = join(dataDir, "control.sqlite");
      renameSync(store, `${store}.away`);
      clock.advance(2);
      await assertWell();
      const { status, headers } = await ask(port, path, { key });
      assert.equal(status, 200, "keys that were read stay in force");
      assert.match(headers["ratelimit"]!, /^"minute";r=58;/);
      assertProblem(await ask(port, path, { key: makeKey() }), 401, "api-key-invalid");
      renameSync(`${store}.away`, store);
      clock.advance(2);
      assert.match(service.log.join(""), /keys cannot be read/);
      await assertWell();
      for (const target of ["/metrics", "/admin", "/debug", "/status", "/health/", "/v1/metrics"])
        assertProblem(await ask(port, target, { key }), 404, "unknown-path");
    },
  );
}
