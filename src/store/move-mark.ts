/** The mark of an installation that `copy` moves: who is told by it neither serves nor changes what is moved. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { DomainError } from "./domain-error.ts";
import { readPlainFile } from "./plain-file.ts";
import { replaceFile, syncPath } from "./whole-file.ts";

export interface MoveMark {
  /** Names the move, on both sides. */
  id: string;
  /** `source`: it is left, and must not change any more. `target`: it is being filled, and is not whole yet. */
  side: "source" | "target";
  /** The other side, without a password. */
  other: string;
  /** ISO 8601. */
  begunAt: string;
  /** Null until the target is whole. */
  doneAt: string | null;
}

/** What was asked for is not done here, since the installation is moved. */
export class MovedAway extends DomainError {
  constructor(message: string) {
    super("conflict", message);
    this.name = "MovedAway";
  }
}

/** The SQLSTATE of a write into a database that was moved away. */
export const movedState = "GP001";

/** What PostgreSQL has for it, made by one migration. The triggers come from `copy` when the source is to change no more, so that until then nothing pays for them. */
export const moveTables = `
  create table move (
    is_only boolean primary key default true check (is_only),
    id text not null,
    side text not null check (side in ('source', 'target')),
    other text not null,
    begun_at text not null,
    done_at text
  );
  create function refuse_moved() returns trigger language plpgsql as $$
  begin
    raise exception using errcode = '${movedState}', message = 'this installation was moved away';
  end $$;
`;

/** @param place names the marked installation. @throws MovedAway where there is a mark. */
export function refuseMarked(mark: MoveMark | null, place: string): void {
  if (mark === null) return;
  const { side, other, begunAt, doneAt } = mark;
  const since = begunAt.replace(/\.\d+Z$/, "Z");
  if (side === "target")
    throw new MovedAway(
      `${place} is not whole: a copy of ${other} into it began at ${since}. Run \`gp-records copy\` again, which finishes it.`,
    );
  throw new MovedAway(
    doneAt === null
      ? `${place} is being moved to ${other} since ${since}. Run \`gp-records copy\` again to finish that, or \`gp-records copy --undo\` to serve from here again.`
      : `${place} was moved to ${other} at ${doneAt.replace(/\.\d+Z$/, "Z")}, and what is here is out of date. Name the new place with DATABASE_URL or DATA_DIR.`,
  );
}

const markPath = (dataDir: string) => join(dataDir, "move.json");

/** @throws MovedAway for a mark that cannot be read, since it must not be taken for none. */
export function readFolderMark(dataDir: string): MoveMark | null {
  try {
    return JSON.parse(readPlainFile(markPath(dataDir)).toString()) as MoveMark;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw new MovedAway(
      `${markPath(dataDir)} says that this installation is being moved, but cannot be read: ${(error as Error).message}. Run \`gp-records copy\` again, or \`gp-records copy --undo\`.`,
    );
  }
}

/** @throws MovedAway where the installation in the folder is marked. */
export const refuseMovedFolder = (dataDir: string): void =>
  refuseMarked(readFolderMark(dataDir), dataDir);

/** Replaces the mark, whole or not at all; null removes it. It survives a power failure. */
export function writeFolderMark(dataDir: string, mark: MoveMark | null): void {
  const path = markPath(dataDir);
  if (mark !== null) return replaceFile(path, `${JSON.stringify(mark, null, 2)}\n`);
  rmSync(path, { force: true });
  syncPath(dataDir);
}

const lookEveryMilliseconds = 500;

/** Calls back once when the installation in the folder is marked. @returns what ends the watch. */
export function watchFolderMark(dataDir: string, onMoved: (reason: Error) => void): () => void {
  const timer = setInterval(() => {
    try {
      refuseMovedFolder(dataDir);
    } catch (error) {
      clearInterval(timer);
      onMoved(error as Error);
    }
  }, lookEveryMilliseconds);
  timer.unref();
  return () => clearInterval(timer);
}
