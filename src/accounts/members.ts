/** Members of accounts and their roles. An account that has members never loses its last owner. */
import { type Actor, operator, writeAudit } from "#store/audit.ts";
import type { ControlDatabase, ControlTransaction, Role } from "#store/control-tables.ts";
import { DomainError } from "#store/store-fault.ts";
import type { ControlStore } from "#store/stores.ts";
import { useUpLinks } from "./one-time-links.ts";
import { requirePersonRow } from "./people.ts";

export type Member = Awaited<ReturnType<typeof listMembers>>[number];

/** Lists an account's members in the order in which they joined. `person` is the person's id. */
export const listMembers = (database: ControlDatabase, account: number) =>
  database
    .selectFrom("member")
    .innerJoin("person", "person.id", "member.person")
    .select(["member.person", "person.email", "member.role", "member.joined_at as joinedAt"])
    .where("member.account", "=", account)
    .orderBy("member.joined_at")
    .orderBy("person.email_folded")
    .execute();

/** An actor, and the number of the account that the actor changes. */
export interface Acting {
  account: number;
  actor: Actor;
  now: number;
}

type MemberChange = Acting & { person: string };

/**
 * Changes a member's role.
 * @throws DomainError `refused` if the actor is not an owner, `not_found` if the person is not a member, or `conflict`
 *   for the last owner.
 */
export async function changeRole(
  control: ControlStore,
  { account, person, role, actor, now }: MemberChange & { role: Role },
): Promise<void> {
  await control.write(async (transaction) => {
    await requireOwner(transaction, account, actor);
    if ((await requireRole(transaction, account, person)) === role) return;
    if (role === "member") await refuseLastOwner(transaction, account, person);
    await transaction
      .updateTable("member")
      .set({ role })
      .where("account", "=", account)
      .where("person", "=", person)
      .execute();
    const entry = { actor, account, subject: person, detail: { role }, now };
    await writeAudit(transaction, "member.role_changed", entry);
  });
}

/** Removes a member. @throws as `changeRole` does. */
export async function removeMember(control: ControlStore, change: MemberChange): Promise<void> {
  await control.write(async (transaction) => {
    await requireOwner(transaction, change.account, change.actor);
    await deleteMember(transaction, { ...change, action: "member.removed" });
  });
}

/** Ends a person's own membership. @throws DomainError `not_found` if there is none, `conflict` for the last owner. */
export const leaveAccount = (control: ControlStore, change: Omit<MemberChange, "actor">) =>
  control.write((transaction) =>
    deleteMember(transaction, { ...change, actor: change.person, action: "member.left" }),
  );

type Departure = MemberChange & { action: "member.removed" | "member.left" };

/** Deletes a membership and uses up older invitations to it, inside a transaction. @throws as `leaveAccount` does. */
export async function deleteMember(
  transaction: ControlTransaction,
  { account, person, actor, action, now }: Departure,
): Promise<void> {
  const role = await requireRole(transaction, account, person);
  if (role === "owner") await refuseLastOwner(transaction, account, person);
  await transaction
    .deleteFrom("member")
    .where((member) => member.and({ account, person }))
    .execute();
  const { email_folded } = await requirePersonRow(transaction, person);
  await useUpLinks(transaction, { kind: "invite", account, email_folded }, now);
  await writeAudit(transaction, action, { actor, account, subject: person, now });
}

async function requireRole(
  transaction: ControlTransaction,
  account: number,
  person: string,
): Promise<Role> {
  const role = await roleOf(transaction, account, person);
  if (role !== undefined) return role;
  throw new DomainError(
    "not_found",
    "This person is no longer a member of the account, so nothing was changed.",
  );
}

/** An account that a person is a member of, and their role in it. */
export type Membership = Awaited<ReturnType<typeof listMemberships>>[number];

/** Lists a person's accounts in the order in which the person joined them. Leaves out closed ones. */
export const listMemberships = (database: ControlDatabase, person: string) =>
  database
    .selectFrom("member")
    .innerJoin("account", "account.number", "member.account")
    .select(["account.number", "account.id", "account.name"])
    .select(["account.suspended_at as suspendedAt", "member.role", "member.joined_at as joinedAt"])
    .where("member.person", "=", person)
    .where("account.closed_at", "is", null)
    .orderBy("member.joined_at")
    .orderBy("account.number")
    .execute();

/** Returns a person's role in an account, or undefined if they are not a member. */
export async function roleOf(
  database: ControlDatabase,
  account: number,
  person: string,
): Promise<Role | undefined> {
  const row = await database
    .selectFrom("member")
    .select("role")
    .where("account", "=", account)
    .where("person", "=", person)
    .executeTakeFirst();
  return row?.role;
}

/** Returns an actor's role. The operator counts as an owner. @throws DomainError `refused` if the actor has none. */
export async function requireMember(
  database: ControlDatabase,
  account: number,
  actor: Actor,
): Promise<Role> {
  const role = actor === operator ? "owner" : await roleOf(database, account, actor);
  if (role !== undefined) return role;
  throw new DomainError(
    "refused",
    "You are no longer a member of this account, so nothing was changed. Ask one of its owners to invite you again.",
  );
}

/** Checks that the actor is an owner. @throws DomainError `refused`. */
export async function requireOwner(
  database: ControlDatabase,
  account: number,
  actor: Actor,
): Promise<void> {
  if ((await requireMember(database, account, actor)) === "owner") return;
  throw new DomainError("refused", "Only the account's owners may do this. Ask one of them.");
}

/** Checks that the account has an owner other than this person. @throws DomainError `conflict` if it does not. */
async function refuseLastOwner(
  database: ControlDatabase,
  account: number,
  person: string,
): Promise<void> {
  const owners = await database
    .selectFrom("member")
    .select("person")
    .where("account", "=", account)
    .where("role", "=", "owner")
    .execute();
  if (owners.some((owner) => owner.person !== person)) return;
  const named = database.selectFrom("account").select("name").where("number", "=", account);
  const { name } = await named.executeTakeFirstOrThrow();
  throw new DomainError(
    "conflict",
    `The account '${name}' would lose its only owner, so nothing was changed. Make somebody else an owner first, or close the account.`,
  );
}

export async function insertMember(
  transaction: ControlTransaction,
  { account, person, role, now }: { account: number; person: string; role: Role; now: number },
): Promise<void> {
  const joined_at = new Date(now).toISOString();
  await transaction.insertInto("member").values({ account, person, role, joined_at }).execute();
  const entry = { actor: person, account, subject: person, detail: { role }, now };
  await writeAudit(transaction, "member.joined", entry);
}
