/** The first file of a backup, `manifest.json`: reads it and checks that it can be true. */
import { versionShape } from "#datasets/generation.ts";
import { type Static, Type } from "#records/schema.ts";
import { knownSteps, type StoreName, storeNames, unfitSchema } from "#store/schema-steps.ts";
import { BackupFault } from "./backup-fault.ts";
import { isStepPath, publicationsPath } from "./steps.ts";

/** Format of backups; no other is read. Raise it whenever an older program could misread a newer backup. */
export const backupFormat = 4;

export const manifestName = "manifest.json";

/** Largest manifest, enough for tens of thousands of steps. Another kind of file must not fill the memory. */
export const manifestBytesMax = 16 * 1024 * 1024;

const shortText = () => Type.String({ minLength: 1, maxLength: 100 });

/** Members that every format has, so that an older program can name a newer one. */
const headMembers = {
  backup_format: Type.Integer({ minimum: 1 }),
  /** Version of the program that made the backup. */
  program: shortText(),
};

const fileSchema = Type.Object({
  /** Path as in the data folder. */
  path: shortText(),
  bytes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
});

const boolean = () => Type.Unsafe<boolean>({ type: "boolean" });

const steps = () => Type.Optional(Type.Array(shortText()));
const stores = { "control.sqlite": steps(), "usage.sqlite": steps() } satisfies Record<
  StoreName,
  unknown
>;

const manifestSchema = Type.Object({
  ...headMembers,
  /** Time in RFC 3339, UTC, with milliseconds. */
  made_at: Type.String({ pattern: "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$" }),
  /** Version of the served dataset; null if none was served. */
  dataset: Type.Unsafe<string | null>({ type: ["string", "null"], pattern: versionShape.source }),
  /** Versions of the other datasets in the backup, all pinned. */
  pinned: Type.Array(Type.String({ pattern: versionShape.source })),
  /** Number of publications in the backup, with their steps. */
  publications: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
  /** Does it hold accounts, keys, people and the audit log, and nothing else? */
  control_only: boolean(),
  /** Does it hold the request log? */
  requests: boolean(),
  /** Steps of each database's schema. */
  schema: Type.Object(stores, { additionalProperties: false }),
  /** All other files, in their order. */
  files: Type.Array(fileSchema),
});

export type ManifestFile = Static<typeof fileSchema>;
export type Manifest = Static<typeof manifestSchema>;

/**
 * Reads a manifest.
 * @param name name of the backup, for errors.
 * @throws BackupFault naming the reason if this program cannot restore it.
 */
export async function readManifest(text: string, name: string): Promise<Manifest> {
  const value = parse(text);
  const notOurs = (reason: string) =>
    new BackupFault(
      `${name} is not a backup of gp-records, or its manifest is damaged: ${reason}. Nothing was changed.`,
    );
  if (value === undefined) throw notOurs("it does not begin with a manifest in JSON");
  const [head, whole] = await compileSchemas();
  if (!head.Check(value)) throw notOurs(firstFault(head.Errors(value)[1]));
  const { backup_format: format, program } = value;
  const remedy = `It was made by gp-records ${program}: restore it with that version.`;
  if (format !== backupFormat)
    throw new BackupFault(
      `${name} has format ${format}; this program reads only format ${backupFormat}. ${remedy}`,
    );
  if (!whole.Check(value)) throw notOurs(firstFault(whole.Errors(value)[1]));
  const manifest: Manifest = value;
  if (!isTime(manifest.made_at)) throw notOurs(`"made_at" is a time that does not exist`);
  for (const [store, taken] of storesOf(manifest)) {
    const unfit = unfitSchema(knownSteps(store), taken);
    if (unfit !== null) throw new BackupFault(`${store} in ${name} ${unfit.fault}. ${remedy}`);
  }
  const fault = filesFault(manifest);
  if (fault !== undefined)
    throw new BackupFault(`${name} cannot be restored: it ${fault}. Nothing was changed.`);
  return manifest;
}

/** Lists the databases in a backup, with the steps of their schemas. */
export const storesOf = ({ schema }: Manifest): [StoreName, readonly string[]][] =>
  storeNames.flatMap((store) => {
    const taken = schema[store];
    return taken === undefined ? [] : [[store, taken] as [StoreName, readonly string[]]];
  });

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Compiles the schemas. TypeBox takes long to load, so only a restore loads it. */
async function compileSchemas() {
  const { Compile } = await import("typebox/schema");
  return [Compile(Type.Object(headMembers)), Compile(manifestSchema)] as const;
}

interface Finding {
  keyword: string;
  instancePath: string;
  params: object;
  message: string;
}

function firstFault([finding]: readonly Finding[]): string {
  const { keyword, instancePath, params, message } = finding!;
  const member = instancePath.slice(1).replaceAll("/", ".");
  if (keyword === "required") {
    const [missing] = (params as { requiredProperties: string[] }).requiredProperties;
    return `"${member === "" ? missing : `${member}.${missing}`}" is missing`;
  }
  if (keyword === "boolean") return `"${member}" is not known`;
  return member === "" ? `it ${message}` : `"${member}" ${message}`;
}

/** Reports whether a time exists. `Date` turns a day that its month lacks into one of the next month. */
function isTime(text: string): boolean {
  const time = new Date(text);
  return !Number.isNaN(time.getTime()) && time.toISOString() === text;
}

/** Returns a fault unless it lists exactly the files of its databases and datasets: nothing else is ever written. */
function filesFault(manifest: Manifest): string | undefined {
  const { dataset, pinned, publications, files } = manifest;
  const expected = new Set<string>(storesOf(manifest).map(([store]) => store));
  if (dataset !== null) expected.add("datasets/current");
  if (dataset !== null && publications > 0) expected.add(publicationsPath);
  for (const version of dataset === null ? pinned : [...pinned, dataset])
    for (const end of ["sqlite", "json"]) expected.add(`datasets/${version}.${end}`);
  if (manifest.control_only && String([...expected]) !== "control.sqlite")
    return "names more than control.sqlite, though it claims to hold nothing else";
  const found = new Set<string>();
  for (const { path } of files) {
    const isStep = expected.has(publicationsPath) && isStepPath(path);
    if (!isStep && !expected.has(path))
      return `holds files that no backup of gp-records has ('${path}')`;
    if (found.has(path)) return `names ${path} twice`;
    found.add(path);
  }
  const missing = [...expected].find((path) => !found.has(path));
  return missing === undefined ? undefined : `lacks ${missing}`;
}
