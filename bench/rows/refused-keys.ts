/** Do refusals of different keys take different times, which would tell a stranger about them? (C32) */
import type { Checkout } from "../checkouts.ts";
import { deadKeys } from "../issue-keys.ts";
import type { Ground } from "../ground.ts";
import { median } from "../measure.ts";
import { requestText } from "../requests.ts";
import type { Figure } from "../rows.ts";
import { startProgram } from "../servers.ts";

const timings = 1000;

export async function measureRefusedKeys(ground: Ground): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const checkout of ground.checkouts) figures.push(await ofCheckout(ground, checkout));
  return figures;
}

async function ofCheckout(ground: Ground, checkout: Checkout): Promise<Figure> {
  const published = await ground.published(checkout, 1);
  const dataDir = ground.serverFolder(published);
  const kinds = await kindsOf(checkout, dataDir);
  const server = await startProgram({
    root: checkout.root,
    dataDir,
    // So that each request can come from an address of its own, and none is refused for too many wrong keys.
    settings: { LOG_LEVEL: "silent", TRUSTED_PROXIES: "127.0.0.1" },
  });
  const requests = Array.from({ length: timings * kinds.length }, (_, i) =>
    requestText("/fetch-signals?limit=1", {
      ...kinds[i % kinds.length]!.headers,
      "x-forwarded-for": `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
    }),
  );
  ground.load.prepare("refused", requests);
  const ask = () =>
    ground.load.run({
      port: server.port,
      requests: "refused",
      connections: 1,
      count: requests.length,
      firstRequest: 0,
      secondsMax: 60,
    });
  // The first time is for V8; each address may send some thirty wrong keys a minute.
  await ask();
  const { microseconds, statuses } = await ask();
  await server.stop();
  const other = statuses.find((status) => status !== 401);
  if (other !== undefined) throw new Error(`A refused key was answered with ${other}, not 401.`);
  const medians = kinds.map(({ name, isLookedUp }, kind) => ({
    name,
    isLookedUp,
    microseconds: median(microseconds.filter((_, i) => i % kinds.length === kind)),
  }));
  const lookedUp = medians.filter((kind) => kind.isLookedUp).map((kind) => kind.microseconds);
  return {
    row: "refused-keys",
    checkout: checkout.name,
    value: Math.max(...lookedUp) / Math.min(...lookedUp),
    note: `${medians.map((kind) => `${kind.name} ${kind.microseconds.toFixed(0)}${kind.isLookedUp ? "" : "*"}`).join(", ")} µs; * known without a look-up`,
  };
}

/** One key of each kind that is refused. */
async function kindsOf({ root }: Checkout, dataDir: string) {
  const { revoked, expired, unknown } = await deadKeys(root, dataDir);
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
