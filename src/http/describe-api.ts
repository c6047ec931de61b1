/** The OpenAPI 3.1 description, generated from the declarations that the service runs on. */
import { csvTable } from "#csv.ts";
import { csv, json, ndjson } from "#operations/formats.ts";
import {
  type Deprecation,
  deprecations,
  deprecationSentence,
  findDeprecated,
} from "#operations/deprecations.ts";
import { hintCodes } from "#operations/hints.ts";
import {
  type FilterName,
  filters,
  filterSchema,
  filtersOf,
  type Operation,
  type PageParameter,
  pageSchemas,
} from "#operations/operation.ts";
import { operations } from "#operations/index.ts";
import { apiVersion } from "#operations/versions.ts";
import { VocabularyData, vocabularyPath, vocabularySummary } from "#operations/vocabulary.ts";
import { exampleVocabulary } from "#pages/docs-vocabulary.ts";
import { exampleRecords } from "#pages/example-records.ts";
import { parameterMeanings } from "#pages/parameter-words.ts";
import { recordColumns, type RecordMembers } from "#records/columns.ts";
import { Gp } from "#records/gp.ts";
import { Principal } from "#records/principal.ts";
import { Project } from "#records/project.ts";
import { Signal } from "#records/signal.ts";
import { valuesOf } from "#records/value-lists.ts";
import { meaningsOf } from "#records/vocabulary.ts";
import { changesSchemas, changesTag, describeChanges } from "./described-changes.ts";
import { headerComponents, headersOn } from "./described-headers.ts";
import { problemAnswers, problemResponses, problemSchemas } from "./described-problems.ts";

const records = { Gp, Principal, Signal, Project };
const recordsTag = "Records";
const vocabularyTag = "Vocabulary";
const exportsTag = "Exports";
export const exportsPath = "/exports";
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const ifNoneMatch = {
  name: "If-None-Match",
  in: "header",
  description:
    "`ETag` of an answer you have kept, or several with commas between; while it is what you would get again, the answer is a 304 without a body. It counts 1.",
  schema: { type: "string" },
  example: 'W/"20261120T030000Z-9f3c2a7e-mJ0kQ2"',
};

/**
 * @param pageSizeMax the operator's largest page.
 * @param deprecated what is marked so; its paths are those of versions.
 */
export function describeApi(
  operations: readonly Operation[],
  pageSizeMax: number,
  deprecated: readonly Deprecation[] = deprecations,
): object {
  const describe = (operation: Operation) => describeOperation(operation, pageSizeMax, deprecated);
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
      {
        name: exportsTag,
        description: "Whole datasets as files; only where the operator offers them, else a 404.",
      },
      { name: changesTag, description: "What changed from dataset to dataset." },
    ],
    security: [{ apiKey: [] }],
    paths: {
      ...Object.fromEntries(
        operations.map((operation) => [operation.path, { get: describe(operation) }]),
      ),
      [vocabularyPath]: { get: vocabulary },
      [exportsPath]: { get: listOfExports },
      [`${exportsPath}/{version}/{file}`]: { get: exportedFile },
      ...describeChanges({
        paging: describePaging(pageSizeMax),
        ifNoneMatch: { $ref: "#/components/parameters/IfNoneMatch" },
        otherAnswers,
      }),
      ...Object.fromEntries(
        deprecated.flatMap((one) =>
          [...operations.map(describe), vocabulary].flatMap((get) => pathsOf(one, get)),
        ),
      ),
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
      parameters: { IfNoneMatch: ifNoneMatch },
      headers: headerComponents,
      responses: problemResponses,
      schemas: {
        ...withMeanings(records),
        VocabularyData,
        ExportedDataset,
        ...envelopeSchemas,
        ...changesSchemas,
        ...problemSchemas,
      },
    },
  };
}

/** The path of an operation under a version that is deprecated; none of a parameter. */
function pathsOf(
  deprecation: Deprecation,
  get: { operationId: string; description: string },
): [string, object][] {
  if ("parameter" in deprecation) return [];
  const { version } = deprecation;
  const marked = {
    ...get,
    operationId: `${version}-${get.operationId}`,
    deprecated: true,
    description: `${deprecationSentence(deprecation)} ${get.description}`,
  };
  return [[`/${version}/${get.operationId}`, { get: marked }]];
}

function describeOperation(
  operation: Operation,
  pageSizeMax: number,
  deprecated: readonly Deprecation[],
) {
  const recordName = Object.entries(records).find(([, schema]) => schema === operation.record)![0];
  return {
    operationId: operation.name,
    tags: [recordsTag],
    summary: operation.summary,
    description: operation.description,
    parameters: [
      ...[
        ...filtersOf(operation).map((name) => describeFilter(name, operation)),
        ...describePaging(pageSizeMax),
      ].map((parameter) => markDeprecated(parameter, operation, deprecated)),
      { $ref: "#/components/parameters/IfNoneMatch" },
    ],
    responses: {
      200: {
        description: "A page of records; `data` is empty where none satisfies the query.",
        headers: headersOn(200),
        content: describeFormats(operation, recordName),
      },
      ...otherAnswers,
    },
  };
}

const otherAnswers = {
  304: {
    description: "Unchanged since the answer whose ETag was sent in `If-None-Match`.",
    headers: headersOn(304),
  },
  ...problemAnswers,
};

const vocabulary = {
  operationId: "vocabulary",
  tags: [vocabularyTag],
  summary: vocabularySummary,
  description:
    "It takes no parameter. `gps_total` is the `pagination.total` of a search by that value alone. Counts one request.",
  parameters: [{ $ref: "#/components/parameters/IfNoneMatch" }],
  responses: {
    200: {
      description: "The whole vocabulary of the dataset.",
      headers: headersOn(200, ["X-Total-Count"]),
      content: {
        "application/json": {
          schema: {
            type: "object",
            properties: { data: ref("VocabularyData"), meta: ref("Meta") },
            required: ["data", "meta"],
          },
          example: exampleVocabulary,
        },
      },
    },
    ...otherAnswers,
  },
};

/** The names of files begin with them. */
const exportKinds = operations.map(({ kind }) => kind);
const fileFormats = ["ndjson", "csv", "parquet"];

const ExportedDataset = {
  type: "object",
  properties: {
    version: { type: "string", description: "Of the dataset, as in `meta.dataset_version`." },
    is_current: { type: "boolean", description: "Whether the operations answer from it." },
    built_at: { type: "string", format: "date-time" },
    files: {
      type: "array",
      items: {
        type: "object",
        properties: {
          path: { type: "string", format: "uri-reference" },
          kind: { type: "string", enum: exportKinds },
          format: { type: "string", enum: fileFormats },
          records: { type: "integer", minimum: 0 },
          bytes: {
            type: ["integer", "null"],
            minimum: 0,
            description: "`null` until somebody asks for the file, which is made then.",
          },
          sha256: { type: ["string", "null"], description: "Of the bytes, in hexadecimal." },
        },
        required: ["path", "kind", "format", "records", "bytes", "sha256"],
      },
    },
  },
  required: ["version", "is_current", "built_at", "files"],
};

const listOfExports = {
  operationId: "list-exports",
  tags: [exportsTag],
  summary: "The datasets that can be downloaded, and their files.",
  description:
    "The dataset that is served, then those the operator has pinned. It takes no parameter. Counts one request.",
  parameters: [{ $ref: "#/components/parameters/IfNoneMatch" }],
  responses: {
    200: {
      description: "Datasets with a file for each kind of record and format.",
      headers: headersOn(200, ["X-Total-Count"]),
      content: {
        "application/json": {
          schema: {
            type: "object",
            properties: {
              data: { type: "array", items: ref("ExportedDataset") },
              meta: ref("Meta"),
            },
            required: ["data", "meta"],
          },
        },
      },
    },
    ...otherAnswers,
  },
};

const inHeader = (name: string, description: string, example: string) => ({
  name,
  in: "header",
  description,
  schema: { type: "string" },
  example,
});

const fileHeaders = {
  ...headersOn(200, ["X-Total-Count"]),
  "Accept-Ranges": { description: "`bytes`.", schema: { type: "string" } },
  "Content-Disposition": { description: "A name to save it by.", schema: { type: "string" } },
};

const fileContent = {
  "application/x-ndjson": { schema: { type: "string" } },
  "text/csv": { schema: { type: "string" } },
  "application/vnd.apache.parquet": { schema: { type: "string", format: "binary" } },
};

const exportedFile = {
  operationId: "download-export",
  tags: [exportsTag],
  summary: "All records of one kind in a file.",
  description:
    "Made when it is first asked for, which takes seconds, of a large dataset a minute: a 503 with `reason` `timeout` asks you to come again. Its `ETag` is strong, and it never changes. Counts one request, each range too.",
  parameters: [
    {
      name: "version",
      in: "path",
      required: true,
      description: "Of a dataset that `/exports` lists.",
      schema: { type: "string" },
      example: "20261120T030000Z-9f3c2a7e",
    },
    {
      name: "file",
      in: "path",
      required: true,
      description: "Kind and format.",
      schema: {
        type: "string",
        enum: exportKinds.flatMap((kind) => fileFormats.map((format) => `${kind}.${format}`)),
      },
    },
    inHeader(
      "Range",
      "Bytes from one to another, from one on, or the last: one range (RFC 9110 §14).",
      "bytes=1000000-",
    ),
    inHeader(
      "If-Range",
      "`ETag` of the file that the range continues; of another one you get the whole.",
      '"5feeab44b7b09cf710d62a46b8622015"',
    ),
    { $ref: "#/components/parameters/IfNoneMatch" },
  ],
  responses: {
    200: { description: "The whole file.", headers: fileHeaders, content: fileContent },
    206: {
      description: "The range.",
      headers: { ...headersOn(206), ...fileHeaders },
      content: fileContent,
    },
    ...otherAnswers,
    304: {
      description: "Unchanged since the answer whose ETag was sent in `If-None-Match`.",
      headers: {
        ...headersOn(304),
        "Accept-Ranges": { description: "`bytes`.", schema: { type: "string" } },
      },
    },
    416: { $ref: "#/components/responses/Problem416" },
  },
};

/** The schemas with what each value of a closed list means, in the description of the list. */
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

/** The content of a page in each format, with a page of one record as its example. */
function describeFormats({ kind }: Operation, recordName: string): object {
  const record: RecordMembers = exampleRecords[kind];
  const columns = recordColumns[kind];
  return {
    [json.mediaType]: {
      schema: {
        type: "object",
        properties: {
          data: { type: "array", items: ref(recordName) },
          pagination: ref("Pagination"),
          meta: ref("Meta"),
        },
        required: ["data", "pagination", "meta"],
      },
      example: { data: [record], ...examplePage },
    },
    [ndjson.mediaType]: {
      schema: {
        type: "string",
        description: `A ${recordName} a line, byte for byte the members of \`data\`. Totals and version are in the headers.`,
      },
      example: `${JSON.stringify(record)}\n`,
    },
    [csv.mediaType]: {
      schema: {
        type: "string",
        description:
          "A heading and a record a row (RFC 4180). Lists are joined with `; `, objects are spread over columns, and text that a spreadsheet would take for a formula begins with an apostrophe. Totals and version are in the headers.",
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

interface DescribedParameter {
  name: string;
  in: "query";
  description: string;
  required?: boolean;
  deprecated?: boolean;
  style?: "form";
  explode?: boolean;
  schema: object;
}

function markDeprecated(
  parameter: DescribedParameter,
  operation: Operation,
  deprecated: readonly Deprecation[],
): DescribedParameter {
  const found = findDeprecated(deprecated, operation.name, parameter.name);
  if (found === undefined) return parameter;
  const description = `${deprecationSentence(found)} ${parameter.description}`;
  return { ...parameter, description, deprecated: true };
}

function describeFilter(name: FilterName, operation: Operation): DescribedParameter {
  const { isRequired } = operation.filters[name]!;
  const { meaning, isRepeatable } = filters[name];
  const common = { name, in: "query", description: meaning, required: isRequired } as const;
  const schema = filterSchema(name, operation);
  return isRepeatable ? { ...common, style: "form", explode: true, schema } : { ...common, schema };
}

const describePaging = (pageSizeMax: number): DescribedParameter[] =>
  Object.entries(pageSchemas(pageSizeMax)).map(([name, schema]) => ({
    name,
    in: "query",
    description: parameterMeanings[name as PageParameter],
    schema,
  }));

const whole = { type: "integer", minimum: 0 };

/** The envelope of a page. */
const envelopeSchemas = {
  Pagination: {
    type: "object",
    properties: {
      limit: whole,
      offset: whole,
      returned: { ...whole, description: "Records on this page." },
      total: { ...whole, description: "Records that satisfy the query; exact." },
      has_more: { type: "boolean" },
      next_offset: { type: ["integer", "null"], minimum: 1 },
    },
    required: ["limit", "offset", "returned", "total", "has_more", "next_offset"],
  },
  Meta: {
    type: "object",
    properties: {
      api_version: { type: "string" },
      dataset_version: {
        type: "string",
        description:
          "Pages of one version neither repeat nor miss a record; when it changes, begin again.",
      },
      dataset_updated_at: { type: "string", format: "date-time" },
      hints: { type: "array", items: { $ref: "#/components/schemas/Hint" } },
    },
    required: ["api_version", "dataset_version", "dataset_updated_at", "hints"],
  },
  Hint: {
    type: "object",
    properties: {
      code: { type: "string", enum: [...hintCodes] },
      parameter: { type: ["string", "null"] },
      message: { type: "string" },
      suggestions: { type: "array", items: { type: "string" }, maxItems: 3 },
    },
    required: ["code", "parameter", "message", "suggestions"],
  },
} as const;
