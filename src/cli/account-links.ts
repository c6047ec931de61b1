/** `gp-records accounts invite`, `reset-link` and `sign-up-link`: links for an operator to hand out where no mail is sent. */
import { type Command, Option } from "commander";
import { requireOpenAccount } from "#accounts/find-account.ts";
import { invite } from "#accounts/invites.ts";
import { listMembers } from "#accounts/members.ts";
import { linkUrl, type MadeLink } from "#accounts/one-time-links.ts";
import { makeResetLink } from "#accounts/reset-password.ts";
import { makeSignUpLink } from "#accounts/sign-up.ts";
import { isLoopback, localUrl, readConfig } from "#config.ts";
import { operator } from "#store/audit.ts";
import type { Role } from "#store/control-tables.ts";
import type { ControlStore } from "#store/stores.ts";
import { CommandFault, exitCodes } from "./command-fault.ts";
import type { CliContext } from "./context.ts";
import { withControl } from "./data-dir.ts";
import { jsonOption, type OutputOptions, printResult, timeText } from "./output.ts";

interface InviteOptions extends OutputOptions {
  account?: string;
  role?: Role;
}

export function addAccountLinks(accounts: Command, context: CliContext): void {
  addInvite(accounts, context);
  accounts
    .command("reset-link")
    .description("print a link with which somebody chooses a new password")
    .argument("<address>", "e-mail address of the person")
    .option(...jsonOption)
    .action((address: string, options: OutputOptions) =>
      printLink(context, options, (control) =>
        makeResetLink(control, { address, now: context.now() }),
      ),
    );
  accounts
    .command("sign-up-link")
    .description("print a link with which somebody makes an account of their own")
    .argument("<address>", "e-mail address of the person")
    .option(...jsonOption)
    .action((address: string, options: OutputOptions) =>
      printLink(context, options, (control) =>
        makeSignUpLink(control, { address, now: context.now() }),
      ),
    );
}

function addInvite(accounts: Command, context: CliContext): void {
  accounts
    .command("invite")
    .description("print a link that makes somebody a member of an account, or gives them their own")
    .argument("<address>", "e-mail address of the person")
    .option("--account <account>", "name or id; an account of their own if left out")
    .addOption(
      new Option(
        "--role <role>",
        "what they become in the account (default: owner where it has none, else member)",
      ).choices(["owner", "member"]),
    )
    .option(...jsonOption)
    .action((address: string, options: InviteOptions) =>
      printLink(context, options, async (control) => {
        const order = { address, actor: operator, now: context.now() };
        if (options.account === undefined)
          return invite(control, { ...order, account: null, role: "owner" });
        const { number } = await requireOpenAccount(control.database, options.account);
        const role = options.role ?? (await usualRole(control, number));
        return invite(control, { ...order, account: number, role });
      }),
    );
}

async function usualRole({ database }: ControlStore, account: number): Promise<Role> {
  const members = await listMembers(database, account);
  return members.some(({ role }) => role === "owner") ? "member" : "owner";
}

async function printLink(
  context: CliContext,
  options: OutputOptions,
  make: (control: ControlStore) => Promise<MadeLink>,
): Promise<void> {
  const base = baseUrl(context);
  const { token, email, expiresAt } = await withControl(context, make);
  const link = linkUrl(base, token);
  printResult(context, options, { address: email, link, expires_at: expiresAt }, () =>
    [
      link,
      `It is for ${email}, works once, until ${timeText(expiresAt)}, and is shown this once.`,
    ].join("\n"),
  );
}

/** `PUBLIC_URL`, or where this machine reaches the service. @throws CommandFault where no account page would be served. */
function baseUrl({ environment }: CliContext): string {
  const { publicUrl, host, port } = readConfig(environment);
  if (publicUrl !== null) return publicUrl;
  if (port === 0)
    throw new CommandFault(
      exitCodes.usage,
      "PORT is 0, so nobody can tell where the link leads. Set PUBLIC_URL, or PORT to the port of the server.",
    );
  const url = localUrl(host, port);
  if (!isLoopback(URL.parse(url)?.hostname ?? ""))
    throw new CommandFault(
      exitCodes.usage,
      `HOST is ${host}, where no account page is served over plain http. Set PUBLIC_URL to the https address of the service.`,
    );
  return url;
}
