/** Canonical records, with the source's own ids. Importers yield them, and datasets are built from them. */
import { Compile, type Validator } from "typebox/schema";
import { Settings } from "typebox/system";
import { Provenance } from "./common.ts";
import { type Declaration, declarations } from "./declarations.ts";
import type { Quotation } from "./explanation.ts";
import { list, oneOf, text, time } from "./fields.ts";
import { Fund } from "./gp.ts";
import { type EachKind, eachOf, type LinkedKind, type RecordKind, recordKinds } from "./kinds.ts";
import { type MemberSchema, type Static, type TObject, type TSchema, Type } from "./schema.ts";

/** Id as the source writes it, unique among the source's records of a kind. */
const sourceId = text("Id of the record in the source.", 200);

/** Returns an object's schema with all members optional. @param required member that stays required. */
const inPart = ({ properties }: TObject, required?: string) =>
  Type.Object(
    eachOf(Object.keys(properties), (name) =>
      name === required ? properties[name]! : Type.Optional(properties[name]!),
    ),
    { additionalProperties: false },
  );

// The format is left out, because check-record.ts finds times that do not exist much faster than TypeBox does.
const { format: _, ...updatedAt }: MemberSchema = time(
  "Time when the source says the content last changed.",
);

/** Members that a source may give in part or leave out. */
const stated = {
  provenance: Type.Unsafe<Partial<Provenance>>(inPart(Provenance)),
  funds: list(
    "Funds of the GP; all but their names may be left out. The 100 largest are published.",
    Type.Unsafe<Partial<Fund> & Pick<Fund, "name">>(inPart(Fund, "name")),
  ),
  updated_at: Type.Unsafe<string>(updatedAt),
};

/** Members that refer to other records by source id. `former_ids` and `gps` may also hold `gp_…` ids. */
const links = {
  former_ids: Type.Array(sourceId, { description: "Source ids or `gp_…` ids this GP replaces." }),
  project_ids: Type.Array(sourceId, { description: "Source ids of the projects concerned." }),
  gps: Type.Array(sourceId, { description: "Source ids or `gp_…` ids of the record's GPs." }),
};

type Declared<K extends RecordKind> = (typeof declarations)[K];
type Members<K extends RecordKind> = Declared<K>["members"];

/** Values of a kind's members, as served. */
type Values<K extends RecordKind> = {
  -readonly [N in keyof Members<K>]: Members<K>[N] extends TSchema ? Static<Members<K>[N]> : never;
};

/** Names of the members that every source must give besides `id`. */
type RequiredName<K extends RecordKind> = Exclude<
  { [N in keyof Members<K>]: Values<K>[N] extends string | number ? N : never }[keyof Members<K>],
  "id" | keyof typeof stated | keyof Declared<K>["absent"]
>;

type Canonical<K extends RecordKind> = { record: K; id: string } & Pick<
  Values<K>,
  RequiredName<K>
> &
  Partial<Omit<Values<K>, RequiredName<K> | "id" | keyof typeof stated>> & {
    -readonly [N in keyof typeof stated & keyof Members<K>]?: Static<(typeof stated)[N]>;
  } & (K extends LinkedKind ? { gps?: string[] } : unknown);

export type CanonicalGp = Canonical<"gp">;
export type CanonicalPrincipal = Canonical<"principal">;
export type CanonicalSignal = Canonical<"signal">;
export type CanonicalProject = Canonical<"project">;
export type CanonicalRecord = { [K in RecordKind]: Canonical<K> }[RecordKind];

function canonicalSchema(kind: RecordKind) {
  const { members, absent }: Declaration = declarations[kind];
  const { id: _, ...given }: Record<string, TSchema> = {
    ...members,
    ...(kind !== "gp" && { gps: links.gps }),
  };
  const replaced: Record<string, TSchema> = { ...stated, ...links };
  const all = Object.entries(given).map(([name, schema]) => [
    name,
    isScalar(schema) && !(name in stated) && !(name in absent)
      ? schema
      : Type.Optional(replaced[name] ?? schema),
  ]);
  return Type.Object(
    { record: oneOf("Kind of record.", [kind]), id: sourceId, ...Object.fromEntries(all) },
    { additionalProperties: false },
  );
}

/** Reports whether a member is a scalar that is never null. */
function isScalar(member: TSchema): boolean {
  const { type } = member as { type?: string | string[] };
  return typeof type === "string" && type !== "array" && type !== "object";
}

export const canonicalSchemas: EachKind<TSchema> = eachOf(recordKinds, canonicalSchema);

// The default of 8 would hide further wrong members of a record. With no maximum, a list could yield a million errors.
Settings.Set({ maxErrors: 1000 });

/** Compiled validators. They find faults, which check-record.ts puts into words. */
export const canonicalValidators: EachKind<Validator> = eachOf(recordKinds, (kind) =>
  Compile(canonicalSchemas[kind]),
);

/** Cell that matches no allowed word. */
export interface UnknownWord {
  cell: string;
  /** Value to suggest for the cell in the mapping's `values`: that of the most similar word, else a `CHOOSE` text. */
  value: unknown;
  /** True if `values` needs `"otherwise": "keep"` so that all other cells are read as before. */
  isNew: boolean;
}

/** A fault of an entry: the member or column, and what is wrong with it. */
export interface RecordFault {
  field: string;
  reason: string;
  /** True if the fault is in a table's cells. Equal faults in several rows then count as one. */
  isOfCell?: true;
  word?: UnknownWord;
}

/** Reference to a record by the source's own id. */
export interface RecordName {
  record: RecordKind;
  id: string;
}

/** Prefix of a GP's source id if the GP has no record of its own and other records only name it. */
export const namedGpPrefix = "named:";

export type EvidenceDocument = Quotation["document"];

/** Evidence about a record, as a source gives it. */
export interface Evidence extends EvidenceDocument, Omit<Quotation, "document" | "taken"> {
  is_taken: 0 | 1;
  /** Numbers that identify further documents with the same statement. These are counted, not quoted. */
  others?: readonly string[];
}

/** Entry that an importer yields for a line or a row. */
export interface SourceEntry {
  /** File as messages name it: its path, with an archive's member after `!`; or `<stdin>`, or `demo`. */
  file: string;
  /** Line on which the entry begins, counted from 1. */
  line: number;
  /** Records of the entry, not yet checked against the schema; empty if it could not be read or adds none. */
  records: CanonicalRecord[];
  /** GPs that the entry only names. Entries that name the same GP usually share one object. */
  namedGps: CanonicalGp[];
  /** Source that may already have the entry's named GPs. */
  known?: string;
  /**
   * Other source ids that the entry's GP or principal could have had. Such claims keep its public id stable. A source
   * with claims gives a list for each GP and principal, even an empty one. Two records of a kind cannot share a claim.
   */
  claims?: readonly string[];
  /** Evidence for the entry's record, best first. */
  evidence?: readonly Evidence[];
  /** Records to remove. Only an import that merges accepts these. */
  deleted?: readonly RecordName[];
  /** True if no text has an ASCII control character or half a surrogate pair, so no check has to look for them. */
  isPlain?: true;
  /** Faults found by the importer, for which the entry is rejected. */
  faults: RecordFault[];
}
