/** Reads and checks `manifest.json`, the first file of a backup. */
import { versionShape } from "#datasets/generation.ts";
import type { Finding } from "#records/check-record.ts";
import type { Publication } from "#records/publication.ts";
import { type Static, Type } from "#records/schema.ts";
import { knownSteps, type StoreName, storeNames, unfitSchema } from "#store/sqlite-file.ts";
import { BackupFault } from "./backup-fault.ts";

/** Version of the backup format; no other is read. Raise it if an older program could misread a newer backup. */
export const backupFormat = 5;

export const manifestName = "manifest.json";

/** Maximum size of a manifest in bytes: room for 80,000 publications and their steps, but too little to fill memory. */
export const manifestBytesMax = 64 * 1024 * 1024;

const shortText = () => Type.String({ minLength: 1, maxLength: 100 });

/** Members of every format. They tell an older program which version made a newer backup. */
const headMembers = {
  backup_format: Type.Integer({ minimum: 1 }),
  /** Version of the program that made the backup. */
  program: shortText(),
};

const count = () => Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const version = () => Type.String({ pattern: versionShape.source });

const orNull = (of: object) => Type.Unsafe<unknown>({ anyOf: [of, { type: "null" }] });

/** Checked members of a publication: those that paths are built from, and the counts of its step. */
const publicationSchema = Type.Object({
  version: version(),
  from: orNull(version()),
  step: orNull(Type.Object({ changes: count(), counts: Type.Object({}) })),
});

const fileSchema = Type.Object({
  /** Path relative to the data folder. */
  path: shortText(),
  bytes: count(),
  sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
});

const steps = () => Type.Optional(Type.Array(shortText()));

const manifestSchema = Type.Object({
  ...headMembers,
  /** RFC 3339 time in UTC, to the millisecond. */
  made_at: Type.String({
    pattern:
      "^\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}Z$",
  }),
  /** Version of the served dataset; null if none was served. */
  dataset: Type.Unsafe<string | null>({ type: ["string", "null"], pattern: versionShape.source }),
  /** Versions of the other datasets in the backup, which are all pinned. */
  pinned: Type.Array(version()),
  /** Publications that lead to the served dataset, oldest first. Their steps are files in the backup. */
  publications: Type.Array(Type.Unsafe<Publication>(publicationSchema)),
  /** True for a backup of only accounts, keys, people and the audit log. */
  control_only: Type.Boolean(),
  /** True if the backup includes the request log. */
  requests: Type.Boolean(),
  /** Steps of each database's schema. */
  schema: Type.Object(
    { "control.sqlite": steps(), "usage.sqlite": steps() } satisfies Record<StoreName, unknown>,
    { additionalProperties: false },
  ),
  /** All files but the manifest, in archive order. */
  files: Type.Array(fileSchema),
});

export type ManifestFile = Static<typeof fileSchema>;
export type Manifest = Static<typeof manifestSchema>;

/**
 * Reads a manifest.
 * @param name name of the backup, for errors.
 * @throws BackupFault with the reason if this program cannot restore the backup.
 */
export async function readManifest(text: string, name: string): Promise<Manifest> {
  let value: unknown = null;
  try {
    value = JSON.parse(text);
  } catch {
    // The fault is thrown below.
  }
  const notOurs = (reason: string) =>
    new BackupFault(
      `${name} was not made by \`gp-records backup\`, or its manifest is damaged: ${reason}. Nothing was changed. If it is a backup, copy it here again; otherwise restore from another one.`,
    );
  if (value === null) throw notOurs("it does not begin with a manifest in JSON");
  // The compiler is slow to load, and only a restore needs it.
  const { Compile } = await import("typebox/schema");
  const [head, whole] = [Compile(Type.Object(headMembers)), Compile(manifestSchema)];
  if (!head.Check(value)) throw notOurs(firstFault(head.Errors(value)[1]));
  const { backup_format: format, program } = value;
  const remedy = `Nothing was changed. The backup was made by gp-records ${program}: restore it with that version.`;
  if (format !== backupFormat)
    throw new BackupFault(
      `${name} has backup format ${format}; this program reads only format ${backupFormat}. ${remedy}`,
    );
  if (!whole.Check(value)) throw notOurs(firstFault(whole.Errors(value)[1]));
  const manifest: Manifest = value;
  for (const [store, taken] of storesOf(manifest)) {
    const unfit = unfitSchema(knownSteps(store), taken);
    if (unfit !== null) throw new BackupFault(`${store} in ${name} ${unfit.fault}. ${remedy}`);
  }
  const fault = filesFault(manifest);
  if (fault !== undefined)
    throw new BackupFault(
      `${name} cannot be restored: its manifest ${fault}. Nothing was changed. Restore another backup.`,
    );
  return manifest;
}

/** Lists the databases in a backup, with the steps of their schemas. */
const storesOf = ({ schema }: Manifest): [StoreName, readonly string[]][] =>
  storeNames.flatMap((store) => {
    const taken = schema[store];
    return taken === undefined ? [] : [[store, taken] as [StoreName, readonly string[]]];
  });

function firstFault([finding]: readonly Finding[]): string {
  const { instancePath, params, message } = finding!;
  const { requiredProperties = [] } = params as { requiredProperties?: string[] };
  const missing = requiredProperties.slice(0, 1);
  const member = [...instancePath.split("/").slice(1), ...missing].join(".");
  const what = member === "" ? "it" : `"${member}"`;
  return `${what} ${missing.length > 0 ? "is missing" : message}`;
}

/** Returns the first fault in a manifest's files, worded to follow `its manifest`; undefined if there is none. */
function filesFault(manifest: Manifest): string | undefined {
  const { dataset, pinned, publications, files } = manifest;
  const versions = dataset === null ? pinned : [...pinned, dataset];
  const expected = new Set([
    ...storesOf(manifest).map(([store]) => store),
    ...stepPaths(publications),
    ...versions.flatMap((one) => [`datasets/${one}.sqlite`, `datasets/${one}.json`]),
    ...(dataset === null ? [] : ["datasets/current"]),
  ]);
  const found = new Set(files.map(({ path }) => path));
  const [other] = found.difference(expected);
  if (other !== undefined) return `names '${other}', a file that does not belong in this backup`;
  const [missing] = expected.difference(found);
  if (missing !== undefined) return `does not name the file '${missing}'`;
  return found.size < files.length ? "names a file twice" : undefined;
}

/** Lists the paths of the steps in a backup. A dataset published twice after the same predecessor has only one step. */
export const stepPaths = (publications: readonly Publication[]): Set<string> =>
  new Set(
    publications.flatMap(({ from, version, step }) =>
      step === null ? [] : [`datasets/changes/changes-${from}..${version}.ndjson`],
    ),
  );
