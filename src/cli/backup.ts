/** `gp-records backup`: saves keys, usage, and the served and pinned datasets in one file, even while servers run. */
import { isNoRoom } from "#datasets/disk-space.ts";
import { readConfig } from "#config.ts";
import { argument, command, flag } from "./command.ts";
import { CommandFault, exitCodes, usageFault } from "./command-fault.ts";
import { programVersion } from "./program.ts";

/** Argument that stands for standard output, which then carries the archive. */
const output = "-";
const placeOf = (file: string) => (file === output ? "standard output" : file);

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
    if (file === output && process.stdout.isTTY)
      throw usageFault(
        "A backup is not text for a terminal. Redirect it: gp-records backup - > FILE",
      );
    const { backupToFile, backupToStream } = await import("#backups/make-backup.ts");
    const { dataDir, databaseUrl } = readConfig(context.environment);
    const program = programVersion();
    const now = context.now();
    const order = { dataDir, databaseUrl, program, now, isControlOnly, hasRequests };
    const making =
      file === output ? backupToStream(order, writeOut) : backupToFile(order, file, force);
    const made = await making.catch((error: unknown) => {
      throw fileFault(error, placeOf(file));
    });
    return { file, ...made };
  },
  json: ({ file, manifest, bytes, sha256 }) => ({
    file,
    bytes,
    sha256,
    made_at: manifest.made_at,
    dataset: manifest.dataset,
    pinned: manifest.pinned,
    requests: manifest.requests,
    files: manifest.files,
  }),
  text: ({ file, manifest, bytes, sha256 }, { control }) =>
    [
      `Wrote a backup of ${manifest.files.map(({ path }) => path).join(", ")} to ${placeOf(file)}: ${bytes.toLocaleString("en-US")} bytes.`,
      manifest.dataset === null && !control && "No dataset is published, so the backup has none.",
      !manifest.requests &&
        !control &&
        "The backup has no request log. Add --requests to include the log.",
      `The SHA-256 of the backup is ${sha256}. To check the backup, run \`gp-records restore ${file === output ? "FILE" : file} --dry-run --to FOLDER\`, where FOLDER is a new or empty folder.`,
    ]
      .filter((line) => line !== false)
      .join("\n"),
  isAside: ({ file }) => file === output,
});

/** Writes to standard output. Resolves once the bytes are written, so that nothing piles up in memory. */
const writeOut = (bytes: Buffer) =>
  new Promise<void>((resolve, reject) => {
    process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()));
  });

function fileFault(error: unknown, file: string): unknown {
  const { code, syscall, path = file } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return error;
  return new CommandFault(
    isNoRoom(error) ? exitCodes.diskFull : exitCodes.usage,
    path === placeOf(output)
      ? `The backup is incomplete, because standard output cannot be written (${code}). Check the file or program that receives the output, and make the backup again.`
      : `No backup was made, because ${path} cannot be used (${code}). Make sure that its folder exists and give this user access to it, or choose another place for the backup.`,
  );
}
