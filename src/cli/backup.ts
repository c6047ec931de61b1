/**
 * `gp-records backup` saves keys, usage, and the served and pinned datasets in one file, even while servers run;
 * `gp-records restore` restores it into a folder or an empty database. Keys known to have been revoked since the
 * backup stay revoked, unless `--undo-revocations` is given.
 */
import { createReadStream, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Ending } from "#backups/endings.ts";
import type { Restored } from "#backups/restore.ts";
import type { Archive } from "#backups/unpack.ts";
import { readConfig } from "#config.ts";
import { Fault, parseDatabaseUrl } from "#config/settings.ts";
import { whyNotRead } from "#datasets/dataset-fault.ts";
import { isNoRoom } from "#datasets/disk-space.ts";
import { counted, grouped } from "#words.ts";
import { argument, command, flag, option } from "./command.ts";
import { CommandFault, exitCodes, usageFault } from "./command-fault.ts";
import { dataFolderFault } from "./datasets-folder.ts";
import { onOneLine, timeText } from "./output.ts";
import { programVersion } from "./program.ts";

/** Argument that stands for standard output in `backup`, and for standard input in `restore`. */
const standard = "-";
const placeOf = (file: string) => (file === standard ? "standard output" : file);

export const backupCommand = command({
  name: "backup",
  description:
    "save keys, usage, and the served and pinned datasets in one file; servers may keep running",
  args: { file: argument("<file>", "tar archive to write, or - for standard output") },
  options: {
    control: flag(
      "--control",
      "only accounts, keys, people and the audit log, for a backup every few minutes",
    ),
    requests: flag("--requests", "also the request log, which may be large"),
    force: flag("--force", "replace an existing file of this name"),
  },
  example: "backup /var/backups/gp-records.tar",
  run: async ({ file, control: isControlOnly, requests: hasRequests, force }, context) => {
    if (isControlOnly && hasRequests)
      throw usageFault("--control saves no request log. Leave out either --control or --requests.");
    if (file === standard && process.stdout.isTTY)
      throw usageFault(
        "A backup is not text for a terminal. Redirect it: gp-records backup - > FILE",
      );
    const { backupToFile, backupToStream } = await import("#backups/make-backup.ts");
    const { dataDir, databaseUrl } = readConfig(context.environment);
    const program = programVersion();
    const now = context.now();
    const order = { dataDir, databaseUrl, program, now, isControlOnly, hasRequests };
    const making =
      file === standard ? backupToStream(order, writeOut) : backupToFile(order, file, force);
    const made = await making.catch((error: unknown) => {
      throw fileFault(error, placeOf(file), dataDir);
    });
    return { file, ...made };
  },
  json: ({ file, manifest, bytes, sha256 }) => {
    const { made_at, dataset, pinned, requests, files } = manifest;
    return { file, bytes, sha256, made_at, dataset, pinned, requests, files };
  },
  text: ({ file, manifest, bytes, sha256 }, { control }) =>
    [
      `Wrote a backup of ${manifest.files.map(({ path }) => path).join(", ")} to ${placeOf(file)}: ${grouped(bytes)} bytes.`,
      manifest.dataset === null && !control && "No dataset is published, so the backup has none.",
      !manifest.requests &&
        !control &&
        "The backup has no request log. Add --requests to include the log.",
      `The SHA-256 of the backup is ${sha256}. To check the backup, run \`gp-records restore ${file === standard ? "FILE" : file} --dry-run --to FOLDER\`, where FOLDER is a new or empty folder.`,
    ]
      .filter((line) => line !== false)
      .join("\n"),
  isAside: ({ file }) => file === standard,
});

/** Writes to standard output. Resolves once the bytes are written, so that nothing piles up in memory. */
const writeOut = (bytes: Buffer) =>
  new Promise<void>((resolve, reject) => {
    process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()));
  });

function fileFault(error: unknown, file: string, dataDir: string): unknown {
  const { code, syscall, path: found = file } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return error;
  // A backup is written in a folder of this name beside FILE.
  const path = found.replace(/\.tmp-\w{6}(?:\/.*)?$/, "");
  const isOfData = path === found && resolve(path).startsWith(`${resolve(dataDir)}/`);
  const advice = isOfData
    ? "Run gp-records as the user who owns DATA_DIR, and make sure that its disk is not failing"
    : "Make sure that its folder exists and give this user access to it, or choose another place for the backup";
  return new CommandFault(
    isNoRoom(error) ? exitCodes.diskFull : exitCodes.usage,
    path === placeOf(standard)
      ? `The backup is incomplete, because standard output cannot be written (${code}). Check the file or program that receives the output, and make the backup again.`
      : `No backup was made, because ${path} cannot be used (${code}). ${advice}.`,
  );
}

export const restoreCommand = command({
  name: "restore",
  description:
    "restore a backup into DATA_DIR, or elsewhere with --to; no server may be running at the destination",
  args: { file: argument("<file>", "file that `backup` made, or - for standard input") },
  options: {
    to: option(
      "--to <place>",
      "URL of an empty database (password from PGPASSWORD or PGPASSFILE), or an empty folder, instead of DATA_DIR",
    ),
    replace: flag(
      "--replace",
      "replace what is in the data folder, and move the old contents aside",
    ),
    undoesEndings: flag(
      "--undo-revocations",
      "let keys and accounts that were revoked or closed after the backup work again",
    ),
    isTrial: flag("--dry-run", "check the backup, show what would change, and change nothing"),
  },
  example: "restore /var/backups/gp-records.tar --dry-run",
  run: async ({ file, to, replace, undoesEndings, isTrial }, context) => {
    const archive = openArchive(file);
    const { dataDir, databaseUrl } = readConfig(context.environment);
    const former = { dataDir, databaseUrl };
    const order = { archive, former, now: context.now(), undoesEndings, isTrial };
    if (to !== undefined && replace)
      throw usageFault(
        "--to takes only an empty folder or database, so there is nothing to replace. Leave out --replace.",
      );
    if (isDatabase(to)) {
      const url = parseDatabaseUrl(to);
      if (url instanceof Fault) throw usageFault(`--to ${url.sentence}.`);
      const { restoreIntoDatabase } = await import("#backups/postgres.ts");
      return restoreIntoDatabase({ ...order, url });
    }
    if (to === undefined && databaseUrl !== null)
      throw usageFault(
        "DATABASE_URL is set, so servers would not use a backup restored into DATA_DIR. Name the destination with --to: an empty folder, or the URL of an empty database.",
      );
    const folder = to ?? dataDir;
    const mayReplace = to === undefined && (replace || isTrial);
    const { restoreBackup } = await import("#backups/restore.ts");
    return restoreBackup({ ...order, dataDir: folder, mayReplace }).catch((error: unknown) => {
      throw dataFolderFault(error, folder, to === undefined ? "DATA_DIR" : "--to");
    });
  },
  json: (restored, { isTrial }) => ({
    outcome: isTrial ? "dry_run" : "restored",
    made_at: restored.manifest.made_at,
    program: restored.manifest.program,
    dataset: restored.dataset,
    requests: restored.manifest.requests,
    accounts: restored.accounts,
    keys: restored.keys,
    people: restored.people,
    suppressions: restored.suppressions,
    kept_endings: restored.kept,
    undone_endings: restored.undone,
    lost_keys: restored.lost.map(({ id, name, account_name: account, hint }) => {
      return { id, name, account, hint };
    }),
    lost_people: restored.lostPeople.map(({ id, email }) => ({ id, address: email })),
    endings_known: restored.areEndingsKnown,
    counts_kept: restored.areCountsKept,
    replaced: restored.replaced,
  }),
  text: (restored, { file, to, isTrial }) =>
    restoredText(restored, nameOf(file), isTrial, isDatabase(to) ? "database" : undefined),
});

const nameOf = (file: string) => (file === standard ? "standard input" : file);

const isDatabase = (to: string | undefined): to is string =>
  to !== undefined && /^postgres(?:ql)?:/.test(to);

function openArchive(file: string): Archive {
  const name = nameOf(file);
  if (file === standard) return { name, read: () => process.stdin };
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
    throw usageFault(`There is no file ${file}. Name a file that \`gp-records backup\` made.`);
  // Checked before the data folder is created or locked, because the folder's errors have other remedies.
  const why = whyNotRead(file);
  if (why !== null)
    throw usageFault(`${file} cannot be read: ${why}. Give this user read access to it.`);
  return { name, read: () => createReadStream(file, { highWaterMark: 1024 * 1024 }) };
}

export function restoredText(
  restored: Restored,
  file: string,
  isTrial: boolean,
  place = "data folder",
): string {
  const { manifest, kept, undone, lost, lostPeople, suppressions, pending, replaced } = restored;
  const { areEndingsKnown, areCountsKept } = restored;
  const made = `made at ${timeText(manifest.made_at)} by gp-records ${onOneLine(manifest.program)}`;
  return [
    isTrial
      ? `The backup from ${file} is intact. It was ${made}. This was a dry run: nothing was changed.`
      : `Restored the backup from ${file}, ${made}.`,
    `The ${place} ${isTrial ? "would have" : "now has"} ${contentText(restored)}.`,
    manifest.control_only &&
      "The backup has only accounts, keys, people and the audit log. Datasets already there stay as they were, but for suppressed people, and so does usage, unless it was recorded for other accounts.",
    !manifest.requests &&
      !manifest.control_only &&
      "The backup has no request log, because it was made without --requests.",
    ...section(
      "Withdrawn since the backup; the restore does not bring these back:",
      kept.map(endingText),
    ),
    ...section(
      "Withdrawn since the backup; the restore makes these WORK AGAIN:",
      undone.map(endingText),
    ),
    ...section(
      "Live keys that are not in the backup and will be refused after the restore; issue new ones:",
      lost.map(
        ({ id, name, account_name }) => `key ${id} '${name}' of the account '${account_name}'`,
      ),
    ),
    ...section(
      "People who are not in the backup, and must sign up or be invited again after the restore:",
      lostPeople.map(({ id, email }) => `person ${id} ${email}`),
    ),
    suppressions > 0 &&
      `${counted(suppressions, "suppression")} ${suppressions === 1 ? "is" : "are"} in force. ${pending > 0 ? "The next command that publishes a dataset applies all of them." : "The datasets contain none of these people."}`,
    !areEndingsKnown &&
      `Whatever was revoked, suspended, closed or removed after ${timeText(manifest.made_at)} ${isTrial ? "would work" : "works"} again, because there were no former accounts and keys to compare the backup with. End each such key, account and membership again, and suppress again whoever was suppressed since.`,
    areCountsKept
      ? "The requests that accounts have made still count against their quotas."
      : "After the restore, the quotas of all accounts are unused again.",
    replaced !== null &&
      `The old contents are in ${replaced}. Delete that folder once you no longer need it.`,
  ]
    .filter((line) => line !== false)
    .join("\n");
}

function contentText({ dataset, accounts, keys, people }: Restored): string {
  const records = dataset === null ? "no dataset" : `the dataset ${dataset}`;
  return `${records}, ${counted(accounts, "account")}, ${counted(keys, "key")} neither revoked nor expired, ${counted(people, "person", "people")}`;
}

const section = (heading: string, lines: readonly string[]) =>
  lines.length === 0 ? [] : [heading, ...lines.map((line) => `  ${onOneLine(line)}`)];

function endingText({ what, id, name, account, at }: Ending): string {
  switch (what) {
    case "revoked":
      return `key ${id} '${name}' of the account '${account}', revoked at ${timeText(at)}`;
    case "expires":
      return `key ${id} '${name}' of the account '${account}', set to expire at ${timeText(at)}`;
    case "deleted":
      return `person ${id} ${name}, deleted at ${timeText(at)}`;
    case "password":
      return `the former password of the person ${id} ${name}`;
    case "unfollowed":
      return `feed ${id} of the account '${account}', stopped at ${timeText(at)}`;
    case "removed":
      return `membership of the person ${id} ${name} in the account '${account}'`;
    case "demoted":
      return `ownership of the account '${account}' by the person ${id} ${name}`;
    default:
      return `account ${id} '${name}', ${what} at ${timeText(at)}`;
  }
}
