/** Views of records that accounts follow through private feeds. Only a digest of each feed's secret is stored. */
import { hash } from "node:crypto";
import { writeAudit } from "#store/audit.ts";
import type { ControlDatabase } from "#store/control-tables.ts";
import { DomainError } from "#store/store-fault.ts";
import { digestToken, makeId, makeToken } from "#store/random-text.ts";
import type { ControlStore } from "#store/stores.ts";
import { type Acting, requireMember } from "./members.ts";
import { mayReadChanges } from "./plans.ts";

/** Maximum number of views that an account can follow. */
const viewsMax = 100;

/** A kind of record, and filters for it as a query string. An empty query stands for all records of the kind. */
interface View {
  kind: string;
  query: string;
}

/**
 * Follows a view.
 * @param order `form` is the form's one-time value. A reload sends it again, and gets the same feed.
 * @returns the view's id, and the secret of its feed. Show the secret once, because only its digest is stored.
 * @throws DomainError `refused` if the actor is not a member or the plan excludes changes, `conflict` at 100 views.
 */
export function followView(
  control: ControlStore,
  { kind, query, form = makeToken(), account, actor, now }: View & Acting & { form?: string },
): Promise<{ id: string; secret: string }> {
  const secret = hash("sha256", `${form} ${account} ${kind} ${query}`, "base64url");
  const digest = digestToken(secret);
  return control.write(async (transaction) => {
    await requireMember(transaction, account, actor);
    if (!(await mayReadChanges(transaction, account)))
      throw new DomainError(
        "refused",
        "The plan of this account does not include changes, so the view is not followed. Ask the operator of this service for a plan that includes them.",
      );
    const made = await transaction
      .selectFrom("followed_view")
      .select("id")
      .where("digest", "=", digest)
      .executeTakeFirst();
    if (made !== undefined) return { ...made, secret };
    if ((await listFollowedViews(transaction, account)).length >= viewsMax) {
      const text = `This account already follows ${viewsMax} views, the most that an account may follow. Stop following one of them first.`;
      throw new DomainError("conflict", text);
    }
    const id = makeId("fv");
    const detail = { kind, query };
    const created_at = new Date(now).toISOString();
    const row = { id, digest, account, ...detail, made_by: actor, created_at };
    await transaction.insertInto("followed_view").values(row).execute();
    await writeAudit(transaction, "view.followed", { actor, account, subject: id, detail, now });
    return { id, secret };
  });
}

/**
 * Stops following a view. Its feed stops working at once.
 * @throws DomainError `refused` if the actor is not a member, `not_found` if the account does not follow the view.
 */
export function unfollowView(
  control: ControlStore,
  { id, account, actor, now }: Acting & { id: string },
): Promise<void> {
  return control.write(async (transaction) => {
    await requireMember(transaction, account, actor);
    const { numDeletedRows } = await transaction
      .deleteFrom("followed_view")
      .where("id", "=", id)
      .where("account", "=", account)
      .executeTakeFirst();
    if (numDeletedRows === 0n)
      throw new DomainError("not_found", "This account no longer follows this view.");
    await writeAudit(transaction, "view.unfollowed", { actor, account, subject: id, now });
  });
}

export const listFollowedViews = (database: ControlDatabase, account: number) =>
  database
    .selectFrom("followed_view")
    .select(["id", "kind", "query", "made_by", "created_at"])
    .where("account", "=", account)
    .orderBy("created_at")
    .orderBy("id")
    .execute();

/** Finds the view of a feed. Returns null if there is none, or if its account is suspended or may not read changes. */
export async function findFollowedView(
  database: ControlDatabase,
  secret: string,
): Promise<(View & { id: string }) | null> {
  const row = await database
    .selectFrom("followed_view")
    .innerJoin("account", "account.number", "followed_view.account")
    .select(["followed_view.id", "kind", "query", "account"])
    .where("digest", "=", digestToken(secret))
    .where("suspended_at", "is", null)
    .executeTakeFirst();
  return row !== undefined && (await mayReadChanges(database, row.account)) ? row : null;
}
