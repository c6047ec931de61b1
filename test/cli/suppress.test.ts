import assert from "node:assert/strict";
import {
  existsSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { mintId } from "#datasets/draft-record.ts";
import { openFolderStore } from "#datasets/store.ts";
import { addSuppression } from "#datasets/suppressions.ts";
import { withdraw } from "#datasets/withdraw.ts";
import { recordKinds } from "#records/kinds.ts";
import { controlFile } from "#store/sqlite-file.ts";
import { openControl } from "#store/stores.ts";
import { gp, principal } from "../datasets/published.ts";
import { noon } from "../support/control.ts";
import { changeDatabase } from "../support/damage.ts";
import { eventually } from "../support/eventually.ts";
import { forEachStore, storePlace } from "../support/for-each-store.ts";
import { readLines } from "../support/json-lines.ts";
import { freshDatabase, runSql } from "../support/postgres.ts";
import { startService } from "../support/service.ts";
import {
  isNamed,
  later,
  openPlace,
  openWorld,
  placesOf,
  type World,
} from "../support/suppressed.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { signedIn } from "../support/user.ts";

const rowsOf = async ({ json }: World) =>
  (await json("datasets list")).map((one: any) => [one.version, one.current]);

forEachStore("whoever is suppressed is nowhere but in the list", async (t) => {
  const world = await openWorld(t, await storePlace(t));
  const { json, text, refusal, importOf, without, pinned, current, staged } = world;
  const ids = [mintId("principal", "own", "jane"), mintId("gp", "own", "roe")];
  assert.ok((await placesOf(t, world)).length > 3);
  const backup = join(temporaryFolder(t), "backup.tar");
  await text("backup", backup);

  for (const reason of ["Jane Roe's wish", "mail of jane.roe@oak.example"])
    assert.match(
      await refusal(exitCodes.usage, "suppress add", "Jane Roe", "--reason", reason),
      /--reason must not contain the name/,
    );
  const order = ["Jane Roe", "--reason", "objection, ticket 17"];
  const stateOf = async () => [await rowsOf(world), await json("audit list")];
  const state = await stateOf();
  const wouldRemove = [pinned, current, staged];
  assert.equal(
    await text("suppress add", ...order, "--dry-run"),
    `5 records of the current dataset would be withheld, and the datasets removed that may contain the person: ${wouldRemove.join(", ")}. This was a dry run: nothing was changed.\n`,
  );
  assert.match(
    await text("suppress add", "Jane Row", "--reason", "ticket 17", "--dry-run"),
    /^0 records .*nothing was changed\. Check how the person's page spells it\.$/m,
  );
  assert.deepEqual(await json("suppress add", ...order, "--dry-run"), {
    number: null,
    known: null,
    withheld: 5,
    version: null,
    removed: wouldRemove,
  });
  assert.deepEqual([await stateOf(), await json("suppress list")], [state, []]);
  const { version, ...done } = await json("suppress add", ...order);
  assert.deepEqual(done, { number: 1, known: false, withheld: 5, removed: wouldRemove });
  assert.deepEqual(await rowsOf(world), [
    [without, false],
    [version, true],
  ]);
  assert.deepEqual(await placesOf(t, world), ["suppression"]);
  assert.deepEqual(
    (await json("audit list"))
      .filter(({ action }: any) => action.startsWith("suppression"))
      .map(({ subject, detail }: any) => [subject, detail]),
    [["1", { reason: "objection, ticket 17" }]],
  );

  for (const gone of [pinned, current, staged])
    assert.match(
      await refusal(exitCodes.conflict, "datasets publish", gone),
      new RegExp(`${gone} was removed because of suppression 1`),
    );
  assert.match(
    await refusal(exitCodes.conflict, "datasets rollback"),
    new RegExp(`${current} was removed because of suppression 1`),
  );

  const again = await importOf(later);
  assert.deepEqual([again.outcome, again.withheld], ["unchanged", 5]);
  const bad = { ...principal("bad", [], { name: "Jane Roe" }), roles: ["Jane Roe"] };
  const args = ["import ndjson --source own --json", world.fileOf([bad, ...later])];
  const { out, err } = await world.start(...args);
  assert.ok(JSON.parse(out).rejections.length > 0);
  assert.ok(!isNamed(out) && !isNamed(err), out);

  await text("suppress remove 1");
  assert.deepEqual(await json("suppress list"), []);
  assert.deepEqual(await placesOf(t, world), []);
  const { added } = await importOf(later);
  assert.equal(added, 3);
  for (const id of ids) assert.equal((await json("explain", id))[0].id, id);

  // A restore of the older backup suppresses whoever this installation does.
  await text("suppress add", ...order);
  const restored = await restoreOf(t, world, backup);
  assert.deepEqual(await placesOf(t, restored), ["suppression"]);
  const [list] = await restored.json("suppress list");
  assert.deepEqual([list.name, list.reason], ["Jane Roe", "objection, ticket 17"]);
  assert.match(await refusalOf(restored, current), /removed because of suppression 2/);
});

const refusalOf = ({ refusal }: World, version: string) =>
  refusal(exitCodes.conflict, "datasets publish", version);

/** Restores a backup in place of a folder, or into another database. */
async function restoreOf(t: TestContext, world: World, backup: string): Promise<World> {
  const { databaseUrl } = world;
  if (databaseUrl === null) {
    await world.text("restore", backup, "--replace");
    // The old contents are kept aside, for the operator to delete.
    return world;
  }
  const url = await freshDatabase(t, { isMigrated: false });
  await world.text("restore", backup, "--to", url);
  return openPlace({ dataDir: temporaryFolder(t), databaseUrl: url }, temporaryFolder(t));
}

forEachStore(
  "a running server forgets whoever is suppressed, and says so where something is gone",
  async (t) => {
    const world = await openWorld(t, await storePlace(t));
    const { current, pinned, json, importOf } = world;
    const settings = { EXPORTS: "on", BROWSE: "everyone", CONTACT: "mailto:ask@example.org" };
    const service = await startService(t, { records: null, place: world, settings });
    const user = await signedIn(service);
    const { key } = await service.newKey({ quotas: { minute: 1000 } });
    const get = (path: string) => service.get(path, { "x-api-key": key });
    const oak = mintId("gp", "own", "oak");
    const person = mintId("principal", "own", "jane");
    const served = (version: string) =>
      eventually(async () => {
        const { body } = await get("/list-gps?limit=1");
        assert.equal(body.meta?.dataset_version, version);
      });
    await served(current);
    const files = recordKinds.map((kind) => `${kind}.ndjson`);
    const kinds = ["principals", "signals", "projects"];
    const fetched = ["gp", ...kinds].map((one) => `/fetch-${one}?gp_name=oak`);
    const lists = ["gps", ...kinds].map((one) => `/list-${one}`);
    const others = [`/explain/${oak}`, "/changes", "/changes.atom", "/exports"];
    const paths = [...fetched, ...lists, ...others];
    const pages = ["/browse/gps", "/browse/people", "/browse/signals", "/browse/projects"];
    const views = [...pages, "/browse/changes", `/browse/gps/${oak}`, "/search?q=oak"];
    const textsOf = async (version: string) => {
      const texts: string[] = [];
      const exported = files.map((name) => `/exports/${version}/${name}`);
      for (const path of [...paths, ...exported, ...views]) {
        const { status, text } = await (views.includes(path) ? user.get(path) : get(path));
        assert.equal(status, 200, path);
        texts.push(text);
      }
      return texts.filter(isNamed);
    };
    assert.ok((await textsOf(current)).length > 12);
    const pinnedFile = `/exports/${pinned}/gp.ndjson`;
    await eventually(async () => assert.equal((await get(pinnedFile)).status, 200));

    const { version } = await json("suppress add", "Jane Roe", "--reason", "objection");
    await served(version);
    await eventually(async () => assert.deepEqual(await placesOf(t, world), ["suppression"]));
    assert.deepEqual(await textsOf(version), []);
    assert.equal((await get(`/explain/${person}`)).status, 404);
    assert.equal((await user.get(`/browse/people/${person}`)).status, 404);
    assert.equal((await get(pinnedFile)).status, 404);
    // The dataset may be served a moment before the server reads which steps are gone.
    await eventually(async () => {
      const steps = (await get("/changes")).body.data.map((one: any) => one.step);
      assert.deepEqual(steps, [null, null, null, null]);
    });
    assert.equal((await get(`/changes/${pinned}..${current}.ndjson`)).status, 404);

    // What follows is told as ever.
    const next = await importOf([...later, gp("ash", { name: "Ash" })]);
    await served(next.version);
    const step = `/changes/${version}..${next.version}.ndjson`;
    await eventually(async () => assert.equal((await get("/changes")).body.data[0].step, step));
    assert.ok(!isNamed((await get(step)).text));
  },
);

/** A person whose number only the record at Oak has, and another one of her name at Elm. */
const atFirms = (oak: string) => [
  gp("oak", { name: oak }),
  gp("elm", { name: "Elm Group" }),
  principal("jane", ["oak"], { name: "Jane Roe", external_ids: { crd: ["22"] } }),
  principal("jean", ["elm"], { name: "Jane Roe" }),
];

/** Imports both from another source, without the number. */
const importAwards = ({ json, fileOf }: World) => {
  const records = ["oak", "elm"].map((firm) =>
    principal(`at-${firm}`, [mintId("gp", "own", firm)], { name: "Jane Roe" }),
  );
  return json("import ndjson --source awards", fileOf(records));
};

/** GPs of everybody of the name who is published. */
async function publishedAt(t: TestContext, { text }: World): Promise<string[]> {
  const folder = temporaryFolder(t);
  await text("export --format ndjson --output", folder);
  const all = readLines(readFileSync(join(folder, "principal.ndjson"), "utf8"));
  const people = all.filter(({ name }) => isNamed(name));
  return people.flatMap(({ gps }) => gps.map(({ name }: any) => name));
}

for (const [what, ...limit] of [
  ["the person's own number", "--crd", "22"],
  ["the name of the GP", "--gp", "Oak Capital"],
] as const)
  forEachStore(
    `a limit by ${what} holds at that GP once it and the source say neither, also after a restore`,
    async (t) => {
      const world = openPlace(await storePlace(t), temporaryFolder(t));
      const { importOf, text } = world;
      await importOf(atFirms("Oakwood").slice(0, 2));
      const backup = join(temporaryFolder(t), "backup.tar");
      await text("backup", backup);
      await importOf(atFirms("Oak Capital"));
      await text("suppress add", "Jane Roe", ...limit, "--reason", "asked");
      assert.deepEqual(await publishedAt(t, world), ["Elm Group"]);

      await importOf(atFirms("Acorn Group").filter(({ id }) => id !== "jane"));
      await importAwards(world);
      assert.deepEqual(await publishedAt(t, world), ["Elm Group", "Elm Group"]);

      const restored = await restoreOf(t, world, backup);
      await importAwards(restored);
      assert.deepEqual(await publishedAt(t, restored), ["Elm Group"]);
    },
  );

forEachStore(
  "an older dataset goes once a limit is found to cover the GP of a person in it",
  async (t) => {
    const world = openPlace(await storePlace(t), temporaryFolder(t));
    const { importOf, json, text } = world;
    await importOf(atFirms("Oak Capital").slice(0, 2));
    const { version } = await importAwards(world);
    await text("suppress add", "Jane Roe", "--crd", "22", "--reason", "asked");
    assert.equal((await publishedAt(t, world)).length, 2);
    await importOf(atFirms("Oak Capital"));
    assert.deepEqual(await publishedAt(t, world), ["Elm Group", "Elm Group"]);
    assert.match(await refusalOf(world, version), /removed because of suppression 1/);
    const [one] = await json("suppress list");
    assert.deepEqual([one.gp_ids, one.applied_at === null], [mintId("gp", "own", "oak"), false]);
  },
);

forEachStore(
  "a limit of before GPs were remembered finds them before the next import",
  async (t) => {
    const world = openPlace(await storePlace(t), temporaryFolder(t));
    const { dataDir, databaseUrl, importOf, text } = world;
    await importOf(atFirms("Oak Capital"));
    await text("suppress add", "Jane Roe", "--gp", "Oak Capital", "--reason", "asked");
    const before =
      "alter table suppression drop column gp_ids; delete from schema_step where name like '%-suppressed-gps'";
    if (databaseUrl === null) changeDatabase(controlFile(dataDir), before);
    else {
      await runSql(databaseUrl, before);
      await text("migrate");
    }
    await importOf(atFirms("Acorn Group"));
    assert.deepEqual(await publishedAt(t, world), ["Elm Group"]);
  },
);

test("a suppression that would find nobody, too many, or put the name into the audit log is refused", async (t) => {
  const { start, refusal, json, text } = openPlace(await storePlace(t), temporaryFolder(t));
  const because = ["--reason", "asked"];
  for (const [args, words] of [
    [["Jane", ...because], /at least two words/],
    [["…", "--gp", "Oak", ...because], /at least two words/],
    [["Jane Roe", "--gp", ".", ...because], /--gp needs the name/],
    [["Jane Roe", "--gp", "Oak", "--cik", "5", ...because], /only one of/],
    [["Jane Roe", "--crd", "5x", ...because], /up to 10 digits/],
    [["Jane Roe", "--reason", "JANE ROE asked"], /must not contain the name/],
    [["Jane Roe", "--reason", " "], /--reason must not be empty/],
    [["Jane Roe"], /'--reason <text>' not specified/],
  ] as const)
    assert.match(await refusal(exitCodes.usage, "suppress add", ...args), words);
  assert.deepEqual(await json("suppress list"), []);
  assert.match(await refusal(exitCodes.conflict, "suppress remove 3"), /no suppression 3/);
  assert.equal((await start("suppress add", "Jane", "--crd", "5", ...because)).exitCode, 0);
  // Its number stays its own.
  await start("suppress remove 1");
  assert.equal((await json("suppress add", "Max Poe", ...because)).number, 2);
  const { number, known } = await json("suppress add", "MAX POÉ", ...because);
  assert.deepEqual([number, known], [2, true]);
  assert.match(
    await text("suppress add", "Max Poe", ...because),
    /^Suppression 2 was already in the list\.\nThe current dataset has no such name where the suppression applies\.\n/,
  );
});

test("a damaged current dataset is left for another one, which then loses whoever is suppressed", async (t) => {
  const world = await openWorld(t, await storePlace(t));
  const { dataDir, current, pinned, start } = world;
  writeFileSync(join(dataDir, "datasets", `${current}.sqlite`), "no dataset");
  const { exitCode, err } = await start("suppress add", "Jane Roe", "--reason", "asked");
  assert.notEqual(exitCode, exitCodes.done);
  assert.match(err, /'gp-records datasets publish VERSION'/);
  const { out } = await start("datasets publish", pinned);
  assert.deepEqual(await placesOf(t, world), ["suppression"]);
  const [, [version, isCurrent], ...others] = await rowsOf(world);
  assert.deepEqual([out, isCurrent, others], [`${version} is the current dataset.\n`, true, []]);
});

test("a damaged step is removed, as it may have anybody", async (t) => {
  const world = await openWorld(t, await storePlace(t));
  const { dataDir, pinned, current, json } = world;
  const step = join(dataDir, "datasets/changes", `changes-${pinned}..${current}.ndjson`);
  truncateSync(step, statSync(step).size - 9);
  await json("suppress add", "Max Poe", "--reason", "asked");
  assert.ok(!existsSync(step));
});

test("a suppression that is added while another one is applied is yet to be applied", async (t) => {
  const world = await openWorld(t, await storePlace(t));
  const { dataDir, json, importOf } = world;
  const control = await openControl(dataDir);
  t.after(() => control.close());
  const add = (name: string) => {
    const order = { name, gp: null, cik: null, crd: null, reason: "asked" };
    return control.write((transaction) => addSuppression(transaction, order, noon));
  };
  await add("Jane Roe");
  const folder = join(dataDir, "datasets");
  const store = openFolderStore({ folder, changesDays: 1, warn() {}, now: () => noon });
  const removeSteps: typeof store.removeSteps = async (isMeant) => {
    await add("Max Poe");
    return store.removeSteps(isMeant);
  };
  await withdraw({ ...store, removeSteps }, control, noon);
  const areApplied = async () =>
    (await json("suppress list")).map((one: any) => one.applied_at !== null);
  assert.deepEqual(await areApplied(), [true, false]);
  // The next import applies it; a trial of one only counts who would be withheld.
  const datasets = await rowsOf(world);
  const trial = await importOf(later, "--dry-run");
  assert.deepEqual([trial.outcome, trial.withheld > 0], ["dry_run", true]);
  assert.deepEqual([await rowsOf(world), await areApplied()], [datasets, [true, false]]);
  await importOf(later);
  assert.deepEqual(await areApplied(), [true, true]);
});

test("a restored list of people is applied to the datasets that stay", async (t) => {
  const world = await openWorld(t, await storePlace(t));
  const { dataDir, text } = world;
  const [whole, list] = ["whole.tar", "list.tar"].map((name) => join(temporaryFolder(t), name));
  await text("backup", whole!);
  await text("suppress add", "Jane Roe", "--reason", "asked");
  await text("backup --control", list!);
  for (const name of readdirSync(dataDir)) rmSync(join(dataDir, name), { recursive: true });
  assert.match(await text("restore", whole!), /suppress again whoever was suppressed since/);
  assert.ok((await placesOf(t, world)).length > 3);
  const trial = await text("restore", list!, "--replace", "--dry-run");
  const next = /is in force\. The next command that publishes a dataset applies all of them\./;
  assert.match(trial, /1 suppression is in force/);
  assert.match(trial, next);
  const said = await text("restore", list!, "--replace");
  assert.match(said, /1 suppression is in force\. The datasets contain none of these people\./);
  assert.deepEqual(await placesOf(t, world), ["suppression"]);
});
