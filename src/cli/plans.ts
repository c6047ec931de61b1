/** `gp-records plans`: quotas with a name, which any number of accounts share. */
import { type Command, Option } from "commander";
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
    .description("make a plan, or change what is given of it, from the next request on")
    .argument("<name>", "up to 40 of a-z, 0-9 and -");
  withQuotaOptions(command)
    .addOption(
      new Option("--changes <say>", "whether its accounts may read /changes").choices(says),
    )
    .option(...jsonOption)
    .action(async (name: string, options: PlanOptions) => {
      const quotas = quotasFrom(options);
      const { changes: said } = options;
      const changes = said === undefined ? {} : { changes: changesOf[said] };
      const order = { name, quotas, ...changes, now: context.now() };
      const plan = await withControl(context, (control) => setPlan(control, order));
      printResult(
        context,
        options,
        planJson(plan),
        () =>
          `${plan.name}: ${quotasText(plan.quotas)}; changes ${sayOf(plan)}; ${accountsText(plan)} on it.`,
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

/** What `--changes` takes. */
const changesOf = { yes: true, no: false, default: null } as const;
type Say = keyof typeof changesOf;
const says = Object.keys(changesOf) as Say[];
const sayOf = ({ changes }: Plan): Say => says.find((say) => changesOf[say] === changes)!;

interface PlanOptions extends QuotaOptions, OutputOptions {
  changes?: Say;
}

const planJson = ({ name, quotas, changes, accounts, createdAt }: Plan) => ({
  name,
  limits: quotas,
  changes,
  accounts,
  created_at: createdAt,
});

function plansText(plans: readonly Plan[]): string {
  if (plans.length === 0)
    return "No plan yet. Make one: gp-records plans set NAME --per-minute N --per-hour N --per-day N";
  const number = (requests: number | null) => String(requests ?? "default");
  return table(
    ["name", "per minute", "per hour", "per day", "changes", "accounts", "created"],
    plans.map((plan) => [
      plan.name,
      number(plan.quotas.minute),
      number(plan.quotas.hour),
      number(plan.quotas.day),
      sayOf(plan),
      String(plan.accounts),
      timeText(plan.createdAt),
    ]),
  );
}

const accountsText = ({ accounts }: Plan) =>
  `${accounts} ${accounts === 1 ? "account is" : "accounts are"}`;
