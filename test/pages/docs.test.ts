import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createServer } from "node:http";
import { test, type TestContext } from "node:test";
import { hintCodes } from "#operations/envelope.ts";
import { formats } from "#operations/formats.ts";
import { operations } from "#operations/index.ts";
import { lists } from "#operations/lists.ts";
import { parametersOf } from "#operations/operation.ts";
import { callLines, exampleTarget } from "#pages/code-block.ts";
import { referenceOf } from "#operations/operation.ts";
import { operationPage, vocabularyPage } from "#pages/docs-operation.ts";
import { docsPage } from "#pages/docs.ts";
import { exampleRecords } from "#pages/example-records.ts";
import { declarations, membersOf, valueLists } from "#records/declarations.ts";
import { recordKinds } from "#records/kinds.ts";
import { closedLists } from "#records/vocabulary.ts";
import { outcomeOf } from "../support/command-line.ts";
import { listenFor } from "../support/ports.ts";
import { docsFacts, operationFacts } from "../support/public-pages.ts";
import { textOf } from "../support/record-pages.ts";
import { startService } from "../support/service.ts";

const page = docsPage(docsFacts);

/** Operation → its page. */
const pages = new Map(operations.map((one) => [one, operationPage(one, operationFacts)]));

/** Names of the parameters or members in a list of terms, and in what unfolds below it, in their order. */
function termsIn(page: string, label: string): string[] {
  const start = page.indexOf(`<dl class="terms" aria-label="${label}">`);
  const terms = page.slice(start, page.indexOf("<h2", start)).matchAll(/<dt>(.*?)<span>/gs);
  const names = (cell: string) =>
    Array.from(cell.matchAll(/<code>(.*?)<\/code>/g), ([, name]) => name!);
  return Array.from(terms, ([, cell]) => names(cell!)).flat();
}

test("every operation has a page with its parameters, each once, its example and a form", () => {
  for (const [operation, page] of pages) {
    assert.ok(page.includes(`GET ${operation.path}</code>`));
    assert.ok(page.includes(exampleTarget(operation).replaceAll("&", "&amp;")));
    const parameters = parametersOf(operation);
    assert.deepEqual(
      termsIn(page, `Parameters of ${operation.path}`).toSorted(),
      parameters.toSorted(),
    );
    const form = page.slice(page.indexOf('<form class="card try"'));
    if (operation.sorts !== null) assert.match(form, /<textarea data-pairs>/);
    else
      for (const name of parameters)
        assert.match(form, new RegExp(`<(input|textarea) name="${name}"`));
  }
});

test("every order of a list is in the entry of sort, with the default", () => {
  for (const operation of Object.values(lists)) {
    const { name, sorts } = operation;
    const page = pages.get(operation)!;
    const entry = page.slice(page.indexOf("<dt><code>sort</code>"));
    const words = entry.slice(0, entry.indexOf("</dd>"));
    assert.ok(words.includes(`<span>default <code>${sorts![0]}</code></span>`), name);
    for (const sort of sorts!)
      assert.ok(words.includes(`<code>${sort.replace(/^-/, "")}</code>`), `${name} ${sort}`);
  }
});

test("every group of fields has a name of its own, and every field is inside its label", () => {
  for (const [{ path }, page] of pages) {
    const names = [...page.matchAll(/<fieldset\b[^>]*\saria-label="([^"]+)"/g)].map(
      ([, name]) => name,
    );
    assert.deepEqual(names, [`Request to ${path}`]);
    const content = page.slice(page.indexOf("<main"));
    const fields = content.match(/<(input|textarea)\b/g)!.length;
    const labelled = content.match(/<label\s*>(?:(?!<\/label>).)*?<(input|textarea)\b/gs)!.length;
    assert.equal(labelled, fields);
  }
});

test("every member of every record is on the page, which says which may be null", () => {
  for (const [{ path, kind }, page] of pages) {
    const members = membersOf(declarations[kind].schema);
    assert.deepEqual(
      termsIn(page, `Members of each record of ${path}`),
      members.map(([name]) => name),
    );
    const list = page.slice(page.indexOf(`aria-label="Members of each record of ${path}"`));
    for (const [member, schema] of members) {
      const [, type = ""] =
        new RegExp(`<dt><code>${member}</code>\\s*<span>(.*?)</span>`, "s").exec(list) ?? [];
      const where = `${path} ${member}`;
      assert.equal(type.endsWith(" or null"), [schema.type].flat().includes("null"), where);
      assert.doesNotMatch(type, /^(any|undefined|)$/, where);
    }
  }
});

test("every closed list stands in the vocabulary once, where the members that take it link to", () => {
  assert.equal(valueLists.length, Object.keys(closedLists).length);
  const vocabulary = vocabularyPage(docsFacts.site, null);
  const linked = new Set(
    Array.from(
      [...pages.values()].join("").matchAll(/"\/docs\/vocabulary#([^"]+)"/g),
      ([, to]) => to!,
    ),
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
  for (const page of pages.values()) assert.ok(page.includes("whole number, 1 to 250"));
  assert.match(page, /"minute";q=60;w=60/);
  for (const number of ["3,600", "1,000", "86,400", "10,000"])
    assert.ok(page.includes(`>${number}</td>`), number);
  for (const { mediaType } of formats)
    assert.ok(page.includes(`<code>${mediaType}</code>`), mediaType);
});

// That they fit their schemas is told in test/http/describe-api.test.ts.
test("the example records are what the schemas describe, member for member", () => {
  for (const kind of recordKinds)
    assert.deepEqual(
      Object.keys(exampleRecords[kind]),
      membersOf(declarations[kind].schema).map(([name]) => name),
    );
});

test("the field of the key has no name, so no form can put the key into an address", () => {
  for (const page of pages.values()) {
    const fields = page.match(/<input[^>]*type="password"[^>]*>/g)!;
    assert.equal(fields.length, 1);
    for (const field of fields) {
      assert.doesNotMatch(field, /\sname=/);
      assert.match(field, /autocomplete="off"/);
    }
  }
});

/** The code of a block, as a browser would copy it. */
function codeIn(page: string, label: string): string {
  const [, code = ""] =
    new RegExp(`aria-label="${RegExp.escape(label)}"><code>(.*?)</code>`, "s").exec(page) ?? [];
  assert.notEqual(code, "", label);
  return textOf(code);
}

test("the samples on the page of each operation run as they are, but for the host and the key", async (t) => {
  const service = await startService(t);
  const environment = { ...process.env, GP_RECORDS_KEY: service.key };
  for (const operation of operations) {
    const { text: page } = await service.get(referenceOf(operation), { "x-api-key": "" });
    const sample = (language: string) =>
      codeIn(page, `Request: ${language}`).replace("https://YOUR_HOST", service.url);
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
  const { text: page } = await service.get("/docs", { "x-api-key": "" });
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
