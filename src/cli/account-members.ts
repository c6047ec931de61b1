/** `gp-records accounts members` and `accounts plan`: who is in an account, and which plan it is on. */
import type { Command } from "commander";
import { requireAccount } from "#accounts/find-account.ts";
import { listInvitations } from "#accounts/invites.ts";
import { listMembers } from "#accounts/members.ts";
import { noPlan, putOnPlan } from "#accounts/plans.ts";
import { withControl } from "./data-dir.ts";
import { accountJson } from "./account-table.ts";
import { jsonOption, type OutputOptions, printResult, table, timeText } from "./output.ts";
import type { Surroundings } from "./surroundings.ts";

export function addMembers(accounts: Command, surroundings: Surroundings): void {
  accounts
    .command("members")
    .description("show who is in an account, and who is invited to it")
    .argument("<account>", "name or id")
    .option(...jsonOption)
    .action(async (idOrName: string, options: OutputOptions) => {
      const { members, invited } = await withControl(surroundings, async ({ database }) => {
        const { number } = await requireAccount(database, idOrName);
        return {
          members: await listMembers(database, number),
          invited: await listInvitations(database, number, surroundings.now()),
        };
      });
      const rows = [
        ...members.map(({ person, email, role, joinedAt }) => ({
          id: person,
          address: email,
          role,
          joined_at: joinedAt,
          invited_until: null,
        })),
        ...invited.map(({ id, email, role, expiresAt }) => ({
          id,
          address: email,
          role,
          joined_at: null,
          invited_until: expiresAt,
        })),
      ];
      printResult(surroundings, options, rows, () => membersText(rows));
    });
}

interface MemberRow {
  id: string;
  address: string;
  role: string;
  joined_at: string | null;
  invited_until: string | null;
}

function membersText(rows: readonly MemberRow[]): string {
  if (rows.length === 0)
    return "Nobody is in the account. Invite somebody: gp-records accounts invite ADDRESS --account ACCOUNT";
  return table(
    ["id", "address", "role", "joined", "invited until"],
    rows.map((row) => [
      row.id,
      row.address,
      row.role,
      timeText(row.joined_at),
      timeText(row.invited_until),
    ]),
  );
}

export function addPlan(accounts: Command, surroundings: Surroundings): void {
  accounts
    .command("plan")
    .description("put an account on a plan, from the next request on")
    .argument("<account>", "name or id")
    .argument("<plan>", `as \`plans list\` shows it, or ${noPlan}`)
    .option(...jsonOption)
    .action(async (idOrName: string, plan: string, options: OutputOptions) => {
      const order = {
        idOrName,
        plan: plan === noPlan ? null : plan,
        now: surroundings.now(),
      };
      const account = await withControl(surroundings, (control) => putOnPlan(control, order));
      printResult(surroundings, options, accountJson(account), () =>
        account.plan === null
          ? `The account '${account.name}' is on no plan of its own.`
          : `The account '${account.name}' is on the plan '${account.plan}'.`,
      );
    });
}
