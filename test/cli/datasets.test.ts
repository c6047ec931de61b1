import assert from "node:assert/strict";
import { renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout } from "node:timers/promises";
import { exitCodes } from "#cli/command-fault.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { commandInOwnProcess } from "../support/command-line.ts";
import { allCommands } from "../support/all-commands.ts";
import { importRecords, storeOf } from "../support/dataset.ts";
import { newKey, roomy } from "../support/own-process.ts";
import { type ServerAnswer, startServer } from "../support/server-process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const acme = { record: "gp", id: "acme", name: "Acme Capital" };
const birch = { record: "gp", id: "birch", name: "Birch Partners" };
const publishedAt = "2026-11-21T12:00:00Z";

/** A data folder with two datasets: one of one GP, and the current one of two. */
async function twoDatasets(t: TestContext) {
  const dataDir = temporaryFolder(t);
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const { published: older } = await importRecords(catalogue, [acme]);
  const { published: newer } = await importRecords(catalogue, [acme, birch]);
  const commands = allCommands(dataDir);
  const current = async () => (await commands.json("datasets", "show")).version;
  return { dataDir, catalogue, older: older!.version, newer: newer!.version, current, ...commands };
}

test("datasets list shows every dataset, oldest first, and which one is served", async (t) => {
  const { older, newer, text, json } = await twoDatasets(t);
  const published_at = "2026-11-20T03:00:00Z";
  const either = { staged: false, outdated: false, pinned: false, published_at };
  assert.deepEqual(await json("datasets", "list"), [
    { version: older, records: 1, current: false, ...either },
    { version: newer, records: 2, current: true, ...either },
  ]);
  const [headings, first, second] = (await text("datasets", "list")).split("\n");
  assert.match(headings!, /^VERSION +RECORDS +STATE +PUBLISHED$/);
  assert.equal(first!.replaceAll(/ +/g, " "), `${older} 1 ${published_at}`);
  assert.equal(second!.replaceAll(/ +/g, " "), `${newer} 2 current ${published_at}`);
});

test("commands that only look end with one line where a file cannot be read, as what another user left", async (t) => {
  const { dataDir, catalogue, older, newer, refusal } = await twoDatasets(t);
  // The memory of a process can be opened and its first byte not be read, whoever asks: root may read any file.
  const hide = (path: string) => {
    renameSync(path, `${path}.aside`);
    symlinkSync("/proc/self/mem", path);
  };
  hide(catalogue.pathOf(newer));
  const oneLine = `error: ${dataDir} cannot be used (EIO). Give this user write access to it, or name another folder with DATA_DIR.\n`;
  assert.equal(await refusal(exitCodes.usage, "datasets", "diff", older, newer), oneLine);
  hide(join(catalogue.folder, "current"));
  for (const name of ["list", "show"])
    assert.equal(await refusal(exitCodes.usage, "datasets", name), oneLine);
});

test("datasets list tells which datasets are staged, and which of them lack what came since", async (t) => {
  const { catalogue, text, json } = await twoDatasets(t);
  const stage = async (id: string) =>
    (await importRecords(catalogue, [acme, birch, { ...acme, id }], { isStaged: true })).staged!;
  const { version } = await stage("x");
  await stage("y");
  const states = async () =>
    (await text("datasets", "list"))
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((line) => line.split(/  +/)[2]);
  assert.deepEqual(await states(), ["2026-11-20T03:00:00Z", "current", "staged", "staged"]);
  await text("datasets", "publish", version);
  assert.deepEqual((await states()).slice(2), ["current", "staged, outdated"]);
  const rows = (await json("datasets", "list")) as { staged: boolean; outdated: boolean }[];
  assert.deepEqual(
    rows.map(({ staged, outdated }) => [staged, outdated]),
    [
      [false, false],
      [false, false],
      [false, false],
      [true, true],
    ],
  );
});

test("datasets show tells all of the current dataset, or of the one that is named", async (t) => {
  const { older, newer, catalogue, text, json } = await twoDatasets(t);
  assert.deepEqual(await json("datasets", "show"), { ...catalogue.find(newer), current: true });
  assert.deepEqual(await json("datasets", "show", older), {
    ...catalogue.find(older),
    current: false,
  });
  const shown = await text("datasets", "show", older);
  assert.match(shown, new RegExp(`^version +${older}$`, "m"));
  assert.match(shown, /^current +no$/m);
  assert.match(shown, /^gp records +1$/m);
});

test("datasets publish and rollback choose what is served, and say so", async (t) => {
  const { older, newer, text, json, current } = await twoDatasets(t);
  assert.deepEqual(await json("datasets", "rollback"), {
    version: older,
    published_at: publishedAt,
    pruned: [],
  });
  assert.equal(await current(), older);
  assert.deepEqual(await json("datasets", "publish", newer), {
    version: newer,
    published_at: publishedAt,
    pruned: [],
  });
  assert.equal(await current(), newer);
  assert.equal(await text("datasets", "rollback"), `${older} is the current dataset.\n`);
});

test("a dataset that is not there, or none older, ends with 4 and changes nothing", async (t) => {
  const { older, refusal, text, current } = await twoDatasets(t);
  for (const name of ["20300101T000000Z-00000000", "../current", ""])
    for (const what of ["show", "publish"])
      assert.equal(
        await refusal(exitCodes.conflict, "datasets", what, name),
        `error: There is no dataset '${name}'; 'gp-records datasets list' shows all datasets.\n`,
      );
  await text("datasets", "rollback");
  assert.match(
    await refusal(exitCodes.conflict, "datasets", "rollback"),
    /^error: There is no dataset before the current one;.*\n$/,
  );
  assert.equal(await current(), older);
});

test("without any dataset the commands say so and how to make one", async (t) => {
  const { text, json, refusal } = allCommands(join(temporaryFolder(t), "new"));
  assert.equal(
    await text("datasets", "list"),
    "There is no dataset yet; 'gp-records import' makes one.\n",
  );
  assert.deepEqual(await json("datasets", "list"), []);
  assert.equal(
    await refusal(exitCodes.conflict, "datasets", "show"),
    "error: There is no dataset yet; 'gp-records import' makes one.\n",
  );
  assert.match(
    await refusal(exitCodes.conflict, "datasets", "rollback"),
    /no dataset before the current one/,
  );
});

test("while an import runs no dataset is chosen, but all can be looked at", async (t) => {
  const { dataDir, newer, refusal, current } = await twoDatasets(t);
  const folder = openCatalogue(join(dataDir, "datasets"));
  t.after(await storeOf(folder, Date.now()).take());
  for (const args of [["rollback"], ["publish", newer]])
    assert.match(
      await refusal(exitCodes.busy, "datasets", ...args),
      /^error: Another import is running on .*: process \d+, since .*\n$/,
    );
  assert.equal(await current(), newer);
});

/** A running server needs two seconds, one on a busy machine more. */
const noticedWithinMilliseconds = 30_000;

test("a running server takes over what commands publish, within two seconds and without an error", async (t) => {
  const dataDir = temporaryFolder(t);
  const file = join(dataDir, "records.ndjson");
  const write = (...records: object[]) =>
    writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  await importRecords(openCatalogue(join(dataDir, "datasets")), [acme]);
  const headers = { "x-api-key": await newKey(dataDir, "Acme", roomy) };
  const server = await startServer(t, { dataDir });
  const ask = (tag = "") =>
    server.get(
      "/fetch-gp?gp_name=partners",
      tag === "" ? headers : { ...headers, "if-none-match": tag },
    );
  const totalOf = ({ body }: ServerAnswer) => body.pagination.total as number;
  /** Asks without a pause; none of the answers may be an error. */
  const askUntil = async (isMet: (answer: ServerAnswer) => boolean) => {
    const deadline = performance.now() + noticedWithinMilliseconds;
    for (;;) {
      const answer = await ask();
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      if (isMet(answer)) return answer;
      assert.ok(performance.now() < deadline, "the new dataset is not served in time");
      await setTimeout(10);
    }
  };

  const old = await ask();
  assert.equal(totalOf(old), 0);
  const oldTag = old.headers.get("etag")!;
  assert.equal((await ask(oldTag)).status, 304);

  write(acme, birch);
  const done = await commandInOwnProcess(
    ["import", "ndjson", file, "--source", "own", "--json"],
    dataDir,
  );
  assert.equal(done.exitCode, exitCodes.done, done.err);
  const { body, headers: received } = await askUntil((answer) => totalOf(answer) === 1);
  assert.equal(body.meta.dataset_version, JSON.parse(done.out).version);
  assert.equal((await ask(oldTag)).status, 200);

  write({ ...acme, name: "." });
  const { refusal, text } = allCommands(dataDir);
  await refusal(exitCodes.inputRefused, "import", "ndjson", file, "--source", "own");
  assert.equal((await ask(received.get("etag")!)).status, 304);

  await text("datasets", "rollback");
  const back = await askUntil((answer) => totalOf(answer) === 0);
  assert.equal(back.headers.get("etag"), oldTag);
  assert.equal((await ask(oldTag)).status, 304);
  assert.equal((await ask(received.get("etag")!)).status, 200);
});
