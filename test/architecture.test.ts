import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, posix } from "node:path";
import { test } from "node:test";

const map = readFileSync("ARCHITECTURE.md", "utf8");

interface Module {
  dependencies: string[];
  packages: string[];
}

/** The table under "Modules": module, job, dependencies, packages. */
function readModules(): Map<string, Module> {
  const table = map.slice(map.indexOf("## Modules"), map.indexOf("## Where is"));
  const rows = [...table.matchAll(/^\| (?!module)([a-z]+) \| [^|]+ \| ([^|]+) \| ([^|]+) \|$/gm)];
  const listOf = (cell: string) =>
    cell.trim() === "–" ? [] : cell.split(",").map((part) => part.trim());
  return new Map(
    rows.map(([, name, dependencies, packages]) => [
      name!,
      { dependencies: listOf(dependencies!), packages: listOf(packages!) },
    ]),
  );
}

const modules = readModules();
const sources = globSync("src/**/*.ts").map((path) => path.replaceAll("\\", "/"));
const moduleOf = (path: string) => path.split("/")[1]!.replace(/\.ts$/, "");
const importsOf = (path: string) =>
  [...readFileSync(path, "utf8").matchAll(/(?:\bfrom |\bimport\(|^import )"([^"\n]+)"/gm)].map(
    ([, target]) => target!,
  );

/** The file of ours that an import leads to; undefined for Node's own and packages. */
const fileOf = (path: string, target: string): string | undefined =>
  target.startsWith("#")
    ? `src/${target.slice(1)}`
    : target.startsWith(".")
      ? posix.join(posix.dirname(path), target)
      : undefined;

test("every module is in the table of ARCHITECTURE.md, and every module of the table exists", () => {
  assert.deepEqual([...modules.keys()].toSorted(), [...new Set(sources.map(moduleOf))].toSorted());
});

test("a module imports only the modules and packages that the table allows", () => {
  const forbidden: string[] = [];
  for (const path of sources) {
    const own = moduleOf(path);
    const { dependencies, packages } = modules.get(own)!;
    for (const target of importsOf(path)) {
      if (target.startsWith("./") || target.startsWith("node:")) continue;
      const imported = target.startsWith("#")
        ? target.slice(1).split("/")[0]!.replace(/\.ts$/, "")
        : undefined;
      const name = target.startsWith("@")
        ? target.split("/").slice(0, 2).join("/")
        : target.split("/")[0]!;
      // A folder inside a module reaches the rest of the module as `#module/file.ts`.
      const isInside = imported === own && dirname(path) !== `src/${own}`;
      const isAllowed =
        imported === undefined
          ? packages.includes(name)
          : isInside || (imported !== own && dependencies.includes(imported));
      if (!isAllowed) forbidden.push(`${path} imports ${target}`);
    }
  }
  assert.deepEqual(forbidden, []);
});

/** The way from a file of ours through its imports back to itself, for the first file that has one. */
function findCircle() {
  const done = new Set<string>();
  const way: string[] = [];
  const search = (path: string): readonly string[] | undefined => {
    if (way.includes(path)) return [...way.slice(way.indexOf(path)), path];
    if (done.has(path)) return undefined;
    way.push(path);
    for (const next of importsOf(path).flatMap((target) => fileOf(path, target) ?? [])) {
      const circle = search(next);
      if (circle !== undefined) return circle;
    }
    way.pop();
    done.add(path);
    return undefined;
  };
  for (const path of sources) {
    const circle = search(path);
    if (circle !== undefined) return circle.join(" → ");
  }
  return undefined;
}

test("no file leads back to itself through its imports, those of types included", () => {
  assert.equal(findCircle(), undefined);
});

/** Names a file exports, with whatever stands in the braces of a list. */
function exportsOf(text: string): string[] {
  const declared = text.matchAll(
    /^export (?:declare )?(?:async )?(?:abstract )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm,
  );
  const listed = text.matchAll(/^export (?:type )?(?:const )?\{([^}]*)\}/gm);
  return [
    ...[...declared].map(([, name]) => name!),
    ...[...listed].flatMap(([, names]) => namesIn(names!).map(({ theirs }) => theirs)),
  ];
}

/** `a, type b as c` → a, and b that is c here. */
const namesIn = (list: string) =>
  list
    .split(",")
    .map((part) => part.trim().replace(/^type /, ""))
    .filter((part) => part !== "")
    .map((part) => {
      const [ours = "", theirs = ours] = part.split(/ as |: /);
      return { ours, theirs };
    });

/** What is taken from other files, as `file name`, or `file *` for all of it. */
function takenBy(path: string, text: string): string[] {
  const taken: string[] = [];
  const take = (target: string, names: readonly string[]) => {
    const file = fileOf(path, target);
    if (file !== undefined) for (const name of names) taken.push(`${file} ${name}`);
  };
  for (const [, names = "", target = ""] of text.matchAll(
    /\b(?:import|export)(?: type)? (?:\w+, )?\{([^}]*)\} from "([^"]+)"/g,
  ))
    take(
      target,
      namesIn(names).map(({ ours }) => ours),
    );
  for (const [, names, target = ""] of text.matchAll(
    /(?:\{([^{}]*)\} = await )?\bimport\(\s*"([^"]+)"\s*\)/g,
  ))
    take(target, names === undefined ? ["*"] : namesIn(names).map(({ ours }) => ours));
  for (const [, target = ""] of text.matchAll(/\bimport(?: type)? \* as \w+ from "([^"]+)"/g))
    take(target, ["*"]);
  return taken;
}

test("every name that a source file exports is imported somewhere", () => {
  const everything = globSync("{src,test,bench,eval,faults,fuzz}/**/*.ts", {
    exclude: ["**/node_modules/**"],
  });
  const texts = everything.map((path) => [path, readFileSync(path, "utf8")] as const);
  const taken = new Set(texts.flatMap(([path, text]) => takenBy(path, text)));
  // What is taken from a list is taken from the files that it lists whole.
  const lists = new Map<string, string[]>();
  for (const [path, text] of texts)
    for (const [, target = ""] of text.matchAll(/^export \* from "([^"]+)"/gm)) {
      const file = fileOf(path, target)!;
      lists.set(file, [...(lists.get(file) ?? []), path]);
    }
  const isTaken = (path: string, name: string): boolean =>
    taken.has(`${path} ${name}`) ||
    taken.has(`${path} *`) ||
    (lists.get(path) ?? []).some((list) => isTaken(list, name));
  const unused = texts
    // What the library exports is for other programs.
    .filter(([path]) => path.startsWith("src/") && path !== "src/library.ts")
    .flatMap(([path, text]) =>
      exportsOf(text)
        .filter((name) => !isTaken(path, name))
        .map((name) => `${path} ${name}`),
    );
  assert.deepEqual(unused, []);
});

test("every dependency and package of the table is used", () => {
  for (const [own, { dependencies, packages }] of modules) {
    const targets = sources.filter((path) => moduleOf(path) === own).flatMap(importsOf);
    for (const one of dependencies)
      assert.ok(
        targets.some((target) => target === `#${one}.ts` || target.startsWith(`#${one}/`)),
        `${own} → ${one}`,
      );
    for (const name of packages)
      assert.ok(
        targets.some((target) => target === name || target.startsWith(`${name}/`)),
        `${own} → ${name}`,
      );
  }
});

/** Files that only list entry points: commands, checks, operations, migrations, screens. */
const isList = (path: string) =>
  basename(path) === "index.ts" || path === "src/cli/command-parts.ts";

/** Files with exactly one importer, in their own folder, as `file ← importer`. */
function closetsOf() {
  const importers = new Map<string, Set<string>>();
  for (const path of sources)
    for (const target of importsOf(path)) {
      const file = fileOf(path, target);
      if (file !== undefined) importers.set(file, (importers.get(file) ?? new Set()).add(path));
    }
  return sources.flatMap((path) => {
    const [importer, ...others] = importers.get(path) ?? [];
    if (importer === undefined || others.length > 0 || isList(importer)) return [];
    return dirname(importer) === dirname(path) ? [`${path} ← ${importer}`] : [];
  });
}

test("at most 15 % of the files have a single importer next door: such a file belongs inside its importer", () => {
  const closets = closetsOf();
  const share = closets.length / sources.length;
  assert.ok(
    share <= 0.15,
    `${closets.length} of ${sources.length} files (${(100 * share).toFixed(1)} %):\n${closets.join("\n")}`,
  );
});

test("an index is only ever a list", () => {
  for (const path of sources.filter((one) => basename(one) === "index.ts")) {
    const code = readFileSync(path, "utf8").replaceAll(/\/\*\*.*?\*\//gs, "");
    assert.doesNotMatch(code, /\bfunction\b|=>/, path);
  }
});

test("every source file opens with a sentence saying what it is for", () => {
  for (const path of sources.filter((one) => basename(one) !== "index.ts"))
    assert.match(readFileSync(path, "utf8"), /^(#!.*\n)?\/\*\*/, path);
});

test("every test stands beside the source it tests", () => {
  const strays = globSync("test/*/**/*.{test,long}.ts", {
    exclude: ["test/support/**", "test/cases/**", "**/node_modules/**"],
  })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => {
      const folder = dirname(path).slice("test/".length).split("/")[0]!;
      return !existsSync(`src/${folder}`) && !existsSync(folder);
    });
  assert.deepEqual(strays, []);
});

test("ARCHITECTURE.md opens with one diagram and at most 300 words", () => {
  const opening = map.slice(0, map.indexOf("## Modules"));
  const [before = "", diagram = "", after = "", ...more] = opening.split(/^```.*\n/m);
  assert.equal(before.trim(), "# Architecture");
  assert.match(diagram, /http.+gateway.+operations/);
  assert.deepEqual(more, []);
  const words = after.split(/\s+/).filter((word) => /\w/.test(word));
  assert.ok(words.length <= 300, `${words.length} words`);
});

test("every path that ARCHITECTURE.md names exists", () => {
  for (const [, path = ""] of map.matchAll(/\]\(([^)#]+)\)/g)) assert.ok(existsSync(path), path);
});

/** Packages that are loaded with a file, by itself or by what it imports; what is imported later is not. */
function packagesWith(path: string, seen = new Set<string>()): Set<string> {
  const packages = new Set<string>();
  if (seen.has(path)) return packages;
  seen.add(path);
  const imports = readFileSync(path, "utf8").matchAll(
    /^(?:import|export) (?!type )[^;]*?from "([^"]+)";/gm,
  );
  for (const [, target = ""] of imports) {
    if (target.startsWith("node:")) continue;
    const found = fileOf(path, target);
    if (found === undefined) packages.add(target);
    else for (const one of packagesWith(found, seen)) packages.add(one);
  }
  return packages;
}

test("a server starts without what only changes stores, sends mail, reads or checks records, or reaches other servers", () => {
  const entries = ["src/cli/serve.ts", "src/service.ts", "src/http/build-server.ts"];
  const loaded = entries.flatMap((path) => [...packagesWith(path)]);
  assert.ok(loaded.includes("negotiator"));
  for (const name of ["kysely", "nodemailer", "csv-parse", "pg", "@redis/client", "typebox"])
    assert.ok(!loaded.some((one) => one.startsWith(name)), name);
});

test("nothing beside the gateway answers a question: reads its parameters, counts its quota or keeps its answer", () => {
  const importersOf = (target: string, name: RegExp) =>
    sources.filter((path) => {
      const imports = readFileSync(path, "utf8").matchAll(
        /^import (?!type )(?:\{([^}]*)\}|\S+) from "([^"]+)";/gm,
      );
      return [...imports].some(([, names = "", from]) => from === target && name.test(names));
    });
  assert.deepEqual(importersOf("#operations/parameters.ts", /\breadQuery\b/).toSorted(), [
    // The addresses of the browse pages, which mean what they mean to an operation.
    "src/dashboard/components/view.ts",
    "src/gateway/read-operation.ts",
    // For the program that imports it, where there is no key and no quota.
    "src/library.ts",
    // The error pages, whose example is a real one.
    "src/pages/errors.ts",
  ]);
  const usersOf = (pattern: RegExp) =>
    sources.filter((path) => pattern.test(readFileSync(path, "utf8"))).toSorted();
  assert.deepEqual(usersOf(/\bcounters\b[^.\n]{0,3}\.take\(/), ["src/gateway/gateway.ts"]);
  assert.deepEqual(usersOf(/\bopenAnswerCache\(/), [
    "src/gateway/answer-cache.ts",
    "src/service.ts",
  ]);
});

interface PrivateWord {
  word: RegExp;
  instead: string;
  /** Where the same letters mean what everybody means by them. */
  meant?: { text: RegExp; because: string }[];
}

/** Words of our own making that the field has its own for; see docs/decisions/0010-words-of-the-field.md. */
const privateWords: PrivateWord[] = [
  {
    word: /\boffices?\b/i,
    instead: "account worker",
    meant: [
      { text: /\b(?:head|main|medical|family) offices?\b/gi, because: "where a firm works" },
      { text: /["`]office["`]|, office,|^ *office:/g, because: "a type of property" },
      { text: /(?:City|State|Country) of the office/g, because: "where a principal works" },
      { text: /US Office of Management and Budget/g, because: "an authority" },
      { text: /Libre Office/g, because: "a program" },
      { text: /office Document|office:(?=value|date)/g, because: "names in file formats" },
    ],
  },
  {
    word: /\brooms\b|\b(?:a|the|this|that|each|every|own|which|other|by) room\b/i,
    instead: "module",
    meant: [{ text: /\broom (?:for|to|left)\b/g, because: "space" }],
  },
  { word: /\bdoors?\b/i, instead: "dependency, HttpDependencies" },
  { word: /\b(?:the|this|our) house\b/i, instead: "architecture" },
  { word: /\bkey[- ]?rings?\b/i, instead: "key verifier" },
  { word: /\bstandings?\b/i, instead: "quota status" },
  { word: /\bheld[ -]?answers?\b/i, instead: "commit barrier" },
  { word: /\bknown[ -]questions?\b/i, instead: "parsed-query cache" },
  { word: /\b(?:make|makes|making|made) way\b/i, instead: "lower priority" },
  { word: /\b(?:stands?|stood|standing)[ -]back\b/i, instead: "lower priority" },
  { word: /\bleav(?:e|es|ing)[ -]core\b/i, instead: "CPU affinity" },
  { word: /\bdesks?\b/i, instead: "quota RPC" },
  { word: /\b(?:by|the|our|its|of) post\b(?! (?:method|request|form|body|to))/, instead: "mailer" },
  {
    word: /\bcarriers?\b/i,
    instead: "SMTP transport",
    meant: [
      {
        text: /\b(?:type carrier|carriers|readonly carrier)\b/gi,
        because: "GPs that carry a value",
      },
    ],
  },
  {
    word: /\b(?:our|these|mail|sends?|sent|mailed|waiting|sender of|waits for an?|in place of the) letters?\b|\bletters? (?:with (?:a |its )?links?|under way)\b/i,
    instead: "mail, message",
  },
  {
    word: /\bvisit(?:s|ed|ing|ors?)?\b/i,
    instead: "request to the account pages; signed-in person",
    meant: [{ text: /`visit`|\bvisit(?=\(|: \(|\)|,| =)/g, because: "the callback of a loop" }],
  },
  { word: /\bfarewells?\b/i, instead: "account deletion" },
  { word: /\bhappenings?\b/i, instead: "activity" },
  { word: /\bsurroundings\b/i, instead: "CLI context" },
  { word: /\bcomplain(?:s|ts?|ed|ing)?\b/i, instead: "reportError" },
  { word: /\bfair turns\b|\bopen turns\b|\/turns\.ts\b/i, instead: "fair queue" },
];

/** As `path:line: word → what to say instead`. */
function privateWordsIn(path: string, text: string): string[] {
  // `openOffice` is read as `open Office`.
  const words = `${path}\n${text}`.replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ");
  const lines = words.split("\n");
  return lines.flatMap((line, number) =>
    privateWords.flatMap(({ word, instead, meant = [] }) => {
      const rest = meant.reduce((left, { text }) => left.replaceAll(text, ""), line);
      const [found] = word.exec(rest) ?? [];
      return found === undefined ? [] : [`${path}:${number}: ${found} → ${instead}`];
    }),
  );
}

test("nothing is called by a private word where the field has its own", () => {
  const written = globSync(
    "{src,test,bench,eval,faults,fuzz,deploy,docs}/**/*.{ts,js,css,md,conf,service,timer}",
    {
      exclude: [
        "docs/decisions/0010-words-of-the-field.md",
        "test/architecture.test.ts",
        "**/node_modules/**",
      ],
    },
  );
  const found = [...written, ...globSync("*.md")].flatMap((path) =>
    privateWordsIn(path, readFileSync(path, "utf8")),
  );
  assert.deepEqual(found, []);
});
