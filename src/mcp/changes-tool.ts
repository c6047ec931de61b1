/** The tool `changes_since`, which gives the changes of the publication after a dataset. */
import { createReadStream } from "node:fs";
import { text } from "node:stream/consumers";
import type { Caller, Outcome } from "#gateway/gateway.ts";
import { changesRefusal } from "#gateway/read-changes.ts";
import { served } from "#gateway/reads.ts";
import { changesOfRequest, findStep, type StepPart } from "#operations/changes.ts";
import { echo } from "#problems.ts";
import type { RecordKind } from "#records/kinds.ts";
import type { Bounds } from "#search/read-model.ts";
import {
  answerFrom,
  makeTool,
  type Tool,
  type ToolAnswer,
  type ToolDependencies,
  type ArgumentValues,
} from "./tool.ts";
import { type Detail, inBrief, writeValues } from "./write-answer.ts";

export const changesTool = (dependencies: ToolDependencies): Tool =>
  makeTool(dependencies, {
    name: "changes_since",
    title: "What the next publication changed",
    description:
      "The records that the publication after a dataset added, changed, removed or merged. `rest` says how to go on: with more of them, or with the next publication.",
    item: { type: "object", required: ["change", "kind", "id"] },
    properties: {
      version: {
        type: "string",
        description: "A meta.dataset_version of an earlier answer.",
        minLength: 1,
        maxLength: 100,
      },
    },
    required: ["version"],
    limitMax: changesOfRequest,
    hasDetail: true,
    answer: (caller, values) => askChanges(dependencies, caller, values),
  });

interface ChangesValues extends Bounds {
  version: string;
  detail: Detail;
}

async function askChanges(
  { gateway, model, changes, operations }: ToolDependencies,
  caller: Caller,
  values: ArgumentValues,
): Promise<Outcome<ToolAnswer>> {
  const { version, limit, offset, detail } = values as unknown as ChangesValues;
  const outcome = await gateway.counted(
    { caller },
    () => {
      const current = served({ model });
      const { version: now } = current.parts;
      const kept = changes.list(now).filter(({ step }) => step !== null);
      const next = kept.findLast(({ from }) => from === version)?.version ?? null;
      const queryText = `limit=${limit}&offset=${offset}`;
      const name = `${version}..${next}.ndjson`;
      const part =
        next === null
          ? null
          : findStep(changes, now, { name, queryText, greatestRequest: 1, operations });
      const known = [...new Set([...kept.map(({ from }) => from!), now])];
      return { kind: "answer" as const, answer: { current, part, known } };
    },
    () => changesRefusal(caller) ?? 1,
  );
  return answerFrom(outcome, async ({ current, part, known }) => {
    const { version: served } = current.parts;
    if (part === null && version !== served) return noSuchVersion(version, known);
    const found = part === null ? [] : await readChanges(part);
    const forms = found.map((change) => formsOf(change, detail));
    const bounds = { limit, offset, total: part?.total ?? 0 };
    const then =
      part === null || part.to === served
        ? null
        : `These lead to ${part.to}. For later changes call changes_since with that version and offset 0.`;
    const content = writeValues(current, forms, bounds, "changes_since", then);
    return { datasetVersion: served, content };
  });
}

/** Most versions named after a question for an unknown one. */
const versionsNamed = 20;

const noSuchVersion = (version: string, known: readonly string[]): ToolAnswer => ({
  datasetVersion: null,
  faults: [
    {
      parameter: "version",
      code: "unknown_value",
      detail: `No changes since '${echo(version)}' are kept. There are changes since ${known.slice(-versionsNamed).join(", ")}.`,
      allowed: known.slice(-versionsNamed),
    },
  ],
});

interface RecordChange {
  change: string;
  kind: RecordKind;
  id: string;
  record?: object;
}

async function readChanges({ file, start, end }: StepPart): Promise<RecordChange[]> {
  if (start === end) return [];
  const lines = await text(createReadStream(file, { start, end: end - 1 }));
  return (
    lines
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as RecordChange)
      // The first line of a step is its head, which names its two datasets.
      .filter(({ change }) => change !== undefined)
  );
}

/** Returns a change in the requested detail, then shorter, in case it fills more than an answer. */
function formsOf({ record, ...change }: RecordChange, detail: Detail): object[] {
  const { kind, id } = change;
  const shortest = { change: change.change, kind, id };
  if (record === undefined) return [change, shortest];
  const brief = { ...change, record: inBrief(kind, record) };
  return detail === "full" ? [{ ...change, record }, brief, shortest] : [brief, shortest];
}
