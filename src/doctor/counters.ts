/** Checks whether the server that counts for several instances answers. */
import type { Config } from "#config.ts";
import { type Engine, sentenceOf, within } from "#limits/engine.ts";
import { defaultQuotas } from "#limits/policy.ts";
import { type Check, fail, ok } from "./check.ts";

/** Longest wait for an answer in ms, longer than any server waits. */
const answerMilliseconds = 2000;

export const counters: Check = {
  name: "counters",
  async look({ config }) {
    if (config === null || config.databaseUrl === null) return [];
    const engine = await openEngine(config.databaseUrl, config);
    try {
      const answer = engine.connect(() => {}).then(() => engine.decide(probe));
      await within(answerMilliseconds, answer);
      return [ok(`${engine.place} counts for all instances`)];
    } catch (error) {
      const found = sentenceOf(error as Error, engine.place).replace(/\.$/, "");
      return [fail(found, "Fix what this line names, then run doctor again.")];
    } finally {
      engine.disconnect();
    }
  },
};

/** A question that counts nothing. */
const probe = [{ account: 1, quotas: defaultQuotas, requests: 0 }];

async function openEngine(databaseUrl: string, { countersUrl }: Config): Promise<Engine> {
  if (countersUrl !== null)
    return (await import("#limits/valkey-engine.ts")).openValkeyEngine(countersUrl);
  return (await import("#limits/postgres-engine.ts")).openPostgresEngine({ url: databaseUrl });
}
