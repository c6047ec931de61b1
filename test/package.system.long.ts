import assert from "node:assert/strict";
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { lists } from "#operations/lists.ts";
import { type RecordKind, recordKinds } from "#records/kinds.ts";
import { project } from "./datasets/published.ts";
import { hasOutside, outsideFolder } from "./outside/outside.ts";
import { cast } from "./support/cast.ts";
import { outcomeOf } from "./support/command-line.ts";
import { roomy } from "./support/own-process.ts";
import { spawnServer } from "./support/server-process.ts";
import { startService } from "./support/service.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

/** Those of the checkout that runs the test, which npm passes on, are not those of its copy. */
const ownSettings = {
  npm_config_ignore_scripts: undefined,
  npm_config_pack_destination: undefined,
};
const { files } = JSON.parse(readFileSync("package.json", "utf8")) as { files: string[] };

/** @throws AssertionError with what it said, where it fails. @returns what it printed. */
async function runIn(folder: string, command: string, settings: NodeJS.ProcessEnv = {}) {
  const environment = { ...process.env, ...settings };
  const { exitCode, out, err } = await outcomeOf(
    "sh",
    ["-c", `cd '${folder}' && ${command}`],
    environment,
  );
  assert.equal(exitCode, 0, err + out);
  return out;
}

/** A copy of this checkout, in which a package can be made. */
function copyCheckout(t: TestContext): string {
  const copy = temporaryFolder(t);
  const own = "src packaging package.json tsconfig.json README.md LICENSE .npmrc".split(" ");
  for (const part of [...files.filter((name) => !/^!?lib\b/.test(name)), ...own])
    if (existsSync(part)) cpSync(part, join(copy, part), { recursive: true });
  symlinkSync(realpathSync("node_modules"), join(copy, "node_modules"));
  return copy;
}

/** @returns the path of the package. */
async function pack(t: TestContext): Promise<string> {
  const copy = copyCheckout(t);
  const packed = await runIn(copy, "npm pack --silent --ignore-scripts=false", ownSettings);
  return join(copy, "lib", packed.trim().split("\n").at(-1)!);
}

const methodOf = (kind: RecordKind) =>
  `list${kind === "gp" ? "Gp" : kind.charAt(0).toUpperCase() + kind.slice(1)}s`;

/** Every filter of a list, with a value. */
const filtersOf = (kind: RecordKind) =>
  Object.entries(lists[kind].filters).map(([name, { form, valuesMax }]) => {
    const one = { number: 1, flag: true, date: "2026", text: "x", value: "dallas" }[form];
    return { [name]: valuesMax > 1 ? [one] : one };
  });

/** Calls of each list with every one of its filters, and nothing that is none, as a program in TypeScript. */
const listCalls = recordKinds
  .map((kind) => {
    const page = { sort: "id", limit: 1, offset: 1 };
    const all = JSON.stringify(Object.assign({}, ...filtersOf(kind), page));
    return `const ${kind}Parameters: Required<ListParameters<"${kind}">> = ${all};\nrecords.${methodOf(kind)}(${kind}Parameters);`;
  })
  .join("\n");

/** An empty folder into which the package is installed, as whoever uses it does. */
async function install(t: TestContext, archive: string): Promise<string> {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, "package.json"), '{ "type": "module", "private": true }');
  await runIn(folder, `npm install --silent --ignore-scripts --prefer-offline '${archive}'`);
  return folder;
}

test("a package without its program is not made, and one that was says what to do", async (t) => {
  const copy = copyCheckout(t);
  const packing = `cd '${copy}' && npm pack --ignore-scripts --loglevel error`;
  const { exitCode, err } = await outcomeOf("sh", ["-c", packing], {
    ...process.env,
    ...ownSettings,
  });
  assert.notEqual(exitCode, 0);
  assert.match(err, /ENOENT.*lib\/gp-records-.*\.tgz/);
  assert.deepEqual(globSync("**/*.tgz", { cwd: copy }), []);

  const packed = await runIn(copy, "npm pack --silent --ignore-scripts --pack-destination .");
  await runIn(copy, `tar -xzf '${packed.trim()}'`);
  const launcher = join(copy, "package", "bin", "gp-records");
  const started = await outcomeOf(process.execPath, [launcher, "--version"], process.env);
  assert.deepEqual([started.exitCode, started.out], [2, ""]);
  assert.match(
    started.err,
    /^error: .* lacks the folder lib.*npm pack --ignore-scripts=false.*\n$/,
  );
});

test("what is packed runs where it is installed: the program, and the engine as a library", async (t) => {
  const folder = await install(t, await pack(t));
  const installed = join(folder, "node_modules", "gp-records");

  await t.test("the package holds JavaScript, and nothing that only developers need", () => {
    for (const path of ["src", "test", "bench", "packaging", ".github"])
      assert.equal(existsSync(join(installed, path)), false, path);
    assert.ok(existsSync(join(installed, "lib", "cli", "main.js")));
  });

  await t.test("its command imports, and starts the demo from an empty folder", async (t) => {
    const command = join(folder, "node_modules", ".bin", "gp-records");
    const run = (dataDir: string, args: string) =>
      runIn(folder, `'${command}' ${args}`, { DATA_DIR: dataDir });
    const dataDir = temporaryFolder(t);
    const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
    assert.match(await run(dataDir, "--version"), new RegExp(`\\b${RegExp.escape(version)}\\b`));
    assert.equal(
      await run(dataDir, "openapi"),
      readFileSync(join(installed, "openapi.json"), "utf8"),
    );
    const records = join(installed, "examples", "records.ndjson");
    await run(dataDir, `import ndjson '${records}' --source mine`);

    const demo = spawnServer(t, {
      dataDir: temporaryFolder(t),
      args: ["--demo"],
      main: join(installed, "lib", "cli", "main.js"),
    });
    const answer = await fetch(`${await demo.address}/ready`);
    assert.equal(answer.status, 200);
    demo.signal("SIGTERM");
    assert.equal((await demo.ended).exitCode, 0, demo.err());
  });

  await t.test("its types are those of the answers, for a program that imports it", async () => {
    const program = `import { type ListParameters, open, Problem, type Records } from "gp-records";
const records: Records = await open("data");
const [gp] = records.fetchGp({ gp_name: "north", tag: ["ai", "qof"], limit: 5 }).json().data;
const name: string | undefined = gp?.name;
const titles: string[] = records.fetchSignals().json().data.map(({ title }) => title);
// @ts-expect-error: the name is required.
records.fetchGp({});
${listCalls}
// @ts-expect-error: a GP is listed without its principals.
records.listGps().json().data[0]?.principals;
console.log(name, titles, Problem);
`;
    writeFileSync(join(folder, "typed.ts"), program);
    const options = "--noEmit --strict --module nodenext --target esnext";
    const tsc = realpathSync(join("node_modules", ".bin", "tsc"));
    const types = `--typeRoots '${realpathSync("node_modules/@types")}' --types node`;
    await runIn(folder, `'${tsc}' ${options} ${types} typed.ts`);
  });

  await t.test(
    "it answers byte for byte what the service does, on Node 26 and Node 24",
    async (t) => {
      const inDallas = project("yard", { market: "Dallas-Fort Worth-Arlington, TX" });
      const service = await startService(t, { records: [...cast, inDallas] });
      const { key } = await service.newKey({ quotas: roomy });
      const names = ["north", "stone", "kk", "société", "jp morgan", "zzz"];
      const facets = [{}, { tag: "ai" }, { tag: ["ai", "qof"], market: "dallas" }, { theme: "x" }];
      const bounds = [{}, { limit: 1, offset: 1 }, { limit: 100 }, { limit: 0 }];
      const asked: (readonly [method: string, parameters: object])[] = names.flatMap((gp_name) =>
        facets.flatMap((facet) =>
          bounds.flatMap((page) => [
            ["fetchGp", { gp_name, ...facet, ...page }] as const,
            ["fetchPrincipals", { ...facet, ...page }] as const,
            ["fetchSignals", { gp_name, ...page }] as const,
            ["fetchProjects", page] as const,
            ["listPrincipals", { ...facet, ...page }] as const,
          ]),
        ),
      );
      asked.push(
        ["listGps", { signal_date_from: "-400d", sort: "-aum_usd", limit: 3 }],
        ["listGps", { property_type: ["multifamily", "retail"], updated_at_to: "2026-12" }],
        ["listSignals", { has_gp: false }],
        ["listProjects", { units_min: 100, status: "planned", sort: "-units" }],
        ["listProjects", { units_min: 2, units_max: 1, status: "planed", sort: "size" }],
        ...recordKinds.flatMap((kind) =>
          filtersOf(kind).map((filter) => [methodOf(kind), filter] as const),
        ),
      );
      const path = (method: string) => `/${method.replace(/[A-Z]/, (c) => `-${c.toLowerCase()}`)}`;
      const served = [];
      for (const [method, parameters] of asked) {
        const pairs = Object.entries(parameters).flatMap(([name, value]) =>
          [value].flat().map((one) => [name, String(one)]),
        );
        const query = new URLSearchParams(pairs).toString();
        const { status, text, body } = await service.get(`${path(method)}?${query}`, {
          "x-api-key": key,
        });
        served.push(status === 200 ? text : JSON.stringify(body.errors));
      }
      writeFileSync(join(folder, "asked.json"), JSON.stringify(asked));
      const program = `import { readFileSync } from "node:fs";
import { open, Problem } from "gp-records";
const records = await open(process.argv[2]);
const answers = JSON.parse(readFileSync("asked.json", "utf8")).map(([method, parameters]) => {
  try {
    const answer = records[method](parameters);
    return new TextDecoder().decode(answer.body);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return JSON.stringify(error.members.errors);
  }
});
process.stdout.write(JSON.stringify(answers));
`;
      writeFileSync(join(folder, "ask.js"), program);
      const nodes = [process.execPath];
      if (hasOutside(t, "node-24")) nodes.push(join(outsideFolder, "node-24", "bin", "node"));
      for (const node of nodes) {
        const out = await runIn(folder, `'${node}' ask.js '${service.dataDir}'`);
        const answers = JSON.parse(out) as string[];
        assert.equal(answers.length, served.length);
        for (const [i, answer] of answers.entries())
          assert.equal(answer, served[i], `${node} ${JSON.stringify(asked[i])}`);
      }
    },
  );

  await t.test("the samples of docs/library.md run there", async () => {
    const samples = [...readFileSync("docs/library.md", "utf8").matchAll(/^```js\n(.*?)^```/gms)];
    assert.ok(samples.length > 0);
    mkdirSync(join(folder, "data"));
    cpSync(join("examples", "records.ndjson"), join(folder, "records.ndjson"));
    const command = join(folder, "node_modules", ".bin", "gp-records");
    await runIn(folder, `'${command}' import ndjson records.ndjson --source mine`, {
      DATA_DIR: join(folder, "data"),
    });
    for (const [, sample = ""] of samples) {
      writeFileSync(join(folder, "sample.js"), sample);
      await runIn(folder, `'${process.execPath}' sample.js`);
    }
  });
});
