import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { basename, dirname, posix } from "node:path";
import { test } from "node:test";

const map = readFileSync("ARCHITECTURE.md", "utf8");

interface Room {
  doors: string[];
  packages: string[];
}

/** The table under "Rooms": room, job, doors, packages. */
function readRooms(): Map<string, Room> {
  const table = map.slice(map.indexOf("## Rooms"), map.indexOf("`http` never sees a store"));
  const rows = [...table.matchAll(/^\| (?!room)([a-z]+) \| [^|]+ \| ([^|]+) \| ([^|]+) \|$/gm)];
  const listOf = (cell: string) =>
    cell.trim() === "–" ? [] : cell.split(",").map((part) => part.trim());
  return new Map(
    rows.map(([, room, doors, packages]) => [
      room!,
      { doors: listOf(doors!), packages: listOf(packages!) },
    ]),
  );
}

const rooms = readRooms();
const sources = globSync("src/**/*.ts").map((path) => path.replaceAll("\\", "/"));
const roomOf = (path: string) => path.split("/")[1]!.replace(/\.ts$/, "");
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

test("every room of the house is in the table of doors, and every room of the table is there", () => {
  assert.deepEqual([...rooms.keys()].toSorted(), [...new Set(sources.map(roomOf))].toSorted());
});

test("no import crosses a wall", () => {
  const crossings: string[] = [];
  for (const path of sources) {
    const own = roomOf(path);
    const { doors, packages } = rooms.get(own)!;
    for (const target of importsOf(path)) {
      if (target.startsWith("./") || target.startsWith("node:")) continue;
      const room = target.startsWith("#")
        ? target.slice(1).split("/")[0]!.replace(/\.ts$/, "")
        : undefined;
      const name = target.startsWith("@")
        ? target.split("/").slice(0, 2).join("/")
        : target.split("/")[0]!;
      // From a folder inside a room the way to the rest of the room is its own door.
      const isInside = room === own && dirname(path) !== `src/${own}`;
      const isAllowed =
        room === undefined
          ? packages.includes(name)
          : isInside || (room !== own && doors.includes(room));
      if (!isAllowed) crossings.push(`${path} imports ${target}`);
    }
  }
  assert.deepEqual(crossings, []);
});

/** The way from a file through its imports back to itself, for the first file that has one. */
function findCircle(importsOf: (path: string) => readonly string[], paths: readonly string[]) {
  const done = new Set<string>();
  const way: string[] = [];
  const search = (path: string): readonly string[] | undefined => {
    if (way.includes(path)) return [...way.slice(way.indexOf(path)), path];
    if (done.has(path)) return undefined;
    way.push(path);
    for (const next of importsOf(path)) {
      const circle = search(next);
      if (circle !== undefined) return circle;
    }
    way.pop();
    done.add(path);
    return undefined;
  };
  for (const path of paths) {
    const circle = search(path);
    if (circle !== undefined) return circle.join(" → ");
  }
  return undefined;
}

test("no file leads back to itself through its imports, those of types included", () => {
  const graph: Record<string, string[]> = { a: ["b", "c"], b: ["c"], c: ["d"], d: ["b"] };
  assert.equal(
    findCircle((path) => graph[path]!, ["a"]),
    "b → c → d → b",
  );
  const ofOurs = (path: string) => importsOf(path).flatMap((target) => fileOf(path, target) ?? []);
  assert.equal(findCircle(ofOurs, sources), undefined);
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
  const sample =
    "export const a = 1;\nexport type B = string;\nexport { c, d as e };\nconst f = 2;";
  assert.deepEqual(exportsOf(sample), ["a", "B", "c", "e"]);
  const taking = 'import { a, type B as X } from "./x.ts";\nconst { c } = await import("#y/z.ts");';
  assert.deepEqual(takenBy("src/m/n.ts", taking), ["src/m/x.ts a", "src/m/x.ts B", "src/y/z.ts c"]);

  const everything = globSync("{src,test,bench,faults,fuzz}/**/*.ts");
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
    .filter(([path]) => path.startsWith("src/"))
    .flatMap(([path, text]) =>
      exportsOf(text)
        .filter((name) => !isTaken(path, name))
        .map((name) => `${path} ${name}`),
    );
  assert.deepEqual(unused, []);
});

test("every door and package of the table is used", () => {
  for (const [room, { doors, packages }] of rooms) {
    const targets = sources.filter((path) => roomOf(path) === room).flatMap(importsOf);
    for (const door of doors)
      assert.ok(
        targets.some((target) => target === `#${door}.ts` || target.startsWith(`#${door}/`)),
        `${room} → ${door}`,
      );
    for (const name of packages)
      assert.ok(
        targets.some((target) => target === name || target.startsWith(`${name}/`)),
        `${room} → ${name}`,
      );
  }
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
    exclude: ["test/support/**", "test/cases/**"],
  })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => {
      const folder = dirname(path).slice("test/".length).split("/")[0]!;
      return !existsSync(`src/${folder}`) && !existsSync(folder);
    });
  assert.deepEqual(strays, []);
});

test("every path that the map names exists", () => {
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

test("a server starts without what only changes stores, sends mail or reads files", () => {
  const entries = ["src/cli/serve.ts", "src/service.ts", "src/http/build-app.ts"];
  const loaded = entries.flatMap((path) => [...packagesWith(path)]);
  assert.ok(loaded.includes("fastify"));
  for (const name of ["kysely", "nodemailer", "csv-parse"])
    assert.ok(!loaded.some((one) => one.startsWith(name)), name);
});

test("nothing beside the api module answers a question: reads its parameters, counts its quota or keeps its answer", () => {
  const importersOf = (target: string, name: RegExp) =>
    sources.filter((path) => {
      const imports = readFileSync(path, "utf8").matchAll(
        /^import (?!type )(?:\{([^}]*)\}|\S+) from "([^"]+)";/gm,
      );
      return [...imports].some(([, names = "", from]) => from === target && name.test(names));
    });
  assert.deepEqual(importersOf("#operations/parameters.ts", /\breadQuery\b/).toSorted(), [
    // The addresses of the browse pages, which mean what they mean to an operation.
    "src/account/screens/browse.ts",
    "src/api/ask.ts",
    // The error pages, whose example is a real one.
    "src/pages/errors.ts",
  ]);
  const usersOf = (pattern: RegExp) =>
    sources.filter((path) => pattern.test(readFileSync(path, "utf8"))).toSorted();
  assert.deepEqual(usersOf(/\bcounters\b[^.\n]{0,3}\.take\(/), ["src/api/ask.ts"]);
  assert.deepEqual(usersOf(/\bopenAnswerCache\(/), ["src/api/answer-cache.ts", "src/api/ask.ts"]);
});
