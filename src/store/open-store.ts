/** Opens a store's SQLite file: makes it if need be, checks and migrates its schema, hands out a typed connection. */
import { closeSync, existsSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Kysely, type Transaction } from "kysely";
import { isBehind, migrate, type Migrations } from "./migrate.ts";
import { nodeSqliteDialect } from "./node-sqlite.ts";
import { makePrivateFolder } from "./private-folder.ts";
import { sqliteFault } from "./sqlite-fault.ts";
import { refuseOldSqlite } from "./sqlite-version.ts";
import { StoreFault } from "./store-fault.ts";
import { useWriteAheadLog } from "./write-ahead-log.ts";

export interface Store<Tables> {
  /** For reading. */
  readonly database: Kysely<Tables>;
  /**
   * One transaction that takes the write lock before it reads, so what it read stays true until it commits.
   * Inside `work` only the transaction may be used: `database` waits for it to end.
   * @throws StoreFault `busy` if another process keeps the lock.
   */
  write<R>(work: (transaction: Transaction<Tables>) => Promise<R>): Promise<R>;
  close(): Promise<void>;
}

export interface StoreShape {
  file: string;
  migrations: Migrations;
  /** `full` loses nothing when the power fails, `normal` perhaps the last commits; a killed process loses nothing. */
  synchronous: "full" | "normal";
  /** How long to wait for another writer; the thread stands still meanwhile. */
  busyMilliseconds: number;
  /** Whether what is deleted is overwritten with zeros too, instead of lying in the file until its place is needed. */
  erasesDeleted?: boolean;
}

/**
 * @throws StoreFault `conflict` for a newer schema, `busy` if another process keeps the write lock,
 *   `unusable` for a folder or file that cannot be used. A refused file is left as it was.
 */
export async function openStore<Tables>(shape: StoreShape): Promise<Store<Tables>> {
  refuseOldSqlite();
  createPrivateFile(shape.file);
  const connection = connect(shape);
  try {
    return await readyStore<Tables>(connection, shape);
  } catch (error) {
    connection.close();
    throw sqliteFault(error, shape.file);
  }
}

async function readyStore<Tables>(
  connection: DatabaseSync,
  shape: StoreShape,
): Promise<Store<Tables>> {
  const { file, migrations, synchronous, busyMilliseconds, erasesDeleted = false } = shape;
  const database = new Kysely<Tables>({ dialect: nodeSqliteDialect(connection, file) });
  const mustMigrate = await isBehind(database, migrations, file);
  useWriteAheadLog(connection, busyMilliseconds);
  connection.exec(`pragma synchronous = ${synchronous}`);
  if (erasesDeleted) connection.exec("pragma secure_delete = on");
  if (mustMigrate) await migrate(database, migrations);
  return {
    database,
    write: (work) => database.transaction().execute(work),
    close: () => database.destroy(),
  };
}

function connect({ file, busyMilliseconds }: StoreShape): DatabaseSync {
  try {
    return new DatabaseSync(file, { timeout: busyMilliseconds, enableForeignKeyConstraints: true });
  } catch (error) {
    throw sqliteFault(error, file);
  }
}

/** Only this user may read a new folder (0700) and file (0600); SQLite gives its side files the mode of the file. */
function createPrivateFile(file: string): void {
  // Opening and closing a file that SQLite has open in this process would drop its locks.
  if (existsSync(file)) return;
  try {
    makePrivateFolder(dirname(file));
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && existsSync(file)) return;
    throw new StoreFault(
      "unusable",
      `${file} cannot be made (${code}). Give this user write access to the folder, or name another one with DATA_DIR.`,
      { cause: error },
    );
  }
}
