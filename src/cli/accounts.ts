/** `gp-records accounts`: who may use the service, and how much. */
import type { Command } from "commander";
import {
  createAccount,
  listAccounts,
  resumeAccount,
  setQuotas,
  suspendAccount,
} from "#accounts/accounts.ts";
import { type Account, accountJson, requireAccount } from "#accounts/find-account.ts";
import { listInvitations } from "#accounts/invites.ts";
import { listMembers } from "#accounts/members.ts";
import { listQuotasInForce, noPlan, putOnPlan } from "#accounts/plans.ts";
import type { Quotas } from "#limits/policy.ts";
import { addAccountLinks } from "./account-links.ts";
import type { CliContext } from "./context.ts";
import { withControl } from "./data-dir.ts";
import { jsonOption, type OutputOptions, printResult, table, timeText } from "./output.ts";
import { type QuotaOptions, quotasFrom, quotasText, withQuotaOptions } from "./quota-options.ts";

export function addAccountCommands(program: Command, context: CliContext): void {
  const accounts = program
    .command("accounts")
    .description("make accounts and change what they may do");
  addCreate(accounts, context);
  addList(accounts, context);
  addLimits(accounts, context);
  addSuspend(accounts, context);
  addResume(accounts, context);
  addPlan(accounts, context);
  addMembers(accounts, context);
  addAccountLinks(accounts, context);
}

function addCreate(accounts: Command, context: CliContext): void {
  const command = accounts
    .command("create")
    .description("make an account, which owns keys and which the quota is counted by")
    .requiredOption("--name <name>", "what it is called; unique, whatever the letter case");
  withQuotaOptions(command)
    .option(...jsonOption)
    .action(async (options: { name: string } & QuotaOptions & OutputOptions) => {
      const order = { name: options.name, quotas: quotasFrom(options), now: context.now() };
      const account = await withControl(context, (control) => createAccount(control, order));
      const { id, name, limits } = accountJson(account);
      printResult(context, options, { id, name, limits }, () =>
        [
          `Made the account '${name}' (${id}): ${quotasText(account.quotas)}.`,
          `Give it a key: gp-records keys create --account ${id} --name NAME`,
        ].join("\n"),
      );
    });
}

function addList(accounts: Command, context: CliContext): void {
  accounts
    .command("list")
    .description(
      "show all accounts, with the quotas in force: their own, their plan's, or the default",
    )
    .option(...jsonOption)
    .action(async (options: OutputOptions) => {
      const found = await withControl(context, async (control) => {
        const accounts = await listAccounts(control);
        const quotas = await listQuotasInForce(control.database);
        return accounts.map((account) => ({ ...account, inForce: quotas.get(account.number)! }));
      });
      const json = found.map((account) => ({
        ...accountJson(account),
        limits_in_force: account.inForce,
      }));
      printResult(context, options, json, () => accountTable(found));
    });
}

function addLimits(accounts: Command, context: CliContext): void {
  const command = accounts
    .command("limits")
    .description("change an account's quotas; without an option, show them")
    .argument("<account>", "name or id");
  withQuotaOptions(command)
    .option(...jsonOption)
    .action(async (idOrName: string, options: QuotaOptions & OutputOptions) => {
      const quotas = quotasFrom(options);
      const isChange = Object.keys(quotas).length > 0;
      const account = await withControl(context, (control) =>
        isChange
          ? setQuotas(control, idOrName, quotas, context.now())
          : requireAccount(control.database, idOrName),
      );
      printResult(
        context,
        options,
        accountJson(account),
        () => `${account.name}: ${quotasText(account.quotas)}.`,
      );
    });
}

function addSuspend(accounts: Command, context: CliContext): void {
  accounts
    .command("suspend")
    .description("refuse all keys of an account from the next request on")
    .argument("<account>", "name or id")
    .option(...jsonOption)
    .action(async (idOrName: string, options: OutputOptions) => {
      const account = await withControl(context, (control) =>
        suspendAccount(control, idOrName, context.now()),
      );
      const { id, name, suspendedAt } = account;
      printResult(context, options, accountJson(account), () =>
        [
          `The account '${name}' is suspended since ${timeText(suspendedAt)}; its keys are refused.`,
          `Undo it: gp-records accounts resume ${id}`,
        ].join("\n"),
      );
    });
}

function addResume(accounts: Command, context: CliContext): void {
  accounts
    .command("resume")
    .description("let the keys of a suspended account work again")
    .argument("<account>", "name or id")
    .option(...jsonOption)
    .action(async (idOrName: string, options: OutputOptions) => {
      const account = await withControl(context, (control) =>
        resumeAccount(control, idOrName, context.now()),
      );
      printResult(
        context,
        options,
        accountJson(account),
        () => `The account '${account.name}' is active.`,
      );
    });
}

interface ListedAccount extends Account {
  /** Its own quotas, else its plan's, else the default. */
  inForce: Quotas;
}

function accountTable(accounts: readonly ListedAccount[]): string {
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

function addMembers(accounts: Command, context: CliContext): void {
  accounts
    .command("members")
    .description("show who is in an account, and who is invited to it")
    .argument("<account>", "name or id")
    .option(...jsonOption)
    .action(async (idOrName: string, options: OutputOptions) => {
      const { members, invited } = await withControl(context, async ({ database }) => {
        const { number } = await requireAccount(database, idOrName);
        return {
          members: await listMembers(database, number),
          invited: await listInvitations(database, number, context.now()),
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
      printResult(context, options, rows, () => membersText(rows));
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

function addPlan(accounts: Command, context: CliContext): void {
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
        now: context.now(),
      };
      const account = await withControl(context, (control) => putOnPlan(control, order));
      printResult(context, options, accountJson(account), () =>
        account.plan === null
          ? `The account '${account.name}' is on no plan of its own.`
          : `The account '${account.name}' is on the plan '${account.plan}'.`,
      );
    });
}
