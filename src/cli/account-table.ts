/** How a list of accounts looks, for people and for programs. */
import type { Account } from "#accounts/find-account.ts";
import type { Quotas } from "#limits/policy.ts";
import { table, timeText } from "./output.ts";

export const accountJson = ({ id, name, quotas, plan, suspendedAt, createdAt }: Account) => ({
  id,
  name,
  limits: quotas,
  plan,
  suspended_at: suspendedAt,
  created_at: createdAt,
});

/** What its plan and the service give it, too. */
interface ListedAccount extends Account {
  inForce: Quotas;
}

export function accountTable(accounts: readonly ListedAccount[]): string {
  if (accounts.length === 0)
    return "No account yet. Make one: gp-records accounts create --name NAME";
  return table(
    ["id", "name", "plan", "per minute", "per hour", "per day", "suspended", "created"],
    accounts.map(({ id, name, plan, inForce, suspendedAt, createdAt }) => [
      id,
      name,
      plan ?? "-",
      String(inForce.minute),
      String(inForce.hour),
      String(inForce.day),
      timeText(suspendedAt),
      timeText(createdAt),
    ]),
  );
}
