/** What a restore has done, for people and for programs. */
import type { Ending } from "#backups/endings.ts";
import type { Restored } from "#backups/restore.ts";
import { timeText } from "./output.ts";

export const restoredJson = (restored: Restored, isTrial: boolean): object => ({
  outcome: isTrial ? "dry_run" : "restored",
  made_at: restored.manifest.made_at,
  program: restored.manifest.program,
  dataset: restored.manifest.dataset,
  kept_endings: restored.kept,
  undone_endings: restored.undone,
  lost_keys: restored.lost.map(({ id, name, account, hint }) => ({ id, name, account, hint })),
  endings_known: restored.areEndingsKnown,
  counts_kept: restored.areCountsKept,
  replaced: restored.replaced,
});

export function restoredText(restored: Restored, file: string, isTrial: boolean): string {
  const { manifest, kept, undone, lost, areEndingsKnown, areCountsKept, replaced } = restored;
  const made = `made at ${timeText(manifest.made_at)} by gp-records ${manifest.program}, with ${manifest.dataset === null ? "no dataset" : `the dataset ${manifest.dataset}`}`;
  return [
    isTrial
      ? `${file} is whole: ${made}. It was a dry run: nothing was changed.`
      : `Restored ${file}, ${made}.`,
    ...section("Ended after the backup was made, and stays so:", kept.map(endingText)),
    ...section("Ended after the backup was made, and WORKS AGAIN:", undone.map(endingText)),
    ...section(
      "Not in the backup, so refused from now on:",
      lost.map(({ id, name, account }) => `key ${id} '${name}' of the account '${account}'`),
    ),
    ...(areEndingsKnown
      ? []
      : [
          `Keys revoked and accounts suspended after ${timeText(manifest.made_at)} work again: nothing here tells which. Revoke them anew.`,
        ]),
    areCountsKept
      ? "What the accounts have used of their quotas stays counted."
      : "The quotas of all accounts begin anew.",
    ...(replaced === null ? [] : [`What was there is in ${replaced}; remove it once all is well.`]),
  ].join("\n");
}

const section = (heading: string, lines: readonly string[]) =>
  lines.length === 0 ? [] : [heading, ...lines.map((line) => `  ${line}`)];

const endingText = ({ what, id, name, account, at }: Ending) =>
  what === "suspended"
    ? `account ${id} '${name}', suspended at ${timeText(at)}`
    : `key ${id} '${name}' of the account '${account}', ${what === "revoked" ? "revoked" : "ends"} at ${timeText(at)}`;
