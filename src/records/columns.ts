/** Makes the columns of each kind's table from the declaration of its records. */
import type { Column } from "#csv.ts";
import { declarations } from "./declarations.ts";
import { isDate } from "./fields.ts";
import { type EachKind, eachOf, recordKinds } from "./kinds.ts";
import type { MemberSchema, TProperties } from "./schema.ts";

/** A record as served. */
export type RecordMembers = Readonly<Record<string, unknown>>;

/** A column, named after its member: `name`, or `external_ids.cik` for a member of an object. */
export interface RecordColumn extends Column<RecordMembers> {
  /** True if its text is a date or a time. */
  isDate: boolean;
}

/** Members that get a column, by the name of the list whose objects have them. */
const shownOfEach: Readonly<Record<string, readonly string[]>> = {
  gps: ["id", "name"],
  funds: ["name"],
  principals: ["name"],
  signals: ["title"],
};

/**
 * Returns the columns for these members, in their order. An object gets a column for each of its members
 * (`provenance.source`). A list of objects gets one for each member in `shownOfEach` (`gps.id`, `gps.name`).
 */
export const columnsOf = (members: TProperties): readonly RecordColumn[] =>
  Object.entries(members as Record<string, MemberSchema>).flatMap(([name, schema]) =>
    columnsOfMember(name, schema, (record) => record[name]),
  );

/** Columns of each kind as served. A GP's include `principals.name`, `signals.title` and their totals. */
export const recordColumns: EachKind<readonly RecordColumn[]> = eachOf(recordKinds, (kind) =>
  columnsOf(declarations[kind].schema.properties),
);

function columnsOfMember(
  name: string,
  schema: MemberSchema,
  valueOf: (record: RecordMembers) => unknown,
): RecordColumn[] {
  const { properties, items } = schema;
  if (properties !== undefined)
    return Object.entries(properties).flatMap(([key, inner]) =>
      columnsOfMember(`${name}.${key}`, inner, (record) => (valueOf(record) as RecordMembers)[key]),
    );
  if (items === undefined)
    return [
      { name, isDate: isDate(schema), of: (record) => valueOf(record) as string | number | null },
    ];
  // A list inside an object may be missing, such as `external_ids.cik`.
  const listOf = (record: RecordMembers) => (valueOf(record) ?? []) as readonly unknown[];
  if (items.properties === undefined)
    return [{ name, isDate: false, of: (record) => listOf(record) as readonly string[] }];
  const shown = shownOfEach[name];
  if (shown === undefined) throw new Error(`Say which members of ${name} a table shows.`);
  return shown.map((key) => ({
    name: `${name}.${key}`,
    isDate: false,
    of: (record) => (listOf(record) as readonly Record<string, string>[]).map((one) => one[key]!),
  }));
}
