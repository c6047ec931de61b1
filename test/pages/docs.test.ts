import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import { test, type TestContext } from "node:test";
import { Compile } from "typebox/compile";
import { hintCodes } from "#operations/envelope.ts";
import { formats } from "#operations/formats.ts";
import { fetchOperations, listOperations, operations } from "#operations/index.ts";
import { type Operation, parametersOf } from "#operations/operation.ts";
import { callLines, exampleTarget } from "#pages/code-block.ts";
import { listsPage } from "#pages/docs-lists.ts";
import { vocabularyPage } from "#pages/docs-vocabulary.ts";
import { docsPage } from "#pages/docs.ts";
import { exampleRecords } from "#pages/example-records.ts";
import { declarations, membersOf, valueLists } from "#records/declarations.ts";
import { recordKinds } from "#records/kinds.ts";
import { closedLists } from "#records/vocabulary.ts";
import { outcomeOf } from "../support/command-line.ts";
import { listenFor } from "../support/ports.ts";
import { docsFacts } from "../support/public-pages.ts";
import { startService } from "../support/service.ts";

const page = docsPage(docsFacts);
const lists = listsPage(docsFacts.site, null, docsFacts.pageSizeMax);

/** The part of a page below the heading with this id. */
function sectionOf(name: string, of = page): string {
  const [, heading] = new RegExp(`(<h[23] id="${name}">)`).exec(of) ?? [];
  assert.notEqual(heading, undefined, name);
  const start = of.indexOf(heading!);
  return of.slice(start, of.indexOf("</section>", start));
}

test("every operation has its parameters in a list and in a form", () => {
  for (const operation of fetchOperations) {
    const section = sectionOf(operation.name);
    assert.ok(section.includes(`<code>GET ${operation.path}</code>`));
    assert.ok(section.includes(exampleTarget(operation)));
    for (const name of parametersOf(operation)) {
      assert.ok(section.includes(`<dt><code>${name}</code> <span>`), name);
      assert.match(section, new RegExp(`<(input|textarea) name="${name}"`));
    }
    assert.equal(section.match(/ name="/g)?.length, parametersOf(operation).length);
  }
});

/** Names of the parameters of a section, in their order. */
const namesIn = (section: string): string[] =>
  Array.from(section.matchAll(/<dt>(.*?)<span>/gs), ([, cell]) =>
    Array.from(cell!.matchAll(/<code>(.*?)<\/code>/g), ([, name]) => name!),
  ).flat();

test("every list has its parameters in its list or in that of all lists, each once, and a form for any of them", () => {
  const common = namesIn(sectionOf("every-list", lists));
  for (const operation of listOperations) {
    const section = sectionOf(operation.name, lists);
    assert.ok(section.includes(`<code>GET ${operation.path}</code>`));
    assert.ok(section.includes(exampleTarget(operation).replaceAll("&", "&amp;")));
    const names = [...common, ...namesIn(section)];
    assert.deepEqual(names.toSorted(), [...parametersOf(operation)].toSorted());
    assert.match(section, /<textarea data-pairs>/);
  }
});

test("every order of a list is in the row of sort, with the default", () => {
  for (const { name, sorts } of listOperations) {
    const section = sectionOf(name, lists);
    const row = section.slice(section.indexOf("<dt><code>sort</code>"));
    const cells = row.slice(0, row.indexOf("</dd>"));
    assert.ok(cells.includes(`<span>default <code>${sorts![0]}</code></span>`), name);
    for (const sort of sorts!)
      assert.ok(cells.includes(`<code>${sort.replace(/^-/, "")}</code>`), `${name} ${sort}`);
  }
});

/** Pages with forms, and the operations to which they send requests. */
const withForms: readonly (readonly [page: string, operations: readonly Operation[]])[] = [
  [page, fetchOperations],
  [lists, listOperations],
];

test("every group of fields has a name of its own, and every field is inside its label", () => {
  for (const [page, operations] of withForms) {
    const names = [...page.matchAll(/<fieldset\b[^>]*\saria-label="([^"]+)"/g)].map(
      ([, name]) => name,
    );
    assert.deepEqual(
      names,
      operations.map(({ path }) => `Request to ${path}`),
    );
    assert.equal(page.match(/<fieldset/g)?.length, operations.length);
    const content = page.slice(page.indexOf("<main"));
    const fields = content.match(/<(input|textarea)\b/g)!.length;
    const labelled = content.match(/<label\s*>(?:(?!<\/label>).)*?<(input|textarea)\b/gs)!.length;
    assert.equal(labelled, fields);
  }
});

test("every member of every record is in its table, which says which may be null", () => {
  for (const { name, kind } of fetchOperations) {
    const section = sectionOf(name);
    for (const [member, schema] of membersOf(declarations[kind].schema)) {
      const row = section.slice(section.indexOf(`<th scope="row"><code>${member}</code></th>`));
      const type = row.slice(0, row.indexOf("</tr>"));
      assert.equal(
        type.includes(" or null</td>"),
        [schema.type].flat().includes("null"),
        `${name} ${member}`,
      );
      assert.doesNotMatch(type, /<td>(any|undefined|)<\/td>/, `${name} ${member}`);
    }
  }
});

test("every closed list stands in the vocabulary once, where the members that take it link to", () => {
  assert.equal(valueLists.length, Object.keys(closedLists).length);
  const vocabulary = vocabularyPage(docsFacts.site, null);
  const linked = new Set(
    Array.from(`${page}${lists}`.matchAll(/"\/docs\/vocabulary#([^"]+)"/g), ([, to]) => to!),
  );
  assert.ok(linked.size > 5);
  for (const to of linked) assert.equal(vocabulary.split(`<h3 id="${to}">`).length, 2, to);
  for (const { members, values } of valueLists) {
    const section = vocabulary.slice(vocabulary.indexOf(`<h3 id="values-${members[0]}">`));
    const table = section.slice(0, section.indexOf("</table>"));
    const shown = Array.from(
      table.matchAll(/<th scope="row"><code>(.*?)<\/code>/g),
      ([, one]) => one,
    );
    assert.deepEqual(
      shown,
      values.map(({ value }) => value),
    );
  }
});

test("every hint code is on the page", () => {
  for (const code of hintCodes)
    assert.ok(page.includes(`<th scope="row"><code>${code}</code></th>`), code);
});

test("the page has the numbers of the service", () => {
  assert.ok(page.includes("whole number, 1 to 250"));
  assert.match(page, /"minute";q=60;w=60/);
  for (const number of ["3,600", "1,000", "86,400", "10,000"])
    assert.ok(page.includes(`>${number}</td>`), number);
  for (const { mediaType } of formats)
    assert.ok(page.includes(`<code>${mediaType}</code>`), mediaType);
});

test("the example records are what the schemas describe, member for member", () => {
  for (const kind of recordKinds) {
    const { schema } = declarations[kind];
    const validator = Compile(schema);
    assert.deepEqual(validator.Errors(exampleRecords[kind]), [], kind);
    assert.deepEqual(
      Object.keys(exampleRecords[kind]),
      membersOf(schema).map(([name]) => name),
    );
  }
});

test("the field of the key has no name, so no form can put the key into an address", () => {
  for (const [page, operations] of withForms) {
    const fields = page.match(/<input[^>]*type="password"[^>]*>/g)!;
    assert.equal(fields.length, operations.length);
    for (const field of fields) {
      assert.doesNotMatch(field, /\sname=/);
      assert.match(field, /autocomplete="off"/);
    }
  }
});

const characters: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&#34;": '"',
  "&#39;": "'",
};

/** The code of a block, as a browser would copy it. */
function codeIn(page: string, label: string): string {
  const [, code = ""] =
    new RegExp(`aria-label="${RegExp.escape(label)}"><code>(.*?)</code>`, "s").exec(page) ?? [];
  assert.notEqual(code, "", label);
  return code
    .replaceAll(/<\/?span[^>]*>/g, "")
    .replaceAll(/&(?:amp|lt|gt|#34|#39);/g, (one) => characters[one]!);
}

test("the samples of each operation at /docs/samples run as they are, but for the host and the key", async (t) => {
  const service = await startService(t);
  const { text: page } = await service.get("/docs/samples", { "x-api-key": "" });
  const environment = { ...process.env, GP_RECORDS_KEY: service.key };
  for (const { path } of operations) {
    const sample = (language: string) =>
      codeIn(page, `The request to ${path}: ${language}`).replace("https://YOUR_HOST", service.url);
    const runs: [string, string[]][] = [
      [
        "sh",
        ["-c", sample("curl").replace("YOUR_KEY", service.key).replace("curl ", "curl -sSf ")],
      ],
      [process.execPath, ["--input-type=module-typescript", "-e", sample("TypeScript")]],
    ];
    if (isThere("python3")) runs.push(["python3", ["-c", sample("Python")]]);
    const outcomes = runs.map(([command, args]) => outcomeOf(command, args, environment));
    for (const { exitCode, out, err } of await Promise.all(outcomes)) {
      assert.equal(exitCode, 0, err);
      assert.match(out, /\bpagination\b/);
    }
  }
});

test("what copies are kept by is named on a page that clients can read, at the paths that are served", async (t) => {
  const service = await startService(t, { settings: { EXPORTS: "on" } });
  const { text: page } = await service.get("/docs/samples", { "x-api-key": "" });
  const named = page.matchAll(/<code>(?:GET )?(\/(?:changes|exports)[a-z.]*)<\/code>/g);
  const paths = new Set(Array.from(named, ([, path = ""]) => path));
  assert.deepEqual(paths, new Set(["/changes", "/changes.atom", "/exports"]));
  for (const path of paths) assert.equal((await service.get(path)).status, 200, path);
});

/** Notes what it is asked and with which key, and gives an empty answer. */
async function listen(t: TestContext) {
  const asked: (readonly [target: string | undefined, key: unknown])[] = [];
  const server = createServer((request, response) => {
    asked.push([request.url, request.headers["x-api-key"]]);
    response.end('{"data":[],"pagination":{"total":0}}');
  });
  return { asked, base: `http://127.0.0.1:${await listenFor(t, server)}` };
}

const isThere = (command: string) => spawnSync(command, ["--version"]).status === 0;

const target = "/fetch-gp?gp_name=o%27brien+%22%26%24%28id%29&tag=a%2Cb&limit=5";
const key = `it's "a" $(key) \`of\` \\n mine`;

for (const [name, language, command, ...options] of [
  ["curl", "curl", "sh", "-c"],
  ["python3", "python", "python3", "-c"],
  ["node", "typescript", process.execPath, "--input-type=module-typescript", "-e"],
] as const)
  test(`the lines for ${name} send that call with that key, whatever both hold`, async (t) => {
    if (!isThere(name)) return t.skip(`skipped: no ${name}`);
    const { asked, base } = await listen(t);
    const lines = callLines({ base, target, key })[language];
    const environment = { PATH: process.env["PATH"], GP_RECORDS_KEY: key };
    const { exitCode, err } = await outcomeOf(command, [...options, lines], environment);
    assert.equal(exitCode, 0, err);
    assert.deepEqual(asked, [[target, key]]);
  });

test("without a key the lines hold a placeholder, and code never holds a key", () => {
  const base = "http://127.0.0.1:8080";
  const { curl, environment } = callLines({ base, target });
  for (const lines of [curl, environment]) assert.match(lines, /\bYOUR_KEY\b/);
  const { typescript, python } = callLines({ base, target, key });
  for (const lines of [typescript, python]) assert.ok(!lines.includes(key));
});
