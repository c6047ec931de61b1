/** Makes the finished JSON of a record from its canonical body. */
import type { RecordKind } from "#records/canonical.ts";
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

/** What a record without the member says: enums have a word for it, lists are empty, scalars null. */
const words: Readonly<Partial<Record<RecordKind, Readonly<Record<string, string>>>>> = {
  signal: { type: "other" },
  project: { type: "other", property_type: "unknown", status: "unknown" },
};

const absent = Object.fromEntries(
  Object.entries(schemas).map(([kind, members]) => [
    kind,
    Object.entries(members).map(([name, schema]) => {
      const { type } = schema as unknown as { type?: string | string[] };
      const value = type === "array" ? [] : type === "object" ? {} : null;
      return [name, words[kind as RecordKind]?.[name] ?? value] as const;
    }),
  ]),
) as unknown as Readonly<Record<RecordKind, readonly (readonly [string, unknown])[]>>;

/** What a principal inherits from its GPs. */
export interface Inherited {
  tags: readonly string[];
  themes: readonly string[];
  markets: readonly string[];
}

export interface Rendered {
  /** The JSON up to the value of `updated_at`: what the record says, times excluded. */
  content: string;
  /** The JSON after the value of `updated_at`. */
  rest: string;
}

/** A member that differs from the body: ids are made public, links resolved. */
type Replaced = Readonly<Record<string, unknown>>;

/**
 * @param body canonical record as stored.
 * @param replaced members whose public value differs from the stored one; `id` always.
 * @param gps null for a GP, whose document ends where its embedded lists begin.
 */
export function renderRecord(
  kind: RecordKind,
  body: Readonly<Record<string, unknown>>,
  replaced: Replaced,
  inherited: Inherited | null,
  gps: readonly GpLink[] | null,
): Rendered {
  const record: Record<string, unknown> = {};
  for (const [name, value] of absent[kind])
    if (name !== "updated_at") record[name] = replaced[name] ?? body[name] ?? value;
  const content = `${JSON.stringify(record).slice(0, -1)},"updated_at":"`;
  const links = gps === null ? "" : `,"gps":${JSON.stringify(gps)}`;
  const lists = inherited === null ? "" : `,${JSON.stringify(inherited).slice(1, -1)}`;
  return { content, rest: `"${lists}${links}}` };
}

/** Bytes of the document that stand inside a GP: all up to what it inherits and its `gps`. */
export function ownLengthOf({ content }: Rendered, updatedAt: string): number {
  return Buffer.byteLength(content) + updatedAt.length + 1;
}

export const documentOf = ({ content, rest }: Rendered, updatedAt: string) =>
  content + updatedAt + rest;

/** The document without its times: what two datasets are compared by. */
export const comparable = ({ content, rest }: Rendered) => content + rest;
