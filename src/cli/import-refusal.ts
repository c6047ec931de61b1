/** Says why what was read of a source was not published, and which option allows it. */
import type { ImportResult } from "#datasets/publish.ts";
import { CommandFault } from "./command-fault.ts";
import { exitCodes } from "./exit-codes.ts";

/** @param shrinkPercentMax what was allowed. */
export function importRefusal(
  source: string,
  { refusal, collected, sourceSize }: ImportResult,
  shrinkPercentMax: number,
): CommandFault | null {
  switch (refusal) {
    case null:
      return null;
    case "rejections":
      return new CommandFault(
        exitCodes.inputRefused,
        `${collected.rejections.count} of ${collected.read} lines were rejected; nothing was published. Mend them, or allow some with --max-rejected.`,
      );
    case "empty":
      return new CommandFault(
        exitCodes.inputRefused,
        `Source '${source}' would be left without a record; nothing was published. If that is meant, say --allow-empty.`,
      );
    case "shrunk": {
      const { before, now } = sourceSize;
      const lost = Math.ceil(((before - now) * 100) / before);
      return new CommandFault(
        exitCodes.shrunk,
        `Source '${source}' would shrink from ${count(before)} to ${count(now)} records, by more than the ${shrinkPercentMax}% allowed; nothing was published. Were files cut off or left out? If it is meant, say --max-shrink ${lost}%.`,
      );
    }
  }
}

const count = (number: number) => number.toLocaleString("en-US");
