import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type AddressInfo, connect } from "node:net";
import { after, before, beforeEach, suite, test, type TestContext } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import {
  createServer as createTlsServer,
  getCACertificates,
  setDefaultCACertificates,
} from "node:tls";
import type { QuotaStatus } from "#limits/counters.ts";
import { systemClock } from "#limits/clocks.ts";
import { type Engine, openSharedCounters } from "#limits/shared-counters.ts";
import { openPostgresEngine } from "#limits/postgres-engine.ts";
import { openValkeyEngine } from "#limits/valkey-engine.ts";
import { StoreFault } from "#store/store-fault.ts";
import {
  type CountingServer,
  countingServers,
  type PostgresServer,
  startCountingPostgres,
} from "../support/counting-servers.ts";
import { eventually } from "../support/eventually.ts";
import { openFarAway } from "../support/far-away.ts";
import {
  type FaultyInstance,
  openWithOutages,
  roomy,
  shortPatience,
  tightQuotas,
} from "../support/limits-shared.ts";
import { hasTool, makeCertificate } from "../support/machine.ts";
import { listen } from "../support/ports.ts";
import { whyNoPostgres } from "../support/postgres.ts";
import { type RedisServer, startRedis, startRedisCluster, whyNoRedis } from "../support/redis.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** Whatever the engine does, an instance is cut off from it while `isCut`. */
function cuttable(engine: Engine) {
  const cut = { isCut: false };
  const pass = <T>(call: () => Promise<T>): Promise<T> =>
    cut.isCut ? Promise.reject(new Error("cut off")) : call();
  const reached: Engine = {
    ...engine,
    connect: (onLost) => pass(() => engine.connect(onLost)),
    decide: (groups) => pass(() => engine.decide(groups)),
    charge: (charge) => pass(() => engine.charge(charge)),
  };
  return { cut, engine: reached };
}

/** An engine without a server. */
const engineOf = (decide: Engine["decide"]): Engine => ({
  place: "nowhere",
  groupsMax: 2,
  connect: async () => {},
  decide,
  charge: async () => {},
  disconnect() {},
});

const zeros = Array.from({ length: 9 }, () => 0);

test("a decision that is missing is an outage, and what was asked is answered", async (t) => {
  let isWhole = true;
  const a = await openWithOutages(
    t,
    engineOf(async (groups) => (isWhole ? groups.map(() => [0, ...zeros]) : [])),
  );
  assert.equal((await a.look(1, roomy)).isPartial, undefined);
  isWhole = false;
  assert.equal(await a.admit(12), 10);
  assert.equal((await a.look(1, roomy)).isPartial, true);
  assert.match(a.faults[0]!, /^Counts are not shared: nowhere cannot count requests: /);
});

test("what a full batch leaves over takes further requests of its accounts", async (t) => {
  const batches: (readonly [account: number, requests: number])[][] = [];
  const held = Promise.withResolvers<void>();
  const a = await openWithOutages(
    t,
    engineOf(async (groups) => {
      batches.push(groups.map(({ account, requests }) => [account, requests]));
      // Two probes come first.
      if (batches.length === 3) await held.promise;
      return groups.map(({ requests }) => [requests, ...zeros]);
    }),
  );
  const admitted = [1, 2, 3].map((account) => a.admit(1, account));
  await new Promise(setImmediate);
  admitted.push(a.admit(1, 1), a.admit(1, 3));
  held.resolve();
  assert.deepEqual(await Promise.all(admitted), [1, 1, 1, 1, 1]);
  assert.equal(JSON.stringify(batches.slice(2)), "[[[1,1],[2,1]],[[1,1],[3,2]]]");
});

test("requests are answered while many others are charged, even if a charge of these has failed before", async (t) => {
  let isAway = false;
  let charges = 0;
  const held = Promise.withResolvers<void>();
  const a = await openWithOutages(t, {
    ...engineOf(async (groups) => {
      if (isAway) throw new Error("away");
      return groups.map(({ requests }) => [requests, ...zeros]);
    }),
    async charge() {
      charges++;
      if (charges === 1) throw new Error("no answer");
      await held.promise;
    },
  });
  isAway = true;
  await Promise.all(Array.from({ length: 300 }, async () => a.take(1, roomy)));
  isAway = false;
  await eventually(() => assert.equal(charges, 2));
  assert.ok(!(a.take(1, roomy) instanceof Promise));
  held.resolve();
  await a.becomes("shared");
});

for (const { name, skip, start } of countingServers)
  suite(`outages of ${name}`, { skip }, () => {
    let server: CountingServer;
    before(async () => {
      server = await start();
    });
    beforeEach(() => server.empty());
    after(() => server.end());

    const openTwo = async (t: TestContext) => {
      const a = await openWithOutages(t, await server.openEngine());
      const b = await openWithOutages(t, await server.openEngine());
      assert.deepEqual([a.mode(), b.mode()], ["shared", "shared"]);
      return [a, b] as const;
    };

    test("while the server is paused each instance admits its own limit and no more, and then is charged for it", async (t) => {
      const [a, b] = await openTwo(t);
      assert.deepEqual([await a.admit(4), await b.admit(2)], [4, 2]);
      server.pause();
      t.after(() => server.resume());
      // One of each is under way when the server stops to answer, and may be counted by it as well.
      const first = await Promise.all([a.admit(1), b.admit(1)]);
      assert.deepEqual(first, [1, 1]);
      assert.deepEqual([a.mode(), b.mode()], ["local", "local"]);
      assert.deepEqual([await a.admit(20), await b.admit(20)], [5, 7]);
      server.resume();
      await Promise.all([a.becomes("shared"), b.becomes("shared")]);
      const counted = await a.counted();
      assert.ok(counted >= 20 && counted <= 22, `${counted}`);
      assert.deepEqual([await a.admit(5), await b.admit(5)], [0, 0]);
      for (const { faults } of [a, b]) {
        assert.equal(faults.length, 2);
        assert.match(faults[0]!, /^Counts are not shared: .+ did not answer within 1500 ms\. /);
        assert.match(faults[0]!, /Until counts are shared, this instance counts by itself\.$/);
        assert.equal(faults[1], null);
      }
    });

    test("a server that ended and was started again counts all that was admitted, before and meanwhile", async (t) => {
      const [a, b] = await openTwo(t);
      assert.deepEqual([await a.admit(4), await b.admit(2)], [4, 2]);
      await server.end();
      await Promise.all([a.becomes("local"), b.becomes("local")]);
      assert.deepEqual([await a.admit(20), await b.admit(20)], [6, 8]);
      assert.deepEqual([await a.admit(3, 2), await b.admit(4, 3)], [3, 4]);
      await server.start();
      await Promise.all([a.becomes("shared"), b.becomes("shared")]);
      const found = await Promise.all([1, 2, 3].map((account) => b.counted(account)));
      assert.deepEqual(found, [20, 3, 4]);
      assert.deepEqual([await a.admit(10, 2), await a.admit(10, 3)], [7, 6]);
      for (const { faults } of [a, b]) {
        assert.equal(faults.length, 2);
        assert.match(
          faults[0]!,
          /^Counts are not shared: .+(?:cannot count requests: .+\.|cannot be reached .+) Until counts are shared, this instance /,
        );
        assert.equal(faults[1], null);
      }
    });

    test("an instance that is cut off is charged to the request, for thousands of them and while others come", async (t) => {
      const { cut, engine } = cuttable(await server.openEngine());
      const a = await openWithOutages(t, engine);
      const b = await openWithOutages(t, await server.openEngine());
      cut.isCut = true;
      await a.admit(1, 5);
      assert.equal(a.mode(), "local");
      const accounts = Array.from({ length: 400 }, (_, i) => i + 1);
      const admitted = new Map(accounts.map((account) => [account, account === 5 ? 1 : 0]));
      const ask = (counters: FaultyInstance) => async (account: number) => {
        // Some count several.
        const requests = account % 7 === 0 ? 3 : 1;
        const { admitted: isAdmitted } = await counters.take(account, roomy, requests);
        assert.ok(isAdmitted);
        admitted.set(account, admitted.get(account)! + requests);
      };
      for (let round = 0; round < 10; round++)
        await Promise.all([...accounts.map(ask(a)), ...accounts.slice(0, 50).map(ask(b))]);
      cut.isCut = false;
      while (a.mode() !== "shared") {
        await Promise.all(accounts.slice(100, 130).map(ask(a)));
        await wait(1);
      }
      await Promise.all(accounts.map(ask(a)));
      for (const account of accounts)
        assert.equal(await b.counted(account), admitted.get(account), `account ${account}`);
    });

    test("a charge that was done, though nobody heard of it, is not done again", async (t) => {
      const { cut, engine } = cuttable(await server.openEngine());
      let unheard = 3;
      const charge: Engine["charge"] = async (charged) => {
        await engine.charge(charged);
        if (unheard-- > 0) throw new Error("no answer");
      };
      const a = await openWithOutages(t, { ...engine, charge });
      cut.isCut = true;
      assert.equal(await a.admit(7), 7);
      cut.isCut = false;
      await a.becomes("shared");
      assert.equal(unheard, -1);
      assert.equal(await a.counted(), 7);
    });

    test("long turns of the event loop are no outage, with the answer unread or the question unsent", async (t) => {
      const engine = await server.openEngine();
      let isBusy = false;
      const decide: Engine["decide"] = async (groups) => {
        for (let turn = 0; isBusy && turn < 3; turn++) {
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0.6 * shortPatience.answer);
          await new Promise(setImmediate);
        }
        return engine.decide(groups);
      };
      const a = await openWithOutages(t, { ...engine, decide });
      isBusy = true;
      assert.equal(await a.admit(3), 3);
      isBusy = false;
      assert.deepEqual([a.mode(), a.faults, await a.counted()], ["shared", [], 3]);
    });

    test("an answer that comes too late changes nothing any more", async (t) => {
      const engine = await server.openEngine();
      const held: (() => void)[] = [];
      let isSlow = false;
      const decide: Engine["decide"] = async (groups) => {
        const decisions = await engine.decide(groups);
        if (isSlow) await new Promise<void>((resolve) => void held.push(resolve));
        return decisions;
      };
      const a = await openWithOutages(t, { ...engine, decide });
      isSlow = true;
      assert.equal(await a.admit(3), 3);
      assert.equal(a.mode(), "local");
      isSlow = false;
      await a.becomes("shared");
      for (const answer of held) answer();
      // The engine counted the three, and was charged for them: that errs towards refusing.
      assert.equal(await a.counted(), 6);
      assert.equal(await a.admit(10), 4);
    });

    test("with deny requests are refused while the server is away, and nothing of them is counted", async (t) => {
      const { cut, engine } = cuttable(await server.openEngine());
      const a = await openWithOutages(t, engine, "deny");
      assert.equal(await a.admit(3), 3);
      cut.isCut = true;
      await assert.rejects(async () => a.take(1, tightQuotas), /no shared counters answer/);
      assert.equal(a.mode(), "deny");
      await assert.rejects(async () => a.take(1, tightQuotas), /no shared counters answer/);
      assert.equal(await a.counted(), 3);
      cut.isCut = false;
      await a.becomes("shared");
      assert.equal(await a.counted(), 3);
      assert.match(a.faults[0]!, /Until counts are shared, requests are refused\.$/);
    });

    test("an instance that starts while the server is away counts by itself, and joins it later", async (t) => {
      await server.end();
      const a = await openWithOutages(t, await server.openEngine());
      assert.equal(a.mode(), "local");
      assert.equal(a.faults.length, 1);
      assert.equal(await a.admit(12), 10);
      await server.start();
      await a.becomes("shared");
      assert.equal(await a.counted(), 10);
      assert.deepEqual(a.faults.slice(1), [null]);
    });
  });

suite("Redis as it may be set up", { skip: whyNoRedis() ?? false }, () => {
  const password = "correct-horse";
  let server: RedisServer;
  before(async () => {
    server = await startRedis(["--requirepass", password]);
  });
  after(() => server.end());

  const openAt = async (t: TestContext, url: string) =>
    openWithOutages(t, await openValkeyEngine(url));
  const setPolicy = (policy: string) => server.ask("CONFIG", "SET", "maxmemory-policy", policy);

  test("a policy that may forget counts is refused at the start, with what to set", async (t) => {
    await setPolicy("allkeys-lru");
    t.after(() => setPolicy("noeviction"));
    await assert.rejects(openAt(t, server.url), (fault: Error) => {
      assert.ok(fault instanceof StoreFault);
      assert.match(
        fault.message,
        /^Counts cannot be shared: redis:\/\/127\.0\.0\.1:\d+ has the maxmemory-policy 'allkeys-lru'.+Set 'maxmemory-policy noeviction'/,
      );
      return !fault.message.includes(password);
    });
  });

  test("the rights that docs/running.md lists are enough", async (t) => {
    const [, rights = ""] = /A user of its own needs `(.+?)`/.exec(
      readFileSync("docs/running.md", "utf8"),
    )!;
    await server.ask("ACL", "SETUSER", "counter", "reset", "on", ">horse", ...rights.split(" "));
    const a = await openAt(t, `redis://counter:horse@127.0.0.1:${server.port}`);
    assert.deepEqual([a.mode(), await a.admit(12, 6), a.faults], ["shared", 10, []]);
    await server.ask("CLIENT", "KILL", "USER", "counter");
    await eventually(() => assert.ok(a.faults.length > 0), 60_000);
    assert.equal(await a.admit(12, 5), 10);
    await a.becomes("shared");
    assert.equal(await a.counted(5), 10);
  });

  test("scripts that the server forgot are sent again, in the middle of requests", async (t) => {
    const a = await openAt(t, server.url);
    let admitted = 0;
    for (let round = 0; round < 4; round++) {
      admitted += await a.admit(3, 7);
      await server.ask("SCRIPT", "FLUSH");
    }
    assert.equal(admitted, 10);
    assert.deepEqual(a.faults, []);
  });

  test("a password that is changed is an outage with its reason, until it is changed back", async (t) => {
    const a = await openAt(t, server.url);
    assert.equal(await a.admit(3, 8), 3);
    await server.ask("CONFIG", "SET", "requirepass", "another-horse");
    await server.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    await a.becomes("local");
    assert.equal(await a.admit(20, 8), 7);
    await eventually(() => assert.ok(a.faults.length === 2), 60_000);
    assert.match(a.faults[1]!, /refuses the user or password in COUNTERS_URL/);
    await server.ask("CONFIG", "SET", "requirepass", password);
    await a.becomes("shared");
    assert.deepEqual([a.faults.length, a.faults[2]], [3, null]);
    assert.equal(await a.counted(8), 10);
    assert.doesNotMatch(JSON.stringify(a.faults), /horse/);
  });

  test("over TLS a server is asked by its name, and counts only with a certificate that is known", async (t) => {
    if (!hasTool(t, "openssl")) return;
    const paths = makeCertificate(temporaryFolder(t));
    const [certificate, key] = [paths.certificate, paths.key].map((path) => readFileSync(path));
    const names = new Set<unknown>();
    const before = createTlsServer({ key, cert: certificate }, (socket) => {
      names.add((socket as { servername?: unknown }).servername);
      const behind = connect(server.port, "127.0.0.1");
      socket.pipe(behind).pipe(socket);
      for (const end of [socket, behind]) end.on("error", () => {});
    });
    before.on("tlsClientError", () => {});
    await once(before.listen(0, "localhost"), "listening");
    t.after(() => before.close());
    const { port } = before.address() as AddressInfo;
    const a = await openAt(t, `valkeys://:${password}@localhost:${port}`);
    assert.equal(a.mode(), "local");
    assert.match(
      a.faults[0]!,
      /^Counts are not shared: valkeys:\/\/localhost:\d+ cannot count requests: its certificate is not accepted: self-signed certificate\. .+ NODE_EXTRA_CA_CERTS\. /,
    );
    const known = getCACertificates("default");
    t.after(() => setDefaultCACertificates(known));
    setDefaultCACertificates([...known, String(certificate)]);
    await a.becomes("shared");
    assert.equal(await a.admit(12, 10), 10);
    assert.deepEqual([...names], ["localhost"]);
  });

  test("a connection that is dropped while it is being opened does not stay open", async (t) => {
    const seen = { opened: 0, closed: 0 };
    const port = await listen(t, (socket) => {
      seen.opened++;
      socket.resume().once("close", () => seen.closed++);
    });
    const engine = await openValkeyEngine(`redis://127.0.0.1:${port}`);
    const connecting = engine.connect(() => {});
    engine.disconnect();
    await assert.rejects(connecting);
    await eventually(() => assert.ok(seen.opened === 1 && seen.closed === 1), 60_000);
  });

  test("a node of a cluster that drops its connections is an outage, and nothing is counted twice", async (t) => {
    const cluster = await startRedisCluster();
    t.after(() => cluster.end());
    const a = await openAt(t, cluster.url);
    const accounts = Array.from({ length: 64 }, (_, i) => i + 1);
    const admitEach = async (requests: number) => {
      const admitted = await Promise.all(accounts.map((account) => a.admit(requests, account)));
      return new Set(admitted);
    };
    assert.deepEqual([a.mode(), await admitEach(6)], ["shared", new Set([6])]);
    await cluster.ask("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    await eventually(() => assert.ok(a.faults.length > 0), 60_000);
    assert.deepEqual(await admitEach(6), new Set([4]));
    await a.becomes("shared");
    assert.deepEqual(await admitEach(1), new Set([0]));
    const counted = await Promise.all(accounts.map((account) => a.counted(account)));
    assert.deepEqual(new Set(counted), new Set([10]));
    assert.match(
      a.faults[0]!,
      /^Counts are not shared: the cluster of redis:\/\/[^@]+ cannot count requests: /,
    );
    assert.deepEqual([a.faults.length, a.faults[1]], [2, null]);
  });

  test("an account takes 5 bytes a request and an eighth more, and goes a day after its newest one", async (t) => {
    const a = await openAt(t, server.url);
    const take = () => a.take(9, roomy) as Promise<QuotaStatus>;
    for (let round = 0; round < 20; round++) await Promise.all(Array.from({ length: 500 }, take));
    const bytes = Number(await server.ask("MEMORY", "USAGE", "q:{9}:9"));
    assert.ok(bytes < 10_000 * 5 * 1.2, `${bytes}`);
    const seconds = Number(await server.ask("TTL", "q:{9}:9"));
    assert.ok(seconds > 86_400 && seconds <= 90_000, `${seconds}`);
  });
});

suite("PostgreSQL as it may be set up", { skip: whyNoPostgres() ?? false }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await startCountingPostgres();
  });
  beforeEach(() => server.empty());
  after(() => server.end());
  const endConnections = () =>
    server.sql(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'gp-records counters'",
    );

  test("a database without tables of counts is refused at the start, with the command that makes them", async (t) => {
    const url = server.url.replace(/\/counts$/, "/postgres");
    await assert.rejects(openWithOutages(t, openPostgresEngine(url)), (fault: Error) => {
      assert.ok(fault instanceof StoreFault);
      return /^Counts cannot be shared: PostgreSQL at .* does not have the schema .*Run `gp-records migrate`/.test(
        fault.message,
      );
    });
  });

  test("a server that takes longer to connect to than to answer counts", async (t) => {
    const socket = decodeURIComponent(new URL(server.url).hostname);
    const way = await openFarAway(t, join(socket, ".s.PGSQL.5432"));
    const url = `postgres://postgres@127.0.0.1:${way.port}/counts`;
    const onFault = (fault: Error | null) => assert.fail(fault ?? "resolved");
    const order = { outage: "local", clock: systemClock(), onFault } as const;
    // A connection takes three answers.
    for (const [delay, patience] of [
      [200, { answer: 1500 }],
      [600, shortPatience],
    ] as const) {
      way.delay(delay);
      const counters = await openSharedCounters({
        ...order,
        engine: openPostgresEngine(url),
        patience,
      });
      t.after(() => counters.close());
      assert.equal(counters.mode(), "shared");
    }
  });

  test("connections that are ended at the server are opened again, and nothing is counted twice", async (t) => {
    const a = await openWithOutages(t, await server.openEngine());
    assert.equal(await a.admit(4), 4);
    await endConnections();
    await eventually(() => assert.ok(a.faults.length > 0), 60_000);
    assert.equal(await a.admit(3), 3);
    await a.becomes("shared");
    assert.equal(await a.counted(), 7);
  });

  test("a database that takes no writes is one outage until it does, with its reason", async (t) => {
    const setReadOnly = async (value: string) => {
      await server.sql("set default_transaction_read_only = off");
      await server.sql(`alter system set default_transaction_read_only = ${value}`);
      await server.sql("select pg_reload_conf()");
    };
    const a = await openWithOutages(t, await server.openEngine(), "deny");
    assert.equal(await a.admit(3), 3);
    t.after(() => setReadOnly("off"));
    await setReadOnly("on");
    await endConnections();
    await eventually(() => assert.ok(a.faults.length === 2), 60_000);
    assert.match(
      a.faults[1]!,
      / takes no writes\. Enable them, or name a primary in DATABASE_URL\. Until /,
    );
    await assert.rejects(openWithOutages(t, await server.openEngine()), / takes no writes\. /);
    await setReadOnly("off");
    await a.becomes("shared");
    assert.equal(await a.counted(), 3);
    assert.deepEqual(a.faults.slice(2), [null]);
  });

  test("a table that somebody locks is an outage while it is locked", async (t) => {
    const a = await openWithOutages(t, await server.openEngine());
    await server.sql("begin; lock table quota_count in access exclusive mode");
    assert.equal(await a.admit(3), 3);
    assert.equal(a.mode(), "local");
    await server.sql("commit");
    await a.becomes("shared");
    // What waited for the lock may have been counted after all.
    const counted = await a.counted();
    assert.ok(counted === 3 || counted === 6, `${counted}`);
  });

  test("accounts that count nothing any more are deleted, others are not", async (t) => {
    const a = await openWithOutages(t, await server.openEngine());
    await Promise.all([a.admit(1, 1), a.admit(1, 2)]);
    await server.sql("update quota_count set newest = newest - 86400000001 where account = 1");
    await server.sql("select quota_forget()");
    const left = await server.sql("select account from quota_count");
    assert.deepEqual(left, [{ account: "2" }]);
  });
});
