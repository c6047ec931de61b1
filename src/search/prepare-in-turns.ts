/** Reads what a filter needs while other work of the thread goes on. */
import { setImmediate } from "node:timers/promises";
import type { RecordKind } from "#records/kinds.ts";
import type { Filter, Order, ReadModel } from "./read-model.ts";

/** Prepares a model for a query. Lets other work run about every millisecond. */
export async function prepareInTurns(
  model: ReadModel,
  kind: RecordKind,
  filter: Filter,
  order?: Order,
): Promise<void> {
  for (const _ of model.prepare(kind, filter, order)) await setImmediate();
}
