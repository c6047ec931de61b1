/** The options of `npm run bench` that are refused. */
import assert from "node:assert/strict";
import { OptionFault, readOptions } from "../../bench/options.ts";

/** What the options are refused with. */
export function optionFault(...args: readonly string[]): string {
  try {
    readOptions(args);
  } catch (error) {
    assert.ok(error instanceof OptionFault);
    return error.message;
  }
  return assert.fail(`${args.join(" ")} was taken`);
}
