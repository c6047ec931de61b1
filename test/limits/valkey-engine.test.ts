import assert from "node:assert/strict";
import { promises } from "node:dns";
import { suite, test, type TestContext } from "node:test";
import type { Engine } from "#limits/shared-counters.ts";
import { defaultQuotas } from "#limits/policy.ts";
import { openValkeyEngine } from "#limits/valkey-engine.ts";
import { StoreFault } from "#store/store-fault.ts";
import { eventually } from "../support/eventually.ts";
import { openWithOutages, roomy } from "../support/limits-shared.ts";
import { listen } from "../support/ports.ts";
import { startRedis, startRedisCluster, whyNoRedis } from "../support/redis.ts";

const openAt = async (t: TestContext, url: string) =>
  openWithOutages(t, await openValkeyEngine(url), "deny");

test("each way in which no server is reached is told in a sentence of its own", async (t) => {
  const closes = await listen(t, (socket) => socket.end());
  const web = await listen(t, (socket) => socket.on("data", () => socket.end("HTTP/1.1 400 \r\n")));
  const hangs = await listen(t, () => {});
  const expected: Record<string, RegExp> = {
    [`valkeys://127.0.0.1:${hangs}`]:
      /the server is down, a firewall drops packets, or only one side speaks TLS\. /,
    "redis://127.0.0.1:1":
      /nothing listens at this address \(connect ECONNREFUSED 127\.0\.0\.1:1\)\. /,
    "redis://no-such-host.invalid": /its host name cannot be resolved \(getaddrinfo E/,
    [`redis://127.0.0.1:${closes}`]: /it closed the connection; its log may say why\. /,
    // A password of one letter is not cut out of the sentence.
    [`redis://:c@127.0.0.1:${closes}`]: /it closed the connection; its log may say why\. /,
    [`valkeys://127.0.0.1:${closes}`]:
      /TLS handshake.* If the server does not use TLS at this port/,
    [`redis://127.0.0.1:${web}`]: /it speaks the protocol of neither Valkey nor Redis\. /,
    [`redis://:horse@127.0.0.1:${web}`]: /it speaks the protocol of neither Valkey nor Redis\. /,
    [`valkeys://127.0.0.1:${web}`]:
      /: the TLS handshake failed: [a-z ]+\. If the server does not use TLS at this port/,
  };
  for (const [url, sentence] of Object.entries(expected)) {
    const { faults, close } = await openAt(t, url);
    close();
    assert.match(faults[0]!, sentence, url);
    assert.match(faults[0]!, /^Counts are not shared: \w+:\/\/[^@\n]+$/);
  }
});

test("a server that no address of its name reaches is told by the first", async (t) => {
  const both = [["127.0.0.1", 4] as const, ["::1", 6] as const];
  const addresses = both.map(([address, family]) => ({ address, family }));
  t.mock.method(promises, "lookup", async () => addresses);
  const { faults, close } = await openAt(t, "redis://two.example:1");
  close();
  assert.match(faults[0]!, /nothing listens at this address \(connect ECONNREFUSED 127/);
});

test("an answer that is not one of the script admits and refuses nobody", async (t) => {
  const short = "*1\r\n:1\r\n";
  const ofText = `*10\r\n${"$1\r\n1\r\n".repeat(10)}`;
  for (const answer of [
    "$0\r\n\r\n",
    "*0\r\n",
    "*1\r\n$-1\r\n",
    `*1\r\n${short}`,
    `*1\r\n${ofText}`,
  ]) {
    const port = await listen(t, (socket) =>
      socket.on("data", (bytes: Buffer) => {
        const asked = String(bytes);
        if (asked.includes("INFO")) socket.write("$27\r\nmaxmemory_policy:noeviction\r\n");
        else socket.write(asked.includes("EVALSHA") ? answer : ":1\r\n");
      }),
    );
    const { mode, faults } = await openAt(t, `redis://127.0.0.1:${port}`);
    assert.equal(mode(), "deny", answer);
    assert.match(
      faults[0]!,
      /cannot count requests: its answer does not come from the counting script; a proxy may have sent it\. /,
    );
  }
});

test("a password that a proxy refuses in words of its own is refused at the start", async (t) => {
  for (const said of ["ERR invalid password", "ERR Client sent AUTH, but no password is set"]) {
    const port = await listen(t, (socket) => socket.on("data", () => socket.write(`-${said}\r\n`)));
    await assert.rejects(openAt(t, `redis://:horse@127.0.0.1:${port}`), (fault: Error) => {
      assert.ok(fault instanceof StoreFault, said);
      return /refuses the (?:user or )?password in COUNTERS_URL/.test(fault.message);
    });
  }
});

suite("a Redis that does not count", { skip: whyNoRedis() ?? false }, () => {
  test("the password is in no message, even where the server repeats what it was sent", async (t) => {
    const server = await startRedis(["--rename-command", "AUTH", "HIDDEN"]);
    t.after(() => server.end());
    const { faults } = await openAt(t, `redis://user:a%2Fhorse@127.0.0.1:${server.port}`);
    assert.match(faults[0]!, /cannot count requests: it does not know the command AUTH/);
    assert.doesNotMatch(faults[0]!, /horse/);
    const echo = await listen(t, (socket) =>
      socket.on("data", () => socket.write("-ERR odd words: a/horse\r\n")),
    );
    const echoed = await openAt(t, `redis://user:a%2Fhorse@127.0.0.1:${echo}`);
    assert.match(echoed.faults[0]!, /cannot count requests: ERR odd words: \*\*\*\. /);
  });

  test("one that would refuse to write is an outage from the start until it does not, with its reason", async (t) => {
    const server = await startRedis(["--min-replicas-max-lag", "1"]);
    const { ask, url } = server;
    t.after(() => server.end());
    const set = (name: string, value: string) => ask("CONFIG", "SET", name, value);
    const faults: [RegExp, begin: () => Promise<unknown>, end: () => Promise<unknown>][] = [
      [
        /cannot count requests: it has no memory left for counts; raise its maxmemory\. /,
        () => set("maxmemory", "1"),
        () => set("maxmemory", "0"),
      ],
      [
        /cannot count requests: it has fewer replicas than its min-replicas-to-write/,
        () => set("min-replicas-to-write", "1"),
        () => set("min-replicas-to-write", "0"),
      ],
      [
        /cannot count requests: it is a replica, which cannot count; COUNTERS_URL has to name the primary\. /,
        () => ask("REPLICAOF", "127.0.0.1", "1"),
        () => ask("REPLICAOF", "NO", "ONE"),
      ],
    ];
    for (const [sentence, begin, end] of faults) {
      await begin();
      const counters = await openAt(t, url);
      assert.equal(counters.mode(), "deny");
      await end();
      await eventually(() => assert.ok(counters.mode() === "shared"), 60_000);
      assert.ok((await counters.take(1, defaultQuotas)).admitted);
      // It was not taken for one that counts in between.
      assert.equal(counters.faults.length, 2);
      assert.match(counters.faults[0]!, sentence);
      counters.close();
    }
  });

  test("a right, a database or a password that is missing or wrong is refused at the start, and none is told", async (t) => {
    const server = await startRedis();
    t.after(() => server.end());
    const refused = async (url: string, sentence: RegExp) =>
      assert.rejects(openAt(t, url), (fault: Error) => {
        assert.ok(fault instanceof StoreFault);
        assert.match(fault.message, sentence);
        return !fault.message.includes("horse");
      });
    const all = "+info +evalsha +eval +time +strlen +getrange +setrange +set +get +expire";
    for (const right of all.split(" ")) {
      const rights = all.split(" ").filter((one) => one !== right);
      await server.ask("ACL", "SETUSER", "counter", "reset", "on", ">horse", "~q:*", ...rights);
      const url = `redis://counter:horse@127.0.0.1:${server.port}`;
      // The scripts are there already, so that EVAL is asked for by the probe alone.
      await refused(
        url,
        /does not give the user of COUNTERS_URL all the rights that docs\/running/,
      );
    }
    const needless = server.url.replace("//", "//:horse@");
    await refused(
      needless,
      /refuses the password in COUNTERS_URL, because its default user has none/,
    );
    await refused(`${server.url}/99`, /\/99 has no database with the number in COUNTERS_URL\.$/);
    await server.ask("CONFIG", "SET", "requirepass", "correct-horse");
    for (const password of ["", ":wrong-horse@"])
      await refused(
        server.url.replace("//", `//${password}`),
        /refuses the (?:user or )?password in COUNTERS_URL/,
      );
    const cluster = await startRedisCluster(1);
    t.after(() => cluster.end());
    await refused(`${cluster.url}/1`, /is a cluster, which has only database 0/);
  });
});

suite("many accounts at once", { skip: whyNoRedis() ?? false }, () => {
  test("up to 128 are one question, in one call", async (t) => {
    const server = await startRedis();
    t.after(() => server.end());
    const engine = await openValkeyEngine(server.url);
    const questions: number[] = [];
    const decide: Engine["decide"] = (groups) => {
      questions.push(groups.length);
      return engine.decide(groups);
    };
    const { take } = await openWithOutages(t, { ...engine, decide });
    questions.length = 0;
    await server.ask("CONFIG", "RESETSTAT");
    const accounts = Array.from({ length: 1500 }, (_, i) => i + 1);
    const taken = await Promise.all(
      accounts.map(async (account) => take(account, { ...roomy, minute: account })),
    );
    const left = taken.map(({ windows: [inMinute] }) => inMinute!.remaining + 1);
    assert.deepEqual(left, accounts);
    assert.deepEqual(questions, [...Array.from({ length: 11 }, () => 128), 92]);
    const info = String(await server.ask("INFO", "commandstats"));
    assert.match(info, /^cmdstat_evalsha:calls=12,/m);
  });
});

suite("nodes of a cluster", { skip: whyNoRedis() ?? false }, () => {
  test("the node that COUNTERS_URL names may end for good: once its replica took over, counts are shared", async (t) => {
    const { url, nodes, end } = await startRedisCluster(3, true);
    t.after(end);
    const { mode, faults, take } = await openAt(t, url);
    assert.equal(mode(), "shared");
    await nodes[0]!.end();
    await eventually(() => assert.ok(faults.length > 0), 60_000);
    await eventually(() => assert.ok(mode() === "shared"), 60_000);
    const accounts = Array.from({ length: 64 }, (_, i) => i + 1);
    const taken = await Promise.all(accounts.map(async (account) => take(account, defaultQuotas)));
    assert.ok(taken.every(({ admitted }) => admitted));
  });

  test("while keys move to another node accounts are counted where each is, without an outage", async (t) => {
    const cluster = await startRedisCluster(2);
    t.after(() => cluster.end());
    const [from, to] = cluster.nodes as [(typeof cluster.nodes)[0], (typeof cluster.nodes)[0]];
    const [fromId, toId] = await Promise.all(
      [from, to].map(async ({ ask }) => String(await ask("CLUSTER", "MYID"))),
    );
    const slotOf = async (part: number) =>
      Number(await from.ask("CLUSTER", "KEYSLOT", `q:{${part}}:`));
    let part = 1;
    while ((await slotOf(part)) >= 8192) part++;
    const slot = String(await slotOf(part));
    const accounts = [part, part + 64, part + 128];
    const { take, look, faults } = await openAt(t, cluster.url);
    const takeAll = async () => {
      const taken = await Promise.all(
        accounts.map(async (account) => take(account, defaultQuotas)),
      );
      assert.ok(taken.every(({ admitted }) => admitted));
    };
    await takeAll();
    await to.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", fromId!);
    await from.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", toId!);
    const move = (account: number) =>
      from.ask("MIGRATE", "127.0.0.1", String(to.port), `q:{${part}}:${account}`, "0", "5000");
    for (const account of accounts) {
      await move(account);
      await takeAll();
    }
    for (const { ask } of [to, from]) await ask("CLUSTER", "SETSLOT", slot, "NODE", toId!);
    await takeAll();
    assert.deepEqual(faults, []);
    const looks = await Promise.all(accounts.map(async (account) => look(account, defaultQuotas)));
    for (const { windows } of looks) assert.equal(windows[0]!.remaining, defaultQuotas.minute - 5);
  });
});
