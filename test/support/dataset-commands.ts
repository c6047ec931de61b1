/** Runs `import`, `datasets`, `openapi`, `serve` and `vocabulary` here, in one data folder and with a clock of the test's. */
import assert from "node:assert/strict";
import { exitCodes } from "#cli/command-fault.ts";
import { addDatasetCommands } from "#cli/datasets.ts";
import { addImportCommands } from "#cli/import.ts";
import { addOpenapiCommand } from "#cli/openapi.ts";
import { run } from "#cli/program.ts";
import { addServeCommand } from "#cli/serve.ts";
import { addVocabularyCommand } from "#cli/vocabulary.ts";
import type { Outcome } from "./command-line.ts";
import { noon } from "./control.ts";

const parts = [
  addImportCommands,
  addDatasetCommands,
  addOpenapiCommand,
  addServeCommand,
  addVocabularyCommand,
];

export function datasetCommands(dataDir: string, settings: Record<string, string> = {}) {
  const start = async (...args: string[]): Promise<Outcome> => {
    let out = "";
    let err = "";
    const context = {
      environment: { DATA_DIR: dataDir, ...settings },
      now: () => noon,
      print: (text: string) => void (out += `${text}\n`),
      reportError: (text: string) => void (err += `${text}\n`),
    };
    return { exitCode: await run(args, context, parts), out, err };
  };
  /** What the command prints; it must succeed. */
  const text = async (...args: string[]) => {
    const { exitCode, out, err } = await start(...args);
    assert.equal(exitCode, exitCodes.done, err);
    assert.equal(err, "");
    return out;
  };
  const json = async (...args: string[]) => JSON.parse(await text(...args, "--json"));
  /** What the command prints as errors; it must end with this code. */
  const refusal = async (code: number, ...args: string[]) => {
    const { exitCode, err } = await start(...args);
    assert.equal(exitCode, code, err);
    return err;
  };
  return { start, text, json, refusal };
}
