/** Generates the OpenAPI 3.1 description from the declarations that the service runs on. */
import { csvTable } from "#csv.ts";
import {
  changesPath,
  changesSummary,
  PublishedChange,
  RecordChange,
  stepPath,
  stepSummary,
} from "#operations/changes.ts";
import { Hint, Meta, Pagination } from "#operations/envelope.ts";
import { columnsOf, csv, json, ndjson } from "#operations/formats.ts";
import {
  type DeclaredFilter,
  filterSchema,
  type Operation,
  type PageParameter,
  pageSchemas,
  sortMeaning,
} from "#operations/operation.ts";
import { exportsPath } from "#gateway/read-exports.ts";
import { explainPath, explainSummary } from "#operations/reads.ts";
import { apiVersion } from "#operations/versions.ts";
import { VocabularyData, vocabularyPath, vocabularySummary } from "#operations/vocabulary.ts";
import { pageMeanings } from "#pages/docs-operation.ts";
import {
  exampleExplanation,
  exampleMeta,
  exampleRecords,
  exampleVocabulary,
} from "#pages/example-records.ts";
import type { RecordMembers } from "#records/columns.ts";
import { declarations, valuesOf } from "#records/declarations.ts";
import { anyExplained, Explanation } from "#records/explanation.ts";
import { list, oneOf, orNull, text, time, whole } from "#records/fields.ts";
import { ListedGp } from "#records/gp.ts";
import { type RecordKind, recordKinds } from "#records/kinds.ts";
import { Type } from "#records/schema.ts";
import { meaningsOf } from "#records/vocabulary.ts";
import {
  envelope,
  headerComponents,
  headersOn,
  ifNoneMatch,
  otherAnswers,
  pageOf,
  parameterComponents,
  problemResponses,
  problemSchemas,
  ref,
  withReference,
} from "./describe-answers.ts";

/** Returns the name of a kind's schema, such as `Gp`. */
const schemaNameOf = (kind: RecordKind) => kind.replace(/^./, (letter) => letter.toUpperCase());
const records = {
  ...Object.fromEntries(recordKinds.map((kind) => [schemaNameOf(kind), declarations[kind].schema])),
  ListedGp,
};
const recordsTag = "Records";
const vocabularyTag = "Vocabulary";
const exportsTag = "Exports";
const changesTag = "Changes";

/** Returns the OpenAPI description. @param pageSizeMax maximum number of records on a page. */
export function describeApi(operations: readonly Operation[], pageSizeMax: number): object {
  return {
    openapi: "3.1.1",
    info: {
      title: "gp-records",
      version: apiVersion,
      license: { name: "MIT", identifier: "MIT" },
      description:
        "Records of real-estate General Partners (GPs), their principals, market signals and projects. Read-only. " +
        "The /fetch- paths find records by GP; the /list- paths list them by any of their values, in any order. " +
        "All paths except those of /exports are also served under /v1 with identical answers. " +
        "Agents can use the Model Context Protocol (MCP) at /mcp; see /docs/mcp.",
      contact: { name: "The operator of this service" },
    },
    servers: [{ url: "/" }],
    tags: [
      { name: recordsTag, description: "Pages of records, and why a record says what it says." },
      { name: vocabularyTag, description: "The values that records can have." },
      {
        name: exportsTag,
        description:
          "Whole datasets as files. If the operator offers none, these paths return a 404.",
      },
      { name: changesTag, description: "What each publication of a dataset changed." },
    ],
    security: [{ apiKey: [] }],
    paths: {
      ...Object.fromEntries(
        operations.map((operation) => [operation.path, describeOperation(operation, pageSizeMax)]),
      ),
      [vocabularyPath]: vocabulary,
      [exportsPath]: listOfExports,
      [`${exportsPath}/{version}/{file}`]: exportedFile,
      [changesPath]: describeRead({
        operationId: "changes",
        tags: [changesTag],
        summary: changesSummary,
        description: "The newest publication comes first. Counts as one request.",
        parameters: describePaging(pageSizeMax),
        found: "A page of publications.",
        content: { "application/json": { schema: pageOf("PublishedChange") } },
      }),
      [stepPath]: step,
      [`${explainPath}/{id}`]: explain,
    },
    components: {
      securitySchemes: {
        apiKey: {
          type: "apiKey",
          in: "header",
          name: "x-api-key",
          description: "Your API key, from the account page or from the operator.",
        },
      },
      parameters: parameterComponents,
      headers: headerComponents,
      responses: problemResponses,
      schemas: {
        ...withMeanings({ ...records, Explanation }),
        VocabularyData,
        ExportedDataset,
        Pagination,
        Meta: Type.Object({
          ...Meta.properties,
          hints: Type.Unsafe(withReference(Meta.properties.hints)),
        }),
        Hint,
        PublishedChange,
        RecordChange,
        ...problemSchemas,
      },
    },
  };
}

interface DescribedRead {
  operationId: string;
  tags: string[];
  summary: string;
  description: string;
  /** Parameters besides `If-None-Match`. */
  parameters?: readonly object[];
  /** Description of the 200. */
  found: string;
  /** Headers of the 200; by default those of a page. */
  headers?: object;
  content: object;
  /** Responses that only this path has, or that differ from those of other paths. */
  others?: object;
}

function describeRead(read: DescribedRead) {
  const { parameters = [], found, headers = headersOn(200), content, others, ...head } = read;
  const responses = { 200: { description: found, headers, content }, ...otherAnswers, ...others };
  return { get: { ...head, parameters: [...parameters, ifNoneMatch], responses } };
}

/** Returns the content of an answer that is not paged. */
function jsonOf(data: object, example?: object) {
  return { "application/json": { schema: envelope({ data }), ...(example && { example }) } };
}

const withoutTotal = headersOn(200, ["X-Total-Count"]);

const describeOperation = (operation: Operation, pageSizeMax: number) =>
  describeRead({
    operationId: operation.name,
    tags: [recordsTag],
    summary: operation.summary,
    description: operation.description,
    parameters: [
      ...Object.entries(operation.filters).map(describeFilter),
      ...(operation.sorts === null
        ? []
        : [inQuery("sort", sortMeaning, sortSchema(operation.sorts))]),
      ...describePaging(pageSizeMax),
    ],
    found: "A page of records; `data` is empty if none satisfies the query.",
    content: describeFormats(operation),
  });

const vocabulary = describeRead({
  operationId: "vocabulary",
  tags: [vocabularyTag],
  summary: vocabularySummary,
  description:
    "Takes no parameters. `gps_total` is the number of GPs that a search by the value alone finds. Counts as one request.",
  found: "The whole vocabulary of the dataset.",
  headers: withoutTotal,
  content: jsonOf(ref("VocabularyData"), exampleVocabulary),
});

const explain = describeRead({
  operationId: "explain",
  tags: [recordsTag],
  summary: explainSummary,
  description:
    "A former id leads to the record that replaced it. An unknown id returns a 404. Takes no parameters. Counts as one request.",
  parameters: [
    {
      ...inPath("id", `Id of a ${anyExplained}.`, Explanation.properties.id),
      example: exampleExplanation.id,
    },
  ],
  found: "The explanation of the record.",
  headers: withoutTotal,
  content: jsonOf(ref("Explanation"), { data: exampleExplanation, meta: exampleMeta }),
});

/** Returns a schema, with the meanings of values added to the descriptions of closed lists. */
function withMeanings<T>(schema: T): T {
  if (typeof schema !== "object" || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(withMeanings) as T;
  const meanings = meaningsOf(valuesOf(schema) ?? []);
  if (meanings !== undefined) {
    const { description = "" } = schema as { description?: string };
    const lines = Object.entries(meanings).map(([value, meaning]) => `- \`${value}\`: ${meaning}`);
    return { ...schema, description: `${description}\n\n${lines.join("\n")}` };
  }
  return Object.fromEntries(
    Object.entries(schema).map(([name, inner]) => [name, withMeanings(inner)]),
  ) as T;
}

/** Returns the content of a page in each format, with a page of one record as the example. */
function describeFormats(operation: Operation): object {
  const { kind, embeds } = operation;
  const isListedGp = kind === "gp" && !embeds;
  const recordName = isListedGp ? "ListedGp" : schemaNameOf(kind);
  const record: RecordMembers = isListedGp ? listedGp : exampleRecords[kind];
  const columns = columnsOf(operation);
  return {
    [json.mediaType]: {
      schema: pageOf(recordName),
      example: { data: [record], ...examplePage },
    },
    [ndjson.mediaType]: {
      schema: {
        type: "string",
        description: `One ${recordName} on each line, byte for byte as in \`data\`. The total number and the version of the dataset are in the headers.`,
      },
      example: `${JSON.stringify(record)}\n`,
    },
    [csv.mediaType]: {
      schema: {
        type: "string",
        description:
          "A header row, then one row for each record (RFC 4180). Lists are joined with `; `, objects are spread over columns, and text that a spreadsheet would take for a formula begins with an apostrophe. The total number and the version of the dataset are in the headers.",
      },
      example: csvTable(columns, [record]),
    },
  };
}

const { principals: _principals, signals: _signals, ...listedGp } = exampleRecords.gp;

const examplePage = {
  pagination: { limit: 20, offset: 0, returned: 1, total: 1, has_more: false, next_offset: null },
  meta: exampleMeta,
};

function sortSchema(sorts: readonly string[]) {
  return { type: "string", enum: sorts, default: sorts[0] };
}

const describeFilter = ([name, filter]: [string, DeclaredFilter]): object => ({
  name,
  in: "query",
  description: filter.meaning,
  required: filter.isRequired,
  ...(filter.valuesMax > 1 && { style: "form", explode: true }),
  schema: filterSchema(filter),
});

const describePaging = (pageSizeMax: number): object[] =>
  Object.entries(pageSchemas(pageSizeMax)).map(([name, schema]) =>
    inQuery(name, pageMeanings[name as PageParameter], schema),
  );

const fileFormats = ["ndjson", "csv", "parquet"];

const ExportedDataset = Type.Object({
  version: text("Version of the dataset, as in `meta.dataset_version`."),
  is_current: Type.Boolean({ description: "Whether the operations answer from this dataset." }),
  built_at: time("Time when the dataset was built."),
  files: list(
    "Files of the dataset, one for each kind of record and each format.",
    Type.Object({
      path: Type.String({ description: "Path of the file.", format: "uri-reference" }),
      kind: oneOf("Kind of record in the file.", recordKinds),
      format: oneOf("Format of the file.", fileFormats),
      records: whole("Number of records in the file."),
      bytes: orNull(whole("Size in bytes; `null` until the file is first requested and made.")),
      sha256: orNull(text("SHA-256 of the file in hexadecimal; `null` until the file is made.")),
    }),
  ),
});

const listOfExports = describeRead({
  operationId: "list-exports",
  tags: [exportsTag],
  summary: "The datasets that can be downloaded, and their files.",
  description:
    "Lists the served dataset, then those that the operator has pinned. A server without the setting `EXPORTS=on` answers with a 404. Takes no parameters. Counts as one request.",
  found: "Datasets with a file for each kind of record and format.",
  headers: withoutTotal,
  content: jsonOf({ type: "array", items: ref("ExportedDataset") }),
});

function inPath(name: string, description: string, schema: object) {
  return { name, in: "path", required: true, description, schema };
}

function inQuery(name: string, description: string, schema: object) {
  return { name, in: "query", description, schema };
}

const inHeader = (name: string, description: string, example: string) => ({
  ...inQuery(name, description, { type: "string" }),
  in: "header",
  example,
});

const fileHeaders = {
  ...withoutTotal,
  "Accept-Ranges": { description: "Always `bytes`.", schema: { type: "string" } },
  "Content-Disposition": { description: "Name to save the file as.", schema: { type: "string" } },
};

const fileContent = {
  "application/x-ndjson": { schema: { type: "string" } },
  "text/csv": { schema: { type: "string" } },
  "application/vnd.apache.parquet": { schema: { type: "string", format: "binary" } },
};

const exportedFile = describeRead({
  operationId: "download-export",
  tags: [exportsTag],
  summary: "All records of one kind in a file.",
  description:
    "The file is made when it is first requested, which takes seconds, or a minute for a large dataset. If you get a 503 with the `reason` `timeout` meanwhile, try again. A file never changes, and its `ETag` is strong. Each request counts as one, even for a range.",
  parameters: [
    {
      ...inPath("version", "Version of a dataset that `/exports` lists.", { type: "string" }),
      example: "20261120T030000Z-9f3c2a7e",
    },
    inPath("file", "Kind of record and format of the file.", {
      type: "string",
      enum: recordKinds.flatMap((kind) => fileFormats.map((format) => `${kind}.${format}`)),
    }),
    inHeader(
      "Range",
      "A single range of bytes: `bytes=0-99` for the first 100, `bytes=100-` for all after them, or `bytes=-100` for the last 100 (RFC 9110 §14).",
      "bytes=1000000-",
    ),
    inHeader(
      "If-Range",
      "`ETag` of the file that the range continues. If the file has another tag, you get the whole file.",
      '"5feeab44b7b09cf710d62a46b8622015"',
    ),
  ],
  found: "The whole file.",
  headers: fileHeaders,
  content: fileContent,
  others: {
    206: {
      description: "The requested range of the file.",
      headers: { ...headersOn(206), ...fileHeaders },
      content: fileContent,
    },
    304: {
      ...otherAnswers[304],
      headers: { ...headersOn(304), "Accept-Ranges": fileHeaders["Accept-Ranges"] },
    },
    416: { $ref: "#/components/responses/Problem416" },
  },
});

const versionSchema = { type: "string", pattern: "^[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}$" };

const step = describeRead({
  operationId: "step",
  tags: [changesTag],
  summary: stepSummary,
  description:
    "A header line, then one line for each change, ordered by kind and id. Counts as one request for every 100 changes sent, rounded up, and as at least one.",
  parameters: [
    inPath("from", "Version of the dataset before the changes.", versionSchema),
    inPath("to", "Version of the dataset after the changes.", versionSchema),
    inQuery("limit", "Maximum number of changes to send; all if left out.", {
      type: "integer",
      minimum: 1,
    }),
    inQuery(
      "offset",
      "Number of changes to skip. The header line is sent only with 0.",
      pageSchemas(1).offset,
    ),
  ],
  found: "The step, or the requested part of it.",
  content: { "application/x-ndjson": { schema: ref("RecordChange") } },
});
