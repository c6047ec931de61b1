/** The formats an operation can answer in, best first. */
import type { ReadModel } from "#search/read-model.ts";
import type { Operation, Query } from "./operation.ts";
import { answer, type Page } from "./page.ts";

export interface Format {
  /** Distinguishes the answers to one query in their ETags. */
  name: string;
  /** As a client accepts it. */
  mediaType: string;
  /** As the answer declares it. */
  contentType: string;
  /** Runs a query on one dataset; the answer depends on nothing else. */
  write(operation: Operation, model: ReadModel, query: Query): Page;
}

export const json: Format = {
  name: "json",
  mediaType: "application/json",
  contentType: "application/json; charset=utf-8",
  write: answer,
};

export const formats: readonly Format[] = [json];
