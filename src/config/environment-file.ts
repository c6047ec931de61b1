/**
 * Reads settings from a `.env` file in the working folder, if it belongs to this user or root and nobody else can write
 * to it. On Windows, owner and permissions are not checked.
 */
import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseEnv } from "node:util";
import { settingNames } from "./settings.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface EnvironmentFile {
  /** Absolute path. */
  path: string;
  /** Names of the settings taken from the file. */
  used: readonly string[];
  /** Names in the file that are not settings and are ignored. */
  unknown: readonly string[];
  /** Reason why the file is ignored, worded to follow its path, and the remedy; null if it is read. */
  ignored: { found: string; mend: string } | null;
}

/** Maximum size of the file, in bytes; all settings together need less. */
const bytesMax = 65_536;
const writeForOthers = 0o022;

/**
 * Adds the file's settings to the environment, except those that the environment already has. Ignores other names in
 * the file, because the working folder may belong to another program.
 * @param user id of this process's user; undefined if the system has no user ids (Windows).
 * @returns the completed environment, and facts about the file. `file` is null if there is none, or if it is a folder.
 */
export function withEnvironmentFile(
  environment: Environment,
  { name = ".env", user = process.geteuid?.() }: { name?: string; user?: number | undefined } = {},
): { environment: Environment; file: EnvironmentFile | null } {
  const read = readSafely(name, user);
  if (read === null) return { environment, file: null };
  const path = resolve(name);
  if ("found" in read) return { environment, file: { path, used: [], unknown: [], ignored: read } };
  const { values } = read;
  const isFree = (one: string) => !settingNames.includes(one) || environment[one] === undefined;
  const used = settingNames.filter(
    (one) => values[one] !== undefined && isFree(one) && isFree(counterpartOf(one)),
  );
  const unknown = Object.keys(values).filter((one) => !settingNames.includes(one));
  const taken = Object.fromEntries(used.map((one) => [one, values[one]]));
  return {
    environment: { ...environment, ...taken },
    file: { path, used, unknown, ignored: null },
  };
}

/** Returns a secret's other name, with or without `_FILE`. Both are ignored in `.env` if the environment has either. */
const counterpartOf = (name: string) =>
  name.endsWith("_FILE") ? name.slice(0, -"_FILE".length) : `${name}_FILE`;

function readSafely(
  name: string,
  user: number | undefined,
): { values: NodeJS.Dict<string> } | NonNullable<EnvironmentFile["ignored"]> | null {
  try {
    const link = lstatSync(name, { throwIfNoEntry: false });
    if (link === undefined) return null;
    // Non-blocking, because the file may be a pipe without a writer.
    const file = openSync(name, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stats = fstatSync(file);
      // A Python virtual environment may be a folder of this name.
      if (stats.isDirectory()) return null;
      if (!stats.isFile() || stats.size > bytesMax)
        return {
          found: stats.isFile() ? `is larger than ${bytesMax / 1024} KiB` : "is not a regular file",
          mend: `Replace ${resolve(name)} with a text file of at most ${bytesMax / 1024} KiB, or remove it.`,
        };
      const stranger = [link.uid, stats.uid].find((uid) => uid !== user && uid !== 0);
      if (user !== undefined && stranger !== undefined)
        return {
          found: `belongs to the user with the id ${stranger}, not to root or the user who runs this command`,
          mend: `If you trust its settings, run as root: chown ${link.uid === stranger ? "-h " : ""}${user} ${resolve(name)}`,
        };
      if (user !== undefined && (stats.mode & writeForOthers) !== 0)
        return {
          found: `can be written by other users (mode ${(stats.mode & 0o777).toString(8).padStart(4, "0")})`,
          mend: `If you trust its settings, run: chmod go-w ${resolve(name)}`,
        };
      // Some editors begin a file with a byte order mark, which would become part of the first name.
      return { values: parseEnv(readFileSync(file, "utf8").replace(/^\uFEFF/, "")) };
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return {
      found: `cannot be read (${code})`,
      mend: `Give this user read access to ${resolve(name)}, or remove it.`,
    };
  }
}
