/** Do refusals of different keys take different times, which would tell a stranger about them? (C32) */
import type { Checkout, Fixtures } from "../fixtures.ts";
import { requestText } from "../requests.ts";
import { openSession, type Session } from "../rounds.ts";
import { median } from "../statistics.ts";

/** Of each kind, in a round. */
const timings = 500;

export const openRefusedKeys = (fixtures: Fixtures): Promise<Session> =>
  openSession(fixtures.checkouts, async (checkout) => {
    const published = await fixtures.published(checkout, 1);
    const dataDir = fixtures.serverFolder(published);
    const kinds = await kindsOf(fixtures, checkout, dataDir);
    const server = await fixtures.start(checkout, {
      dataDir,
      // So that each request can come from an address of its own, and none is refused for too many wrong keys.
      settings: { LOG_LEVEL: "silent", TRUSTED_PROXIES: "127.0.0.1" },
    });
    const requests = `refused by ${server.pid}`;
    let addresses = 0;
    const ask = async () => {
      const texts = Array.from({ length: timings * kinds.length }, (_, i) => {
        const address = addresses++;
        return requestText("/fetch-signals?limit=1", {
          ...kinds[i % kinds.length]!.headers,
          "x-forwarded-for": `10.${(address >> 16) & 255}.${(address >> 8) & 255}.${address & 255}`,
        });
      });
      fixtures.load.prepare(requests, texts);
      const { microseconds, statuses } = await fixtures.load.run({
        port: server.port,
        requests,
        connections: 1,
        count: texts.length,
        firstRequest: 0,
        secondsMax: 60,
      });
      const other = statuses.find((status) => status !== 401);
      if (other !== undefined)
        throw new Error(`A refused key was answered with ${other}, not 401.`);
      return kinds.map((_, kind) =>
        median(microseconds.filter((_, i) => i % kinds.length === kind)),
      );
    };
    // For V8.
    for (let i = 0; i < warmUpRounds; i++) await ask();
    const rounds: number[][] = [];
    return {
      async sample() {
        const medians = await ask();
        rounds.push(medians);
        const lookedUp = medians.filter((_, kind) => kinds[kind]!.isLookedUp);
        return { "refused-keys": Math.max(...lookedUp) / Math.min(...lookedUp) };
      },
      note() {
        const all = kinds.map(({ name, isLookedUp }, kind) => {
          const microseconds = median(rounds.map((medians) => medians[kind]!));
          return `${name} ${microseconds.toFixed(0)}${isLookedUp ? "" : "*"}`;
        });
        return `${all.join(", ")} µs; * known without a look-up`;
      },
      close: () => server.stop(),
    };
  });

const warmUpRounds = 5;

/** One key of each kind that is refused. */
async function kindsOf(fixtures: Fixtures, checkout: Checkout, dataDir: string) {
  const { deadKeys } = await fixtures.keysOf(checkout);
  const { revoked, expired, unknown } = await deadKeys(checkout.root, dataDir);
  const withKey = (key: string) => ({ "x-api-key": key });
  const mistyped = unknown.slice(0, -1) + (unknown.endsWith("0") ? "1" : "0");
  return [
    { name: "none", headers: {}, isLookedUp: false },
    { name: "empty", headers: withKey(""), isLookedUp: false },
    { name: "wrong shape", headers: withKey("secret"), isLookedUp: false },
    { name: "wrong checksum", headers: withKey(mistyped), isLookedUp: false },
    { name: "unknown", headers: withKey(unknown), isLookedUp: true },
    { name: "revoked", headers: withKey(revoked), isLookedUp: true },
    { name: "expired", headers: withKey(expired), isLookedUp: true },
  ];
}
