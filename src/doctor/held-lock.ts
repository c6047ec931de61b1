/** Is one of the program's own locks held, and by whom? Asking leaves it as it is. */
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { findHolder, type Holder, holderText } from "./lock-holders.ts";

interface HeldLock {
  /** Null where only that it is held can be told. */
  holder: Holder | null;
  text: string;
}

/** Null where nobody holds it. */
export function heldLock(path: string): HeldLock | null {
  if (!existsSync(path)) return null;
  const holder = findHolder(path);
  if (holder !== null) return { holder, text: holderText(holder) };
  return isBusy(path) ? { holder: null, text: "another process" } : null;
}

/** Why nobody can take it: it is no file of SQLite's, or cannot be opened. Null where it is held, free or not there. */
export function lockFault(path: string): "foreign" | "closed" | null {
  if (!existsSync(path)) return null;
  const code = primaryCode(path);
  if (foreignCodes.includes(code)) return "foreign";
  return closedCodes.includes(code) ? "closed" : null;
}

const busyCode = 5;
/** Damaged, and not a database. */
const foreignCodes = [11, 26];
/** A fault of reading, which a folder in its place is too, and one of opening. */
const closedCodes = [10, 14];

const isBusy = (path: string) => primaryCode(path) === busyCode;

/** What SQLite says to reading it, 0 for well. A lock is exclusive, so that nobody can even read the file, which is empty. */
function primaryCode(path: string): number {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: true, timeout: 0 });
    db.prepare("select 1 from sqlite_schema").get();
    return 0;
  } catch (error) {
    return ((error as { errcode?: number }).errcode ?? 0) & 0xff;
  } finally {
    db?.close();
  }
}
