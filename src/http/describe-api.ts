/** Generates the OpenAPI 3.1 description from the declarations that the service runs on. */
import { csvTable } from "#csv.ts";
import { PublishedChange, RecordChange } from "#operations/changes.ts";
import { Hint, Meta, Pagination } from "#operations/envelope.ts";
import { csv, json, ndjson } from "#operations/formats.ts";
import {
  type FilterName,
  filters,
  filterSchema,
  filtersOf,
  type Operation,
  type PageParameter,
  pageSchemas,
} from "#operations/operation.ts";
import { apiVersion } from "#operations/versions.ts";
import { VocabularyData, vocabularyPath, vocabularySummary } from "#operations/vocabulary.ts";
import { pageMeanings } from "#pages/docs-operation.ts";
import { exampleVocabulary } from "#pages/docs-vocabulary.ts";
import { exampleRecords } from "#pages/example-records.ts";
import { recordColumns, type RecordMembers } from "#records/columns.ts";
import { declarations } from "#records/declarations.ts";
import { type RecordKind, recordKinds } from "#records/kinds.ts";
import { Type } from "#records/schema.ts";
import { valuesOf } from "#records/value-lists.ts";
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
import { datasetTags, describeDatasets, ExportedDataset } from "./describe-datasets.ts";

/** Returns the name of a record's schema, such as `Gp`. */
const schemaNameOf = (kind: RecordKind) => kind.replace(/^./, (letter) => letter.toUpperCase());
const records = Object.fromEntries(
  recordKinds.map((kind) => [schemaNameOf(kind), declarations[kind].schema]),
);
const recordsTag = "Records";
const vocabularyTag = "Vocabulary";

/** @param pageSizeMax largest page that the operator allows. */
export function describeApi(operations: readonly Operation[], pageSizeMax: number): object {
  return {
    openapi: "3.1.1",
    info: {
      title: "gp-records",
      version: apiVersion,
      license: { name: "MIT", identifier: "MIT" },
      description:
        "Records of real-estate General Partners (GPs), their principals, market signals and projects. Read-only. " +
        "Each path is also served under /v1 with identical answers. " +
        "Agents ask over MCP, the Model Context Protocol, at /mcp; /docs/mcp says how.",
      contact: { name: "The operator of this service" },
    },
    servers: [{ url: "/" }],
    tags: [
      { name: recordsTag, description: "The reads; each answers with a page of records." },
      { name: vocabularyTag, description: "The values that records carry." },
      ...datasetTags,
    ],
    security: [{ apiKey: [] }],
    paths: {
      ...Object.fromEntries(
        operations.map((operation) => [
          operation.path,
          { get: describeOperation(operation, pageSizeMax) },
        ]),
      ),
      [vocabularyPath]: { get: vocabulary },
      ...describeDatasets(describePaging(pageSizeMax)),
    },
    components: {
      securitySchemes: {
        apiKey: {
          type: "apiKey",
          in: "header",
          name: "x-api-key",
          description: "Given by the operator.",
        },
      },
      parameters: parameterComponents,
      headers: headerComponents,
      responses: problemResponses,
      schemas: {
        ...withMeanings(records),
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

function describeOperation(operation: Operation, pageSizeMax: number) {
  return {
    operationId: operation.name,
    tags: [recordsTag],
    summary: operation.summary,
    description: operation.description,
    parameters: [
      ...filtersOf(operation).map((name) => describeFilter(name, operation)),
      ...describePaging(pageSizeMax),
      ifNoneMatch,
    ],
    responses: {
      200: {
        description: "A page of records; `data` is empty if none satisfies the query.",
        headers: headersOn(200),
        content: describeFormats(operation),
      },
      ...otherAnswers,
    },
  };
}

const vocabulary = {
  operationId: "vocabulary",
  tags: [vocabularyTag],
  summary: vocabularySummary,
  description:
    "It takes no parameter. `gps_total` is the `pagination.total` of a search by that value alone. Counts one request.",
  parameters: [ifNoneMatch],
  responses: {
    200: {
      description: "The whole vocabulary of the dataset.",
      headers: headersOn(200, ["X-Total-Count"]),
      content: {
        "application/json": {
          schema: envelope({ data: ref("VocabularyData") }),
          example: exampleVocabulary,
        },
      },
    },
    ...otherAnswers,
  },
};

/** Returns the schemas with the meaning of each value in the description of its closed list. */
function withMeanings<T>(schema: T): T {
  if (typeof schema !== "object" || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(withMeanings) as T;
  const values = valuesOf(schema);
  if (values !== undefined) {
    const { description = "" } = schema as { description?: string };
    const meanings = Object.entries(meaningsOf(values));
    const lines = meanings.map(([value, meaning]) => `- \`${value}\`: ${meaning}`);
    return { ...schema, description: `${description}\n\n${lines.join("\n")}` };
  }
  return Object.fromEntries(
    Object.entries(schema).map(([name, inner]) => [name, withMeanings(inner)]),
  ) as T;
}

/** Returns the content of a page in each format, with a page of one record as the example. */
function describeFormats({ kind }: Operation): object {
  const recordName = schemaNameOf(kind);
  const record: RecordMembers = exampleRecords[kind];
  const columns = recordColumns[kind];
  return {
    [json.mediaType]: {
      schema: pageOf(recordName),
      example: { data: [record], ...examplePage },
    },
    [ndjson.mediaType]: {
      schema: {
        type: "string",
        description: `One ${recordName} on each line, byte for byte as in \`data\`. Totals and version are in the headers.`,
      },
      example: `${JSON.stringify(record)}\n`,
    },
    [csv.mediaType]: {
      schema: {
        type: "string",
        description:
          "A header row, then one row for each record (RFC 4180). Lists are joined with `; `, objects are spread over columns, and text that a spreadsheet would take for a formula begins with an apostrophe. Totals and version are in the headers.",
      },
      example: csvTable(columns, [record]),
    },
  };
}

const examplePage = {
  pagination: { limit: 20, offset: 0, returned: 1, total: 1, has_more: false, next_offset: null },
  meta: {
    api_version: apiVersion,
    dataset_version: "20261120T030000Z-9f3c2a7e",
    dataset_updated_at: "2026-11-20T03:00:00Z",
    hints: [],
  },
};

function describeFilter(name: FilterName, operation: Operation): object {
  const { isRequired } = operation.filters[name]!;
  const { meaning, isRepeatable } = filters[name];
  const common = { name, in: "query", description: meaning, required: isRequired } as const;
  const schema = filterSchema(name, operation);
  return isRepeatable ? { ...common, style: "form", explode: true, schema } : { ...common, schema };
}

const describePaging = (pageSizeMax: number): object[] =>
  Object.entries(pageSchemas(pageSizeMax)).map(([name, schema]) => ({
    name,
    in: "query",
    description: pageMeanings[name as PageParameter],
    schema,
  }));
