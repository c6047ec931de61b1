/** A record as a dataset keeps it, so that equal content is equal text. */
import {
  canonicalSchemas,
  recordKinds,
  type CanonicalRecord,
  type RecordKind,
} from "#records/canonical.ts";
import { fold } from "#records/fold.ts";
import { externalIdKeys } from "#records/vocabulary.ts";

/** The members of a canonical record in the order they are stored, without `record` and `id`. */
const storedMembers = Object.fromEntries(
  recordKinds.map((kind) => [
    kind,
    Object.keys((canonicalSchemas[kind] as unknown as { properties: object }).properties).filter(
      (name) => name !== "record" && name !== "id",
    ),
  ]),
) as unknown as Readonly<Record<RecordKind, readonly string[]>>;

/** Text whose byte order is the display order of the kind; ties are broken by the public id. */
export function sortKeyOf(record: CanonicalRecord): string {
  return record.record === "signal" ? record.date : fold(record.name);
}

/** JSON of the members in one order, without what says nothing. */
export function bodyOf(record: CanonicalRecord, source: string): string {
  const given = record as unknown as Record<string, unknown>;
  const body: Record<string, unknown> = {};
  for (const member of storedMembers[record.record]) {
    const value = given[member];
    if (value === undefined || value === null) continue;
    body[member] = Array.isArray(value) ? [...new Set(value)] : value;
  }
  body["provenance"] = {
    source,
    basis: record.provenance?.basis ?? "stated",
    confidence: record.provenance?.confidence ?? 1,
    url: record.provenance?.url ?? null,
  };
  if (given["external_ids"] !== undefined) body["external_ids"] = idsIn(given["external_ids"]);
  return JSON.stringify(body);
}

/** Keys in one order, each id once, without the keys that have none. */
function idsIn(given: unknown): object {
  const lists = given as Readonly<Record<string, readonly string[] | undefined>>;
  return Object.fromEntries(
    externalIdKeys
      .map((key) => [key, [...new Set(lists[key])]] as const)
      .filter(([, ids]) => ids.length > 0),
  );
}
