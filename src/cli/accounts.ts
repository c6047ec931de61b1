/** `gp-records accounts`: who may use the service, and how much. */
import type { Command } from "commander";
import {
  createAccount,
  listAccounts,
  resumeAccount,
  setQuotas,
  suspendAccount,
} from "#accounts/accounts.ts";
import { listQuotasInForce } from "#accounts/plans.ts";
import { requireAccount } from "#accounts/find-account.ts";
import { addAccountLinks } from "./account-links.ts";
import { addMembers, addPlan } from "./account-members.ts";
import { accountJson, accountTable } from "./account-table.ts";
import { withControl } from "./data-dir.ts";
import { jsonOption, type OutputOptions, printResult, timeText } from "./output.ts";
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
  addPlan(accounts, surroundings);
  addMembers(accounts, surroundings);
  addAccountLinks(accounts, surroundings);
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
    .description(
      "show all accounts, with the quotas in force: their own, their plan's, or the default",
    )
    .option(...jsonOption)
    .action(async (options: OutputOptions) => {
      const found = await withControl(surroundings, async (control) => {
        const accounts = await listAccounts(control);
        const quotas = await listQuotasInForce(control.database);
        return accounts.map((account) => ({ ...account, inForce: quotas.get(account.number)! }));
      });
      const json = found.map((account) => ({
        ...accountJson(account),
        limits_in_force: account.inForce,
      }));
      printResult(surroundings, options, json, () => accountTable(found));
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
          ? setQuotas(control, idOrName, quotas, surroundings.now())
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
        resumeAccount(control, idOrName, surroundings.now()),
      );
      printResult(
        surroundings,
        options,
        accountJson(account),
        () => `The account '${account.name}' is active.`,
      );
    });
}
