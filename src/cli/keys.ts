/** `gp-records keys`: makes, shows, ends and replaces API keys. */
import type { Command } from "commander";
import { requireAccount, requireOpenAccount } from "#accounts/find-account.ts";
import { type IssuedKey, issueKey, type ListedKey, listKeys, revokeKey } from "#keys/keys.ts";
import { overlapDefault, rotateKey } from "#keys/rotate-key.ts";
import { type LastUse, readLastUse } from "#usage/recording.ts";
import type { CliContext } from "./context.ts";
import { withControl, withUsage } from "./data-dir.ts";
import { parseLifetime, parseOverlap } from "./option-values.ts";
import { jsonOption, type OutputOptions, printResult, table, timeText } from "./output.ts";

export function addKeyCommands(program: Command, context: CliContext): void {
  const keys = program.command("keys").description("make, show, end and replace API keys");
  addCreate(keys, context);
  addList(keys, context);
  addRevoke(keys, context);
  addRotate(keys, context);
}

function addCreate(keys: Command, context: CliContext): void {
  keys
    .command("create")
    .description("make a key; it is shown this once and stored nowhere")
    .requiredOption("--account <account>", "name or id of the account that owns it")
    .requiredOption("--name <name>", "what it is for")
    .option(
      "--expires <duration>",
      "how long it is valid, such as 90d, or never (default: never)",
      parseLifetime,
    )
    .option(...jsonOption)
    .action(
      async (
        options: { account: string; name: string; expires?: number | "never" } & OutputOptions,
      ) => {
        const { name, expires = "never" } = options;
        const now = context.now();
        const issued = await withControl(context, async (control) => {
          const account = await requireOpenAccount(control.database, options.account);
          return issueKey(control, {
            account,
            name,
            expiresAt: expires === "never" ? null : now + expires,
            now,
          });
        });
        printResult(context, options, issuedJson(issued), () => issuedText(issued));
      },
    );
}

function addList(keys: Command, context: CliContext): void {
  keys
    .command("list")
    .description("show keys with their state and when they were last used (to the minute)")
    .option("--account <account>", "only those of this account, by name or id")
    .option(...jsonOption)
    .action(async (options: { account?: string } & OutputOptions) => {
      const { account } = options;
      const found = await withControl(context, async (control) => {
        const owner =
          account === undefined ? undefined : await requireAccount(control.database, account);
        return listKeys(control, { accountNumber: owner?.number, now: context.now() });
      });
      const lastUse = await withUsage(context, (usage) => readLastUse(usage));
      const json = found.map((key) => keyJson(key, lastUse.get(key.id)));
      printResult(context, options, json, () => keyTable(found, lastUse));
    });
}

function addRevoke(keys: Command, context: CliContext): void {
  keys
    .command("revoke")
    .description("end a key for good, from the next request on")
    .argument("<id>", "its id, as `keys list` shows it")
    .option(...jsonOption)
    .action(async (id: string, options: OutputOptions) => {
      const revokedAt = await withControl(context, (control) =>
        revokeKey(control, id, context.now()),
      );
      printResult(
        context,
        options,
        { id, revoked_at: revokedAt },
        () => `The key ${id} is revoked since ${timeText(revokedAt)}.`,
      );
    });
}

function addRotate(keys: Command, context: CliContext): void {
  keys
    .command("rotate")
    .description("make a second key on the same quota; the old one ends after the overlap")
    .argument("<id>", "id of the old key, as `keys list` shows it")
    .option(
      "--overlap <duration>",
      "how long the old key stays valid, or 0 (default: 24h)",
      parseOverlap,
    )
    .option(...jsonOption)
    .action(async (id: string, options: { overlap?: number } & OutputOptions) => {
      const overlapMilliseconds = options.overlap ?? overlapDefault;
      const { issued, oldExpiresAt } = await withControl(context, (control) =>
        rotateKey(control, { id, overlapMilliseconds, now: context.now() }),
      );
      printResult(context, options, issuedJson(issued), () =>
        [issuedText(issued), oldText(id, oldExpiresAt, context.now())].join("\n"),
      );
    });
}

const oldText = (id: string, endsAt: string, now: number) =>
  Date.parse(endsAt) <= now
    ? `The old key ${id} has ended.`
    : `The old key ${id} is valid until ${timeText(endsAt)}.`;

const issuedJson = ({ id, key, account, name, expiresAt }: IssuedKey) => ({
  id,
  key,
  account,
  name,
  expires_at: expiresAt,
});

const issuedText = ({ id, key, name, expiresAt }: IssuedKey) =>
  [
    key,
    `This is the key '${name}' (${id}). It is shown this once: keep it now, in a safe place.`,
    expiresAt === null ? "It does not expire." : `It expires at ${timeText(expiresAt)}.`,
  ].join("\n");

const keyJson = (key: ListedKey, lastUse: LastUse | undefined) => ({
  id: key.id,
  account: key.account,
  account_name: key.accountName,
  name: key.name,
  hint: key.hint,
  state: key.state,
  is_demo: key.isDemo,
  made_by: key.madeBy,
  created_at: key.createdAt,
  expires_at: key.expiresAt,
  revoked_at: key.revokedAt,
  replaced_by: key.replacedBy,
  last_used_at: lastUse?.at ?? null,
  last_used_network: lastUse?.network ?? null,
});

/** @param lastUse by key id. */
function keyTable(keys: readonly ListedKey[], lastUse: ReadonlyMap<string, LastUse>): string {
  if (keys.length === 0)
    return "No key yet. Make one: gp-records keys create --account NAME --name NAME";
  return table(
    ["id", "account", "name", "key", "state", "expires", "last used"],
    keys.map((key) => [
      key.id,
      key.accountName,
      key.name,
      `${key.hint}…`,
      key.state,
      timeText(key.expiresAt),
      timeText(lastUse.get(key.id)?.at),
    ]),
  );
}
