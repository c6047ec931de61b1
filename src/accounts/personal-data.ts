/** Exports and deletes the data that the control store has about a person. */
import { type Actor, writeAudit } from "#store/audit.ts";
import type { ControlDatabase, ControlTransaction } from "#store/control-tables.ts";
import type { ControlStore } from "#store/stores.ts";
import { accountJson, close, requireOpenNumber } from "./accounts.ts";
import { listFollowedViews } from "./followed-views.ts";
import { deleteMember, listMembers, listMemberships, type Membership } from "./members.ts";
import { personOf, requirePersonRow } from "./people.ts";
import { forgive } from "./throttle.ts";

/**
 * Returns what the control store has about a person and their accounts, without secrets or digests. Other members
 * appear only by id. The audit entries are those that the person may read: all entries of accounts that they own, and
 * otherwise only entries by or about them. Records the export in the audit log.
 * @throws DomainError `not_found`.
 */
export async function exportPerson(
  control: ControlStore,
  person: string,
  now: number,
): Promise<object> {
  return control.write(async (transaction) => {
    const row = await requirePersonRow(transaction, person);
    await writeAudit(transaction, "person.exported", { actor: person, subject: person, now });
    const memberships = await listMemberships(transaction, person);
    const accounts: object[] = [];
    for (const one of memberships) accounts.push(await membershipJson(transaction, one));
    const { id, email, createdAt: created_at } = personOf(row);
    return {
      exported_at: new Date(now).toISOString(),
      person: { id, email, created_at },
      sessions: await transaction
        .selectFrom("session")
        .select(["id", "created_at", "seen_at", "ends_at", "network", "browser"])
        .where("person", "=", person)
        .execute(),
      known_browsers: await transaction
        .selectFrom("known_browser")
        .select("seen_at")
        .where("person", "=", person)
        .execute(),
      links: await transaction
        .selectFrom("link")
        .select(["id", "kind", "email", "created_at", "expires_at", "used_at"])
        .where(({ or, eb }) =>
          or([eb("person", "=", person), eb("email_folded", "=", row.email_folded)]),
        )
        .execute(),
      accounts,
      audit: await auditOf(transaction, person, memberships),
    };
  });
}

async function membershipJson(
  database: ControlDatabase,
  { number, role, joinedAt }: Membership,
): Promise<object> {
  return {
    ...accountJson(await requireOpenNumber(database, number)),
    your_role: role,
    you_joined_at: joinedAt,
    members: await database
      .selectFrom("member")
      .select(["person", "role", "joined_at"])
      .where("account", "=", number)
      .orderBy("joined_at")
      .execute(),
    keys: await database
      .selectFrom("api_key")
      .select(["id", "name", "hint", "created_at", "expires_at", "revoked_at"])
      .select(["replaced_by", "made_by"])
      .where("account", "=", number)
      .orderBy("created_at")
      .execute(),
    followed_views: await listFollowedViews(database, number),
    notices: await database
      .selectFrom("notice")
      .select(["kind", "subject", "at"])
      .where("account", "=", number)
      .execute(),
  };
}

async function auditOf(
  database: ControlDatabase,
  person: string,
  memberships: readonly Membership[],
): Promise<object[]> {
  const owned = memberships.filter(({ role }) => role === "owner").map(({ number }) => number);
  const rows = await database
    .selectFrom("audit")
    .select(["number", "at", "actor", "action", "subject", "detail"])
    .where((where) =>
      where.or([
        where("actor", "=", person),
        where("subject", "=", person),
        // An empty list is an error in PostgreSQL.
        ...(owned.length === 0 ? [] : [where("account", "in", owned)]),
      ]),
    )
    .orderBy("number")
    .execute();
  return rows.map((row) => ({ ...row, detail: JSON.parse(row.detail) as object }));
}

/**
 * Deletes a person and what the control store has about them. Closes accounts that have no other member. Audit entries
 * and keys still contain the person's id, which then identifies nobody.
 * @throws DomainError `conflict` for the last owner of an account that has other members, or `not_found`.
 */
export function deletePerson(
  control: ControlStore,
  { person, actor, now }: { person: string; actor: Actor; now: number },
): Promise<void> {
  return control.write(async (transaction) => {
    const { email_folded: folded } = await requirePersonRow(transaction, person);
    for (const { number: account } of await listMemberships(transaction, person)) {
      const isAlone = (await listMembers(transaction, account)).length === 1;
      await (isAlone
        ? close(transaction, { account, actor, now })
        : deleteMember(transaction, { account, person, actor, action: "member.left", now }));
    }
    await deleteRows(transaction, person, folded);
    await writeAudit(transaction, "person.deleted", { actor, subject: person, now });
  });
}

/** Deletes the rows about a person or their address. Audit entries, keys, and counts for browsers and mail remain. */
export async function deleteRows(
  transaction: ControlTransaction,
  person: string,
  folded: string,
): Promise<void> {
  for (const table of ["session", "known_browser", "member", "link"] as const)
    await transaction.deleteFrom(table).where("person", "=", person).execute();
  await transaction.deleteFrom("link").where("email_folded", "=", folded).execute();
  // Only the person knows the addresses of their feeds.
  await transaction.deleteFrom("followed_view").where("made_by", "=", person).execute();
  await forgive(transaction, [
    { kind: "address", of: folded },
    { kind: "person", of: person },
  ]);
  await transaction.deleteFrom("person").where("id", "=", person).execute();
}
