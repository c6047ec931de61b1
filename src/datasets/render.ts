/** Renders the JSON of a record from its own part and what it inherits from other records. */
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

/** Members that other records or the previous generation determine: not in the record's own part. */
const decidedLater = new Set(["id", "former_ids", "updated_at"]);

/** Values of absent members where they are neither null nor an empty list: enums have a word of their own. */
const words: Readonly<Partial<Record<RecordKind, Readonly<Record<string, string>>>>> = {
  signal: { type: "other" },
  project: { type: "other", property_type: "unknown", status: "unknown" },
};

/** An empty record of each kind, its members in the order of the document. */
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
 * The record's own part: all members but those determined later, in the order of the document.
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

/** JSON of the part, without braces. */
export const ownJson = (own: Readonly<Record<string, unknown>>) => JSON.stringify(own).slice(1, -1);

/** Stands before the value of `updated_at`. */
export const timeMember = ',"updated_at":"';

/** What of a document is not the record's own part. */
export interface Frame {
  /** Stands before its own part, in ASCII. */
  head: string;
  /** Follows the value of `updated_at`. */
  tail: string;
}

/** A GP's document ends where its embedded lists begin. */
export const gpFrame = (id: string, formerIds: readonly string[]): Frame => ({
  head: `{"id":"${id}","former_ids":${JSON.stringify(formerIds)},`,
  tail: '"}',
});

/**
 * @param lists JSON of the lists a principal inherits; null for other kinds.
 * @param gps JSON of its GPs, as `linkJson` makes it of each.
 */
export const linkedFrame = (id: string, lists: string | null, gps: readonly string[]): Frame => ({
  head: `{"id":"${id}",`,
  tail: `"${lists === null ? "" : `,${lists.slice(1, -1)}`},"gps":[${gps.join(",")}]}`,
});

export const linkJson = ({ id, name }: GpLink): string => JSON.stringify({ id, name });
