/**
 * Keeps a copy of all records in a file: `node mirror.ts [FILE]`, now and then, such as from cron.
 *
 * It needs the package gp-records-client (its README says how to install it), and GP_RECORDS_URL and GP_RECORDS_KEY in the
 * environment. The first line names the dataset, each other one is a record. The file is replaced once the next copy is whole.
 */
import { createHash, hash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { createClient, isProblem, ProblemError, VersionChangedError } from "gp-records-client";

const kinds = ["gp", "principal", "signal", "project"];
/** Members of a GP that repeat other records. */
const lists = ["principals", "principals_total", "signals", "signals_total"];

const keyOf = (kind: string, id: string) => `${kinds.indexOf(kind)} ${id}`;
const kindOf = (key: string) => kinds[Number(key[0])];
/** The JSON of all records of one dataset, by kind and id. */
class Copy extends Map<string, string> {
  version = "";

  put(kind: string, record: any): void {
    if (kind === "gp") for (const name of lists) delete record[name];
    this.set(keyOf(kind, record.id), JSON.stringify(record));
  }

  inOrder = () => [...this].sort(([a], [b]) => (a < b ? -1 : 1));

  /** As docs/changes.md defines it, in the order of `kinds`. */
  hash(): string {
    const total = createHash("sha256");
    for (const [, line] of this.inOrder()) total.update(hash("sha256", line, "buffer"));
    return total.digest("hex");
  }
}

const linesIn = (bytes: Buffer) => String(bytes).split("\n").slice(0, -1);
/** What was read does not go together, such as when another dataset was published meanwhile. */
class Again extends Error {}

const client = createClient({
  baseUrl: process.env.GP_RECORDS_URL!,
  key: process.env.GP_RECORDS_KEY!,
  // The quota of an hour, too, is worth waiting for.
  waitMaxSeconds: 3600,
  onWait: ({ seconds, error }) => console.error(`${error.message}: waiting ${seconds} s`),
});

/** Reads the files of the dataset that `copy.version` names. */
async function fromExport(copy: Copy): Promise<void> {
  for (const kind of kinds) {
    const parts: Uint8Array[] = [];
    for await (const part of client.exportFile(copy.version, `${kind}.ndjson`)) parts.push(part);
    const bytes = Buffer.concat(parts);
    // Once a file was made, its SHA-256 is listed.
    const dataset = (await client.exports()).find(({ version }) => version === copy.version);
    const file = dataset?.files.find((one) => one.kind === kind && one.format === "ndjson");
    if (file?.sha256 !== hash("sha256", bytes)) throw new Again(`Not the ${kind}.ndjson offered.`);
    for (const line of linesIn(bytes)) copy.put(kind, JSON.parse(line));
  }
}

async function fromPages(copy: Copy): Promise<void> {
  const take = async (kind: string, pages: AsyncIterable<{ data: any[]; meta: any }>) => {
    for await (const { data, meta } of pages) {
      copy.version ||= meta.dataset_version;
      if (copy.version !== meta.dataset_version) throw new Again("The dataset changed.");
      for (const record of data) copy.put(kind, record);
    }
  };
  await take("gp", client.allGps().pages());
  await take("principal", client.principals().pages());
  await take("signal", client.signals().pages());
  await take("project", client.projects().pages());
}

/** Reports whether steps lead from the copy to what is served, and fit. Takes them, and spoils the copy where not. */
async function follow(copy: Copy): Promise<boolean> {
  const steps = [];
  for await (const one of client.changes()) {
    if (one.from === null || one.step === null) return false;
    steps.unshift([one.from, one.version] as const);
    if (one.from === copy.version) break;
  }
  let proof = copy.hash();
  for (const [from, version] of steps) {
    const { head, changes } = await client.step(from, version);
    if (head.format !== 1 || head.from_hash !== proof) return false;
    for (const { change, kind, id, record, after } of changes) {
      const key = keyOf(kind, id);
      if (change === "removed" || change === "merged") copy.delete(key);
      // Members keep their places.
      else copy.put(kind, record ?? { ...JSON.parse(copy.get(key)!), ...after });
    }
    copy.version = version;
    proof = head.to_hash;
  }
  return steps.length > 0 && copy.hash() === proof;
}

/** Whatever is refused, pages are read instead, which say it if there is more to say. */
const orPages = (error: unknown): undefined => {
  if (!(error instanceof ProblemError)) throw error;
};

/** Brings the saved copy up to date, or reads a new one. */
async function update(saved: Copy): Promise<[how: string, copy: Copy]> {
  const { meta } = await client.fetchSignals({ limit: 1 });
  if (saved.version === meta.dataset_version) return ["unchanged", saved];
  if (saved.version !== "" && (await follow(saved).catch(orPages))) return ["steps", saved];
  saved.version = "";
  const copy = new Copy();
  const offered = await client.exports().catch(orPages);
  copy.version = offered?.find((one) => one.is_current)?.version ?? "";
  const how = copy.version === "" ? "pages" : "export";
  await (how === "pages" ? fromPages : fromExport)(copy);
  return [how, copy];
}

const file = process.argv[2] ?? "mirror.ndjson";
const saved = new Copy();
if (existsSync(file)) {
  const [head, ...lines] = linesIn(readFileSync(file));
  saved.version = JSON.parse(head!).version;
  for (const { kind, record } of lines.map((line) => JSON.parse(line))) saved.put(kind, record);
}
for (let tries = 1; ; tries++)
  try {
    const [how, copy] = await update(saved);
    const unfinished = `${file}.${process.pid}.new`;
    try {
      const lines = copy
        .inOrder()
        .map(([key, json]) => `{"kind":"${kindOf(key)}","record":${json}}\n`);
      await writeFile(unfinished, [`{"version":"${copy.version}"}\n`, ...lines], { flush: true });
      await rename(unfinished, file);
    } finally {
      await rm(unfinished, { force: true });
    }
    console.log(`${copy.version}, by ${how}: ${copy.size} records`);
    break;
  } catch (error) {
    const isGone = error instanceof VersionChangedError || isProblem(error, "unknown-path");
    if (tries === 10 || !(isGone || error instanceof Again)) throw error;
  }
