/** Can the PostgreSQL of DATABASE_URL be reached, is it fit for what servers share, and can its request log be read? */
import { type Config, isLoopback } from "#config.ts";
import { DomainError } from "#store/domain-error.ts";
import { refuseMarked } from "#store/move-mark.ts";
import type { PostgresSession } from "#store/postgres.ts";
import { type Check, fail, type Finding, ok, warn } from "./check.ts";
import { blocksLookedAt, blockTables, damageOf } from "./stores.ts";

export const database: Check = {
  name: "postgresql",
  async look({ config, isThorough }) {
    const url = config?.databaseUrl ?? null;
    const found = await onDatabase(config, (at, place) => findingsOf(at, place, isThorough));
    return [...found, ...(url === null ? [] : encryptionFinding(url))];
  },
};

/** What `look` finds with DATABASE_URL; nothing without. What it throws of the database is a finding. */
export async function onDatabase(
  config: Config | null,
  look: (url: string, place: string) => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> {
  const url = config?.databaseUrl ?? null;
  if (url === null) return [];
  const { placeName } = await import("#store/postgres.ts");
  try {
    return await look(url, placeName(url));
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return [fail(error.message, "Mend what it names, then run doctor again.")];
  }
}

async function findingsOf(url: string, place: string, isThorough: boolean): Promise<Finding[]> {
  const { connectPostgres } = await import("#store/postgres.ts");
  const { refuseUnfit } = await import("#store/refuse-unfit.ts");
  const { readPostgresMark, readSchema } = await import("#store/postgres-schema.ts");
  const session = await connectPostgres({ url });
  try {
    const { version } = await refuseUnfit(session, { url });
    const { missing, forbidding } = await readSchema(session, place);
    if (forbidding !== null)
      return [
        fail(
          `${place} was changed by a newer gp-records: this version does not know '${forbidding}'`,
          "Run the newer version.",
        ),
      ];
    if (missing.length > 0)
      return [
        fail(
          `${place} lacks ${missing.length} steps of the schema, so no server starts`,
          "As the role that owns the tables: gp-records migrate",
        ),
      ];
    refuseMarked(await readPostgresMark(session), place);
    const damage = await blockDamage(session, isThorough);
    if (damage !== undefined)
      return [
        fail(
          `${place} is damaged: ${damage}`,
          "Restore a dump of the database, or remove that row: the rest of the log, and all totals, are whole without it.",
        ),
      ];
    return [
      ok(
        `${place} has the present schema and holds accounts, keys and usage; it is version ${version}`,
      ),
    ];
  } finally {
    session.close();
  }
}

/** Over a network anybody on the way could read keys' digests and passwords' hashes, and the password of the role. */
function encryptionFinding(url: string): Finding[] {
  const { hostname, searchParams } = new URL(url);
  const host = searchParams.get("host") ?? decodeURIComponent(hostname);
  const mode = searchParams.get("sslmode") ?? "disable";
  if (host.startsWith("/") || isLoopback(host) || mode.startsWith("verify")) return [];
  return [
    warn(
      mode === "disable"
        ? `DATABASE_URL does not ask for TLS, so what goes to ${host} can be read on the way`
        : `DATABASE_URL does not have the certificate of ${host} checked, so another server could take its place`,
      "Add ?sslmode=verify-full to DATABASE_URL, with &sslrootcert=FILE for an authority of your own.",
    ),
  ];
}

const blocksAtOnce = 10;

/** What is wrong with the first block of the request log that cannot be read: among the newest, or among all. */
async function blockDamage(
  { query }: PostgresSession,
  isThorough: boolean,
): Promise<string | undefined> {
  for (const table of blockTables) {
    let before = Number.MAX_SAFE_INTEGER;
    for (let seen = 0; isThorough || seen < blocksLookedAt; seen += blocksAtOnce) {
      const rows = await query<{ number: number; content: Uint8Array }>(
        `select number, content from ${table} where number < $1 order by number desc limit ${blocksAtOnce}`,
        [before],
      );
      if (rows.length === 0) break;
      for (const { number, content } of rows) {
        const damage = damageOf(table, number, content);
        if (damage !== undefined) return damage;
        before = number;
      }
    }
  }
  return undefined;
}
