/** Checks whether the server that counts for several instances answers. */
import type { Config } from "#config.ts";
import type { Engine } from "#limits/engine.ts";
import { defaultQuotas } from "#limits/policy.ts";
import { StoreFault } from "#store/domain-error.ts";
import { type Check, fail, ok } from "./check.ts";

/** More than a server ever waits. */
const answerMilliseconds = 2000;

export const counters: Check = {
  name: "counters",
  async look({ config }) {
    if (config === null || config.databaseUrl === null) return [];
    const engine = await openEngine(config.databaseUrl, config);
    let isLate = false;
    const late = setTimeout(() => {
      isLate = true;
      engine.disconnect();
    }, answerMilliseconds);
    try {
      await engine.connect(() => {});
      await engine.decide(probe);
      return [ok(`${engine.place} counts for all instances`)];
    } catch (error) {
      const message = isLate
        ? `it does not answer within ${answerMilliseconds / 1000} s`
        : (error as Error).message;
      const found =
        error instanceof StoreFault
          ? message.replace(/\.$/, "")
          : `${engine.place} cannot count: ${message}`;
      return [fail(found, "Mend what it names, then run doctor again.")];
    } finally {
      clearTimeout(late);
      engine.disconnect();
    }
  },
};

/** Counts nothing. */
const probe = [{ account: 1, quotas: defaultQuotas, requests: 0 }];

async function openEngine(databaseUrl: string, { countersUrl }: Config): Promise<Engine> {
  if (countersUrl !== null)
    return (await import("#limits/valkey-engine.ts")).openValkeyEngine(countersUrl);
  return (await import("#limits/postgres-engine.ts")).openPostgresEngine({ url: databaseUrl });
}
