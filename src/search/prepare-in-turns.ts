/** Reads what a filter needs while other work of the thread goes on. */
import { setImmediate } from "node:timers/promises";
import type { RecordKind } from "#records/kinds.ts";
import type { Filter, Order, ReadModel } from "./read-model.ts";

/** Maximum time that steps are run before other work may run, in ms. */
const turnMilliseconds = 2;

/** Runs steps, and lets other work run in between. Stops and returns false once `isWanted` does. */
export async function runInTurns(steps: Iterable<void>, isWanted = () => true): Promise<boolean> {
  let begun = performance.now();
  for (const _ of steps) {
    if (performance.now() - begun < turnMilliseconds) continue;
    await setImmediate();
    if (!isWanted()) return false;
    begun = performance.now();
  }
  return true;
}

/** Prepares a model for a query, and lets other work run in between. */
export const prepareInTurns = (
  model: ReadModel,
  kind: RecordKind,
  filter: Filter,
  order?: Order,
): Promise<unknown> => runInTurns(model.prepare(kind, filter, order));
