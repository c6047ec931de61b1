/** `gp-records accounts`: who may use the service, and how much. */
import type { Command } from "commander";
import {
  createAccount,
  listAccounts,
  resumeAccount,
  setQuotas,
  suspendAccount,
} from "#accounts/accounts.ts";
import { type Account, requireAccount } from "#accounts/find-account.ts";
import { withControl } from "./data-dir.ts";
import { jsonOption, type OutputOptions, printResult, table, timeText } from "./output.ts";
import { type QuotaOptions, quotasFrom, quotasText, withQuotaOptions } from "./quota-options.ts";
import type { Surroundings } from "./surroundings.ts";

export function addAccountCommands(program: Command, surroundings: Surroundings): void {
  const accounts = program
    .command("accounts")
    .description("make accounts and change what they may do");
  addCreate(accounts, surroundings);
  addList(accounts, surroundings);
  addLimits(accounts, surroundings);
  addSuspend(accounts, surroundings);
  addResume(accounts, surroundings);
}

function addCreate(accounts: Command, surroundings: Surroundings): void {
  const command = accounts
    .command("create")
    .description("make an account, which owns keys and which the quota is counted by")
    .requiredOption("--name <name>", "what it is called; unique, whatever the letter case");
  withQuotaOptions(command)
    .option(...jsonOption)
    .action(async (options: { name: string } & QuotaOptions & OutputOptions) => {
      const order = { name: options.name, quotas: quotasFrom(options), now: surroundings.now() };
      const account = await withControl(surroundings, (control) => createAccount(control, order));
      const { id, name, limits } = accountJson(account);
      printResult(surroundings, options, { id, name, limits }, () =>
        [
          `Made the account '${name}' (${id}): ${quotasText(account.quotas)}.`,
          `Give it a key: gp-records keys create --account ${id} --name NAME`,
        ].join("\n"),
      );
    });
}

function addList(accounts: Command, surroundings: Surroundings): void {
  accounts
    .command("list")
    .description("show all accounts")
    .option(...jsonOption)
    .action(async (options: OutputOptions) => {
      const found = await withControl(surroundings, listAccounts);
      printResult(surroundings, options, found.map(accountJson), () => accountTable(found));
    });
}

function addLimits(accounts: Command, surroundings: Surroundings): void {
  const command = accounts
    .command("limits")
    .description("change an account's quotas; without an option, show them")
    .argument("<account>", "name or id");
  withQuotaOptions(command)
    .option(...jsonOption)
    .action(async (idOrName: string, options: QuotaOptions & OutputOptions) => {
      const quotas = quotasFrom(options);
      const isChange = Object.keys(quotas).length > 0;
      const account = await withControl(surroundings, (control) =>
        isChange
          ? setQuotas(control, idOrName, quotas)
          : requireAccount(control.database, idOrName),
      );
      printResult(
        surroundings,
        options,
        accountJson(account),
        () => `${account.name}: ${quotasText(account.quotas)}.`,
      );
    });
}

function addSuspend(accounts: Command, surroundings: Surroundings): void {
  accounts
    .command("suspend")
    .description("refuse all keys of an account from the next request on")
    .argument("<account>", "name or id")
    .option(...jsonOption)
    .action(async (idOrName: string, options: OutputOptions) => {
      const account = await withControl(surroundings, (control) =>
        suspendAccount(control, idOrName, surroundings.now()),
      );
      const { id, name, suspendedAt } = account;
      printResult(surroundings, options, accountJson(account), () =>
        [
          `The account '${name}' is suspended since ${timeText(suspendedAt)}; its keys are refused.`,
          `Undo it: gp-records accounts resume ${id}`,
        ].join("\n"),
      );
    });
}

function addResume(accounts: Command, surroundings: Surroundings): void {
  accounts
    .command("resume")
    .description("let the keys of a suspended account work again")
    .argument("<account>", "name or id")
    .option(...jsonOption)
    .action(async (idOrName: string, options: OutputOptions) => {
      const account = await withControl(surroundings, (control) =>
        resumeAccount(control, idOrName),
      );
      printResult(
        surroundings,
        options,
        accountJson(account),
        () => `The account '${account.name}' is active.`,
      );
    });
}

const accountJson = ({ id, name, quotas, suspendedAt, createdAt }: Account) => ({
  id,
  name,
  limits: quotas,
  suspended_at: suspendedAt,
  created_at: createdAt,
});

function accountTable(accounts: readonly Account[]): string {
  if (accounts.length === 0)
    return "No account yet. Make one: gp-records accounts create --name NAME";
  const number = (requests: number | null) => String(requests ?? "default");
  return table(
    ["id", "name", "per minute", "per hour", "per day", "suspended", "created"],
    accounts.map(({ id, name, quotas, suspendedAt, createdAt }) => [
      id,
      name,
      number(quotas.minute),
      number(quotas.hour),
      number(quotas.day),
      timeText(suspendedAt),
      timeText(createdAt),
    ]),
  );
}
