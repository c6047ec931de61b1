/** Files to import, and what the import of each says, beside a service that runs on the same data folder. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { exitCodes } from "#cli/command-fault.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { allCommands } from "../../support/all-commands.ts";

export interface ImportOutcome {
  exitCode: number | null;
  /** The report; null where the whole file was refused. */
  report: any;
  err: string;
  file: string;
}

export type Workplace = ReturnType<typeof openWorkplace>;

/** @param folder for the files. */
export function openWorkplace(dataDir: string, folder: string) {
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const { start } = allCommands(dataDir);
  let files = 0;
  const write = (content: string | Uint8Array, ending: string) => {
    const path = join(folder, `${++files}.${ending}`);
    writeFileSync(path, content);
    return path;
  };
  /** Whatever it says, the current dataset is another one only where it says that. */
  async function importFile(format: string, file: string, args: readonly string[]) {
    const before = catalogue.currentVersion();
    const { exitCode, out, err } = await start("import", format, file, ...args, "--json");
    const report = out === "" ? null : JSON.parse(out);
    assert.equal(catalogue.currentVersion() !== before, report?.outcome === "published", out);
    return { exitCode, report, err, file };
  }
  const lines = (source: string, content: string | Uint8Array, ...options: string[]) =>
    importFile("ndjson", write(content, "ndjson"), ["--source", source, ...options]);
  const table = (
    source: string,
    content: string | Uint8Array,
    mapping: object,
    ...options: string[]
  ) =>
    importFile("csv", write(content, "csv"), [
      "--map",
      write(JSON.stringify(mapping), "json"),
      "--source",
      source,
      ...options,
    ]);
  return { catalogue, importFile, write, lines, table };
}

export const linesOf = (...records: readonly object[]) =>
  records.map((record) => `${JSON.stringify(record)}\n`).join("");

export const gp = (id: string, more: object = {}) => ({
  record: "gp",
  id,
  name: `GP ${id}`,
  ...more,
});

/** GPs with an id, a name and these fields. */
export const gpTable = (fields: object = {}, members: object = {}) => ({
  records: [{ record: "gp", id: "Id", fields: { name: "Name", ...fields } }],
  ...members,
});

export function assertPublished({ exitCode, report, err }: ImportOutcome): any {
  assert.equal(exitCode, exitCodes.done, err);
  assert.equal(report.outcome, "published", JSON.stringify(report));
  return report;
}

/** Everything it holds is there already, value for value. */
export function assertSame({ exitCode, report, err }: ImportOutcome): any {
  assert.equal(exitCode, exitCodes.done, `${err} ${JSON.stringify(report?.rejections)}`);
  assert.deepEqual([report.outcome, report.version], ["unchanged", null], JSON.stringify(report));
  return report;
}

/** The whole file is refused in one line with its name. @param words match what follows the name. */
export function assertFileRefused({ exitCode, report, err, file }: ImportOutcome, words: RegExp) {
  assert.equal(exitCode, exitCodes.inputRefused, err);
  assert.equal(report, null);
  assert.ok(err.startsWith(`error: ${file}:`), err);
  assert.match(err.slice(`error: ${file}`.length), words);
  assert.match(err, /^.*\n$/);
}

/** Single lines are rejected, so nothing is published. @returns them as `line field`. */
export function rejectedLines({ exitCode, report, err, file }: ImportOutcome): string[] {
  assert.equal(exitCode, exitCodes.inputRefused, JSON.stringify(report));
  assert.deepEqual([report.outcome, report.refusal], ["refused", "rejections"]);
  assert.match(err, /^error: \d+ of \d+ lines? w.* rejected; nothing was published\..*\n$/);
  assert.equal(report.read, report.accepted + report.rejected);
  for (const rejection of report.rejections) {
    assert.equal(rejection.file, file);
    assert.match(rejection.reason, /\w+ \w+/);
  }
  return report.rejections.map(
    (one: { line: number; field: string }) => `${one.line} ${one.field}`,
  );
}
