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
    "src/api/ask.ts",
    // The addresses of the browse pages, which mean what they mean to an operation.
    "src/office/routes/browse-chosen.ts",
    // The error pages, whose example is a real one.
    "src/pages/example-problems.ts",
  ]);
  const usersOf = (pattern: RegExp) =>
    sources.filter((path) => pattern.test(readFileSync(path, "utf8"))).toSorted();
  assert.deepEqual(usersOf(/\bcounters\b[^.\n]{0,3}\.take\(/), ["src/api/ask.ts"]);
  assert.deepEqual(usersOf(/\bopenAnswerCache\(/), ["src/api/answer-cache.ts", "src/api/ask.ts"]);
});
