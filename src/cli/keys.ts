/** `gp-records keys`: creates, lists, revokes and rotates API keys. */
import { requireAccount, requireOpenAccount } from "#accounts/accounts.ts";
import {
  type IssuedKey,
  issueKey,
  listKeys,
  revokeKey,
  overlapDefault,
  rotateKey,
} from "#keys/keys.ts";
import { readLastUse } from "#usage/recording.ts";
import { argument, command, family, neededOption, option } from "./command.ts";
import { withControl, withUsage } from "./data-dir.ts";
import { parseLifetime, parseOverlap } from "./option-values.ts";
import { table, timeText } from "./output.ts";

const create = command({
  name: "create",
  description: "create a key, which is shown once and stored nowhere",
  options: {
    account: neededOption("--account <account>", "name or id of the account that owns it"),
    name: neededOption("--name <name>", "name of the key, such as its purpose"),
    expires: option(
      "--expires <duration>",
      "how long it is valid, such as 90d, or never (default: never)",
      parseLifetime,
    ),
  },
  example: "keys create --account Acme --name web --expires 90d",
  run: ({ account: idOrName, name, expires = "never" }, context) =>
    withControl(context, async (control) => {
      const account = await requireOpenAccount(control.database, idOrName);
      const now = context.now();
      const expiresAt = expires === "never" ? null : now + expires;
      return issueKey(control, { account, name, expiresAt, now });
    }),
  json: issuedJson,
  text: issuedText,
});

const list = command({
  name: "list",
  description: "show keys with their state and when they were last used (to the minute)",
  options: {
    account: option("--account <account>", "only keys of this account, by name or id"),
  },
  example: "keys list --account Acme",
  run: async ({ account }, context) => {
    const found = await withControl(context, async (control) => {
      const owner =
        account === undefined ? undefined : await requireAccount(control.database, account);
      return listKeys(control, { accountNumber: owner?.number, now: context.now() });
    });
    const lastUse = await withUsage(context, (usage) => readLastUse(usage));
    return found.map((key) => ({
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
      last_used_at: lastUse.get(key.id)?.at ?? null,
      last_used_network: lastUse.get(key.id)?.network ?? null,
    }));
  },
  text: (keys) =>
    table(
      keys,
      ["id", "account_name", "name", "hint", "state", "expires_at", "last_used_at"],
      "No key yet. Create one: gp-records keys create --account ACCOUNT --name NAME",
    ),
});

const revoke = command({
  name: "revoke",
  description: "end a key for good; takes effect with the next request",
  args: { id: argument("<id>", "id of the key, as `keys list` shows it") },
  example: "keys revoke key_0123456789abcdef",
  run: async ({ id }, context) => ({
    id,
    revoked_at: await withControl(context, (control) => revokeKey(control, id, context.now())),
  }),
  text: ({ id, revoked_at: at }) => `The key ${id} was revoked at ${timeText(at)}.`,
});

const rotate = command({
  name: "rotate",
  description: "create a second key with the same quota; the old one expires after the overlap",
  args: { id: argument("<id>", "id of the old key, as `keys list` shows it") },
  options: {
    overlap: option(
      "--overlap <duration>",
      "how long the old key stays valid, or 0 (default: 24h)",
      parseOverlap,
    ),
  },
  example: "keys rotate key_0123456789abcdef --overlap 7d",
  run: ({ id, overlap: overlapMilliseconds = overlapDefault }, context) =>
    withControl(context, (control) =>
      rotateKey(control, { id, overlapMilliseconds, now: context.now() }),
    ),
  json: ({ issued }) => issuedJson(issued),
  text: ({ issued, oldExpiresAt: endsAt }, { id }, { now }) =>
    [
      issuedText(issued),
      Date.parse(endsAt) <= now()
        ? `The old key ${id} no longer works.`
        : `The old key ${id} is valid until ${timeText(endsAt)}.`,
    ].join("\n"),
});

function issuedJson({ id, key, account, name, expiresAt }: IssuedKey) {
  return { id, key, account, name, expires_at: expiresAt };
}

function issuedText({ id, key, name, expiresAt }: IssuedKey): string {
  return [
    key,
    `This is the key '${name}' (${id}). The key is shown only once: save it now, in a safe place.`,
    expiresAt === null ? "The key does not expire." : `The key expires at ${timeText(expiresAt)}.`,
  ].join("\n");
}

export const keyCommands = family("keys", "create, list, revoke and rotate API keys", [
  create,
  list,
  revoke,
  rotate,
]);
