/** An installation whose datasets have a person, and the search for her name in all that is stored. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { TestContext } from "node:test";
import { zstdDecompressSync } from "node:zlib";
import { gp, principal, project, signal } from "../datasets/published.ts";
import { allCommands } from "./all-commands.ts";
import { day, noon } from "./control.ts";
import { filesUnder } from "./files-under.ts";
import type { StorePlace } from "./for-each-store.ts";
import { linesOf } from "./json-lines.ts";
import { runSql } from "./postgres.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const jane = principal("jane", ["oak", "roe"], { name: "Jane Roe", title: "Chair" });
const before = [gp("oak", { name: "Oak Capital" }), gp("elm", { name: "Elm Group" })];
const named = [
  gp("oak", { name: "Oak Capital", description: "Founded by Jane Roe in 1999." }),
  gp("elm", { name: "Elm Group" }),
  gp("roe", { name: "Jane Roe Holdings, LLC" }),
  principal("max", ["oak"], { name: "Max Poe" }),
  jane,
  project("tower", { name: "Jane Roe Tower", gps: ["oak"] }),
  signal("hired", { title: "Oak hires Jane Roe", gps: ["oak", "roe"], project_ids: ["tower"] }),
];
export const later = [...named.filter((one) => one !== jane), { ...jane, title: "President" }];

/** Records of the source `own` in a place, and commands there, a day after each other. */
export function openPlace({ dataDir, databaseUrl }: StorePlace, folder: string) {
  let days = 0;
  const settings = { DATABASE_URL: databaseUrl ?? "" };
  const commands = allCommands(dataDir, settings, () => noon + day * days++);
  const fileOf = (records: readonly object[]) => {
    const path = join(folder, "records.ndjson");
    writeFileSync(path, linesOf(...records));
    return path;
  };
  const importOf = (records: readonly object[], ...options: string[]) =>
    commands.json("import ndjson --source own", fileOf(records), ...options);
  return { dataDir, databaseUrl, settings, fileOf, importOf, ...commands };
}

export type World = ReturnType<typeof openPlace>;

/** Datasets without the person, with her and pinned, with her and staged, and with her as the current one. */
export async function openWorld(t: TestContext, place: StorePlace) {
  const world = openPlace(place, temporaryFolder(t));
  const { version: without } = await world.importOf(before);
  const { version: pinned } = await world.importOf(named);
  await world.text("datasets pin", pinned);
  const { version: current } = await world.importOf(later);
  const { version: staged } = await world.importOf(named, "--stage");
  return { ...world, without, pinned, current, staged };
}

export const isNamed = (bytes: Buffer | string) => /jane[\s-]*roe/i.test(bytes.toString());

/** Texts and bytes of all rows of a file's tables, but for the list of suppressions. */
function namedRows(path: string): string[] {
  using db = new DatabaseSync(path, { readOnly: true });
  const tables = db.prepare("select name from sqlite_schema where type = 'table'").all();
  return tables.flatMap(({ name }) =>
    db
      .prepare(`select * from "${String(name)}"`)
      .all()
      .flatMap((row) => Object.values(row))
      .filter((value) => isNamed(value instanceof Uint8Array ? Buffer.from(value) : String(value)))
      .map(() => `${path}: ${String(name)}`),
  );
}

/** Where the name is in a data folder, apart from the bytes of the store that has the list. */
function namedFiles(dataDir: string): string[] {
  return filesUnder(dataDir).flatMap(([path, bytes]) => {
    const inRows = path.endsWith(".sqlite") ? namedRows(path) : [];
    const isList = /\/control\.sqlite(?:-wal|-shm)?$/.test(path);
    return isNamed(bytes) && !isList ? [path, ...inRows] : inRows;
  });
}

/** The same of a database, whose stored files are unpacked into a folder. */
async function namedTables(url: string, folder: string): Promise<string[]> {
  const tables = await runSql<{ name: string }>(
    url,
    "select tablename as name from pg_tables where schemaname = 'public'",
  );
  const found: string[] = [];
  for (const { name } of tables)
    for (const { row } of await runSql<{ row: string }>(
      url,
      `select t::text as row from ${name} t`,
    ))
      if (isNamed(row)) found.push(name);
  const parts = await runSql<{ name: string; bytes: Buffer }>(
    url,
    "select name, bytes from dataset_part order by name, number",
  );
  for (const [name, some] of Map.groupBy(parts, (one) => one.name)) {
    const path = join(folder, name.includes("..") ? name : `${name}.sqlite`);
    writeFileSync(path, Buffer.concat(some.map(({ bytes }) => zstdDecompressSync(bytes))));
  }
  return [...found, ...namedFiles(folder)];
}

/** Where the name is in an installation. Only the list of suppressions may have it, once. */
export async function placesOf(
  t: TestContext,
  { dataDir, databaseUrl }: StorePlace,
): Promise<string[]> {
  const stored = databaseUrl === null ? [] : await namedTables(databaseUrl, temporaryFolder(t));
  const found = [...namedFiles(dataDir), ...stored];
  return [...new Set(found.map((place) => place.replace(/^.*control\.sqlite: /, "")))];
}
