/** The two sides of a copy: an installation in a folder, or in a database with a folder beside it. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { endCache } from "#datasets/dataset-cache.ts";
import type { RemoteLock } from "#datasets/remote.ts";
import { DomainError, StoreFault } from "#store/domain-error.ts";
import { controlFile, usageFile } from "#store/files.ts";
import { type Lock, takeLock } from "#store/lock.ts";
import { type MoveMark, readFolderMark, writeFolderMark } from "#store/move-mark.ts";
import { makePrivateFolder } from "#store/private-folder.ts";
import { makeStores } from "#store/stores.ts";
import type { UsageConnection } from "#usage/take-over.ts";
import { openPostgresRows, openSqliteRows, patientLimits, type Rows } from "./rows.ts";
import { controlTables, usageTables } from "./tables.ts";

/** As the settings name it. */
export interface Installation {
  /** With a database its cache of datasets; null for a target in a database, which needs none. */
  dataDir: string | null;
  databaseUrl: string | null;
  countersUrl: string | null;
}

interface OpenUsage {
  /** Totals and the last use of keys. */
  rows: Rows;
  /** For the request log. */
  connection: UsageConnection;
  close(): void;
}

export interface Side {
  /** For messages, without a password. */
  readonly name: string;
  readMark(): Promise<MoveMark | null>;
  writeMark(mark: MoveMark | null): Promise<void>;
  /** Accounts, keys and people. */
  openControl(): Promise<Rows>;
  openUsage(): Promise<OpenUsage>;
  /** @throws DomainError `conflict` where there is no installation, or not in the schema of this program. */
  refuseMissing(): Promise<void>;
  /** @throws DomainError `conflict` where there is an installation. */
  refuseTaken(): Promise<void>;
  /** No import and no other copy runs there until it is closed. @throws StoreFault `busy`. */
  lockImports(): Promise<void>;
  /** Makes it ready to be filled, once it is marked. */
  prepare(): Promise<void>;
  /** Waits until its servers, which see the mark, are done, and lets nothing change any more. @throws StoreFault `busy`. */
  stop(): Promise<void>;
  /** Lets it change again, as it was before `stop`. */
  allowChanges(): Promise<void>;
  /** Makes what was filled an installation that serves. */
  settle(): Promise<void>;
  close(): Promise<void>;
}

/** Longer than a server has for its last requests and records, and than one that was killed counts as running. */
const stopMilliseconds = 60_000;
const lookEveryMilliseconds = 100;

/** @returns once `isDone`. @throws StoreFault `busy` with the message, after a minute. */
async function untilStopped(isDone: () => Promise<boolean>, message: () => string): Promise<void> {
  const deadline = performance.now() + stopMilliseconds;
  while (!(await isDone())) {
    if (performance.now() > deadline) throw new StoreFault("busy", message());
    await wait(lookEveryMilliseconds);
  }
}

/** @param setting that names it where it is a database. @throws DomainError `conflict` where its schema or the role in its URL does not do. */
export const openSide = async (
  { dataDir, databaseUrl }: Installation,
  setting: "DATABASE_URL" | "COPY_TO",
): Promise<Side> =>
  databaseUrl === null ? openFolderSide(resolve(dataDir!)) : openDatabaseSide(databaseUrl, setting);

function openFolderSide(dataDir: string): Side {
  const locks = new Map<string, Lock>();
  const take = (name: string, busyMessage: string) => {
    if (!locks.has(name)) locks.set(name, takeLock(join(dataDir, name), busyMessage));
  };
  const isServed = `A server runs on ${dataDir}. Stop it and try again.`;
  return {
    name: dataDir,
    readMark: async () => readFolderMark(dataDir),
    writeMark: async (mark) => writeFolderMark(dataDir, mark),
    openControl: async () => openSqliteRows(controlFile(dataDir)),
    async openUsage() {
      const file = usageFile(dataDir);
      const rows = openSqliteRows(file);
      const connection = new DatabaseSync(file, { timeout: 5000 });
      return {
        rows,
        connection: { file: connection },
        close() {
          rows.close();
          connection.close();
        },
      };
    },
    async refuseMissing() {
      if (!existsSync(controlFile(dataDir)))
        throw new DomainError(
          "conflict",
          `${dataDir} has no accounts and keys, so there is nothing to copy. Name the installation with DATA_DIR or DATABASE_URL.`,
        );
      await makeStores(dataDir);
    },
    async refuseTaken() {
      const taken = [
        controlFile(dataDir),
        usageFile(dataDir),
        join(dataDir, "counts"),
        join(dataDir, "datasets"),
      ];
      const found = taken.find(isThere);
      if (found !== undefined)
        throw new DomainError(
          "conflict",
          `COPY_TO names ${dataDir}, where ${found} is already. Name a folder that is empty, or not there yet.`,
        );
    },
    async lockImports() {
      makePrivateFolder(dataDir);
      take(
        "import.lock",
        `An import or a copy is running on ${dataDir}. Try again when it has ended.`,
      );
    },
    async prepare() {
      take("server.lock", isServed);
      await makeStores(dataDir);
    },
    async stop() {
      await untilStopped(
        async () => {
          try {
            take("server.lock", isServed);
            return true;
          } catch (error) {
            if (error instanceof StoreFault && error.kind === "busy") return false;
            throw error;
          }
        },
        () =>
          `A server on ${dataDir} was told a minute ago that it is being moved, and still holds it. End that server, then run \`gp-records copy\` again to finish; or take it back with \`gp-records copy --undo\`.`,
      );
      // A command that began to write before there was a mark is done once others may write.
      const control = openSqliteRows(controlFile(dataDir));
      try {
        await control.writing(async () => {});
      } finally {
        control.close();
      }
    },
    async allowChanges() {
      take("server.lock", isServed);
    },
    async settle() {
      endCache(join(dataDir, "datasets"));
    },
    async close() {
      for (const lock of locks.values()) lock.release();
      locks.clear();
    },
  };
}

/** An empty folder is nothing. */
function isThere(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats?.isDirectory() === true ? readdirSync(path).length > 0 : stats !== undefined;
}

/** Tables that change although an installation was moved away. */
const unsealed = "('move', 'instance', 'schema_step')";

/** @param command what is done to each table but those, with `%I` for its name. */
const forEachTable = (command: string) => `do $$ declare name text; begin
  for name in select tablename from pg_tables
    where schemaname = current_schema() and tablename not in ${unsealed} order by tablename
  loop execute format('${command}', name); end loop;
end $$`;

const seal = forEachTable(
  "create or replace trigger moved before insert or update or delete on %I for each statement execute function refuse_moved()",
);
const unseal = forEachTable("drop trigger if exists moved on %I");

/** Those that have rows where there is an installation. */
const filledTables = [
  ...[...controlTables, ...usageTables].map(({ name }) => name),
  "usage_recent",
  "request_recent",
  "request_group",
  "dataset",
  "quota_count",
];

/** Their triggers would change one row for each row that is copied; servers read all keys at their start anyway. */
const watchedTables = ["api_key", "account", "plan"];

async function openDatabaseSide(url: string, setting: string): Promise<Side> {
  const { connectPostgres, placeName } = await import("#store/postgres.ts");
  const { refuseUnfit } = await import("#store/refuse-unfit.ts");
  const { readPostgresMark, readSchema } = await import("#store/postgres-schema.ts");
  const { openInstances } = await import("#datasets/instances.ts");
  const { openPostgresRemote } = await import("#datasets/postgres-remote.ts");
  const name = placeName(url);
  const session = await connectPostgres({ url }, { limits: patientLimits });
  const remote = openPostgresRemote(url, null);
  let lock: RemoteLock | null = null;
  const refuseOtherSchema = async () => {
    await refuseUnfit(session, { url });
    const { missing, forbidding } = await readSchema(session, name);
    if (missing.length > 0 || forbidding !== null)
      throw new DomainError(
        "conflict",
        `${name} has another schema than this program. Run \`gp-records migrate\` with DATABASE_URL set to it.`,
      );
  };
  /** It marks, seals and fills the tables, of which a server may do nothing. */
  const refuseOtherRole = async () => {
    const [table] = await session.query<{ owner: string; role: string }>(
      "select tableowner as owner, current_user as role from pg_tables where schemaname = current_schema() and tablename = 'move' and not pg_has_role(tableowner, 'usage')",
    );
    if (table !== undefined)
      throw new DomainError(
        "conflict",
        `The tables of ${name} are those of the role '${table.owner}', and ${setting} names the role '${table.role}'. Only the owner can move an installation: put that role and its password there for this command.`,
      );
  };
  const close = async () => {
    await lock?.release();
    lock = null;
    remote.close();
    session.close();
  };
  try {
    await refuseOtherSchema();
    await refuseOtherRole();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    name,
    readMark: () => readPostgresMark(session),
    async writeMark(mark) {
      await session.inTransaction(async () => {
        await session.query("delete from move");
        if (mark !== null)
          await session.query(
            "insert into move (id, side, other, begun_at, done_at) values ($1, $2, $3, $4, $5)",
            [mark.id, mark.side, mark.other, mark.begunAt, mark.doneAt],
          );
        // As a change of keys does, so that servers look at once.
        await session.query("notify gp_records_keys");
      });
    },
    openControl: () => openPostgresRows(url),
    async openUsage() {
      const rows = await openPostgresRows(url);
      return { rows, connection: session, close: rows.close };
    },
    async refuseMissing() {},
    async refuseTaken() {
      for (const table of filledTables) {
        const [row] = await session.query(`select 1 from ${table} limit 1`);
        if (row !== undefined)
          throw new DomainError(
            "conflict",
            `COPY_TO names ${name}, whose table ${table} has rows already. Make an empty database, and run \`gp-records migrate\` on it.`,
          );
      }
    },
    async lockImports() {
      lock ??= await remote.lock();
    },
    async prepare() {
      for (const table of watchedTables)
        await session.query(`alter table ${table} disable trigger key_change`);
    },
    async stop() {
      await untilStopped(
        async () => (await openInstances(session).list()).every(({ isLive }) => !isLive),
        () =>
          `Servers on ${name} were told a minute ago that it is being moved, and still run: \`gp-records instances\` lists them. End them, then run \`gp-records copy\` again to finish; or take it back with \`gp-records copy --undo\`.`,
      );
      await session.query(seal);
    },
    async allowChanges() {
      await session.query(unseal);
    },
    async settle() {
      for (const table of watchedTables)
        await session.query(`alter table ${table} enable trigger key_change`);
      await session.query("update key_change set count = count + 1");
    },
    close,
  };
}
