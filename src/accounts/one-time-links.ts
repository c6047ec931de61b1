/** Links that work once and prove access to the mail of an address. Only digests of their tokens are stored. */
import type { Kysely, Selectable, Transaction } from "kysely";
import type { ControlTables, LinkKind, LinkTable, Role } from "#store/control-tables.ts";
import { DomainError } from "#store/domain-error.ts";
import { dayMilliseconds, hourMilliseconds } from "#store/durations.ts";
import { digestToken, makeId, makeToken } from "#store/random-text.ts";
import type { ControlStore } from "#store/stores.ts";
import type { Address } from "./people.ts";

export interface Link {
  id: string;
  kind: LinkKind;
  /** Address that it was sent to. */
  email: string;
  folded: string;
  person: string | null;
  /** Number. */
  account: number | null;
  role: Role | null;
  createdAt: string;
  expiresAt: string;
}

/** A new link, the only object that ever holds the token: send it and forget it. */
export interface MadeLink {
  token: string;
  id: string;
  email: string;
  expiresAt: string;
}

export const linkLifetimeMilliseconds: Readonly<Record<LinkKind, number>> = {
  "sign-up": dayMilliseconds,
  invite: 7 * dayMilliseconds,
  reset: hourMilliseconds,
  email: dayMilliseconds,
};

/** Returns the URL of a link. @param base `PUBLIC_URL`, or where the service listens, without a slash at the end. */
export const linkUrl = (base: string, token: string): string =>
  `${base}/account/link?token=${token}`;

interface LinkOrder {
  kind: LinkKind;
  address: Address;
  person?: string | null;
  account?: number | null;
  role?: Role | null;
  now: number;
}

export async function makeLink(
  transaction: Transaction<ControlTables>,
  { kind, address, person = null, account = null, role = null, now }: LinkOrder,
): Promise<MadeLink> {
  const token = makeToken();
  const row = {
    digest: digestToken(token),
    id: makeId("li"),
    kind,
    email: address.email,
    email_folded: address.folded,
    person,
    account,
    role,
    created_at: new Date(now).toISOString(),
    expires_at: new Date(now + linkLifetimeMilliseconds[kind]).toISOString(),
    used_at: null,
  };
  await transaction.insertInto("link").values(row).execute();
  return { token, id: row.id, email: row.email, expiresAt: row.expires_at };
}

/** Reads a link without using it up: mail programs and scanners follow links too. @throws LinkFault. */
export async function lookAtLink(
  { database }: Pick<ControlStore, "database">,
  token: string,
  now: number,
): Promise<Link> {
  return linkOf(await requireLive(database, token, now));
}

/**
 * Uses the link up in the transaction of what it is for: if that fails, the link still works.
 * @throws LinkFault, also for a link of another kind.
 */
export async function useLink(
  transaction: Transaction<ControlTables>,
  { token, kind, now }: { token: string; kind: LinkKind; now: number },
): Promise<Link> {
  const row = await requireLive(transaction, token, now);
  if (row.kind !== kind) throw new LinkFault("unknown");
  await transaction
    .updateTable("link")
    .set({ used_at: new Date(now).toISOString() })
    .where("id", "=", row.id)
    .execute();
  return linkOf(row);
}

/** Ends the other links of the same kind to an address or for a person. */
export async function useUpLinks(
  transaction: Transaction<ControlTables>,
  { kind, folded, person, now }: { kind: LinkKind; folded?: string; person?: string; now: number },
): Promise<void> {
  let query = transaction
    .updateTable("link")
    .set({ used_at: new Date(now).toISOString() })
    .where("kind", "=", kind)
    .where("used_at", "is", null);
  if (folded !== undefined) query = query.where("email_folded", "=", folded);
  if (person !== undefined) query = query.where("person", "=", person);
  await query.execute();
}

async function requireLive(
  database: Kysely<ControlTables>,
  token: string,
  now: number,
): Promise<Selectable<LinkTable>> {
  const row = await database
    .selectFrom("link")
    .selectAll()
    .where("digest", "=", digestToken(token))
    .executeTakeFirst();
  if (row === undefined) throw new LinkFault("unknown");
  if (row.used_at !== null) throw new LinkFault("used");
  if (Date.parse(row.expires_at) <= now) throw new LinkFault("expired");
  return row;
}

const linkOf = (row: Selectable<LinkTable>): Link => ({
  id: row.id,
  kind: row.kind,
  email: row.email,
  folded: row.email_folded,
  person: row.person,
  account: row.account,
  role: row.role,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
});

export type LinkFaultReason = "unknown" | "expired" | "used";

/** The refusal of a link that no longer works: whatever the reason, the person reads the same sentence. */
export class LinkFault extends DomainError {
  /** Cause; never shown to the sender, because it would help to guess. */
  readonly reason: LinkFaultReason;

  constructor(reason: LinkFaultReason) {
    super(
      "not_found",
      "This link does nothing any more: it was used, or its time is over. Ask for a new one.",
    );
    this.name = "LinkFault";
    this.reason = reason;
  }
}
