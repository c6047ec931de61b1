/** What to do about a database that cannot be read: only where the file itself is damaged may it be replaced. */
import { fail, type Finding } from "./check.ts";
import { findHolder, holderText } from "./lock-holders.ts";

/** Primary result codes, the low byte of an extended one: https://www.sqlite.org/rescode.html */
const busyCode = 5;
const readOnlyCode = 8;
const inputOutputCode = 10;
const corruptCode = 11;
const fullCode = 13;
const cannotOpenCode = 14;
const notADatabaseCode = 26;

/**
 * @param error what node:sqlite threw.
 * @param remedy what puts a damaged file right.
 */
export function unreadableStore(error: unknown, file: string, remedy: string): Finding {
  const { errcode = 0, message } = error as { errcode?: number; message: string };
  switch (errcode & 0xff) {
    case busyCode:
      return locked(file);
    case notADatabaseCode:
      return fail(`${file} is not an SQLite database`, remedy);
    case corruptCode:
      return fail(`${file} is damaged: SQLite says ${message}`, remedy);
    default:
      return notLookedAt(file, message, errcode);
  }
}

/** @param said what a check of SQLite's said that was not content. */
export function unsoundStore(said: string, file: string, remedy: string): Finding {
  // A page that the disk did not give is no page that is wrong.
  const [, digits] = /error code=(\d+)/.exec(said) ?? [];
  const code = Number(digits ?? corruptCode);
  return (code & 0xff) === corruptCode
    ? fail(`${file} is damaged: SQLite says ${said}`, remedy)
    : notLookedAt(file, said, code);
}

function locked(file: string): Finding {
  const holder = findHolder(file);
  const who = holder === null ? "another process" : holderText(holder);
  return fail(
    `${file} is locked by ${who}, so that nobody can read it`,
    holder === null ? "End that process." : `Let it finish, or end it: kill ${holder.pid}`,
  );
}

const notLookedAt = (file: string, reason: string, code: number): Finding =>
  fail(
    `${file} could not be looked at: ${reason}; it may be whole, so leave it as it is`,
    `${hindrances[code & 0xff] ?? "Mend what the other lines name"}; then run doctor again.`,
  );

const room =
  "Free some space on its disk, and lift limits on the size of files; where neither is short look for a failing disk (dmesg)";
const owner = "Run doctor as the user who owns DATA_DIR";

/** What helps against what is in the way, by primary result code. */
const hindrances: Readonly<Record<number, string>> = {
  [readOnlyCode]: `${owner}, on a file system that can be written`,
  [inputOutputCode]: room,
  [fullCode]: room,
  [cannotOpenCode]: `${owner}, on a file system that can be written`,
};
