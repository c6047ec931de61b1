/** Accounts, which own keys and have quotas. Times are passed in as ms since 1970 and returned as ISO 8601 text. */
import { quotaFault } from "#limits/policy.ts";
import { type Actor, type AuditAction, operator, writeAudit } from "#store/audit.ts";
import {
  type AccountTable,
  type ControlDatabase,
  type ControlTransaction,
  type OwnQuotas,
  quotasOf,
} from "#store/control-tables.ts";
import { DomainError } from "#store/store-fault.ts";
import { makeId } from "#store/random-text.ts";
import type { ControlStore } from "#store/stores.ts";
import { type Acting, requireOwner } from "./members.ts";

/**
 * Creates an account.
 * @throws DomainError `invalid` for an unusable name or quota, `conflict` for a taken name, `not_found` for an unknown
 *   plan.
 */
export async function createAccount(control: ControlStore, order: AccountOrder): Promise<Account> {
  const name = cleanAccountName(order.name);
  checkQuotas(order.quotas);
  return control.write(async (transaction) => {
    await refuseTakenName(transaction, name);
    if (order.plan !== undefined) await requirePlan(transaction, order.plan);
    return insertAccount(transaction, { ...order, name });
  });
}

/** Lists accounts in the order of their names. Leaves out closed ones unless `withClosed` is true. */
export async function listAccounts(
  control: ControlStore,
  { withClosed = false }: { withClosed?: boolean } = {},
): Promise<Account[]> {
  let query = control.database.selectFrom("account").selectAll().orderBy("name_folded");
  if (!withClosed) query = query.where("closed_at", "is", null);
  return (await query.execute()).map(accountOf);
}

/**
 * Sets the given quotas. Null resets a quota to the plan's. A window that is left out keeps its quota.
 * @throws DomainError `not_found`, `conflict` for a closed account, or `invalid` for a quota that cannot be used.
 */
export async function setQuotas(
  control: ControlStore,
  idOrName: string,
  quotas: Partial<OwnQuotas>,
  now: number,
): Promise<Account> {
  checkQuotas(quotas);
  return changeAccount(control, idOrName, now, ({ quotas: former }) => {
    const limits = { ...former, ...quotas };
    const detail = { former, limits };
    return { action: "account.limits_changed", detail, columns: columnsOf(limits) };
  });
}

/**
 * Suspends an account. Its keys are refused from the next request on. A second suspension keeps the first one's time.
 */
export const suspendAccount = (control: ControlStore, idOrName: string, now: number) =>
  changeAccount(control, idOrName, now, ({ suspendedAt }) => {
    if (suspendedAt !== null) return null;
    return { action: "account.suspended", columns: { suspended_at: new Date(now).toISOString() } };
  });

export const resumeAccount = (control: ControlStore, idOrName: string, now: number) =>
  changeAccount(control, idOrName, now, ({ suspendedAt }) =>
    suspendedAt === null ? null : { action: "account.resumed", columns: { suspended_at: null } },
  );

interface AccountChange {
  action: AuditAction;
  detail?: object;
  columns: Partial<AccountTable>;
}

/**
 * Changes an account on behalf of the operator.
 * @param choose returns the change, or null for no change.
 * @throws DomainError `not_found`, `conflict` for a closed account, or whatever `choose` throws.
 */
export function changeAccount(
  control: ControlStore,
  idOrName: string,
  now: number,
  choose: (
    account: Account,
    transaction: ControlTransaction,
  ) => AccountChange | null | Promise<AccountChange | null>,
): Promise<Account> {
  return control.write(async (transaction) => {
    const account = await requireOpenAccount(transaction, idOrName);
    const change = await choose(account, transaction);
    if (change === null) return account;
    const { action, detail = {}, columns } = change;
    const { number, id: subject } = account;
    const entry = { actor: operator, account: number, subject, detail, now };
    await writeAudit(transaction, action, entry);
    return update(transaction, number, columns);
  });
}

/**
 * Renames an account.
 * @throws DomainError `refused` if the actor is not an owner, `invalid` for an unusable name, or `conflict` for
 *   a taken name or a closed account.
 */
export async function renameAccount(
  control: ControlStore,
  { account, name, actor, now }: Acting & { name: string },
): Promise<Account> {
  const cleaned = cleanAccountName(name);
  return control.write(async (transaction) => {
    await requireOwner(transaction, account, actor);
    const { id: subject } = await requireOpenNumber(transaction, account);
    await refuseTakenName(transaction, cleaned, account);
    await writeAudit(transaction, "account.renamed", { actor, account, subject, now });
    return update(transaction, account, { name: cleaned, name_folded: foldName(cleaned) });
  });
}

async function update(
  transaction: ControlTransaction,
  number: number,
  columns: Partial<AccountTable>,
): Promise<Account> {
  const query = transaction.updateTable("account").set(columns).where("number", "=", number);
  return accountOf(await query.returningAll().executeTakeFirstOrThrow());
}

const idShape = /^ac_[0-9a-z]{16}$/i;

/** Returns an account name in its stored form. @throws DomainError `invalid` if it cannot be used. */
function cleanAccountName(name: string): string {
  const cleaned = cleanName("account", name);
  if (idShape.test(cleaned))
    throw new DomainError(
      "invalid",
      "The name of the account must not look like an account id (ac_ and 16 letters or digits). Choose another name.",
    );
  return cleaned;
}

/** Refuses a taken name. @param own number of the account being renamed, if any. @throws DomainError `conflict`. */
async function refuseTakenName(
  database: ControlDatabase,
  name: string,
  own?: number,
): Promise<void> {
  const holder = await findAccount(database, name);
  if (holder !== undefined && holder.number !== own)
    throw new DomainError(
      "conflict",
      `The name '${name}' is taken by the account ${holder.id}. Choose another name.`,
    );
}

/**
 * Returns the name if it is free, otherwise the first free one of `name 2`, `name 3` and so on. Shortens a name
 * that the number would make too long. A taken name therefore does not stop a sign-up.
 * @throws DomainError `invalid` if the name cannot be used.
 */
export async function freeName(database: ControlDatabase, wanted: string): Promise<string> {
  const name = cleanAccountName(wanted);
  const folded = foldName(name);
  const cutTo = (length: number) => Array.from(name).slice(0, length).join("").trimEnd();
  // A number and the space before it have at most 10 characters. The space follows the whole name unless it is cut.
  const stem = foldName(cutTo(nameLengthMax - 10));
  const from = stem === folded ? `${stem} ` : stem;
  // One query reads all names of this form, so that the caller holds the write lock only briefly.
  const query = database.selectFrom("account").select("name_folded");
  const alike = query.where(({ eb, or, and }) =>
    or([
      eb("name_folded", "=", folded),
      and([eb("name_folded", ">=", from), eb("name_folded", "<", `${from}\u{10FFFF}`)]),
    ]),
  );
  const taken = new Set((await alike.execute()).map(({ name_folded }) => name_folded));
  for (let count = 1; ; count++) {
    const ending = count === 1 ? "" : ` ${count}`;
    const candidate = cutTo(nameLengthMax - ending.length) + ending;
    if (!taken.has(foldName(candidate))) return candidate;
  }
}

/** Returns an account's default name: the part of the address before the @. Adds a word if that looks like an id. */
export function nameFromAddress(email: string): string {
  const local = email.slice(0, email.lastIndexOf("@"));
  return idShape.test(local) ? `${local} account` : local;
}

interface AccountOrder {
  name: string;
  quotas: Partial<OwnQuotas>;
  /** Name of the account's plan; omitted for an account without a plan of its own. */
  plan?: string | undefined;
  actor?: Actor;
  now: number;
}

/** Inserts an account, inside a transaction. @param order `name` must be free, and in its stored form. */
export async function insertAccount(
  transaction: ControlTransaction,
  { name, quotas, plan, actor = operator, now }: AccountOrder,
): Promise<Account> {
  const highest = transaction
    .selectFrom("account")
    .select((select) => select.fn.max("number").as("number"));
  const row = {
    // The transaction holds the write lock, so no other account can take this number.
    number: ((await highest.executeTakeFirst())?.number ?? 0) + 1,
    id: makeId("ac"),
    name,
    name_folded: foldName(name),
    ...columnsOf(quotas),
    suspended_at: null,
    created_at: new Date(now).toISOString(),
    plan: plan ?? null,
    closed_at: null,
  };
  await transaction.insertInto("account").values(row).execute();
  const detail = plan === undefined ? {} : { detail: { plan } };
  const entry = { actor, account: row.number, subject: row.id, ...detail, now };
  await writeAudit(transaction, "account.created", entry);
  return accountOf(row);
}

/** Checks that there is a plan with this name. @throws DomainError `not_found`. */
export async function requirePlan(database: ControlDatabase, name: string): Promise<void> {
  const query = database.selectFrom("plan").select("name").where("name", "=", name);
  if ((await query.executeTakeFirst()) !== undefined) return;
  throw new DomainError(
    "not_found",
    `There is no plan '${name.slice(0, 100)}'. \`gp-records plans list\` shows all plans.`,
  );
}

export const columnsOf = ({ minute = null, hour = null, day = null }: Partial<OwnQuotas>) => ({
  per_minute: minute,
  per_hour: hour,
  per_day: day,
});

/** Checks quotas; null is valid. @throws DomainError `invalid`, which names the first window with an invalid quota. */
export function checkQuotas(quotas: Partial<OwnQuotas>): void {
  for (const [window, requests] of Object.entries(quotas)) {
    const fault = requests === null ? undefined : quotaFault(requests);
    if (fault !== undefined) throw new DomainError("invalid", `The quota per ${window} ${fault}.`);
  }
}

export type Account = ReturnType<typeof accountOf>;

/** Returns an account as it appears in JSON from commands and in a person's export. */
export const accountJson = ({ id, name, quotas, plan, suspendedAt, createdAt }: Account) => ({
  id,
  name,
  limits: quotas,
  plan,
  suspended_at: suspendedAt,
  created_at: createdAt,
});

/** Returns the account with this id, or with this name in any letter case. Returns undefined if there is none. */
export async function findAccount(
  database: ControlDatabase,
  idOrName: string,
): Promise<Account | undefined> {
  const row = await database
    .selectFrom("account")
    .selectAll()
    .where((where) =>
      where.or([where("id", "=", idOrName), where("name_folded", "=", foldName(idOrName))]),
    )
    .executeTakeFirst();
  return row && accountOf(row);
}

/** Returns the account with this id or name. @throws DomainError `not_found`. */
export async function requireAccount(
  database: ControlDatabase,
  idOrName: string,
): Promise<Account> {
  const account = await findAccount(database, idOrName);
  if (account !== undefined) return account;
  throw new DomainError(
    "not_found",
    `There is no account '${idOrName.slice(0, 100)}'. \`gp-records accounts list\` shows all open accounts.`,
  );
}

/** Returns the open account with this id or name. @throws DomainError `not_found`, or `conflict` if it is closed. */
export const requireOpenAccount = async (database: ControlDatabase, idOrName: string) =>
  requireOpen(await requireAccount(database, idOrName));

/** Returns the account with this number. @throws DomainError `conflict` if it is closed. */
export async function requireOpenNumber(
  database: ControlDatabase,
  number: number,
): Promise<Account> {
  const query = database.selectFrom("account").selectAll().where("number", "=", number);
  return requireOpen(accountOf(await query.executeTakeFirstOrThrow()));
}

function requireOpen(account: Account): Account {
  const { id, closedAt } = account;
  if (closedAt === null) return account;
  throw new DomainError(
    "conflict",
    `The account ${id} was closed on ${closedAt.slice(0, 10)}. A closed account can be neither changed nor opened again; use another account.`,
  );
}

/** Returns a name's folded form, which no two accounts share. */
const foldName = (name: string) => name.normalize("NFC").trim().toLowerCase();

const accountOf = (row: AccountTable) => ({
  number: row.number,
  id: row.id,
  name: row.name,
  /** Own quotas; null means the plan's quota. */
  quotas: quotasOf(row),
  plan: row.plan,
  suspendedAt: row.suspended_at,
  closedAt: row.closed_at,
  createdAt: row.created_at,
});

/**
 * Closes an account. @throws DomainError `refused` if the actor is not an owner, `conflict` if it is already closed.
 */
export function closeAccount(control: ControlStore, closing: Acting): Promise<void> {
  return control.write(async (transaction) => {
    await requireOwner(transaction, closing.account, closing.actor);
    await close(transaction, closing);
  });
}

/** Closes an account and revokes its keys, inside a transaction. */
export async function close(
  transaction: ControlTransaction,
  { account, actor, now }: Acting,
): Promise<void> {
  const { id } = await requireOpenNumber(transaction, account);
  const at = new Date(now).toISOString();
  const revoked = await transaction
    .updateTable("api_key")
    .set({ revoked_at: at })
    .where("account", "=", account)
    .where("revoked_at", "is", null)
    .returning("id")
    .execute();
  for (const { id: subject } of revoked)
    await writeAudit(transaction, "key.revoked", { actor, account, subject, now });
  await closeRows(transaction, { account, id, at });
  await writeAudit(transaction, "account.closed", { actor, account, subject: id, now });
}

/** Closes an account, but revokes no keys. Deletes its memberships, links, notices and followed views. */
export async function closeRows(
  transaction: ControlTransaction,
  { account, id, at }: { account: number; id: string; at: string },
): Promise<void> {
  for (const table of ["member", "link", "notice", "followed_view"] as const)
    await transaction.deleteFrom(table).where("account", "=", account).execute();
  await transaction
    .updateTable("account")
    // Nobody can choose an id as a name, so no two closed accounts collide, and the former name is free again.
    .set({ closed_at: at, name: id, name_folded: id, plan: null })
    .where("number", "=", account)
    .execute();
}

/** Maximum length of an account's or a key's name, in characters. */
const nameLengthMax = 100;
/** Number of code units to read of a name. NFC may take quadratic time, and makes at most four characters into one. */
const readMax = 8 * nameLengthMax + 8;

// Control characters, lone surrogates and line separators would garble a terminal, a log line or a page.
const unprintable = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

/**
 * Returns a name in its stored form: NFC, trimmed.
 * @param what kind of object, such as `account`, for the error.
 * @throws DomainError `invalid` if the name is empty, over 100 characters (code points) or unprintable.
 */
export function cleanName(what: string, text: string): string {
  const name = text.slice(0, readMax).normalize("NFC").trim();
  const invalid = (reason: string) =>
    new DomainError("invalid", `The name of the ${what} ${reason}.`);
  if (name === "") throw invalid("must not be empty");
  if (Array.from(name).length > nameLengthMax)
    throw invalid(`must have at most ${nameLengthMax} characters`);
  if (unprintable.test(name))
    throw invalid("must not contain line breaks or other control characters");
  return name;
}
