/** The publications of a dataset and the steps between them, as files of a backup. */
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, join } from "node:path";
import { DatasetFault } from "#datasets/dataset-fault.ts";
import { versionShape } from "#datasets/generation.ts";
import { openPublications, type Publications } from "#datasets/publications.ts";
import { recordKinds } from "#records/kinds.ts";
import { changeKinds, type Publication } from "#records/publication.ts";
import { Type } from "#records/schema.ts";

/** Their folder in a data folder. */
const changesFolder = "datasets/changes";
export const publicationsPath = `${changesFolder}/publications.json`;

const version = versionShape.source.slice(1, -1);
const stepShape = new RegExp(`^${changesFolder}/changes-${version}\\.\\.${version}\\.ndjson$`);

/** Reports whether a backup may hold a step under this path. */
export const isStepPath = (path: string): boolean => stepShape.test(path);

/** Publications that lead to a dataset, as a backup has them. */
interface GatheredSteps {
  publications: readonly Publication[];
  /** Paths in the backup and of the copy. */
  files: readonly { path: string; copy: string }[];
}

/**
 * Copies the steps, because they may be removed meanwhile. Leaves out a step that is missing or not whole; its publication
 * then has none, and clients that follow read all records again.
 * @param folder folder of the datasets. @param temporary folder for the copies.
 */
export function gatherSteps(folder: string, current: string, temporary: string): GatheredSteps {
  const publications = openPublications(folder);
  const noted = listOf(publications, current);
  if (noted.at(-1)?.version !== current) return { publications: [], files: [] };
  const copies = new Map<string, string | null>();
  const listed = noted.map((one): Publication => {
    if (one.step === null) return one;
    const name = basename(publications.stepPath(one.from!, one.version));
    const copy = join(temporary, name);
    if (!copies.has(name)) copies.set(name, copyStep(publications, one, copy) ? copy : null);
    return copies.get(name) === null ? { ...one, step: null } : one;
  });
  const files = [...copies].flatMap(([name, copy]) =>
    copy === null ? [] : { path: `${changesFolder}/${name}`, copy },
  );
  return { publications: listed, files };
}

/** Lists publications. Returns none if the list is damaged: that prevents no backup, and each publication warns of it. */
function listOf(publications: Publications, current: string): readonly Publication[] {
  try {
    return publications.list(current);
  } catch (error) {
    if (error instanceof DatasetFault) return [];
    throw error;
  }
}

/** Copies a step. Returns false, and leaves no copy, if it is not whole. */
function copyStep(publications: Publications, publication: Publication, copy: string): boolean {
  const { from, version: to } = publication;
  try {
    // Opened first, because this never waits on anything that is no file.
    if (publications.openStep(from!, to) === null) return false;
    copyFileSync(publications.stepPath(from!, to), copy);
    if (isWhole(publications, publication, copy)) return true;
  } catch (error) {
    // It was removed meanwhile: each publication removes steps that are too old.
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
  rmSync(copy, { force: true });
  return false;
}

/** Reports whether a step is whole. @param path path of the step or of its copy. */
function isWhole(
  { openStep }: Publications,
  { from, version: to, step }: Publication,
  path: string,
): boolean {
  const stored = openStep(from!, to);
  return (
    stored?.changes === step!.changes &&
    statSync(path).size === stored.placeOf(0, stored.changes).end
  );
}

/**
 * Checks the unpacked list and steps, and makes the index of each step.
 * @param folder data folder. @param current version of the last publication.
 * @param count number of publications expected.
 * @returns the fault as the end of a sentence; undefined if there is none.
 */
export async function stepsFault(
  folder: string,
  current: string,
  count: number,
): Promise<string | undefined> {
  const publications = openPublications(join(folder, "datasets"));
  const noted = await readList(readFileSync(join(folder, publicationsPath), "utf8"));
  if (noted?.length !== count || noted.at(-1)!.version !== current)
    return "does not have the list of the publications that lead to the dataset";
  const unused = new Set(readdirSync(join(folder, changesFolder)));
  unused.delete(basename(publicationsPath));
  for (const one of noted) {
    if (one.step === null) continue;
    const path = publications.stepPath(one.from!, one.version);
    const name = `${one.from}..${one.version}`;
    if (!existsSync(path)) return `lacks the step ${name}`;
    if (!beginsAs(path, one)) return `has a step ${name} that does not begin like one`;
    if (unused.delete(basename(path))) publications.adoptStep(path, one.from!, one.version);
    if (!isWhole(publications, one, path)) return `has a step ${name} that is not whole`;
  }
  if (unused.size > 0) return `has a step that its list does not name (${[...unused][0]})`;
  return undefined;
}

const headBytesMax = 4096;

/** Reports whether the first line of a step agrees with its publication. */
function beginsAs(path: string, { from, version: to, step }: Publication): boolean {
  const bytes = Buffer.alloc(headBytesMax);
  const file = openSync(path, "r");
  try {
    const length = readSync(file, bytes, 0, headBytesMax, 0);
    const [line] = bytes.toString("utf8", 0, length).split("\n");
    const head = parse(line!) as { from?: unknown; to?: unknown; changes?: unknown } | null;
    return head?.from === from && head.to === to && head.changes === step!.changes;
  } finally {
    closeSync(file);
  }
}

/** Reads a list. Returns undefined if it is none. TypeBox takes long to load, so only a restore loads it. */
async function readList(text: string): Promise<Publication[] | undefined> {
  const { Compile } = await import("typebox/schema");
  const number = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
  const each = (names: readonly string[], of: object) =>
    Type.Object(Object.fromEntries(names.map((name) => [name, of])) as never);
  const aVersion = Type.String({ pattern: versionShape.source });
  const orNull = (of: object) => Type.Unsafe<unknown>({ anyOf: [of, { type: "null" }] });
  const publication = Type.Object({
    version: aVersion,
    published_at: Type.String({
      pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)?Z$",
    }),
    from: orNull(aVersion),
    hash: orNull(Type.String({ pattern: "^[0-9a-f]{64}$" })),
    step: orNull(
      Type.Object({
        changes: number,
        // An older program had fewer kinds.
        counts: each(recordKinds, Type.Optional(each(changeKinds, number))),
      }),
    ),
  });
  const list = parse(text);
  if (!Compile(Type.Array(publication)).Check(list)) return undefined;
  const noted = list as Publication[];
  return noted.every(({ published_at }) => !Number.isNaN(Date.parse(published_at)))
    ? noted
    : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
