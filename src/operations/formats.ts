/** Formats in which an operation can answer, best first. */
import { csvTable } from "#csv.ts";
import { type RecordColumn, recordColumns, type RecordMembers } from "#records/columns.ts";
import { embeddedKinds } from "#records/kinds.ts";
import type { ReadModel } from "#search/read-model.ts";
import type { Operation, Query } from "./operation.ts";
import { answer, answerLines, type Page } from "./page.ts";

export interface Format {
  /** Name that distinguishes the ETags of answers to one query in different formats. */
  name: string;
  /** Media type in `Accept`. */
  mediaType: string;
  contentType: string;
  /** Answers a query from one dataset. The answer depends only on these arguments. */
  write(operation: Operation, model: ReadModel, query: Query): Page;
}

export const json: Format = {
  name: "json",
  mediaType: "application/json",
  contentType: "application/json; charset=utf-8",
  write: answer,
};

export const ndjson: Format = {
  name: "ndjson",
  mediaType: "application/x-ndjson",
  contentType: "application/x-ndjson; charset=utf-8",
  write: answerLines,
};

export const csv: Format = {
  name: "csv",
  mediaType: "text/csv",
  contentType: "text/csv; charset=utf-8; header=present",
  write: answerTable,
};

export const formats: readonly Format[] = [json, ndjson, csv];

/** Writes the records as rows below a heading. A page without records still has the heading. */
function answerTable(operation: Operation, model: ReadModel, query: Query): Page {
  const page = answerLines(operation, model, query);
  const lines = page.body.toString().split("\n").slice(0, -1);
  const records = lines.map((line) => JSON.parse(line) as RecordMembers);
  return { ...page, body: Buffer.from(csvTable(columnsOf(operation), records)) };
}

export const columnsOf = ({ kind, embeds }: Operation): readonly RecordColumn[] =>
  recordColumns[kind].filter(({ name }) => embeds || !isEmbedded(name));

const isEmbedded = (column: string) => embeddedKinds.some((kind) => column.startsWith(`${kind}s.`));
