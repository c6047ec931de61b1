/** F11: a key that is revoked on one machine is refused on all of them, notified or not. */
import { Agent } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { revokeKey } from "#keys/keys.ts";
import { openControl } from "#store/stores.ts";
import { quantile } from "../bench/statistics.ts";
import { ask } from "../bench/ask.ts";
import type { Fault } from "./fault.ts";
import {
  type OneOfSeveral,
  path,
  type SeveralServers,
  startSeveral,
  whyNoEngines,
} from "./several-servers.ts";
import { roomy } from "./work.ts";

const serverCount = 4;
const refusedMillisecondsMax = 5000;
/** So few at a time that asking for them leaves room for the servers. */
const atOnce = 10;
const betweenMilliseconds = 20;

export const keysRevokedOnSeveral: Fault = {
  name: "F11 · keys revoked for several servers",
  promise: "every server refuses them within 5 s, also where no notification arrives",
  tries: { quick: 100, full: 1000 },
  whyNot: whyNoEngines,
  async attempt(work, tries) {
    const settings = Array.from({ length: serverCount }, () => ({}));
    const several = await startSeveral(work, "Redis", settings);
    const broken: string[] = [];
    const seen: string[] = [];
    const half = Math.ceil(tries / 2);
    let first = 0;
    for (const [name, isMute, count] of [
      ["notified", false, half],
      ["without notifications", true, Math.max(1, tries - half)],
    ] as const) {
      for (const { way } of several.servers) way.muteNotices(isMute);
      const milliseconds: number[] = [];
      for (let done = 0; done < count; done += atOnce) {
        const some = Math.min(atOnce, count - done);
        const numbers = Array.from({ length: some }, (_, i) => first + done + i);
        milliseconds.push(...(await revokeSome(several, numbers, work.chance, broken)));
        work.tell(`${done + some} of ${count} keys revoked, ${name}`);
      }
      first += count;
      const slowest = Math.max(...milliseconds);
      if (slowest > refusedMillisecondsMax)
        broken.push(`${name}: a key was refused after ${Math.round(slowest)} ms`);
      seen.push(
        `${name} after ${Math.round(slowest)} ms at the latest (p50 ${Math.round(quantile(milliseconds, 0.5))} ms)`,
      );
    }
    await several.end();
    return {
      done: `${tries} keys used on ${serverCount} servers and revoked, half of them while notifications are cut`,
      seen: `${tries} refused by all: ${seen.join(", ")}`,
      broken,
    };
  },
};

/** @returns for each key the milliseconds from its revocation until the last server refused it. */
async function revokeSome(
  { servers, newKey, postgres }: SeveralServers,
  numbers: readonly number[],
  chance: () => number,
  broken: string[],
): Promise<number[]> {
  const control = await openControl("/nowhere", { databaseUrl: postgres.url });
  const revoked = numbers.map(async (number) => {
    // From an address of its own: one that sends too many wrong keys is answered with a 429 instead.
    const localAddress = `127.1.${number >> 8}.${number & 255}`;
    const agent = new Agent({ keepAlive: true, localAddress });
    const { id, key } = await newKey(roomy);
    const statusOf = async ({ port }: OneOfSeveral) =>
      (await ask({ port, path, key, agent })).status;
    for (const server of servers) {
      const status = await statusOf(server);
      if (status !== 200) broken.push(`key ${number + 1}: ${status} before its revocation`);
    }
    // At any moment between two looks of a server at the database.
    await wait(1000 * chance());
    await revokeKey(control, id, Date.now());
    const since = performance.now();
    const refusals = servers.map(async (server) => {
      for (;;) {
        const status = await statusOf(server);
        const milliseconds = performance.now() - since;
        if (status === 401 || milliseconds > 4 * refusedMillisecondsMax) return milliseconds;
        await wait(betweenMilliseconds);
      }
    });
    const milliseconds = Math.max(...(await Promise.all(refusals)));
    agent.destroy();
    return milliseconds;
  });
  const found = await Promise.all(revoked);
  await control.close();
  return found;
}
