/** `gp-records plans`: manages plans, which are named quotas that any number of accounts share. */
import { listPlans, type Plan, removePlan, setPlan } from "#accounts/plans.ts";
import { argument, choice, command, family } from "./command.ts";
import { withControl } from "./data-dir.ts";
import { table, timeText } from "./output.ts";
import { quotaOptions, quotasFrom, quotasText } from "./option-values.ts";

/** Words that `--changes` takes, each with its value in the store. */
const changesOf = { yes: true, no: false, default: null } as const;
type Say = keyof typeof changesOf;
const says = Object.keys(changesOf) as Say[];
const sayOf = ({ changes }: Plan): Say => says.find((say) => changesOf[say] === changes)!;

const planJson = ({ name, quotas, changes, accounts, createdAt }: Plan) => ({
  name,
  limits: quotas,
  changes,
  accounts,
  created_at: createdAt,
});

const set = command({
  name: "set",
  description: "make a plan, or change the given parts of it, from the next request on",
  args: { name: argument("<name>", "up to 40 characters: a-z, 0-9 and -") },
  options: {
    ...quotaOptions,
    changes: choice("--changes <say>", "whether its accounts may read /changes", says),
  },
  example: "plans set gold --per-minute 300 --per-day 100000",
  run: ({ name, changes, ...quotas }, context) =>
    withControl(context, (control) =>
      setPlan(control, {
        name,
        quotas: quotasFrom(quotas),
        ...(changes !== undefined && { changes: changesOf[changes] }),
        now: context.now(),
      }),
    ),
  json: planJson,
  text: (plan) =>
    `${plan.name}: ${quotasText(plan.quotas)}; changes ${sayOf(plan)}; ${plan.accounts} ${plan.accounts === 1 ? "account is" : "accounts are"} on it.`,
});

const list = command({
  name: "list",
  description: "show all plans, and how many accounts are on each",
  example: "plans list",
  run: (_, context) => withControl(context, ({ database }) => listPlans(database)),
  json: (plans) => plans.map(planJson),
  text: (plans) =>
    table(
      ["name", "per minute", "per hour", "per day", "changes", "accounts", "created"],
      plans.map((plan) => [
        plan.name,
        ...[plan.quotas.minute, plan.quotas.hour, plan.quotas.day].map((requests) =>
          String(requests ?? "default"),
        ),
        sayOf(plan),
        String(plan.accounts),
        timeText(plan.createdAt),
      ]),
      "No plan yet. Make one: gp-records plans set NAME --per-minute N --per-hour N --per-day N",
    ),
});

const remove = command({
  name: "remove",
  description: "delete a plan that no account is on",
  args: { name: argument("<name>", "as `plans list` shows it") },
  example: "plans remove gold",
  run: async ({ name }, context) => {
    await withControl(context, (control) => removePlan(control, { name, now: context.now() }));
    return { name, removed: true };
  },
  text: ({ name }) => `Deleted the plan '${name}'.`,
});

export const planCommands = family(
  "plans",
  "manage plans: named quotas for accounts; accounts without a plan use `default`",
  [set, list, remove],
);
