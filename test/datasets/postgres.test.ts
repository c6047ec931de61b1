import assert from "node:assert/strict";
import { copyFileSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { draftName, draftTextsName } from "#datasets/catalogue.ts";
import { openPostgresStore } from "#datasets/postgres.ts";
import { underLock } from "#datasets/store.ts";
import { outcomeOf } from "../support/command-line.ts";
import { eventually } from "../support/eventually.ts";
import { freshDatabase, onPostgres as test, runSql } from "../support/postgres.ts";
import { add, bulkyGps, machine, publishBuilt, twoMachines } from "../support/shared-datasets.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

test("a pushed dataset is pulled byte for byte by another machine, with what is known of it", async (t) => {
  const [database, one, other, built] = await twoMachines(t, bulkyGps(2500));
  const { path, generation } = built;
  assert.ok(generation.bytes > 3 * 1024 * 1024);
  await add(one.store, built, true);
  const kept = await other.store.read();
  assert.deepEqual([kept.current(), kept.list()], [null, [generation]]);
  const [row] = await runSql(database, "select is_added from dataset");
  assert.deepEqual({ ...row }, { is_added: false });
  // In a container each process has the number of the one that was killed before it.
  const next = other.cache.temporaryPath().replace(/\d+(?=\.tmp)/, (n) => String(Number(n) + 1));
  copyFileSync(path, next);
  const pulled = await other.store.open(generation.version);
  assert.equal(pulled, other.cache.catalogue.pathOf(generation.version));
  assert.deepEqual(readFileSync(pulled), readFileSync(path));
  assert.deepEqual(other.cache.catalogue.find(generation.version), generation);
  assert.ok(!readdirSync(other.cache.catalogue.folder).some((name) => name.endsWith(".tmp")));
});

test("whoever looks sees each publication, and gets the same object for as long as nothing changes", async (t) => {
  const [database, one, other, first, second] = await twoMachines(t, "a", "b");
  const { look } = other.store;
  const before = await look();
  assert.equal(before.currentVersion(), null);
  await other.store.read();
  assert.equal(await look(), before);
  for (const built of [first, second]) {
    const version = await publishBuilt(one.store, built);
    assert.equal((await look()).currentVersion(), version);
  }
  // A roll-back does not change what a dataset was first published after.
  const [a, b] = [first.generation.version, second.generation.version];
  await one.store.publish(a, b, null);
  assert.equal((await one.store.publish(b, a, null)).published_after, a);
  // A standby that took over had lost the last change, and has another since.
  await look();
  await runSql(database, "update dataset_state set current = $1", [a]);
  assert.equal((await look()).currentVersion(), a);
});

test("of two that publish at once one is refused, and names what became current meanwhile", async (t) => {
  const [, first, second, ...built] = await twoMachines(t, "a", "b", "c");
  const machines = [first, second];
  const { store } = first;
  for (const one of built) await add(store, one, true);
  const [base, ...rivals] = built.map(({ generation }) => generation.version);
  for (let round = 0; round < 20; round++) {
    await store.publish(base!, (await store.read()).currentVersion(), null);
    const results = await Promise.allSettled(
      machines.map((one, i) => one.store.publish(rivals[i]!, base!, null)),
    );
    const won = results.findIndex(({ status }) => status === "fulfilled");
    const lost = results[1 - won]!;
    assert.equal(lost.status, "rejected");
    assert.match(
      String((lost as PromiseRejectedResult).reason),
      new RegExp(`was not published, .*before: ${base}; now: ${rivals[won]}\\)\\.`),
    );
    assert.equal((await store.read()).currentVersion(), rivals[won]);
  }
});

test("a damaged or missing part is refused and named, and nothing of it stays", async (t) => {
  const [database, one, other, built] = await twoMachines(t, bulkyGps(2500));
  const { generation } = built;
  const version = await add(one.store, built, true);
  const before = readdirSync(other.cache.catalogue.folder);
  const refused = (message: RegExp) => assert.rejects(other.store.open(version), { message });
  const parts = Math.ceil(generation.bytes / 2 ** 20);
  const flip = (at: string) =>
    runSql(
      database,
      `update dataset_part set bytes = set_byte(bytes, ${at}, get_byte(bytes, ${at}) # 1) where number = 1`,
    );
  for (const at of ["0", "100", "length(bytes) / 2", "length(bytes) - 1"]) {
    await flip(at);
    await refused(
      new RegExp(`^Part 2 of ${parts} of the file ${version} in the database is damaged: `),
    );
    await flip(at);
  }
  await other.store.open(version);
  other.cache.catalogue.remove(version);
  // Whole by itself, but not what belongs there.
  await runSql(
    database,
    "update dataset_part set bytes = (select p.bytes from dataset_part p where p.number = 0) where number = 1",
  );
  await refused(new RegExp(`^The file ${version} in the database is damaged: its SHA-256 differs`));
  await runSql(database, "delete from dataset_part where number = 2");
  await refused(
    new RegExp(`^Part 3 of ${parts} of the file ${version} in the database is missing`),
  );
  assert.deepEqual(readdirSync(other.cache.catalogue.folder), before);
});

test("a pull or push whose connection ends half-way says so and leaves nothing, and the next one is whole", async (t) => {
  const [database, { store }, { store: fetching, cache }, built] = await twoMachines(
    t,
    bulkyGps(2500),
  );
  const { generation } = built;
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
  /** Every session was ended, also those for reading, which are opened anew once that is noticed. */
  const readAnew = async (one: typeof store) => (await eventually(() => one.read())).result;
  await endBefore("insert into dataset_part", () => add(store, built, true));
  assert.deepEqual((await readAnew(store)).list(), []);
  const version = await add(store, built, true);
  const before = readdirSync(cache.catalogue.folder);
  await endBefore("from dataset_part", () => fetching.open(version));
  assert.deepEqual(readdirSync(cache.catalogue.folder), before);
  await readAnew(fetching);
  await fetching.open(version);
  assert.ok(cache.isWhole(generation));
});

test("a dataset that is stored already is not stored again, and the one that is there stays", async (t) => {
  const [, one, other, built] = await twoMachines(t, "a");
  const version = await add(one.store, built, true);
  await assert.rejects(add(other.store, built, true), {
    message: `The dataset ${version} is already in the database, perhaps stored by another command at the same moment. No dataset was changed. Run this command again.`,
  });
  await other.store.open(version);
});

test("a publication that the database did not carry out is said to have failed", async (t) => {
  const [, { store }, , built] = await twoMachines(t, "a");
  const version = await add(store, built, true);
  const query = Client.prototype.query;
  const canceled = Object.assign(new Error("canceled"), { code: "57014" });
  t.mock.method(Client.prototype, "query", function (this: Client, ...args: any[]) {
    const isPublishing = String(args[0]).includes("with moved as");
    return isPublishing ? Promise.reject(canceled) : Reflect.apply(query, this, args);
  });
  await assert.rejects(store.publish(version, null, null), {
    kind: "busy",
    message: new RegExp(`did not answer in time\\. Try again\\. ${version} was not published\\.$`),
  });
});

test("what dying imports left is removed with its parts by whoever takes the lock next, however slowly", async (t) => {
  const [database, { store, cache }, , first, second, third] = await twoMachines(t, "a", "b", "c");
  const { folder } = cache.catalogue;
  for (const name of [draftName, draftTextsName]) writeFileSync(join(folder, name), "half");
  await runSql(
    database,
    `create function linger() returns trigger language plpgsql as 'begin perform pg_sleep(2); return null; end';
     create trigger linger after delete on dataset_file execute function linger()`,
  );
  const current = await publishBuilt(store, first);
  await add(store, second);
  const staged = await add(store, third, true);
  await underLock(store, () => {});
  assert.ok(!readdirSync(folder).some((name) => name.startsWith(draftName)));
  const kept = await store.read();
  assert.deepEqual([kept.versions(), kept.added], [[current, staged], []]);
  await store.remove(staged);
  assert.deepEqual((await store.read()).versions(), [current]);
  const left = await runSql(database, "select distinct name from dataset_part");
  assert.equal(left.length, 1);
});

test("a command leaves its server's folder what that points at, and pinned ones", async (t) => {
  const [database, { store }, server, ...built] = await twoMachines(t, "a", "b", "c", "d");
  const [served, pinned] = built.map(({ generation }) => generation.version);
  for (const one of built) await publishBuilt(store, one);
  await store.pin(pinned!, true);
  const { folder } = server.cache.catalogue;
  for (const version of [served!, pinned!]) utimesSync(await server.store.open(version), 0, 0);
  server.cache.point((await store.read()).find(served!));
  const command = openPostgresStore({ folder, changesDays: 0, warn: assert.fail }, database);
  await command.read();
  command.close();
  assert.deepEqual(server.cache.catalogue.versions(), [served, pinned]);
});

test("an import whose lock ended, so that the next one removed its dataset, is told that and what to do", async (t) => {
  const [database, one, other, built] = await twoMachines(t, "a");
  const release = await one.store.take();
  const version = await add(one.store, built);
  await runSql(
    database,
    `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'
       and database = (select oid from pg_database where datname = current_database())`,
  );
  // The server ends a session in its own time.
  const { result: releaseOther } = await eventually(() => other.store.take());
  await assert.rejects(one.store.publish(version, null, null), {
    name: "DatasetFault",
    message:
      /^\S+ was not published: this command lost its lock, and another .* connection to PostgreSQL at .*idle_session_timeout .*, then run the command again\.$/,
  });
  await release();
  await releaseOther();
});

test("a database without the tables says what makes them", async (t) => {
  const database = await freshDatabase(t);
  await runSql(database, "drop table dataset_state cascade");
  await assert.rejects(machine(t, database).store.read(), /gp-records migrate/);
});

/** Adds and publishes, and is killed by SIGKILL instead of its nth query. */
const killedPublisher = (
  url: string,
  folder: string,
  path: string,
  facts: string,
  killAt: number,
) => `
  import pg from "pg";
  import { openPostgresStore } from "#datasets/postgres.ts";
  const query = pg.Client.prototype.query;
  let left = ${killAt};
  pg.Client.prototype.query = function (...args) {
    if (left-- === 0) process.kill(process.pid, "SIGKILL");
    return query.apply(this, args);
  };
  const order = { folder: ${JSON.stringify(folder)}, changesDays: 0, warn() {} };
  const store = openPostgresStore(order, ${JSON.stringify(url)});
  const generation = ${facts};
  await store.add({ path: ${JSON.stringify(path)}, generation, isStaged: false });
  await store.publish(generation.version, null, null);
  process.exit(0);
`;

test("a publication killed before any of its statements leaves the dataset whole, published or not there", async (t) => {
  const [database, { store, cache }, , built] = await twoMachines(t, bulkyGps(1000));
  const { generation } = built;
  const { version } = generation;
  const seen = new Set<string>();
  for (let killAt = 0; ; killAt++) {
    const folder = temporaryFolder(t);
    const path = join(folder, "draft");
    copyFileSync(built.path, path);
    const facts = JSON.stringify(generation);
    const script = killedPublisher(database, join(folder, "datasets"), path, facts, killAt);
    const { exitCode, err } = await outcomeOf(
      process.execPath,
      ["--input-type=module", "-e", script],
      process.env,
    );
    assert.ok(exitCode === null || exitCode === 0, err);
    const kept = await store.read();
    const isPublished = kept.currentVersion() !== null;
    const state = isPublished ? "published" : kept.added.length > 0 ? "added" : "nothing";
    seen.add(state);
    if (state !== "nothing") {
      await store.open(version);
      cache.catalogue.remove(version);
    }
    const [row] = await runSql(database, "select count(*)::integer as count from dataset_part");
    if (state === "nothing") assert.deepEqual(row, { count: 0 });
    if (exitCode === 0) {
      assert.equal(state, "published");
      break;
    }
    await underLock(store, () => {});
    if (!isPublished) {
      const { added, list } = await store.read();
      assert.deepEqual([added, list()], [[], []]);
    }
  }
  assert.deepEqual([...seen], ["nothing", "added", "published"]);
});
