import assert from "node:assert/strict";
import { connect } from "node:net";
import { after, before, beforeEach, suite, test } from "node:test";
import { systemClock } from "#limits/clocks.ts";
import { type Engine, type Group, statusOf } from "#limits/shared-counters.ts";
import { defaultQuotas, greatestRequest, type Quotas, windows } from "#limits/policy.ts";
import { openValkeyEngine } from "#limits/valkey-engine.ts";
import { type Random, seededRandom } from "../support/awkward/random.ts";
import { type CountingServer, countingServers } from "../support/counting-servers.ts";
import { assertRight, runLives } from "../support/limits-life.ts";
import { openInstance, roomy, sharedOn } from "../support/limits-shared.ts";
import { day, hour, minute, second } from "../support/limits-world.ts";
import { listen } from "../support/ports.ts";
import { startRedisCluster, whyNoRedis } from "../support/redis.ts";

/** What the counts of an account are, said one by one. */
interface Plain {
  /** Times of admitted requests, the newest last. */
  times: number[];
}

const beginning = Date.UTC(2026, 10, 21) * 1000;

/** PostgreSQL takes several times as long for each. */
const often = { Redis: { turns: 3000, lives: 60 }, PostgreSQL: { turns: 1000, lives: 12 } };

for (const { name, skip, start: startServer } of countingServers)
  suite(`counting in ${name}`, { skip }, () => {
    const { turns, lives } = often[name];
    let server: CountingServer;
    before(async () => {
      server = await startServer();
    });
    beforeEach(() => server.empty());
    after(() => server.end());

    test("each of thousands of turns is decided as by counting one by one, whatever the clock does", async (t) => {
      const engine = await server.openEngineWithClock();
      await engine.connect(() => {});
      t.after(() => engine.disconnect());
      const random = seededRandom(7);
      const accounts = Array.from({ length: 6 }, (): Plain => ({ times: [] }));
      const tally = {
        admitted: 0,
        refused: 0,
        wholes: 0,
        refusedWholes: 0,
        looks: 0,
        setBack: 0,
        charged: 0,
      };
      let clock = beginning;
      for (let turn = 0; turn < turns; turn++) {
        const step = stepOf(random);
        if (step < 0) tally.setBack++;
        clock += step;
        await server.setClock(clock);
        if (random.chance(0.03)) {
          tally.charged += await chargeSome(engine, random, accounts, clock, turn + 1);
          continue;
        }
        const groups = groupsOf(random, accounts.length);
        const decisions = await engine.decide(groups);
        for (const [i, group] of groups.entries()) {
          const plain = accounts[group.account - 1]!;
          const now = Math.max(clock, plain.times.at(-1) ?? 0);
          const counting = Math.max(1, -group.requests);
          const asked = Math.max(1, group.requests);
          for (let position = 0; position < asked; position++) {
            const status = statusOf(group, decisions[i]!, position);
            const truly = plain.times.filter((time) => now - time < day);
            if (group.requests === 0) {
              tally.looks++;
              assertLook(status, group, truly, now);
              continue;
            }
            const { quotas } = group;
            const expected = { quotas, now, truly, atTheLatest: truly, requests: counting };
            assertRight(status, expected);
            if (status.admitted)
              for (let counted = 0; counted < counting; counted++) plain.times.push(now);
            if (group.requests < 0) tally[status.admitted ? "wholes" : "refusedWholes"]++;
            tally[status.admitted ? "admitted" : "refused"]++;
          }
        }
      }
      t.diagnostic(JSON.stringify(tally));
      for (const [event, count] of Object.entries(tally))
        assert.ok(count > 20, `${event}: ${count}`);
    });

    test("in random lives of two instances no window admits more than its quota and none refuses below it", async (t) => {
      const tally = await runLives(t, sharedOn(server), lives);
      const { admitted, refused, retriesOnTheSecond, retriesASecondEarly, restarts } = tally;
      for (const count of [admitted, refused, retriesOnTheSecond, retriesASecondEarly, restarts])
        assert.ok(count > lives / 2, JSON.stringify(tally));
    });

    test("of 400 requests at once over four instances, whose clocks are 5 s apart, exactly 60 are admitted, 100 times", async (t) => {
      const { monotonicMicroseconds, wallMilliseconds } = systemClock();
      const instances = await Promise.all(
        [0, 5, 10, 15].map(async (seconds) =>
          openInstance(await server.openEngine(), {
            monotonicMicroseconds: () => monotonicMicroseconds() + seconds * second,
            wallMilliseconds: () => wallMilliseconds() + seconds * 1000,
            bootId: null,
          }),
        ),
      );
      t.after(() => instances.forEach((instance) => instance.close()));
      for (let account = 1; account <= 100; account++) {
        const answers = await Promise.all(
          Array.from({ length: 400 }, (_, i) => instances[i % 4]!.take(account, defaultQuotas)),
        );
        assert.equal(answers.filter(({ admitted }) => admitted).length, 60);
        const left = answers.map(({ windows: [inMinute] }) => inMinute!.remaining);
        // Each number from 59 to 0 was given to one of those admitted.
        const admittedLeft = left.filter((_, i) => answers[i]!.admitted).toSorted((a, b) => b - a);
        for (const [i, remaining] of admittedLeft.entries()) assert.equal(remaining, 59 - i);
      }
    });

    test("instances that ask for the same accounts in any order never wait for each other for ever", async (t) => {
      const instances = await Promise.all(
        [1, 2, 3].map(async () => openInstance(await server.openEngine())),
      );
      t.after(() => instances.forEach((instance) => instance.close()));
      const random = seededRandom(3);
      for (let round = 0; round < 30; round++)
        await Promise.all(
          instances.flatMap((instance) =>
            Array.from({ length: 100 }, () => instance.take(random.between(1, 50), roomy)),
          ),
        );
      const looks = await Promise.all(
        Array.from({ length: 50 }, (_, i) => instances[0]!.look(i + 1, roomy)),
      );
      const counted = looks.map(({ windows: [inMinute] }) => roomy.minute - inMinute!.remaining);
      assert.equal(
        counted.reduce((sum, count) => sum + count),
        9000,
      );
    });
  });

suite("counting in a cluster", { skip: whyNoRedis() ?? false }, () => {
  test("three nodes share the accounts, and each account is counted exactly", async (t) => {
    const { url, end } = await startRedisCluster();
    const instances: Awaited<ReturnType<typeof openInstance>>[] = [];
    t.after(async () => {
      for (const instance of instances) instance.close();
      await end();
    });
    for (let i = 0; i < 2; i++) instances.push(await openInstance(await openValkeyEngine(url)));
    const accounts = Array.from({ length: 300 }, (_, i) => i + 1);
    const asked = [1, 2, 3].flatMap(() => accounts.map((account) => ({ account })));
    const answers = await Promise.all(
      asked.map(({ account }, i) => instances[i % 2]!.take(account, { ...roomy, minute: 2 })),
    );
    assert.equal(answers.filter(({ admitted }) => admitted).length, 600);
  });
});

suite("counting behind a proxy", { skip: whyNoRedis() ?? false }, () => {
  test("one that spreads the keys over servers is asked for each part apart", async (t) => {
    // A node refuses keys of different parts as such a proxy does; this one hides that it is a cluster's.
    const { port, end } = await startRedisCluster(1);
    t.after(end);
    const near = await listen(t, (socket) => {
      const far = connect(port, "127.0.0.1");
      socket.on("error", () => far.destroy()).pipe(far);
      far.on("data", (bytes: Buffer) => {
        const text = bytes.toString("latin1").replace("redis_mode:cluster", "redis_mode:unknown");
        socket.write(text, "latin1");
      });
    });
    const instance = await openInstance(await openValkeyEngine(`redis://127.0.0.1:${near}`));
    t.after(() => instance.close());
    const asked = [1, 2, 3].flatMap(() => Array.from({ length: 100 }, (_, i) => i + 1));
    const answers = await Promise.all(
      asked.map((account) => instance.take(account, { ...roomy, minute: 2 })),
    );
    assert.equal(answers.filter(({ admitted }) => admitted).length, 200);
  });
});

/** Mostly short, sometimes to another window, and back. */
function stepOf(random: Random): number {
  if (random.chance(0.05)) return -random.between(1, random.pick([1000, second, minute, hour]));
  return random.between(
    0,
    random.pick([0, 0, 1, 1000, second, second, 10 * second, minute, hour, 5 * hour]),
  );
}

const quotasOf = (random: Random): Quotas => ({
  minute: random.between(1, random.pick([5, 60])),
  hour: random.between(1, random.pick([20, 150])),
  day: random.between(1, random.pick([40, 400])),
});

/** In the order of their accounts, some of them twice. */
function groupsOf(random: Random, accounts: number): Group[] {
  const groups = Array.from({ length: random.between(1, 4) }, (): Group => {
    const account = random.between(1, accounts);
    const quotas = quotasOf(random);
    if (random.chance(0.2))
      return { account, quotas, requests: -random.between(1, greatestRequest(quotas)) };
    const requests = random.chance(0.1) ? 0 : random.between(1, random.pick([1, 5, 70]));
    return { account, quotas, requests };
  });
  return groups.toSorted((a, b) => a.account - b.account);
}

/** A look is right where it has all that a request would be refused with, or is admitted as one would be. */
function assertLook(
  status: ReturnType<typeof statusOf>,
  { quotas }: Group,
  times: readonly number[],
  now: number,
): void {
  const counts = windows.map(
    ({ seconds }) => times.filter((time) => now - time < seconds * 1e6).length,
  );
  assert.deepEqual(
    status.windows.map(({ remaining }) => remaining),
    windows.map(({ name }, i) => Math.max(0, quotas[name] - counts[i]!)),
  );
  assert.equal(
    status.admitted,
    windows.every(({ name }, i) => counts[i]! < quotas[name]),
  );
  if (!status.admitted)
    assertRight(status, { quotas, now, truly: times, atTheLatest: times, requests: 1 });
}

/** Charges an account, and says how many requests that were. */
async function chargeSome(
  engine: Engine,
  random: Random,
  accounts: readonly Plain[],
  clock: number,
  number: number,
): Promise<number> {
  const account = random.between(1, accounts.length);
  const plain = accounts[account - 1]!;
  const ages = Array.from({ length: random.between(1, 30) }, () =>
    random.between(0, random.pick([second, minute, hour, day + hour])),
  ).toSorted((a, b) => b - a);
  const charge = { instance: "a", number, accounts: [{ account, ages }] };
  await engine.charge(charge);
  // The second time it is known already.
  if (random.chance(0.5)) await engine.charge(charge);
  const now = Math.max(clock, plain.times.at(-1) ?? 0);
  const added = ages.filter((age) => age < day).map((age) => now - age);
  plain.times = [...plain.times, ...added].toSorted((a, b) => a - b);
  return added.length;
}
