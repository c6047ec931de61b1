/** `gp-records plans`: quotas with a name, which any number of accounts share. */
import type { Command } from "commander";
import { listPlans, type Plan, removePlan, setPlan } from "#accounts/plans.ts";
import type { CliContext } from "./context.ts";
import { withControl } from "./data-dir.ts";
import { jsonOption, type OutputOptions, printResult, table, timeText } from "./output.ts";
import { type QuotaOptions, quotasFrom, quotasText, withQuotaOptions } from "./quota-options.ts";

export function addPlanCommands(program: Command, context: CliContext): void {
  const plans = program
    .command("plans")
    .description("make plans, which give accounts their quotas; `default` is for all on no other");
  for (const add of [addSet, addList, addRemove]) add(plans, context);
}

function addSet(plans: Command, context: CliContext): void {
  const command = plans
    .command("set")
    .description("make a plan, or change the quotas that are given, from the next request on")
    .argument("<name>", "up to 40 of a-z, 0-9 and -");
  withQuotaOptions(command)
    .option(...jsonOption)
    .action(async (name: string, options: QuotaOptions & OutputOptions) => {
      const order = { name, quotas: quotasFrom(options), now: context.now() };
      const plan = await withControl(context, (control) => setPlan(control, order));
      printResult(
        context,
        options,
        planJson(plan),
        () => `${plan.name}: ${quotasText(plan.quotas)}; ${accountsText(plan)} on it.`,
      );
    });
}

function addList(plans: Command, context: CliContext): void {
  plans
    .command("list")
    .description("show all plans, and how many accounts are on each")
    .option(...jsonOption)
    .action(async (options: OutputOptions) => {
      const found = await withControl(context, ({ database }) => listPlans(database));
      printResult(context, options, found.map(planJson), () => plansText(found));
    });
}

function addRemove(plans: Command, context: CliContext): void {
  plans
    .command("remove")
    .description("delete a plan that no account is on")
    .argument("<name>", "as `plans list` shows it")
    .option(...jsonOption)
    .action(async (name: string, options: OutputOptions) => {
      await withControl(context, (control) => removePlan(control, { name, now: context.now() }));
      printResult(context, options, { name, removed: true }, () => `Deleted the plan '${name}'.`);
    });
}

const planJson = ({ name, quotas, accounts, createdAt }: Plan) => ({
  name,
  limits: quotas,
  accounts,
  created_at: createdAt,
});

function plansText(plans: readonly Plan[]): string {
  if (plans.length === 0)
    return "No plan yet. Make one: gp-records plans set NAME --per-minute N --per-hour N --per-day N";
  const number = (requests: number | null) => String(requests ?? "default");
  return table(
    ["name", "per minute", "per hour", "per day", "accounts", "created"],
    plans.map(({ name, quotas, accounts, createdAt }) => [
      name,
      number(quotas.minute),
      number(quotas.hour),
      number(quotas.day),
      String(accounts),
      timeText(createdAt),
    ]),
  );
}

const accountsText = ({ accounts }: Plan) =>
  `${accounts} ${accounts === 1 ? "account is" : "accounts are"}`;
