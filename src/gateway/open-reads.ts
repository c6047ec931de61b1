/** The table of reads: everything that is served to holders of a key, except MCP messages. */
import { changesRead, stepsRead } from "./read-changes.ts";
import { exportFilesRead, exportsRead } from "./read-exports.ts";
import { type FindAnswer, operationRead } from "./read-operation.ts";
import { vocabularyRead } from "./read-vocabulary.ts";
import type { Read, ReadDependencies } from "./reads.ts";

/** @param findAnswer from `openOperations`, shared with MCP. */
export function openReads(dependencies: ReadDependencies, findAnswer: FindAnswer): Read[] {
  const { operations, offers } = dependencies;
  return [
    ...operations.map((operation) => operationRead(dependencies, findAnswer, operation)),
    vocabularyRead(dependencies),
    changesRead(dependencies),
    stepsRead(dependencies),
    ...(offers === null
      ? []
      : [exportsRead(dependencies, offers), exportFilesRead(dependencies, offers)]),
  ];
}
