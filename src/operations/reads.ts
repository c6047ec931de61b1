/** What is asked with a key: the operations, and what stands beside them; `mcp` is a message to `/mcp`, whatever it asks for. */
import { operations } from "./index.ts";
import type { Operation } from "./operation.ts";

const otherReads = ["vocabulary", "exports", "changes", "mcp"] as const;

export const exportsPath = "/exports";

/** What a request with a key is counted, logged and recorded under. */
export type ReadName = Operation["name"] | (typeof otherReads)[number];

export const readNames: readonly ReadName[] = [
  ...operations.map(({ name }) => name),
  ...otherReads,
];
