/** Describes in OpenAPI the paths of whole datasets: their files at `/exports`, and what changed from one to the next. */
import { changesPath, changesSummary, stepPath, stepSummary } from "#operations/changes.ts";
import { exportsPath } from "#operations/reads.ts";
import { recordKinds } from "#records/kinds.ts";
import { envelope, headersOn, ifNoneMatch, otherAnswers, pageOf, ref } from "./describe-answers.ts";

const exportsTag = "Exports";
const changesTag = "Changes";

export const datasetTags = [
  {
    name: exportsTag,
    description: "Whole datasets as files, if the operator offers them; else a 404.",
  },
  { name: changesTag, description: "What changed from dataset to dataset." },
];

const fileFormats = ["ndjson", "csv", "parquet"];

export const ExportedDataset = {
  type: "object",
  properties: {
    version: {
      type: "string",
      description: "Version of the dataset, as in `meta.dataset_version`.",
    },
    is_current: { type: "boolean", description: "Whether the operations answer from it." },
    built_at: { type: "string", format: "date-time" },
    files: {
      type: "array",
      items: {
        type: "object",
        properties: {
          path: { type: "string", format: "uri-reference" },
          kind: { type: "string", enum: recordKinds },
          format: { type: "string", enum: fileFormats },
          records: { type: "integer", minimum: 0 },
          bytes: {
            type: ["integer", "null"],
            minimum: 0,
            description: "`null` until the file is made, when it is first requested.",
          },
          sha256: { type: ["string", "null"], description: "Hash of the file, in hexadecimal." },
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
    "The served dataset, then those that the operator has pinned. Without `EXPORTS=on` a server offers none, and this is a 404. It takes no parameter. Counts one request.",
  parameters: [ifNoneMatch],
  responses: {
    200: {
      description: "Datasets with a file for each kind of record and format.",
      headers: headersOn(200, ["X-Total-Count"]),
      content: {
        "application/json": {
          schema: envelope({ data: { type: "array", items: ref("ExportedDataset") } }),
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
  "Content-Disposition": { description: "A name to save it as.", schema: { type: "string" } },
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
    "Made when it is first requested. That takes seconds, or a minute for a large dataset: a 503 with `reason` `timeout` asks you to try again. Its `ETag` is strong, and it never changes. Counts one request, and so does each range.",
  parameters: [
    {
      name: "version",
      in: "path",
      required: true,
      description: "Version of a dataset that `/exports` lists.",
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
        enum: recordKinds.flatMap((kind) => fileFormats.map((format) => `${kind}.${format}`)),
      },
    },
    inHeader(
      "Range",
      "One range: from one byte to another, from one on, or the last ones (RFC 9110 §14).",
      "bytes=1000000-",
    ),
    inHeader(
      "If-Range",
      "`ETag` of the file that the range continues. If the file is another one, you get all of it.",
      '"5feeab44b7b09cf710d62a46b8622015"',
    ),
    ifNoneMatch,
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
      ...otherAnswers[304],
      headers: { ...headersOn(304), "Accept-Ranges": fileHeaders["Accept-Ranges"] },
    },
    416: { $ref: "#/components/responses/Problem416" },
  },
};

const pathVersion = (name: string, description: string) => ({
  name,
  in: "path",
  required: true,
  description,
  schema: { type: "string", pattern: "^[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}$" },
});

/** @param paging parameters of a list, as each operation takes them. */
export const describeDatasets = (paging: readonly object[]) => ({
  [exportsPath]: { get: listOfExports },
  [`${exportsPath}/{version}/{file}`]: { get: exportedFile },
  [changesPath]: {
    get: {
      operationId: "changes",
      tags: [changesTag],
      summary: changesSummary,
      description: "Newest first. Counts one request.",
      parameters: [...paging, ifNoneMatch],
      responses: {
        200: {
          description: "A page of publications.",
          headers: headersOn(200),
          content: { "application/json": { schema: pageOf("PublishedChange") } },
        },
        ...otherAnswers,
      },
    },
  },
  [stepPath]: {
    get: {
      operationId: "step",
      tags: [changesTag],
      summary: stepSummary,
      description:
        "A head, then a line for each change, ordered by kind and id. Counts one request for every 100 changes sent, rounded up.",
      parameters: [
        pathVersion("from", "The dataset it begins at."),
        pathVersion("to", "The dataset it leads to."),
        {
          name: "limit",
          in: "query",
          description: "Most changes to send; all if left out.",
          schema: { type: "integer", minimum: 1 },
        },
        {
          name: "offset",
          in: "query",
          description: "Changes to skip; the head is sent only with 0.",
          schema: { type: "integer", minimum: 0, default: 0 },
        },
        ifNoneMatch,
      ],
      responses: {
        200: {
          description: "The step, or the requested part of it.",
          headers: headersOn(200),
          content: { "application/x-ndjson": { schema: ref("RecordChange") } },
        },
        ...otherAnswers,
      },
    },
  },
});
