/**
 * Expected errors, with messages for the user. Converts SQLite and PostgreSQL errors into faults that name the place
 * and say what to do.
 */

/**
 * Reason for a refusal:
 * - `not_found`: nothing has this name or id
 * - `conflict`: the present state does not allow the request
 * - `invalid`: the store does not accept this value
 * - `refused`: the person may not do this, or the address or the password is wrong
 * - `too_often`: there were too many attempts; a later one may work
 */
type RefusalKind = "not_found" | "conflict" | "invalid" | "refused" | "too_often";

/**
 * Reason for a store's fault:
 * - `busy`: the store is locked or cannot be reached, or too many are waiting; a later attempt may work
 * - `unusable`: the operator must first repair the store or correct a setting
 * - `full`: the disk is full or failing, or a limit on the size of files was reached
 */
type StoreFaultKind = "busy" | "unusable" | "full";

export type DomainErrorKind = RefusalKind | StoreFaultKind;

export class DomainError extends Error {
  readonly kind: DomainErrorKind;

  constructor(kind: DomainErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "DomainError";
    this.kind = kind;
  }
}

/** Store error whose cause lies outside the program. */
export class StoreFault extends DomainError {
  declare readonly kind: StoreFaultKind;

  constructor(kind: StoreFaultKind, message: string, options?: ErrorOptions) {
    super(kind, message, options);
    this.name = "StoreFault";
  }
}

/** Primary result codes, each the low byte of its extended codes: https://www.sqlite.org/rescode.html */
export const sqliteCodes = {
  busy: 5,
  locked: 6,
  readOnly: 8,
  inputOutput: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  constraint: 19,
  notADatabase: 26,
} as const;

export const primaryCode = (code: number): number => code & 0xff;

/** Returns the primary code of a node:sqlite error. Returns undefined for any other error. */
export function sqliteCodeOf(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === "number" ? primaryCode(code) : undefined;
}

/**
 * Converts a node:sqlite error.
 * @returns the error to throw: a DomainError if somebody can act on it, otherwise the given error.
 */
export function sqliteFault(error: unknown, file: string): unknown {
  const { busy, full, unusable } = faultsFrom(error);
  switch (sqliteCodeOf(error)) {
    case sqliteCodes.busy:
    case sqliteCodes.locked:
      return busy(`Another process is writing to ${file} and did not finish in time. Try again.`);
    case sqliteCodes.readOnly:
      return unusable(
        `${file} cannot be written. Give this user write access to it and its folder.`,
      );
    case sqliteCodes.inputOutput:
      return full(
        `The system failed to read or write ${file}. Check that its disk is neither full nor failing, and that no limit on the size of files (ulimit -f) was reached.`,
      );
    case sqliteCodes.corrupt:
    case sqliteCodes.notADatabase:
      return unusable(
        `${file} is damaged or not an SQLite database. \`gp-records doctor\` says how to repair it.`,
      );
    case sqliteCodes.full:
      return full(`The disk that holds ${file} is full. Free some space, then try again.`);
    case sqliteCodes.cannotOpen:
      return unusable(
        `${file} cannot be opened. Make sure that it exists and that this user may read and write it.`,
      );
    case sqliteCodes.constraint:
      return uniqueCodes.includes((error as { errcode: number }).errcode) ? taken(error) : error;
    default:
      return error;
  }
}

/** Extended codes for a violated unique index or primary key. */
const uniqueCodes = [2067, 1555];

/** Returns the error for a unique value that somebody else has just taken. */
const taken = (cause: unknown) =>
  new DomainError(
    "conflict",
    "Somebody else took this name or value at the same moment, so nothing was changed. Try again, or choose another name.",
    { cause },
  );

function faultsFrom(cause: unknown) {
  const of = (kind: StoreFault["kind"]) => (message: string) =>
    new StoreFault(kind, message, { cause });
  return { busy: of("busy"), full: of("full"), unusable: of("unusable") };
}

/** Returns the error code from a `pg` error, or from the fault made from it. Returns undefined if there is none. */
export function postgresCodeOf(error: unknown): string | undefined {
  const thrown = error instanceof DomainError ? error.cause : error;
  const code = (thrown as { code?: unknown } | null | undefined)?.code;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** Words of pgbouncer for a limit of its own; `query_wait_timeout` ends the wait for a connection to the server. */
const poolerLimit = /no more connections|query_wait_timeout/;

/** Words in those `pg` errors that have no code: the server ended the connection or did not answer. */
const lostConnection = /terminat|timeout|not queryable|timed out/i;

/**
 * Converts a `pg` error. Codes: https://www.postgresql.org/docs/current/errcodes-appendix.html
 * @param place name such as `PostgreSQL at db.example:5432/records`, without a password.
 * @param setting setting or option that gives the database's URL.
 * @returns the error to throw: a DomainError if somebody can act on it, otherwise the given error.
 */
export function postgresFault(error: unknown, place: string, setting = "DATABASE_URL"): unknown {
  if (!(error instanceof Error) || error instanceof DomainError) return error;
  const { busy, full, unusable } = faultsFrom(error);
  // Node collects one error for each of the host's addresses.
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const { message, code = "", syscall } = first as NodeJS.ErrnoException;
  switch (code) {
    case "23505":
      return taken(error);
    case "55P03":
    case "40001":
    case "40P01":
      return busy(`Others are writing to ${place} and did not finish in time. Try again.`);
    case "57014":
      return busy(`${place} did not answer in time. Try again.`);
    case "53300":
    case "08P01":
      return busy(
        code === "53300" || poolerLimit.test(message)
          ? `${place} has no free connections: ${message}. Close some connections, or raise the limit that was reached: max_connections, or CONNECTION LIMIT of the role or database; in pgbouncer default_pool_size, max_db_connections or max_client_conn.`
          : `${place} cannot be reached (${message}). The log of the server, or of the pooler before it, says why.`,
      );
    case "57P03":
      return busy(
        `${place} cannot be reached (${message}). Wait until it takes connections; its log says what it is doing.`,
      );
    case "53100":
      return full(`The disk of ${place} is full. Free some space, then try again.`);
    case "25006":
      return unusable(`${place} takes no writes. Enable them, or name a primary in ${setting}.`);
    case "28000":
    case "28P01":
    case "3D000":
      return unusable(
        `${place} refuses the login: ${message}. Correct the user, password or database in ${setting}, or admit this login in the server's pg_hba.conf.`,
      );
    case "42501":
      return unusable(
        `${place} does not allow this: ${message}. docs/scaling.md says which rights each role needs.`,
      );
    case "42P01":
    case "42703":
    case "42883":
      return unusable(
        `${place} does not have the schema that this program needs: ${message}. Run \`gp-records migrate\`.`,
      );
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return unusable(
        `The host name of ${place} cannot be resolved (${code}). Correct the name in ${setting}, or check the name server of this machine.`,
      );
    default:
      if (message === "Query read timeout")
        return busy(
          `${place} did not answer in time (${message}). It is overloaded or was cut off, or a pooler before it has no free connection (default_pool_size or max_db_connections in pgbouncer).`,
        );
      return /^(?:08|57P)/.test(code) || syscall !== undefined || lostConnection.test(message)
        ? busy(
            `${place} cannot be reached (${syscall === undefined ? message : code}). Make sure that it is running and that this machine can connect to it.`,
          )
        : error;
  }
}
