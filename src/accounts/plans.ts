/** Plans: named quotas and rights to read changes, shared by accounts. A change takes effect with the next request. */
import { type Quotas, withDefaults } from "#limits/policy.ts";
import { operator, writeAudit } from "#store/audit.ts";
import {
  type ControlDatabase,
  defaultPlan,
  type OwnQuotas,
  quotasOf,
} from "#store/control-tables.ts";
import { DomainError } from "#store/store-fault.ts";
import type { ControlStore } from "#store/stores.ts";
import { type Account, changeAccount, checkQuotas, columnsOf, requirePlan } from "./accounts.ts";

export type Plan = Awaited<ReturnType<typeof listPlans>>[number];

const nameShape = /^[a-z0-9][a-z0-9-]{0,39}$/;
/** Command argument that takes an account off its plan. */
export const noPlan = "none";

interface PlanOrder extends Pick<Plan, "name">, Partial<Pick<Plan, "changes">> {
  quotas: Partial<OwnQuotas>;
  now: number;
}

/**
 * Creates a plan, or changes only the given parts of an existing one.
 * @throws DomainError `invalid` for a name or a quota that cannot be used.
 */
export async function setPlan(
  control: ControlStore,
  { name, quotas, changes, now }: PlanOrder,
): Promise<Plan> {
  if (!nameShape.test(name) || name === noPlan)
    throw new DomainError(
      "invalid",
      `'${name.slice(0, 100)}' cannot be the name of a plan. A plan's name has 1 to 40 characters (a-z, 0-9 and -), begins with a letter or digit, and is not '${noPlan}'.`,
    );
  checkQuotas(quotas);
  return control.write(async (transaction) => {
    const present = await findPlan(transaction, name);
    const all: OwnQuotas = { minute: null, hour: null, day: null, ...present?.quotas, ...quotas };
    const mayReadChanges = changes === undefined ? (present?.changes ?? null) : changes;
    const changesColumn = mayReadChanges === null ? null : Number(mayReadChanges);
    const columns = { ...columnsOf(all), changes: changesColumn };
    await transaction
      .insertInto("plan")
      .values({ name, ...columns, created_at: new Date(now).toISOString() })
      .onConflict((conflict) => conflict.column("name").doUpdateSet(columns))
      .execute();
    const detail = {
      former: present?.quotas ?? null,
      limits: all,
      ...(mayReadChanges !== (present?.changes ?? null) && { changes: mayReadChanges }),
    };
    await writeAudit(transaction, "plan.set", { actor: operator, subject: name, detail, now });
    return (await findPlan(transaction, name))!;
  });
}

/** Lists the plans in the order of their names. */
export async function listPlans(database: ControlDatabase) {
  const rows = await database
    .selectFrom("plan")
    .selectAll()
    .select((select) =>
      select
        .selectFrom("account")
        .select((all) => all.fn.countAll().as("count"))
        .whereRef("account.plan", "=", "plan.name")
        .as("accounts"),
    )
    .orderBy("name")
    .execute();
  return rows.map(({ created_at: createdAt, name, accounts, changes, ...quotas }) => ({
    name,
    /** Quotas; null means the quota of the plan `default`, or else the service's. */
    quotas: quotasOf(quotas),
    /** Right of the plan's accounts to read changes; null means the right in the plan `default`, or else true. */
    changes: changes === null ? null : changes === 1,
    accounts: Number(accounts),
    createdAt,
  }));
}

/** Deletes a plan. @throws DomainError `not_found`, or `conflict` if accounts are on it. */
export async function removePlan(
  control: ControlStore,
  { name, now }: { name: string; now: number },
): Promise<void> {
  await control.write(async (transaction) => {
    await requirePlan(transaction, name);
    const { accounts } = (await findPlan(transaction, name))!;
    if (accounts > 0)
      throw new DomainError(
        "conflict",
        `${accounts} ${accounts === 1 ? "account is" : "accounts are"} on the plan '${name}', so the plan was not removed. First put each account of the plan on another plan: gp-records accounts plan ACCOUNT PLAN`,
      );
    await transaction.deleteFrom("plan").where("name", "=", name).execute();
    await writeAudit(transaction, "plan.removed", { actor: operator, subject: name, now });
  });
}

/**
 * Puts an account on a plan.
 * @param plan name of the plan; null to take the account off its plan.
 * @throws DomainError `not_found`, or `conflict` if the account is closed.
 */
export function putOnPlan(
  control: ControlStore,
  { idOrName, plan, now }: { idOrName: string; plan: string | null; now: number },
): Promise<Account> {
  return changeAccount(control, idOrName, now, async ({ plan: former }, transaction) => {
    if (plan !== null) await requirePlan(transaction, plan);
    if (former === plan) return null;
    return { action: "account.plan_changed", detail: { former, plan }, columns: { plan } };
  });
}

/** Returns the quotas in force: the account's own, else its plan's, else the default plan's, else the service's. */
export async function quotasInForce(database: ControlDatabase, account: number): Promise<Quotas> {
  const rows = quotasQuery(database).where("account.number", "=", account);
  return withDefaults(quotasOf(await rows.executeTakeFirstOrThrow()));
}

export async function listQuotasInForce(database: ControlDatabase): Promise<Map<number, Quotas>> {
  const rows = await quotasQuery(database).select("account.number").execute();
  return new Map(rows.map((row) => [row.number, withDefaults(quotasOf(row))]));
}

export async function mayReadChanges(database: ControlDatabase, account: number): Promise<boolean> {
  const row = await accountsWithPlans(database)
    .select((select) => select.fn.coalesce("plan.changes", "usual.changes").as("changes"))
    .where("account.number", "=", account)
    .executeTakeFirstOrThrow();
  return row.changes !== 0;
}

/** Returns a query that joins each account with its plan and the plan `default`. */
const accountsWithPlans = (database: ControlDatabase) =>
  database
    .selectFrom("account")
    .leftJoin("plan", "plan.name", "account.plan")
    .leftJoin("plan as usual", (join) => join.on("usual.name", "=", defaultPlan));

const quotasQuery = (database: ControlDatabase) =>
  accountsWithPlans(database).select((select) =>
    (["per_minute", "per_hour", "per_day"] as const).map((column) =>
      select.fn.coalesce(`account.${column}`, `plan.${column}`, `usual.${column}`).as(column),
    ),
  );

async function findPlan(database: ControlDatabase, name: string): Promise<Plan | undefined> {
  return (await listPlans(database)).find((plan) => plan.name === name);
}
