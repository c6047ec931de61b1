/** One invented record of each kind, an explanation, and what an answer says of its dataset, for the reference. */
import { apiVersion } from "#operations/versions.ts";
import type { RecordOf } from "#records/declarations.ts";
import type { Explanation } from "#records/explanation.ts";
import type { RecordKind } from "#records/kinds.ts";
import examples from "./example-records.json" with { type: "json" };

const { explanation, vocabulary, ...records } = examples;

export const exampleExplanation = explanation as Explanation;

export const exampleRecords = records as { [K in RecordKind]: RecordOf<K> };

/** Values of a vocabulary, without its closed lists. */
export const exampleValues = vocabulary;

export const exampleMeta = {
  api_version: apiVersion,
  dataset_version: "20261120T030000Z-9f3c2a7e",
  dataset_updated_at: "2026-11-20T03:00:00Z",
  hints: [],
};
