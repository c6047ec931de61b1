/** What a restore has done, for people and for programs. */
import type { Ending } from "#backups/endings.ts";
import type { Restored } from "#backups/restore.ts";
import { onOneLine, timeText } from "./output.ts";

export const restoredJson = (restored: Restored, isTrial: boolean): object => ({
  outcome: isTrial ? "dry_run" : "restored",
  made_at: restored.manifest.made_at,
  program: restored.manifest.program,
  dataset: restored.dataset,
  accounts: restored.accounts,
  keys: restored.keys,
  people: restored.people,
  kept_endings: restored.kept,
  undone_endings: restored.undone,
  lost_keys: restored.lost.map(({ id, name, account, hint }) => ({ id, name, account, hint })),
  lost_people: restored.lostPeople.map(({ id, email }) => ({ id, address: email })),
  endings_known: restored.areEndingsKnown,
  counts_kept: restored.areCountsKept,
  replaced: restored.replaced,
});

export function restoredText(restored: Restored, file: string, isTrial: boolean): string {
  const { manifest, kept, undone, lost, lostPeople, areEndingsKnown, areCountsKept, replaced } =
    restored;
  const made = `made at ${timeText(manifest.made_at)} by gp-records ${onOneLine(manifest.program)}`;
  return [
    isTrial
      ? `${file} is whole: ${made}. It was a dry run: nothing was changed.`
      : `Restored ${file}, ${made}.`,
    `${isTrial ? "It has" : "The data folder now has"} ${contentText(restored)}.`,
    ...section("Ended after the backup was made, and stays so:", kept.map(endingText)),
    ...section("Ended after the backup was made, and WORKS AGAIN:", undone.map(endingText)),
    ...section(
      "Not in the backup, so refused from now on:",
      lost.map(({ id, name, account }) => `key ${id} '${name}' of the account '${account}'`),
    ),
    ...section(
      "Not in the backup, so to sign up or be invited anew:",
      lostPeople.map(({ id, email }) => `person ${id} ${email}`),
    ),
    ...(areEndingsKnown
      ? []
      : [
          `Keys revoked, accounts suspended and people removed after ${timeText(manifest.made_at)} are back: nothing here tells which. Revoke them anew.`,
        ]),
    areCountsKept
      ? "What the accounts have used of their quotas stays counted."
      : "The quotas of all accounts begin anew.",
    ...(replaced === null ? [] : [`What was there is in ${replaced}; remove it once all is well.`]),
  ].join("\n");
}

function contentText({ dataset, accounts, keys, people }: Restored): string {
  const records = dataset === null ? "no dataset" : `the dataset ${dataset}`;
  return `${records}, ${counted(accounts, "account")}, ${counted(keys, "key")} neither revoked nor expired, ${people === 1 ? "1 person" : `${people} people`}`;
}

const counted = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`;

const section = (heading: string, lines: readonly string[]) =>
  lines.length === 0 ? [] : [heading, ...lines.map((line) => `  ${onOneLine(line)}`)];

function endingText({ what, id, name, account, at }: Ending): string {
  switch (what) {
    case "revoked":
      return `key ${id} '${name}' of the account '${account}', revoked at ${timeText(at)}`;
    case "expires":
      return `key ${id} '${name}' of the account '${account}', ends at ${timeText(at)}`;
    case "deleted":
      return `person ${id} ${name}, deleted at ${timeText(at)}`;
    case "password":
      return `the former password of the person ${id} ${name}`;
    case "removed":
      return `membership of ${id} ${name} in the account '${account}'`;
    case "demoted":
      return `ownership of ${id} ${name} of the account '${account}'`;
    default:
      return `account ${id} '${name}', ${what} at ${timeText(at)}`;
  }
}
