/** `gp-records plans`: manages plans, which are named quotas that any number of accounts share. */
import { listPlans, type Plan, removePlan, setPlan } from "#accounts/plans.ts";
import { argument, choice, command, family } from "./command.ts";
import { withControl } from "./data-dir.ts";
import { table } from "./output.ts";
import { quotaOptions, quotasFrom, quotasText } from "./option-values.ts";

/** Words that `--changes` takes, each with its value in the store. */
const changesOf = { yes: true, no: false, default: null } as const;
type Access = keyof typeof changesOf;
const accesses = Object.keys(changesOf) as Access[];
const accessOf = ({ changes }: Plan) => accesses.find((one) => changesOf[one] === changes)!;

const planJson = ({ name, quotas, changes, accounts, createdAt }: Plan) => ({
  name,
  limits: quotas,
  changes,
  accounts,
  created_at: createdAt,
});

const set = command({
  name: "set",
  description:
    "create a plan, or change only the options given; takes effect with the next request",
  args: { name: argument("<name>", "up to 40 characters: a-z, 0-9 and -") },
  options: {
    ...quotaOptions,
    changes: choice(
      "--changes <access>",
      "whether its accounts may read /changes; `default` follows the plan `default`",
      accesses,
    ),
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
    `The plan '${plan.name}' has ${quotasText(plan.quotas)}; access to /changes: ${accessOf(plan)}; ${plan.accounts} ${plan.accounts === 1 ? "account is" : "accounts are"} on it.`,
});

const list = command({
  name: "list",
  description: "show all plans, and how many accounts are on each",
  example: "plans list",
  run: (_, context) => withControl(context, ({ database }) => listPlans(database)),
  json: (plans) => plans.map(planJson),
  text: (plans) =>
    table(
      plans.map((plan) => ({
        ...planJson(plan),
        per_minute: plan.quotas.minute ?? "default",
        per_hour: plan.quotas.hour ?? "default",
        per_day: plan.quotas.day ?? "default",
        changes: accessOf(plan),
      })),
      ["name", "per_minute", "per_hour", "per_day", "changes", "accounts", "created_at"],
      "No plan yet. Create one: gp-records plans set NAME --per-minute N --per-hour N --per-day N",
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
