/** Renders the JSON of a record from its own part and the members inherited from other records. */
import type { RecordKind } from "#records/kinds.ts";
import type { GpLink } from "#records/common.ts";
import { gpMembers } from "#records/gp.ts";
import { principalMembers } from "#records/principal.ts";
import { projectMembers } from "#records/project.ts";
import { signalMembers } from "#records/signal.ts";

const schemas = {
  gp: gpMembers,
  principal: principalMembers,
  signal: signalMembers,
  project: projectMembers,
} as const;

/** Members that other records or the previous generation determine. They are not in a record's own part. */
const decidedLater = new Set(["id", "former_ids", "updated_at"]);

/** Values of absent members that are neither null nor an empty list: enums have a word for it. */
const words: Readonly<Partial<Record<RecordKind, Readonly<Record<string, string>>>>> = {
  signal: { type: "other" },
  project: { type: "other", property_type: "unknown", status: "unknown" },
};

/** An empty record of each kind, with members in the order of the document. */
const blank = Object.fromEntries(
  Object.entries(schemas).map(([kind, members]) => [
    kind,
    Object.fromEntries(
      Object.entries(members)
        .filter(([name]) => !decidedLater.has(name))
        .map(([name, schema]) => {
          const { type } = schema as unknown as { type?: string | string[] };
          const value = type === "array" ? [] : type === "object" ? {} : null;
          return [name, words[kind as RecordKind]?.[name] ?? value] as const;
        }),
    ),
  ]),
) as unknown as Readonly<Record<RecordKind, Readonly<Record<string, unknown>>>>;

const ownMembers = Object.fromEntries(
  Object.entries(blank).map(([kind, members]) => [kind, Object.keys(members)]),
) as unknown as Readonly<Record<RecordKind, readonly string[]>>;

/**
 * Returns a record's own part: all members except those determined later, in the order of the document.
 * @param given members of a record; unknown ones are ignored.
 */
export function ownPart(
  kind: RecordKind,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  // Copies of one object share its hidden class, which makes this the fastest way to write them.
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

/** Returns the frame of a GP, whose document has no embedded lists. */
export const gpFrame = (id: string, formerIds: readonly string[]): Frame => ({
  head: `{"id":"${id}","former_ids":${JSON.stringify(formerIds)},`,
  tail: '"}',
});

/**
 * Returns the frame of a record with links.
 * @param lists JSON of the lists that a principal inherits; null for other kinds.
 * @param gps JSON of each of its GPs, as from `linkJson`.
 */
export const linkedFrame = (id: string, lists: string | null, gps: readonly string[]): Frame => ({
  head: `{"id":"${id}",`,
  tail: `"${lists === null ? "" : `,${lists.slice(1, -1)}`},"gps":[${gps.join(",")}]}`,
});

export const linkJson = ({ id, name }: GpLink): string => JSON.stringify({ id, name });
