/** Is one of the program's own locks held, and by whom? Asking leaves it as it is. */
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { findHolder, type Holder, holderText } from "./lock-holders.ts";

export interface HeldLock {
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

/** A lock is exclusive, so that nobody can even read the file, which is empty. */
function isBusy(path: string): boolean {
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(path, { readOnly: true, timeout: 0 });
    db.prepare("select 1 from sqlite_schema").get();
    return false;
  } catch (error) {
    return (error as { errcode?: number }).errcode === 5;
  } finally {
    db?.close();
  }
}
