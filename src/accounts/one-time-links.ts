/**
 * Links that work once, for signing up, joining an account, or setting a password or an address. Only digests of their
 * tokens are stored.
 */
import type { ControlDatabase, ControlTransaction, LinkKind, Role } from "#store/control-tables.ts";
import { DomainError } from "#store/store-fault.ts";
import { dayMilliseconds, hourMilliseconds } from "#store/durations.ts";
import { digestToken, makeId, makeToken } from "#store/random-text.ts";
import type { Address } from "./people.ts";

/** A link that still works. */
export type Link = Awaited<ReturnType<typeof lookAtLink>>;

/** A new link. The token is stored nowhere: send it and forget it. */
export type MadeLink = Awaited<ReturnType<typeof makeLink>>;

export const linkLifetimeMilliseconds: Readonly<Record<LinkKind, number>> = {
  "sign-up": dayMilliseconds,
  invite: 7 * dayMilliseconds,
  reset: hourMilliseconds,
  email: dayMilliseconds,
};

/**
 * Returns a link's URL. @param base `PUBLIC_URL`, or the address on which the service listens, without a trailing
 * slash.
 */
export const linkUrl = (base: string, token: string): string =>
  `${base}/account/link?token=${token}`;

interface LinkOrder {
  kind: LinkKind;
  address: Address;
  person?: string | null;
  account?: number | null;
  role?: Role | null;
  /** Lifetime of the link, in ms; by default the lifetime of its kind. */
  lifetimeMilliseconds?: number;
  now: number;
}

export async function makeLink(
  transaction: ControlTransaction,
  { kind, address, person = null, account = null, role = null, now, ...order }: LinkOrder,
) {
  const lifetimeMilliseconds = order.lifetimeMilliseconds ?? linkLifetimeMilliseconds[kind];
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
    expires_at: new Date(now + lifetimeMilliseconds).toISOString(),
    used_at: null,
  };
  await transaction.insertInto("link").values(row).execute();
  return { token, id: row.id, email: row.email, expiresAt: row.expires_at };
}

/**
 * Uses up a link in the transaction of the change that it allows. The link still works if the change fails.
 * @throws LinkFault, also for a link of another kind.
 */
export async function useLink(
  transaction: ControlTransaction,
  { token, kind, now }: { token: string; kind: LinkKind; now: number },
): Promise<Link> {
  const link = await lookAtLink(transaction, token, now);
  if (link.kind !== kind) throw new LinkFault();
  await transaction
    .updateTable("link")
    .set({ used_at: new Date(now).toISOString() })
    .where("id", "=", link.id)
    .execute();
  return link;
}

/** Uses up all unused links that have these values. Only links for a new password or address have a `person`. */
export async function useUpLinks(
  transaction: ControlTransaction,
  values: { kind?: LinkKind; email_folded?: string; person?: string; account?: number },
  now: number,
): Promise<void> {
  await transaction
    .updateTable("link")
    .set({ used_at: new Date(now).toISOString() })
    .where((link) => link.and(values))
    .where("used_at", "is", null)
    .execute();
}

/** Reads a link without using it up, because mail programs and scanners open links too. @throws LinkFault. */
export async function lookAtLink(database: ControlDatabase, token: string, now: number) {
  return database
    .selectFrom("link")
    .select(["id", "kind", "email", "email_folded as folded", "person", "account", "role"])
    .where("digest", "=", digestToken(token))
    .where("used_at", "is", null)
    .where("expires_at", ">", new Date(now).toISOString())
    .executeTakeFirstOrThrow(() => new LinkFault());
}

/** Refusal of a link that does not work. The message never gives the exact reason, which would help an attacker. */
export class LinkFault extends DomainError {
  constructor() {
    super(
      "not_found",
      "The link was used before, has expired or was withdrawn, or its address is incomplete. Nothing was changed.",
    );
    this.name = "LinkFault";
  }
}
