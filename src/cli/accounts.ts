/**
 * `gp-records accounts` manages accounts, their quotas and members, and makes links to hand out without mail;
 * `gp-records plans` manages plans, which are named quotas that any number of accounts share.
 */
import { InvalidArgumentError } from "commander";
import {
  accountJson,
  createAccount,
  listAccounts,
  requireAccount,
  requireOpenAccount,
  resumeAccount,
  setQuotas,
  suspendAccount,
} from "#accounts/accounts.ts";
import { listMembers } from "#accounts/members.ts";
import { linkUrl, type MadeLink } from "#accounts/one-time-links.ts";
import {
  listPlans,
  listQuotasInForce,
  noPlan,
  type Plan,
  putOnPlan,
  removePlan,
  setPlan,
} from "#accounts/plans.ts";
import { makeResetLink } from "#accounts/credentials.ts";
import { invite, inviteToSignUp, listInvitations } from "#accounts/invitations.ts";
import { accountUrl, isLoopback, localUrl, readConfig } from "#config.ts";
import { quotaMax } from "#limits/policy.ts";
import { operator } from "#store/audit.ts";
import type { OwnQuotas } from "#store/control-tables.ts";
import type { ControlStore } from "#store/stores.ts";
import { counted, grouped } from "#words.ts";
import {
  argument,
  choice,
  type CliContext,
  command,
  family,
  neededOption,
  option,
} from "./command.ts";
import { usageFault } from "./command-fault.ts";
import { withControl } from "./data-dir.ts";
import { table, timeText } from "./output.ts";

const account = argument("<account>", "name or id");
const address = argument("<address>", "e-mail address of the person");

// Not null for "default", because commander turns a parsed null into an empty string.
type GivenQuota = number | "default";

const quotaOption = (name: string, seconds: string) =>
  option(
    `--per-${name} <n>`,
    `requests in ${seconds} seconds: 1 to ${grouped(quotaMax)}, or default`,
    parseQuota,
  );

const quotaOptions = {
  minute: quotaOption("minute", "60"),
  hour: quotaOption("hour", "3,600"),
  day: quotaOption("day", "86,400"),
};

function parseQuota(text: string): GivenQuota {
  if (text === "default") return text;
  if (!/^[0-9]{1,15}$/.test(text))
    throw new InvalidArgumentError(
      `Write a whole number from 1 to ${grouped(quotaMax)}, or default.`,
    );
  return Number(text);
}

/** Returns the quotas that were given; null for those given as `default`. */
const quotasFrom = (given: {
  readonly [Window in keyof OwnQuotas]: GivenQuota | undefined;
}): Partial<OwnQuotas> =>
  Object.fromEntries(
    Object.entries(given)
      .filter(([, quota]) => quota !== undefined)
      .map(([window, quota]) => [window, quota === "default" ? null : quota]),
  );

/** Returns quotas in words. @param plan the account's plan; null for an account without one, or for a plan's quotas. */
function quotasText({ minute, hour, day }: OwnQuotas, plan: string | null = null): string {
  const usual = plan === null ? "the default" : "the plan's";
  if (minute === null && hour === null && day === null) return `${usual} quotas`;
  const text = (requests: number | null) =>
    requests === null ? `${usual} quota` : counted(requests, "request");
  return `${text(minute)} per minute, ${text(hour)} per hour and ${text(day)} per day`;
}

const create = command({
  name: "create",
  description: "create an account, which owns keys and has a quota",
  options: {
    name: neededOption("--name <name>", "name of the account, unique regardless of letter case"),
    plan: option("--plan <name>", "plan of the account, as `plans list` shows it"),
    ...quotaOptions,
  },
  example: "accounts create --name Acme --plan gold",
  run: ({ name, plan, ...given }, context) =>
    withControl(context, (control) =>
      createAccount(control, { name, plan, quotas: quotasFrom(given), now: context.now() }),
    ),
  json: accountJson,
  text: ({ id, name, quotas, plan }) =>
    [
      `Created the account '${name}' (${id})${plan === null ? "" : ` on the plan '${plan}'`} with ${quotasText(quotas, plan)}.`,
      `Create a key for the account: gp-records keys create --account ${id} --name NAME`,
    ].join("\n"),
});

const list = command({
  name: "list",
  description:
    "show all accounts, with the quotas in force: their own, their plan's, or the default",
  example: "accounts list",
  run: (_, context) =>
    withControl(context, async (control) => {
      const accounts = await listAccounts(control);
      const quotas = await listQuotasInForce(control.database);
      return accounts.map((account) => {
        return { ...accountJson(account), limits_in_force: quotas.get(account.number)! };
      });
    }),
  text: (accounts) =>
    table(
      accounts.map(({ limits_in_force: { minute, hour, day }, ...account }) => {
        return { ...account, per_minute: minute, per_hour: hour, per_day: day };
      }),
      ["id", "name", "plan", "per_minute", "per_hour", "per_day", "suspended_at", "created_at"],
      "No account yet. Create one: gp-records accounts create --name NAME",
    ),
});

const limits = command({
  name: "limits",
  description: "change an account's quotas; without an option, show them",
  args: { account },
  options: quotaOptions,
  example: "accounts limits Acme --per-hour 5000 --per-day default",
  run: ({ account, ...given }, context) => {
    const quotas = quotasFrom(given);
    return withControl(context, (control) =>
      Object.keys(quotas).length > 0
        ? setQuotas(control, account, quotas, context.now())
        : requireAccount(control.database, account),
    );
  },
  json: accountJson,
  text: ({ name, quotas, plan }) => `The account '${name}' has ${quotasText(quotas, plan)}.`,
});

const suspend = command({
  name: "suspend",
  description: "refuse all keys of an account; takes effect with the next request",
  args: { account },
  example: "accounts suspend Acme",
  run: ({ account }, context) =>
    withControl(context, (control) => suspendAccount(control, account, context.now())),
  json: accountJson,
  text: ({ id, name, suspendedAt }) =>
    [
      `The account '${name}' has been suspended since ${timeText(suspendedAt)}; its keys are refused.`,
      `Undo it: gp-records accounts resume ${id}`,
    ].join("\n"),
});

const resume = command({
  name: "resume",
  description: "let the keys of a suspended account work again",
  args: { account },
  example: "accounts resume Acme",
  run: ({ account }, context) =>
    withControl(context, (control) => resumeAccount(control, account, context.now())),
  json: accountJson,
  text: ({ name }) => `The account '${name}' is active; its keys are accepted.`,
});

const plan = command({
  name: "plan",
  description: "put an account on a plan; takes effect with the next request",
  args: { account, plan: argument("<plan>", `as \`plans list\` shows it, or ${noPlan}`) },
  example: "accounts plan Acme gold",
  run: ({ account, plan: named }, context) =>
    withControl(context, (control) => {
      const plan = named === noPlan ? null : named;
      return putOnPlan(control, { idOrName: account, plan, now: context.now() });
    }),
  json: accountJson,
  text: ({ name, plan }) =>
    plan === null
      ? `The account '${name}' is on no plan. The default quotas apply, except where the account has quotas of its own.`
      : `The account '${name}' is on the plan '${plan}'.`,
});

const members = command({
  name: "members",
  description: "show an account's members, and the people invited to it",
  args: { account },
  example: "accounts members Acme",
  run: ({ account }, context) =>
    withControl(context, async ({ database }) => {
      const { number } = await requireAccount(database, account);
      const members = await listMembers(database, number);
      const invited = await listInvitations(database, number, context.now());
      return [
        ...members.map((one) => ({ ...one, id: one.person, expiresAt: null })),
        ...invited.map((one) => ({ ...one, joinedAt: null })),
      ].map(({ id, email, role, joinedAt, expiresAt }) => {
        return { id, address: email, role, joined_at: joinedAt, invited_until: expiresAt };
      });
    }),
  text: (rows) =>
    table(
      rows,
      ["id", "address", "role", "joined_at", "invited_until"],
      "The account has neither members nor invitations. Invite somebody: gp-records accounts invite ADDRESS --account ACCOUNT",
    ),
});

const linkText = ({ address, link, expires_at: until }: Awaited<ReturnType<typeof makeLink>>) =>
  `${link}\nThis link for ${address} works once, until ${timeText(until)}, and is not shown again.`;

const inviteCommand = command({
  name: "invite",
  description:
    "print a link that makes somebody a member of an account, or gives them one of their own",
  args: { address },
  options: {
    account: option("--account <account>", "name or id (default: an account of their own)"),
    role: choice(
      "--role <role>",
      "role in that account (default: owner if the account has no owner yet, otherwise member)",
      ["owner", "member"],
    ),
  },
  example: "accounts invite ada@example.com --account Acme --role owner",
  run: ({ address, account, role }, context) => {
    if (role !== undefined && account === undefined)
      throw usageFault(
        "No link was made: --role needs --account, because it is the role in that account. Add --account, or leave out --role to give the person an account of their own.",
      );
    return makeLink(context, async (control) => {
      const now = context.now();
      if (account === undefined) return inviteToSignUp(control, { address, now });
      const { number } = await requireOpenAccount(control.database, account);
      const members = await listMembers(control.database, number);
      const usual = members.some((member) => member.role === "owner") ? "member" : "owner";
      const order = { account: number, address, role: role ?? usual, actor: operator, now };
      return invite(control, order);
    });
  },
  text: linkText,
});

const resetLink = command({
  name: "reset-link",
  description: "print a link with which a person can choose a new password",
  args: { address },
  example: "accounts reset-link ada@example.com",
  run: ({ address }, context) =>
    makeLink(context, (control) => makeResetLink(control, { address, now: context.now() })),
  text: linkText,
});

async function makeLink(context: CliContext, make: (control: ControlStore) => Promise<MadeLink>) {
  const base = baseUrl(context);
  const { email, token, expiresAt } = await withControl(context, make);
  return { address: email, link: linkUrl(base, token), expires_at: expiresAt };
}

/** Returns the base URL of links. @throws CommandFault if it is unknown, or if no account pages are served there. */
function baseUrl({ environment }: CliContext): string {
  const { publicUrl, host, port } = readConfig(environment);
  if (publicUrl !== null) {
    if (accountUrl({ publicUrl, host }) !== null) return publicUrl;
    throw usageFault(
      `PUBLIC_URL is '${publicUrl}', where account pages are served only over https, so no link was made. Set PUBLIC_URL to the https address of the service.`,
    );
  }
  if (port === 0)
    throw usageFault(
      "PORT is 0, so the address for the link is unknown and no link was made. Set PUBLIC_URL, or set PORT to the port of the running server.",
    );
  const url = localUrl(host, port);
  if (isLoopback(URL.parse(url)?.hostname ?? "")) return url;
  throw usageFault(
    `HOST is '${host}', where account pages are served only over https, and PUBLIC_URL is not set, so no link was made. Set PUBLIC_URL to the https address of the service.`,
  );
}

export const accountCommands = family("accounts", "create accounts and change what they may do", [
  create,
  list,
  limits,
  suspend,
  resume,
  plan,
  members,
  inviteCommand,
  resetLink,
]);

/** Words that `--changes` takes, each with its value in a plan. */
const changesOf = { yes: true, no: false, default: null } as const;
const accesses = Object.keys(changesOf) as (keyof typeof changesOf)[];
const accessOf = ({ changes }: Plan) => accesses.find((one) => changesOf[one] === changes)!;

const planJson = ({ name, quotas: limits, changes, accounts, createdAt: created_at }: Plan) => {
  return { name, limits, changes, accounts, created_at };
};

const planSet = command({
  name: "set",
  description:
    "create a plan, or change only the options given; takes effect with the next request",
  args: { name: argument("<name>", "up to 40 characters: a-z, 0-9 and -") },
  options: {
    ...quotaOptions,
    changes: choice(
      "--changes <access>",
      "its accounts' access to /changes; `default` follows the plan `default`",
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

const planList = command({
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

const planRemove = command({
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
  [planSet, planList, planRemove],
);
