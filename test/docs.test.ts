import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { exitCodes } from "#cli/command-fault.ts";
import { settings, settingNames } from "#config/settings.ts";
import { hintCodes } from "#operations/envelope.ts";
import { fetches } from "#operations/fetches.ts";
import { operations } from "#operations/index.ts";
import { lists } from "#operations/lists.ts";
import { parametersOf } from "#operations/operation.ts";
import { apiVersions } from "#operations/versions.ts";
import {
  parameterFaultCodes,
  problemCodes,
  type ProblemKind,
  problemKinds,
} from "#problems/kinds.ts";
import { declarations, membersOf } from "#records/declarations.ts";
import { closedLists } from "#records/vocabulary.ts";
import { confidenceOf } from "#sponsors/evidence.ts";
import { faults } from "../faults/index.ts";
import { listCommands } from "./support/all-commands.ts";
import { fixedClock, startService } from "./support/service.ts";

const page = (name: string) => readFileSync(name, "utf8");
const pages = [...globSync("*.md"), ...globSync("docs/**/*.md"), "eval/rules.md", "test/README.md"];

/** First cells of the rows of all tables of a page, without their code marks. */
const rowsOf = (text: string) => [...text.matchAll(/^\| `([^`]+)` \|/gm)].map(([, cell]) => cell!);

test("every operation and every parameter stands in docs/api.md, and no other", () => {
  const text = page("docs/api.md");
  const [changes, python] = [JSON.stringify(apiVersions), page("clients/python/gp_records.py")];
  for (const { path } of operations) {
    assert.match(text, new RegExp(`\`GET ${path}\``));
    assert.ok(changes.includes(`\`${path}\``), path);
    for (const call of ["_fetch_page", "_list"])
      assert.ok(python.includes(`self.${call}("${path}"`));
  }
  const documented = rowsOf(text.slice(text.indexOf("## Parameters"), text.indexOf("## Matching")));
  assert.deepEqual(documented, [...new Set(Object.values(fetches).flatMap(parametersOf))]);
});

test("every parameter of every list stands in docs/api.md, with the default of sort, and no other", () => {
  const text = page("docs/api.md");
  const [common = "", ...sections] = text
    .slice(text.indexOf("## Lists"), text.indexOf("## Answer"))
    .split("\n### ");
  const cellsOf = (section: string) =>
    [...section.matchAll(/^\| (`.+?) \| (.+?) \|/gm)].map(([, names, taken]) => [names!, taken!]);
  const namesIn = (section: string) =>
    cellsOf(section).flatMap(([names]) =>
      Array.from(names!.matchAll(/`(\w+)`/g), ([, name]) => name!),
    );
  assert.equal(sections.length, Object.keys(lists).length);
  for (const [i, operation] of Object.values(lists).entries()) {
    const section = sections[i]!;
    assert.ok(section.startsWith(`\`GET ${operation.path}\`\n`));
    const documented = [...namesIn(common), ...namesIn(section)];
    assert.deepEqual(documented.toSorted(), [...parametersOf(operation)].toSorted());
    const [usual, ...others] = operation.sorts!;
    const names = [...new Set(others.map((sort) => sort.replace(/^-/, "")))].filter(
      (sort) => sort !== usual,
    );
    const [, orders] = cellsOf(section).find(([name]) => name === "`sort`")!;
    assert.equal(
      orders,
      `\`${usual}\` (default), ${names.map((name) => `\`${name}\``).join(", ")}; each also with \`-\``,
    );
  }
});

test("every hint stands in docs/api.md, and no other", () => {
  const text = page("docs/api.md");
  assert.deepEqual(rowsOf(text.slice(text.indexOf("### Hints"), text.indexOf("## Records"))), [
    ...hintCodes,
  ]);
});

test("every member of every record stands in docs/api.md, in order, marked where it is never null", () => {
  const text = page("docs/api.md");
  const table = text.slice(text.indexOf("## Records"), text.indexOf("## Closed lists"));
  for (const { kind } of operations) {
    const [, row = ""] = new RegExp(`^\\| ${kind} \\| (.*) \\|$`, "m").exec(table) ?? [];
    const members = membersOf(declarations[kind].schema).map(
      ([name, { type }]) => `\`${name}\`${Array.isArray(type) ? "" : "†"}`,
    );
    assert.equal(row, members.join(" "), kind);
  }
});

test("every closed list stands in docs/api.md, word by word", () => {
  const text = page("docs/api.md");
  const table = text.slice(text.indexOf("## Closed lists"), text.indexOf("## Headers"));
  const documented = [...table.matchAll(/^\| .*`.* \| (.+) \|$/gm)].map(([, values]) => values!);
  const known = Object.values(closedLists).map((meanings) =>
    Object.keys(meanings)
      .map((value) => `\`${value}\``)
      .join(", "),
  );
  assert.deepEqual(documented.toSorted(), known.toSorted());
});

/** Each by its name, a list with brackets, a closed one with its values. */
function membersInWords(members: ProblemKind["members"]): string {
  const named = Object.entries(members).map(([name, schema]) => {
    const { type, enum: values } = schema as { type?: string; enum?: string[] };
    const code = `\`${name}${type === "array" ? "[]" : ""}\``;
    return values === undefined ? code : `${code}: ${values.map((one) => `\`${one}\``).join(", ")}`;
  });
  if (named.length === 0) return "–";
  return named.join(named.some((one) => one.includes(": ")) ? "; " : ", ");
}

test("every error stands in docs/errors.md with its status and its members, and every fault of a parameter", () => {
  const text = page("docs/errors.md");
  const documented = [...text.matchAll(/^\| \d{3} \| .+ \|$/gm)].map(([row]) => row);
  assert.deepEqual(
    documented,
    problemCodes.map((code) => {
      const { status, members } = problemKinds[code];
      return `| ${status} | \`${code}\` | ${membersInWords(members)} |`;
    }),
  );
  assert.deepEqual(rowsOf(text), [...parameterFaultCodes]);
});

test("every setting stands in docs/settings.md and .env.example with its default, and no other", () => {
  const all = settingNames.map((name) => ({
    name,
    byDefault: settings.find((setting) => setting.name === name)?.byDefault ?? "",
  }));
  const rows = [...page("docs/settings.md").matchAll(/^\| `([A-Z_]+)` \| (.+?) \|/gm)];
  const shown = (byDefault: string) => (byDefault === "" ? "–" : `\`${byDefault}\``);
  assert.deepEqual(
    rows.map(([, name, byDefault]) => `${name} ${byDefault}`),
    all.map(({ name, byDefault }) => `${name} ${shown(byDefault)}`),
  );
  const example = page(".env.example")
    .split("\n")
    .filter((line) => /^[A-Z]/.test(line));
  const lines = all.map(({ name, byDefault }) => `${name}=${byDefault}`);
  assert.deepEqual(example, lines);
});

test("every basis of a link stands in docs/sponsors.md with its confidence, and no other", () => {
  const rows = [...page("docs/sponsors.md").matchAll(/^\| `(\w+)` \| ([\d.]+) \|/gm)];
  const documented = rows.map(([, basis, confidence]) => [basis, Number(confidence)]);
  assert.deepEqual(documented, Object.entries(confidenceOf));
});

test("every command and every option stands in docs/running.md", () => {
  const text = page("docs/running.md");
  for (const { path, options } of listCommands()) {
    const line = text.split("\n").find((one) => one.startsWith(`| \`${path}`));
    assert.ok(line !== undefined, path);
    for (const option of options) assert.ok(line.includes(option), `${path} ${option}`);
  }
});

test("every exit code stands in docs/running.md", () => {
  const text = page("docs/running.md");
  const documented = [...text.slice(text.indexOf("## Exit codes")).matchAll(/^\| (\d) \|/gm)].map(
    ([, code]) => Number(code),
  );
  assert.deepEqual(documented, Object.values(exitCodes));
});

test("every fault that is tried stands in docs/reliability.md with its promise and its number of tries", () => {
  const [promised = "", seen = ""] = page("docs/reliability.md").split("\nSeen on ");
  const rowsOf = (text: string) => [...text.matchAll(/^\| ([A-Z]\d+ · .+) \|$/gm)];
  assert.deepEqual(
    rowsOf(seen).map(([, row]) => row!.split(" | ")[0]),
    faults.map(({ name }) => name),
  );
  const rows = rowsOf(promised);
  assert.deepEqual(
    rows.map(([, row]) => row),
    faults.map(({ name, promise, tries }) => {
      const [quick, full] = [tries.quick, tries.full].map((count) => count.toLocaleString("en-US"));
      return `${name} | ${promise} | ${quick} or ${full}`;
    }),
  );
});

test("every row of docs/scaling.md on faults names what shows it: a fault that is tried, a case, or a test", () => {
  const text = page("docs/scaling.md");
  const section = text.slice(text.indexOf("## What each fault gives"), text.indexOf("## Backups"));
  const rows = [...section.matchAll(/^\| (?!fault \||--- )(.+) \| (.+) \| (.+) \| (.+) \|$/gm)];
  assert.ok(rows.length > 10);
  const cases = page("docs/cases.md");
  for (const [, fault, , , shownBy = ""] of rows) {
    const known = shownBy.split(/, (?=`|C\d|\[)/).map((one) => {
      const [, name, path] = /^\[(.+)\]\(\.\.\/(test\/.+)\)$/.exec(one) ?? [];
      if (path !== undefined) return page(path).includes(name!);
      const [, number = ""] = /^`(F\d+)`$/.exec(one) ?? [];
      if (number !== "") return faults.some(({ name: found }) => found.startsWith(`${number} ·`));
      return /^C\d+$/.test(one) && cases.includes(`| ${one} |`);
    });
    assert.ok(known.length > 0 && known.every(Boolean), `${fault}: ${shownBy}`);
  }
});

/** Names of numbered cases in a test file, as `C01 · what it guarantees`. */
const casesIn = (path: string): string[] =>
  [...page(path).matchAll(/"C\d{2,3} · (?:[^"\\]|\\.)*"/g)].map(
    ([literal]) => JSON.parse(literal) as string,
  );

test("every numbered case is in docs/cases.md with the name of its test, or with the reason why it has none", () => {
  const text = page("docs/cases.md");
  const rowsUnder = (heading: string) => {
    const rows = text.slice(text.indexOf(heading)).matchAll(/^\| (C\d{2,3}) \| (.+) \| (.+) \|$/gm);
    return [...rows].map(([, number, name, last]) => ({
      number: number!,
      name: name!.replaceAll(/\\([_*<|])/g, "$1"),
      test: /\]\(\.\.\/(.+)\)$/.exec(last!)?.[1],
    }));
  };
  const [all, elsewhere, untested] = ["# Cases", "## Tested beside", "## Without a test"].map(
    rowsUnder,
  );
  const numbers = Array.from({ length: 112 }, (_, i) => `C${String(i + 1).padStart(2, "0")}`);
  assert.deepEqual([...new Set(all!.map(({ number }) => number))].toSorted(), numbers.toSorted());

  const cases = globSync("test/cases/**/*.ts").flatMap((path) =>
    casesIn(path).map((name) => `${path.replaceAll("\\", "/")}: ${name}`),
  );
  assert.deepEqual(
    all!
      .slice(0, -elsewhere!.length)
      .map(({ number, name, test: path }) => `${path}: ${number} · ${name}`)
      .toSorted(),
    cases.toSorted(),
  );
  for (const { name, test: path } of elsewhere!.slice(0, -untested!.length))
    assert.ok(page(path!).includes(`test("${name}"`), `${path}: ${name}`);
});

test("the samples of docs/api.md and README.md are what the service answers", async (t) => {
  const service = await startService(t, { clock: fixedClock(Date.parse("2026-11-20T03:00:00Z")) });
  let replayed = 0;
  for (const name of ["docs/api.md", "README.md"])
    for (const [, path, accept = "*/*", language, sample] of page(name).matchAll(
      /```http\nGET ([^\n]+)\n(?:Accept: ([^\n]+)\n)?```\n\n```(json|csv)\n([^`]*)```/g,
    )) {
      const { body, text } = await service.get(path!, {
        accept,
        "x-request-id": "req_01JD4Z6T0V8M3Q5N7R9S1W2X4Y",
      });
      if (language === "json") assert.deepEqual(JSON.parse(sample!), body, `${name}: ${path}`);
      else assert.equal(sample!.replaceAll("\n", "\r\n"), text, `${name}: ${path}`);
      replayed++;
    }
  assert.ok(replayed >= 6);
});

test("every link between pages leads to a file", () => {
  for (const name of pages)
    for (const [, target] of page(name).matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g))
      assert.ok(existsSync(join(dirname(name), target!)), `${name}: ${target}`);
});

test("no page speaks of what is not there: scripts it names exist", () => {
  const { scripts } = JSON.parse(page("package.json")) as { scripts: Record<string, string> };
  for (const name of pages)
    for (const [, script] of page(name).matchAll(/npm run (?:-s )?([a-z:-]+)/g))
      assert.ok(script! in scripts, `${name}: npm run ${script}`);
});
