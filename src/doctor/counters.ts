/** Can the server that counts for several instances be reached, and does it keep what it counts? */
import type { Config } from "#config.ts";
import type { Engine, EngineServer } from "#limits/engine.ts";
import { defaultQuotas } from "#limits/policy.ts";
import { StoreFault } from "#store/domain-error.ts";
import { type Check, fail, faultsOr, type Finding, warn } from "./check.ts";

/** A server needs 50 ms. */
const answerMilliseconds = 2000;
/** Windows keep to that clock alone; but one that is wrong is corrected some day, and then they forgive or hold as much. */
const aheadMillisecondsMax = 1000;

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
      const servers = await engine.inspect();
      return faultsOr(
        servers.flatMap((server) => findingsOf(server, engine.place)),
        `${engine.place} counts for all instances: ${servers.map(({ program }) => program).join(", ")}; its clock is within a second of this one`,
      );
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

function findingsOf(
  { program, aheadMilliseconds, keepsCounts }: EngineServer,
  place: string,
): Finding[] {
  const findings: Finding[] = [];
  if (keepsCounts === false)
    findings.push(
      program.startsWith("PostgreSQL")
        ? warn(
            `${place}, ${program}, loses counts when its machine fails`,
            "Set 'fsync = on' in its configuration.",
          )
        : warn(
            `${place}, ${program}, forgets all counts when it is restarted`,
            "Set 'appendonly yes' and 'appendfsync everysec' in its configuration.",
          ),
    );
  if (Math.abs(aheadMilliseconds) > aheadMillisecondsMax)
    findings.push(
      warn(
        `the clock of ${place}, by which quotas are counted, is ${secondsText(aheadMilliseconds)} this one`,
        "Keep both by NTP: timedatectl set-ntp true",
      ),
    );
  return findings;
}

const secondsText = (ahead: number) =>
  `${(Math.abs(ahead) / 1000).toFixed(1)} s ${ahead > 0 ? "ahead of" : "behind"}`;
