/** Names of all reads that need a key: operations and other paths. `mcp` is any message to `/mcp`. */
import { anyExplained } from "#records/explanation.ts";
import { operations } from "./index.ts";
import type { Operation } from "./operation.ts";

const otherReads = ["vocabulary", "exports", "changes", "explain", "mcp"] as const;

export const explainPath = "/explain";
export const explainSummary = `Why the record of a ${anyExplained} says what it says: documents, sentences, rules, and the evidence that was refused.`;

/** Name under which a request with a key is counted, logged and recorded. */
export type ReadName = Operation["name"] | (typeof otherReads)[number];

export const readNames: readonly ReadName[] = [
  ...operations.map(({ name }) => name),
  ...otherReads,
];
