import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { Client } from "pg";
import type { SharedState } from "#datasets/remote.ts";
import { outcomeOf } from "../support/command-line.ts";
import { freshDatabase, onPostgres as test, runSql } from "../support/postgres.ts";
import { buildDatasets, bulkyGps, machine } from "../support/shared-datasets.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { gp } from "./published.ts";

/** What a watcher was told, and a promise of the first that fits. */
function watched() {
  const told: (SharedState | Error)[] = [];
  const waiting = new Set<() => void>();
  return {
    told,
    onLook(seen: SharedState | Error) {
      told.push(seen);
      for (const look of waiting) look();
    },
    until: (fits: (seen: SharedState | Error) => boolean) =>
      new Promise<SharedState | Error>((resolve) => {
        const look = () => {
          const found = told.find(fits);
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
  };
}

const isCurrent = (version: string) => (seen: SharedState | Error) =>
  !(seen instanceof Error) && seen.current?.version === version;

test("a pushed dataset is pulled byte for byte by another machine, with what is known of it", async (t) => {
  const database = await freshDatabase(t);
  const [one, other] = [machine(t, database), machine(t, database)];
  const [built] = await buildDatasets(t, bulkyGps(2500));
  const { path, generation } = built!;
  assert.ok(generation.bytes > 3 * 1024 * 1024);
  await one.remote.push(path, generation, "staged");
  const { generations, current } = await other.remote.read();
  assert.equal(current, null);
  const [stored] = generations;
  assert.deepEqual(stored, { ...stored, ...generation, status: "staged", format: "3.1" });
  assert.match(stored!.publisher, new RegExp(`^process ${process.pid} on `));
  const pulled = await other.remote.pull(stored!);
  assert.equal(pulled, other.cache.catalogue.pathOf(generation.version));
  assert.deepEqual(readFileSync(pulled), readFileSync(path));
  assert.ok(other.cache.isWhole(generation));
  assert.deepEqual(other.cache.catalogue.find(generation.version), generation);
  assert.deepEqual(
    readdirSync(other.cache.catalogue.folder).filter((name) => name.endsWith(".tmp")),
    [],
  );
});

test("publishing names the version before, and everybody who watches learns of it", async (t) => {
  const database = await freshDatabase(t);
  const [one, other] = [machine(t, database), machine(t, database)];
  const [first, second] = await buildDatasets(t, [gp("a")], [gp("b")]);
  const { told, onLook, until } = watched();
  t.after(other.remote.watch(onLook));
  await until((seen) => !(seen instanceof Error));
  await one.remote.push(first!.path, first!.generation, "added");
  const published = await one.remote.publish(first!.generation.version, null);
  assert.equal(published.status, "published");
  assert.equal(published.published_after, null);
  await until(isCurrent(first!.generation.version));
  await one.remote.push(second!.path, second!.generation, "staged");
  const next = await one.remote.publish(second!.generation.version, first!.generation.version);
  assert.equal(next.published_after, first!.generation.version);
  await until(isCurrent(second!.generation.version));
  // A roll-back does not change what a dataset was first published after.
  await one.remote.publish(first!.generation.version, second!.generation.version);
  const again = await one.remote.publish(second!.generation.version, first!.generation.version);
  assert.equal(again.published_after, first!.generation.version);
  assert.ok(told.every((seen) => !(seen instanceof Error)));
});

test("a watcher is handed the same object for as long as nothing changes", async (t) => {
  const database = await freshDatabase(t);
  const { remote } = machine(t, database);
  const { promise, resolve } = Promise.withResolvers<void>();
  const seen: unknown[] = [];
  t.after(remote.watch((state) => void (seen.push(state) === 3 && resolve())));
  await promise;
  assert.ok(!(seen[0] instanceof Error));
  assert.equal(seen[0], seen[2]);
});

test("of two that publish at once one is refused, and names what became current meanwhile", async (t) => {
  const database = await freshDatabase(t);
  const machines = [machine(t, database), machine(t, database)];
  const built = await buildDatasets(t, [gp("a")], [gp("b")], [gp("c")]);
  for (const { path, generation } of built)
    await machines[0]!.remote.push(path, generation, "staged");
  const [base, ...rivals] = built.map(({ generation }) => generation.version);
  for (let round = 0; round < 20; round++) {
    await machines[0]!.remote.publish(
      base!,
      (await machines[0]!.remote.current())?.version ?? null,
    );
    const results = await Promise.allSettled(
      machines.map(({ remote }, i) => remote.publish(rivals[i]!, base!)),
    );
    const won = results.findIndex(({ status }) => status === "fulfilled");
    const lost = results[1 - won]!;
    assert.equal(lost.status, "rejected");
    assert.match(
      String((lost as PromiseRejectedResult).reason),
      new RegExp(`was not published: ${rivals[won]} became current meanwhile, not ${base}`),
    );
    assert.equal((await machines[0]!.remote.current())!.version, rivals[won]);
  }
});

test("a damaged or missing part is refused and named, and nothing of it stays", async (t) => {
  const database = await freshDatabase(t);
  const [one, other] = [machine(t, database), machine(t, database)];
  const [built] = await buildDatasets(t, bulkyGps(2500));
  const { path, generation } = built!;
  const { version } = generation;
  await one.remote.push(path, generation, "staged");
  const before = readdirSync(other.cache.catalogue.folder);
  const refused = (message: RegExp) => assert.rejects(other.remote.pull(generation), { message });
  const parts = Math.ceil(generation.bytes / 2 ** 20);
  const flip = (at: string) =>
    runSql(
      database,
      `update dataset_part set bytes = set_byte(bytes, ${at}, get_byte(bytes, ${at}) # 1) where number = 1`,
    );
  for (const at of ["0", "100", "length(bytes) / 2", "length(bytes) - 1"]) {
    await flip(at);
    await refused(new RegExp(`^Part 2 of ${parts} of the stored dataset ${version} is damaged: `));
    await flip(at);
  }
  await other.remote.pull(generation);
  other.cache.drop(version);
  // Whole by itself, but not what belongs there.
  await runSql(
    database,
    "update dataset_part set bytes = (select p.bytes from dataset_part p where p.number = 0) where number = 1",
  );
  await refused(new RegExp(`^The stored dataset ${version} is damaged: its SHA-256 differs`));
  await runSql(database, "delete from dataset_part where number = 2");
  await refused(new RegExp(`^Part 3 of ${parts} of the stored dataset ${version} is missing`));
  assert.deepEqual(readdirSync(other.cache.catalogue.folder), before);
});

test("a pull or push whose connection ends half-way says so and leaves nothing, and the next one is whole", async (t) => {
  const database = await freshDatabase(t);
  const { remote, cache } = machine(t, database);
  const [built] = await buildDatasets(t, bulkyGps(2500));
  const { path, generation } = built!;
  const query = Client.prototype.query;
  /** Before the first statement with this text and this number of a part, the server ends all sessions. */
  const endBefore = (text: string, work: () => Promise<unknown>) => {
    let isEnded = false;
    const mock = t.mock.method(Client.prototype, "query", function (this: Client, ...args: any[]) {
      const [sql, values] = args as [unknown, unknown[]];
      const isMeant = typeof sql === "string" && sql.includes(text) && values?.[1] === 2;
      const pass = () => Reflect.apply(query, this, args);
      if (isEnded || !isMeant) return pass();
      isEnded = true;
      const ending = `select pg_terminate_backend(pid) from pg_stat_activity
        where pid <> pg_backend_pid() and datname = current_database()`;
      return runSql(database, ending).then(pass);
    });
    return assert
      .rejects(work(), { kind: "busy", message: /^PostgreSQL at .* cannot be reached / })
      .finally(() => {
        assert.ok(isEnded);
        mock.mock.restore();
      });
  };
  await endBefore("insert into dataset_part", () => remote.push(path, generation, "staged"));
  assert.deepEqual((await remote.read()).generations, []);
  await remote.push(path, generation, "staged");
  const before = readdirSync(cache.catalogue.folder);
  await endBefore("from dataset_part", () => remote.pull(generation));
  assert.deepEqual(readdirSync(cache.catalogue.folder), before);
  await remote.pull(generation);
  assert.ok(cache.isWhole(generation));
});

test("a pull that is aborted ends at once and leaves nothing", async (t) => {
  const database = await freshDatabase(t);
  const { remote, cache } = machine(t, database);
  const [built] = await buildDatasets(t, bulkyGps(1000));
  await remote.push(built!.path, built!.generation, "staged");
  // Held by somebody else, so that the pull cannot go on.
  const holder = machine(t, database);
  const lock = await holder.remote.lock();
  t.after(() => lock.release());
  const reason = new Error("another one is wanted");
  const abort = new AbortController();
  const pull = remote.pull(built!.generation, abort.signal);
  abort.abort(reason);
  await assert.rejects(pull, reason);
  assert.deepEqual(
    readdirSync(cache.catalogue.folder).filter((name) => name.includes("fetch")),
    [],
  );
});

test("one import at a time: a second one is told who holds the lock and since when", async (t) => {
  const database = await freshDatabase(t);
  const [one, other] = [machine(t, database), machine(t, database)];
  const lock = await one.remote.lock();
  lock.check();
  await assert.rejects(other.remote.lock(), {
    kind: "busy",
    message: new RegExp(
      `^Another import is running on PostgreSQL at .*: process ${process.pid} on .+, since \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ\\. Try again when it has ended\\.$`,
    ),
  });
  await lock.release();
  await (await other.remote.lock()).release();
});

test("whoever lost the connection that held the lock is told so before it publishes", async (t) => {
  const database = await freshDatabase(t);
  const { remote } = machine(t, database);
  const lock = await remote.lock();
  lock.check();
  await runSql(
    database,
    "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'gp-records process%'",
  );
  const isLost = () => {
    try {
      lock.check();
      return false;
    } catch (error) {
      return /held the lock of this import ended/.test(String(error));
    }
  };
  while (!isLost()) await new Promise(setImmediate);
});

test("the current dataset is never removed, and what dying imports left is, with its parts", async (t) => {
  const database = await freshDatabase(t);
  const { remote } = machine(t, database);
  const [first, second, third] = await buildDatasets(t, [gp("a")], [gp("b")], [gp("c")]);
  await remote.push(first!.path, first!.generation, "added");
  await remote.publish(first!.generation.version, null);
  await remote.push(second!.path, second!.generation, "added");
  await remote.push(third!.path, third!.generation, "staged");
  await assert.rejects(remote.remove(first!.generation.version), /is the current dataset/);
  await remote.removeAdded();
  const versions = async () => (await remote.read()).generations.map(({ version }) => version);
  assert.deepEqual(await versions(), [first!.generation.version, third!.generation.version]);
  await remote.remove(third!.generation.version);
  assert.deepEqual(await versions(), [first!.generation.version]);
  const [row] = await runSql(
    database,
    "select count(distinct version)::integer as count from dataset_part",
  );
  assert.deepEqual(row, { count: 1 });
});

test("a version that is not there is neither published nor pinned", async (t) => {
  const database = await freshDatabase(t);
  const { remote } = machine(t, database);
  const message = /There is no dataset '20260101T000000Z-00000000'/;
  await assert.rejects(remote.publish("20260101T000000Z-00000000", null), message);
  await assert.rejects(remote.pin("20260101T000000Z-00000000", true), message);
});

test("while PostgreSQL is away every call is refused within two seconds and names it, without the password", async (t) => {
  const { remote } = machine(t, "postgres://someone:hidden@127.0.0.1:9/records");
  const message = /^PostgreSQL at 127\.0\.0\.1:9\/records cannot be reached \(ECONNREFUSED\)/;
  await assert.rejects(remote.current(), (error: Error) => {
    assert.match(error.message, message);
    assert.doesNotMatch(error.message, /hidden/);
    return true;
  });
  // Not tried again within the second.
  await assert.rejects(remote.lock(), /it is tried again each second/);
});

test("a database without the tables says what makes them", async (t) => {
  const database = await freshDatabase(t);
  await runSql(database, "drop table dataset_state cascade");
  await assert.rejects(machine(t, database).remote.read(), /gp-records migrate/);
});

/** Pushes, and is killed by SIGKILL instead of its nth query. */
const killedPusher = (url: string, folder: string, path: string, facts: string, killAt: number) => `
  import pg from "pg";
  import { readFileSync } from "node:fs";
  import { openCache } from "#datasets/dataset-cache.ts";
  import { openPostgresRemote } from "#datasets/postgres-remote.ts";
  const query = pg.Client.prototype.query;
  let left = ${killAt};
  pg.Client.prototype.query = function (...args) {
    if (left-- === 0) process.kill(process.pid, "SIGKILL");
    return query.apply(this, args);
  };
  const remote = openPostgresRemote(${JSON.stringify(url)}, openCache(${JSON.stringify(folder)}));
  const generation = ${facts};
  await remote.push(${JSON.stringify(path)}, generation, "added");
  await remote.publish(generation.version, null);
  process.exit(0);
`;

test("a push and publication killed before any of its statements leave the dataset whole, published or not there", async (t) => {
  const database = await freshDatabase(t);
  const { remote, cache } = machine(t, database);
  const [built] = await buildDatasets(t, bulkyGps(1000));
  const { path, generation } = built!;
  const seen = new Set<string>();
  for (let killAt = 0; ; killAt++) {
    const script = killedPusher(
      database,
      temporaryFolder(t),
      path,
      JSON.stringify(generation),
      killAt,
    );
    const { exitCode, err } = await outcomeOf(
      process.execPath,
      ["--input-type=module", "-e", script],
      process.env,
    );
    assert.ok(exitCode === null || exitCode === 0, err);
    const { current, generations } = await remote.read();
    const state = current !== null ? "published" : generations.length > 0 ? "added" : "nothing";
    seen.add(state);
    if (state !== "nothing") {
      await remote.pull(generation);
      cache.drop(generation.version);
    }
    const [row] = await runSql(database, "select count(*)::integer as count from dataset_part");
    if (state === "nothing") assert.deepEqual(row, { count: 0 });
    if (exitCode === 0) {
      assert.equal(state, "published");
      break;
    }
    await remote.removeAdded();
    if (current === null) assert.deepEqual((await remote.read()).generations, []);
  }
  assert.deepEqual([...seen], ["nothing", "added", "published"]);
});
