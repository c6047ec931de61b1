/** Everything stored about a person and their accounts as one JSON object, without secrets or digests of them. */
import type { Kysely } from "kysely";
import { writeAudit } from "#store/audit.ts";
import type { ControlTables } from "#store/control-tables.ts";
import type { ControlStore } from "#store/stores.ts";
import { accountJson, requireOpenNumber } from "./accounts.ts";
import { listMemberships, type Membership } from "./members.ts";
import { personOf, requirePersonRow } from "./people.ts";

/**
 * Has only the ids of other members, and the audit entries that the person may read: all of the accounts they own, and
 * their own elsewhere.
 * @throws DomainError `not_found`.
 */
export async function exportPerson(
  control: ControlStore,
  person: string,
  now: number,
): Promise<object> {
  return control.write(async (transaction) => {
    const row = await requirePersonRow(transaction, person);
    const entry = { actor: person, subject: person, now };
    await writeAudit(transaction, { ...entry, action: "person.exported" });
    const memberships = await listMemberships(transaction, person);
    const accounts: object[] = [];
    for (const one of memberships) accounts.push(await membershipJson(transaction, one));
    const { id, email, createdAt: created_at } = personOf(row);
    return {
      exported_at: new Date(now).toISOString(),
      person: { id, email, created_at },
      sessions: await ownRows(transaction, person).sessions,
      known_browsers: await ownRows(transaction, person).browsers,
      links: await linksOf(transaction, person, row.email_folded),
      accounts,
      audit: await auditOf(transaction, person, memberships),
    };
  });
}

function ownRows(database: Kysely<ControlTables>, person: string) {
  return {
    sessions: database
      .selectFrom("session")
      .select(["id", "created_at", "seen_at", "ends_at", "network", "browser"])
      .where("person", "=", person)
      .execute(),
    browsers: database
      .selectFrom("known_browser")
      .select("seen_at")
      .where("person", "=", person)
      .execute(),
  };
}

const linksOf = (database: Kysely<ControlTables>, person: string, folded: string) =>
  database
    .selectFrom("link")
    .select(["id", "kind", "email", "created_at", "expires_at", "used_at"])
    .where((where) => where.or([where("person", "=", person), where("email_folded", "=", folded)]))
    .execute();

async function membershipJson(
  database: Kysely<ControlTables>,
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
    notices: await database
      .selectFrom("notice")
      .select(["kind", "subject", "at"])
      .where("account", "=", number)
      .execute(),
  };
}

async function auditOf(
  database: Kysely<ControlTables>,
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
        // An empty list is an error to PostgreSQL.
        ...(owned.length === 0 ? [] : [where("account", "in", owned)]),
      ]),
    )
    .orderBy("number")
    .execute();
  return rows.map((row) => ({ ...row, detail: JSON.parse(row.detail) as object }));
}
