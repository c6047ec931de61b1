/** Members of an account and their roles. An account that has people never loses its last owner. */
import type { Kysely, Transaction } from "kysely";
import { type Actor, writeAudit } from "#store/audit.ts";
import type { ControlTables, Role } from "#store/control-tables.ts";
import { DomainError } from "#store/domain-error.ts";
import type { ControlStore } from "#store/stores.ts";
import { refuseLastOwner, requireOwner, roleOf } from "./membership.ts";

export interface Member {
  /** Id. */
  person: string;
  email: string;
  role: Role;
  joinedAt: string;
}

/** In the order of joining. */
export async function listMembers(
  database: Kysely<ControlTables>,
  account: number,
): Promise<Member[]> {
  const rows = await database
    .selectFrom("member")
    .innerJoin("person", "person.id", "member.person")
    .select(["member.person", "person.email", "member.role", "member.joined_at"])
    .where("member.account", "=", account)
    .orderBy("member.joined_at")
    .orderBy("person.email_folded")
    .execute();
  return rows.map(({ joined_at: joinedAt, ...rest }) => ({ ...rest, joinedAt }));
}

interface MemberChange {
  /** Number. */
  account: number;
  person: string;
  actor: Actor;
  now: number;
}

/** @throws DomainError `refused` for whoever is no owner, `not_found`, or `conflict` for the last owner. */
export async function changeRole(
  control: ControlStore,
  { role, ...change }: MemberChange & { role: Role },
): Promise<void> {
  await control.write(async (transaction) => {
    const { account, actor } = change;
    await requireOwner(transaction, account, actor);
    await setRole(transaction, { ...change, role });
    if (role === "member") await refuseLastOwner(transaction, account, "");
  });
}

/** Makes another member an owner and this owner a member, in one step. @throws as `changeRole` does. */
export async function passOwnership(
  control: ControlStore,
  { account, from, to, now }: { account: number; from: string; to: string; now: number },
): Promise<void> {
  await control.write(async (transaction) => {
    await requireOwner(transaction, account, from);
    if (from === to) return;
    await setRole(transaction, { account, person: to, role: "owner", actor: from, now });
    await setRole(transaction, { account, person: from, role: "member", actor: from, now });
  });
}

/** @throws as `changeRole` does. */
export async function removeMember(control: ControlStore, change: MemberChange): Promise<void> {
  await control.write(async (transaction) => {
    await requireOwner(transaction, change.account, change.actor);
    await deleteMember(transaction, { ...change, action: "member.removed" });
  });
}

/** @throws DomainError `not_found`, or `conflict` for the last owner. */
export async function leaveAccount(
  control: ControlStore,
  change: Omit<MemberChange, "actor">,
): Promise<void> {
  await control.write((transaction) =>
    deleteMember(transaction, { ...change, actor: change.person, action: "member.left" }),
  );
}

/** Part of a transaction. */
export async function deleteMember(
  transaction: Transaction<ControlTables>,
  {
    account,
    person,
    actor,
    action,
    now,
  }: MemberChange & { action: "member.removed" | "member.left" },
): Promise<void> {
  const role = await requireRole(transaction, account, person);
  if (role === "owner") await refuseLastOwner(transaction, account, person);
  await transaction
    .deleteFrom("member")
    .where("account", "=", account)
    .where("person", "=", person)
    .execute();
  await writeAudit(transaction, { actor, action, account, subject: person, now });
}

async function setRole(
  transaction: Transaction<ControlTables>,
  { account, person, role, actor, now }: MemberChange & { role: Role },
): Promise<void> {
  if ((await requireRole(transaction, account, person)) === role) return;
  await transaction
    .updateTable("member")
    .set({ role })
    .where("account", "=", account)
    .where("person", "=", person)
    .execute();
  const entry = { actor, account, subject: person, detail: { role }, now };
  await writeAudit(transaction, { ...entry, action: "member.role_changed" });
}

async function requireRole(
  transaction: Transaction<ControlTables>,
  account: number,
  person: string,
): Promise<Role> {
  const role = await roleOf(transaction, account, person);
  if (role !== undefined) return role;
  throw new DomainError("not_found", "The account has no such member.");
}
