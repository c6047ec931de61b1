/** Renders the JSON of a record from its own part and the members inherited from other records. */
import type { GpLink } from "#records/common.ts";
import { type Declaration, declarations } from "#records/declarations.ts";
import { eachOf, type RecordKind, recordKinds } from "#records/kinds.ts";

/** Members that other records or the previous generation may determine. They are not in a record's own part. */
const decidedLater = new Set(["id", "former_ids", "updated_at"]);

/** The own part of an empty record of each kind, with members in the order of the document. */
const blank = eachOf(recordKinds, (kind): Readonly<Record<string, unknown>> => {
  const { members, absent }: Declaration = declarations[kind];
  return Object.fromEntries(
    Object.entries(members)
      .filter(([name]) => !decidedLater.has(name))
      .map(([name, schema]) => {
        const { type } = schema as { type?: string | string[] };
        const value = type === "array" ? [] : type === "object" ? {} : null;
        return [name, absent[name] ?? value];
      }),
  );
});

const ownMembers = eachOf(recordKinds, (kind) => Object.keys(blank[kind]));

/**
 * Returns a record's own part: all members except those in `decidedLater`, in the order of the document.
 * @param given members of a record; unknown ones are ignored.
 */
export function ownPart(
  kind: RecordKind,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  // Copies of one object share its hidden class, so they are serialized fastest.
  const own = { ...blank[kind] };
  for (const name of ownMembers[kind]) {
    const value = given[name];
    if (value !== undefined && value !== null) own[name] = value;
  }
  return own;
}

/** Returns the JSON of an own part, without braces. */
export const ownJson = (own: Readonly<Record<string, unknown>>) => JSON.stringify(own).slice(1, -1);

/** Text before the value of `updated_at`. */
export const timeMember = ',"updated_at":"';

/** The text of a document around the record's own part. */
export interface Frame {
  /** Text before the own part, in ASCII. */
  head: string;
  /** Text after the value of `updated_at`. */
  tail: string;
}

/** Returns the frame of a GP, whose document has neither links nor inherited lists. */
export const gpFrame = (id: string, formerIds: readonly string[]): Frame => ({
  head: `{"id":"${id}","former_ids":${JSON.stringify(formerIds)},`,
  tail: '"}',
});

/**
 * Returns the frame of a record with links.
 * @param lists JSON of the lists that a principal inherits; null for other kinds.
 * @param gps JSON of the link to each of its GPs, from `linkJson`.
 */
export const linkedFrame = (id: string, lists: string | null, gps: readonly string[]): Frame => ({
  head: `{"id":"${id}",`,
  tail: `"${lists === null ? "" : `,${lists.slice(1, -1)}`},"gps":[${gps.join(",")}]}`,
});

export const linkJson = ({ id, name }: GpLink): string => JSON.stringify({ id, name });
