/** Judges the removals of a delivery that is merged, and reports those that cannot be carried out or have nothing to remove. */
import type { RecordFault, RecordName, SourceEntry } from "#records/source-entry.ts";
import type { Blocked, Merge } from "./merge.ts";
import type { Place, Rejections } from "./rejections.ts";

/** @param placeOf where the delivery has a record of this name already. */
export function removalFaults(
  { deleted = [] }: SourceEntry,
  merge: Merge | null,
  placeOf: (name: RecordName) => Place | undefined,
): RecordFault[] {
  if (merge === null)
    return deleted.map(() => ({
      field: "deleted",
      reason: "is only for an import with --merge; a delivery of the whole source leaves it out",
    }));
  return deleted.flatMap((name) => repeatedFault(name, placeOf(name)));
}

/** Which of two lines about one record counts would depend on their order, so the second is refused, equal or not. */
export function repeatedFault({ record, id }: RecordName, place: Place | undefined): RecordFault[] {
  if (place === undefined) return [];
  const reason = `'${id}' is the id of the ${record} at ${place.file}:${place.line} too`;
  return [{ field: "id", reason }];
}

/**
 * Reports removals that have nothing to remove, and rejects the lines of those that cannot be carried out.
 * @returns keys of records that are to go.
 */
export function settleRemovals(
  merge: Merge,
  rejections: Rejections,
  absent: Rejections,
): ReadonlySet<string> {
  const outcome = merge.outcome();
  for (const { place, name } of outcome.absent) {
    const reason = `'${name.id}' names no ${name.record} of this source, so there is nothing to remove`;
    absent.add(place.file, place.line, [{ field: "id", reason }]);
  }
  const rejected = new Map<Place, RecordFault[]>();
  for (const blocked of outcome.blocked)
    rejected.set(blocked.place, [
      ...(rejected.get(blocked.place) ?? []),
      { field: "deleted", reason: blockedWords(blocked) },
    ]);
  for (const [{ file, line }, faults] of rejected) rejections.add(file, line, faults);
  return outcome.gone;
}

function blockedWords({ name, linkers }: Blocked): string {
  const [first] = linkers;
  const others = linkers.length > 1 ? ` and ${linkers.length - 1} more` : "";
  return `${name.record} '${name.id}' cannot be removed while others name it: ${first!.record} '${first!.id}'${others}`;
}
