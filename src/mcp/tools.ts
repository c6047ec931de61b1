/** All tools: the operations, the vocabulary, the changes, explanations, and matching. */
import { createReadStream } from "node:fs";
import { text } from "node:stream/consumers";
import { changesRefusal } from "#gateway/read-changes.ts";
import { explained } from "#gateway/read-operation.ts";
import { served } from "#gateway/reads.ts";
import {
  changesOfRequest,
  findStep,
  type RecordChange,
  type StepPart,
} from "#operations/changes.ts";
import { type Format, json } from "#operations/formats.ts";
import { hintsFor } from "#operations/hints.ts";
import { declared, type Operation } from "#operations/operation.ts";
import { matchCost, matchInSlices } from "#operations/match.ts";
import { type GivenValues, invalidParameters, queryText } from "#operations/parameters.ts";
import { vocabularyOf } from "#operations/vocabulary.ts";
import type { ParameterFault } from "#problems/kinds.ts";
import { maskKeys } from "#problems.ts";
import { anyExplained } from "#records/explanation.ts";
import { eachOf } from "#records/kinds.ts";
import {
  boundsOf,
  detailFilter,
  makeTool,
  recordSchema,
  type Tool,
  type ToolDependencies,
  toolName,
} from "./tool.ts";
import { type Detail, details, inBrief, writeAnswer, writeValues } from "./write-answer.ts";

export const makeTools = (dependencies: ToolDependencies): readonly Tool[] => [
  ...dependencies.operations.map((operation) => operationTool(dependencies, operation)),
  ...[vocabularyTool, changesTool, explainTool, matchTool].map((make) => make(dependencies)),
];

function operationTool(dependencies: ToolDependencies, operation: Operation): Tool {
  const { summary, description, filters, sorts } = operation;
  return makeTool(dependencies, {
    name: toolName(operation),
    title: summary.replace(/\.$/, ""),
    description,
    item: recordSchema(operation),
    filters: { ...filters, detail: detailFilter },
    sorts,
    async answer(values) {
      const { detail, ...asked } = Object.fromEntries(values);
      const query = queryText(asked);
      const found = await dependencies.answers.find(
        operation,
        query,
        toolFormats[detailOf(detail)],
      );
      if (found.kind === "unchanged") throw new Error("A tool sends no tags.");
      const { datasetVersion, body } = found.answer;
      return { datasetVersion, content: body.toString() };
    },
  });
}

const detailOf = ([detail = details[0]]: readonly string[] = []) => detail as Detail;

/** Formats of tools. In the answer cache, their entity tags differ from those of the HTTP formats. */
const toolFormats = eachOf(details, (detail): Format => ({
  ...json,
  name: `tool-${detail}`,
  write(operation, model, query) {
    const { kind, embeds } = operation;
    const selection = model.select(kind, query.filter, query, query.order);
    const { limit, offset } = query;
    const hints = hintsFor(model, query, selection, false);
    const found = { kind, embeds, ...selection, limit, offset, hints };
    const body = Buffer.from(writeAnswer(model, found, detail, toolName(operation)));
    return { body, total: selection.total };
  },
}));

const vocabularyLists = ["tags", "themes", "markets", "enums"] as const;

const vocabularyTool = (dependencies: ToolDependencies): Tool =>
  makeTool(dependencies, {
    name: "vocabulary",
    title: "Tags, themes, markets and closed lists of values",
    description:
      "The values of tag, theme and market, each with the number of GPs that carry it, most GPs first; and the closed lists, with the meaning of each value.",
    item: { type: "object" },
    filters: {
      list: declared("list", "The list to return; `enums` are the closed lists.", {
        values: vocabularyLists,
        isRequired: true,
      }),
    },
    answer(values) {
      const { limit, offset } = boundsOf(values);
      const list = values.get("list")![0] as (typeof vocabularyLists)[number];
      const current = served(dependencies);
      const { [list]: listed } = vocabularyOf(current).data;
      const page = listed.slice(offset, offset + limit).map((value) => [value]);
      const bounds = { limit, offset, total: listed.length };
      return writeValues(current, page, bounds, "vocabulary");
    },
  });

/** Maximum number of versions that the error for an unknown version lists. */
const versionsNamed = 20;

const changesTool = (dependencies: ToolDependencies): Tool =>
  makeTool(dependencies, {
    name: "changes_since",
    title: "Changes of the next publication",
    description:
      "Records added, changed, removed or merged by the publication that followed the dataset `version`. `rest` says how to get more of them, or the changes of the next publication; it is null if there are no more.",
    item: { type: "object", required: ["change", "kind", "id"] },
    filters: {
      version: declared("version", "The meta.dataset_version of an earlier answer.", {
        isRequired: true,
      }),
      detail: detailFilter,
    },
    limitMax: changesOfRequest,
    refusal: changesRefusal,
    async answer(values) {
      const { changes, operations } = dependencies;
      const { limit, offset } = boundsOf(values);
      const version = values.get("version")![0]!;
      const detail = detailOf(values.get("detail"));
      const { parts } = served(dependencies);
      const { version: datasetVersion } = parts;
      const kept = changes.list(datasetVersion).filter(({ step }) => step !== null);
      const next = kept.findLast(({ from }) => from === version)?.version;
      if (next === undefined && version !== datasetVersion) {
        const known = [...new Set([...kept.map(({ from }) => from!), datasetVersion])];
        const allowed = known.slice(-versionsNamed);
        throw invalidParameters([
          {
            parameter: "version",
            code: "unknown_value",
            detail: `Must be a version whose later changes are kept: ${allowed.join(", ")}.`,
            allowed,
          },
        ]);
      }
      const name = `${version}..${next}.ndjson`;
      const queryText = `limit=${limit}&offset=${offset}`;
      const part =
        next === undefined
          ? null
          : findStep(changes, datasetVersion, { name, queryText, greatestRequest: 1, operations });
      const found = part === null ? [] : await readChanges(part);
      const forms = found.map((change) => formsOf(change, detail));
      const bounds = { limit, offset, total: part?.total ?? 0 };
      const then =
        part === null || part.to === datasetVersion
          ? null
          : `These changes lead to version ${part.to}. For later changes, call changes_since with that version and offset 0.`;
      return writeValues({ parts }, forms, bounds, "changes_since", then);
    },
  });

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

/** Returns a change in the requested detail, followed by shorter forms in case it does not fit into an answer. */
function formsOf({ record, ...change }: RecordChange, detail: Detail): object[] {
  const { kind, id } = change;
  const shortest = { change: change.change, kind, id };
  if (record === undefined) return [change, shortest];
  const brief = { ...change, record: inBrief(kind, record) };
  return detail === "full" ? [{ ...change, record }, brief, shortest] : [brief, shortest];
}

const explainTool = (dependencies: ToolDependencies): Tool =>
  makeTool(dependencies, {
    name: "explain",
    title: "Why a record says what it says",
    description: `For a ${anyExplained}: who is named and with what certainty, or that nobody is; and the evidence: words of documents that were taken or refused, each with the rule and the reason.`,
    item: { type: "object", required: ["id", "kind", "name", "statement"] },
    filters: {
      id: declared("id", "Id of the record, as in an answer.", { isRequired: true }),
    },
    async answer(values) {
      const { parts } = served(dependencies);
      const whole = await explained(dependencies, values.get("id")![0]!);
      const { id, kind, name, statement, evidence } = whole;
      const cut = [10, 4, 1].map((most) => ({ ...whole, evidence: evidence.slice(0, most) }));
      const bounds = { ...boundsOf(values), total: 1 };
      const page = [[whole, ...cut, { id, kind, name, statement }]].slice(bounds.offset);
      return writeValues({ parts }, page, bounds, "explain");
    },
  });

/** Maximum number of names in a call. */
const matchedMax = 200;
/** Arguments that list one fact about each name, keyed by the fact. */
const factLists = { city: "cities", state: "states", crd: "crds", cik: "ciks" } as const;

const factsOfNames = (fact: string) =>
  declared("", `${fact} of each firm, in the order of \`names\`; an empty text if unknown.`, {
    lengthMin: 0,
    lengthMax: 200,
    valuesMax: matchedMax,
  });

const matchTool = (dependencies: ToolDependencies): Tool =>
  makeTool(dependencies, {
    name: "match_gps",
    title: "Match a list of names to GPs",
    description:
      "For each name, the GP that it refers to, `certainty` (sure, probable, unsure, none) and the runner-up. Case, punctuation and legal form do not matter; a CRD or CIK decides, and a city and state break ties. Counts as one request for every 100 names on the page, rounded up.",
    item: { type: "object", required: ["name", "certainty", "gp", "runner_up"] },
    filters: {
      names: declared("names", `Names of firms, or ids of GPs; at most ${matchedMax}.`, {
        lengthMax: 500,
        valuesMax: matchedMax,
        isRequired: true,
      }),
      cities: factsOfNames("City of the head office"),
      states: factsOfNames("State of the head office"),
      crds: factsOfNames("CRD number"),
      ciks: factsOfNames("CIK number"),
    },
    limitMax: matchedMax,
    cost: (values) => matchCost(namesOnPage(values).length),
    async answer(values) {
      const { limit, offset } = boundsOf(values);
      const names = values.get("names")!;
      const facts = Object.entries(factLists);
      const faults = facts.flatMap(([, parameter]): ParameterFault[] => {
        const given = values.get(parameter)?.length ?? names.length;
        if (given === names.length) return [];
        const isShort = given < names.length;
        const lengthText = names.length === 1 ? "1 entry" : `${names.length} entries`;
        const detail = `Must have ${lengthText}, one for each of 'names', but has ${isShort ? "only " : ""}${given}.`;
        return isShort
          ? [{ parameter, code: "too_short", detail, minimum: names.length }]
          : [{ parameter, code: "too_many_values", detail, maximum: names.length }];
      });
      if (faults.length > 0) throw invalidParameters(faults);
      const wanted = namesOnPage(values).map((name, i) => ({
        name,
        ...Object.fromEntries(facts.map(([fact, list]) => [fact, values.get(list)?.[offset + i]])),
      }));
      const { model, matches } = await matchInSlices(() => served(dependencies), wanted);
      const entries = matches.map(({ certainty, gp, runnerUp }, i) => [
        { name: maskKeys(wanted[i]!.name), certainty, gp, runner_up: runnerUp },
      ]);
      const bounds = { limit, offset, total: names.length };
      return writeValues(model, entries, bounds, "match_gps");
    },
  });

function namesOnPage(values: GivenValues): readonly string[] {
  const { limit, offset } = boundsOf(values);
  return values.get("names")!.slice(offset, offset + limit);
}
