/** F11: a key that another process revokes is refused from the next request on. */
import { Agent } from "node:http";
import { createAccount } from "#accounts/accounts.ts";
import { issueKey, revokeKey } from "#keys/keys.ts";
import { openControl } from "#store/stores.ts";
import { quantile } from "../bench/statistics.ts";
import { ask } from "../bench/ask.ts";
import type { Fault } from "./fault.ts";
import { roomy, serveQuietly } from "./work.ts";

const path = "/fetch-projects";

export const revokedKeys: Fault = {
  name: "F11 · keys revoked by another process",
  promise: "the next request is a 401",
  tries: { quick: 100, full: 1000 },
  async attempt(work, tries) {
    const dataDir = work.folder();
    const server = await serveQuietly({ dataDir });
    const control = await openControl(dataDir);
    const account = await createAccount(control, { name: "own", quotas: roomy, now: Date.now() });
    const broken: string[] = [];
    const milliseconds: number[] = [];
    for (let i = 0; i < tries; i++) {
      const now = Date.now();
      // From an address of its own: one that fails too often is answered with a 429 instead.
      const localAddress = `127.1.${i >> 8}.${i & 255}`;
      const agent = new Agent({ keepAlive: true, localAddress });
      const { id, key } = await issueKey(control, {
        account,
        name: `key ${i}`,
        expiresAt: null,
        isDemo: false,
        now,
      });
      const live = await ask({ port: server.port, path, key, agent });
      await revokeKey(control, id, now);
      const refused = await ask({ port: server.port, path, key, agent });
      if (live.status === 401 || live.status === 429)
        broken.push(`key ${i + 1}: ${live.status} before its revocation`);
      if (refused.status !== 401)
        broken.push(`key ${i + 1}: ${refused.status} after its revocation`);
      milliseconds.push(refused.milliseconds);
      agent.destroy();
    }
    await control.close();
    await server.stop();
    return {
      done: `${tries} keys issued, used and revoked by another process`,
      seen: `${tries - broken.length} refused at the next request, the slowest 401 after ${Math.max(...milliseconds).toFixed(1)} ms (p50 ${quantile(milliseconds, 0.5).toFixed(1)} ms)`,
      broken,
    };
  },
};
