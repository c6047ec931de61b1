/** How a list of accounts looks, for people and for programs. */
import type { Account } from "#accounts/find-account.ts";
import { table, timeText } from "./output.ts";

export const accountJson = ({ id, name, quotas, plan, suspendedAt, createdAt }: Account) => ({
  id,
  name,
  limits: quotas,
  plan,
  suspended_at: suspendedAt,
  created_at: createdAt,
});

export function accountTable(accounts: readonly Account[]): string {
  if (accounts.length === 0)
    return "No account yet. Make one: gp-records accounts create --name NAME";
  const number = (requests: number | null) => String(requests ?? "default");
  return table(
    ["id", "name", "plan", "per minute", "per hour", "per day", "suspended", "created"],
    accounts.map(({ id, name, plan, quotas, suspendedAt, createdAt }) => [
      id,
      name,
      plan ?? "-",
      number(quotas.minute),
      number(quotas.hour),
      number(quotas.day),
      timeText(suspendedAt),
      timeText(createdAt),
    ]),
  );
}
