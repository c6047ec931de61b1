/** The table of tools: the four operations, lists by the records' own values, the vocabulary, and the changes. */
import type { Caller, Found, Outcome } from "#gateway/gateway.ts";
import { served } from "#gateway/reads.ts";
import type { Format } from "#operations/formats.ts";
import { hintsFor } from "#operations/hints.ts";
import { filters, filterSchema, filtersOf, type Operation } from "#operations/operation.ts";
import { vocabularyOf } from "#operations/vocabulary.ts";
import type { Bounds } from "#search/read-model.ts";
import { changesTool } from "./changes-tool.ts";
import { listTools } from "./list-tools.ts";
import {
  answerFrom,
  makeTool,
  recordSchema,
  type Tool,
  type ToolAnswer,
  type ToolDependencies,
  type ArgumentValues,
} from "./tool.ts";
import { type Detail, details, writeAnswer, writeValues } from "./write-answer.ts";

export const makeTools = (dependencies: ToolDependencies): readonly Tool[] => [
  ...operationTools(dependencies),
  ...listTools(dependencies),
  vocabularyTool(dependencies),
  changesTool(dependencies),
];

const operationTools = (dependencies: ToolDependencies): Tool[] =>
  dependencies.operations.map((operation) =>
    makeTool(dependencies, {
      name: operation.name.replaceAll("-", "_"),
      title: operation.summary.replace(/\.$/, ""),
      description: operation.description,
      item: recordSchema(operation.kind),
      properties: Object.fromEntries(
        filtersOf(operation).map((name) => [
          name,
          { ...filterSchema(name, operation), description: filters[name].meaning },
        ]),
      ),
      required: filtersOf(operation).filter((name) => operation.filters[name]!.isRequired),
      hasDetail: true,
      answer: (caller, values) => askOperation(dependencies, operation, caller, values),
    }),
  );

async function askOperation(
  { gateway, findAnswer }: ToolDependencies,
  operation: Operation,
  caller: Caller,
  { detail, ...values }: ArgumentValues,
): Promise<Outcome<ToolAnswer>> {
  const pairs = Object.entries(values).flatMap(([name, value]) =>
    Array.isArray(value)
      ? value.map((one: string) => [name, one])
      : [[name, String(value as string | number)]],
  );
  const text = new URLSearchParams(pairs).toString();
  const outcome = await gateway.counted({ caller }, () =>
    findAnswer(operation, text, toolFormats[detail as Detail]),
  );
  return answerFrom(outcome, ({ datasetVersion, body }) => ({
    datasetVersion,
    content: body.toString(),
  }));
}

/** Formats of tools. In the answer cache each has tags of its own, apart from the formats of HTTP. */
const toolFormats = Object.fromEntries(
  details.map((detail): [Detail, Format] => [
    detail,
    {
      name: `tool-${detail}`,
      mediaType: "application/json",
      contentType: "application/json",
      write(operation, model, query) {
        const { kind, name } = operation;
        const selection = model.select(operation.kind, query.filter, query);
        const { limit, offset } = query;
        const hints = hintsFor(model, query, selection, false);
        const found = { kind, ...selection, limit, offset, hints };
        const body = Buffer.from(writeAnswer(model, found, detail, name.replaceAll("-", "_")));
        return { body, total: selection.total, returned: 0 };
      },
    },
  ]),
) as Readonly<Record<Detail, Format>>;

const vocabularyTool = (dependencies: ToolDependencies): Tool =>
  makeTool(dependencies, {
    name: "vocabulary",
    title: "Tags, themes, markets and closed lists of values",
    description:
      "The values of tag, theme and market, each with the number of GPs that carry it, most GPs first; and the closed lists, with the meaning of each value.",
    item: { type: "object" },
    properties: {
      list: {
        type: "string",
        enum: vocabularyLists,
        description: "The list to read; `enums` are the closed ones.",
      },
    },
    required: ["list"],
    hasDetail: false,
    answer: (caller, values) => askVocabulary(dependencies, caller, values),
  });

const vocabularyLists = ["tags", "themes", "markets", "enums"] as const;

async function askVocabulary(
  { gateway, model }: ToolDependencies,
  caller: Caller,
  values: ArgumentValues,
): Promise<Outcome<ToolAnswer>> {
  const { list, limit, offset } = values as unknown as {
    list: (typeof vocabularyLists)[number];
  } & Bounds;
  return gateway.counted({ caller }, (): Found<ToolAnswer> => {
    const current = served({ model });
    const { [list]: listed } = vocabularyOf(current).data;
    const page = listed.slice(offset, offset + limit).map((value) => [value]);
    const bounds = { limit, offset, total: listed.length };
    const content = writeValues(current, page, bounds, "vocabulary");
    return { kind: "answer", answer: { datasetVersion: current.parts.version, content } };
  });
}
