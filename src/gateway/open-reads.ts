/** The table of reads: everything that is served to the holder of a key, but messages of MCP. */
import { changesRead, stepsRead } from "./read-changes.ts";
import { exportFilesRead, exportsRead } from "./read-exports.ts";
import { type FindAnswer, operationRead } from "./read-operation.ts";
import { vocabularyRead } from "./read-vocabulary.ts";
import type { Read, ReadDependencies } from "./reads.ts";

/** @param findAnswer as `openOperations` makes it, shared with what else answers operations. */
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
