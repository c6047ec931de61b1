/** Members that several kinds of record share. */
import { Type, type Static } from "./schema.ts";
import { decimal, id, label, link, list, oneOf, orNull, text, time } from "./fields.ts";
import { equality, onMembers } from "./filterable.ts";
import { eachOf } from "./kinds.ts";
import { externalIdKeys, externalIdMeanings, provenanceBases } from "./vocabulary.ts";

export const Provenance = Type.Object(
  {
    source: text("Name of the import that brought the record.", 64),
    basis: oneOf("What the record is based on.", provenanceBases),
    confidence: decimal("Confidence that the record is right, from 0 to 1.", 0, 1),
    url: orNull(link("Page of the source that the record comes from.")),
  },
  {
    description: "Where the record comes from and how certain it is.",
    additionalProperties: false,
  },
);
export type Provenance = Static<typeof Provenance>;

/** Sources of a dataset, each with the time of the last import that changed it, in RFC 3339. */
export type Sources = readonly (readonly [name: string, importedAt: string])[];

/** Source of invented records. Only `serve --demo` adds this source. An import of another source removes it. */
export const demoSource = "demo";

/** Reports whether all records of these sources are invented. Returns true if there are no sources. */
export const isInvented = (sources: Sources): boolean =>
  sources.every(([name]) => name === demoSource);

export const ExternalIds = Type.Object(
  eachOf(externalIdKeys, () =>
    Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 100 }))),
  ),
  {
    description: "Ids in other registers and systems, by kind of id.",
    additionalProperties: false,
  },
);
export type ExternalIds = Static<typeof ExternalIds>;

export const GpLink = Type.Object(
  { id: id("gp", "Id of the GP."), name: text("Name of the GP.") },
  { additionalProperties: false },
);
export type GpLink = Static<typeof GpLink>;

export const gps = list("GPs that this record belongs to; may be empty.", GpLink);
export const markets = list("Metropolitan areas by title, such as `Austin-Round Rock, TX`.", label);
export const labels = {
  tags: list("Facts such as `reg_d_506c`, from an open vocabulary.", label),
  themes: list("Investment themes such as `opportunity_zones`, from an open vocabulary.", label),
};
export const origin = {
  provenance: Provenance,
  updated_at: time("Time when the content last changed, in UTC."),
};

/** Conditions that every kind of record has after its own. */
export const filterableCommon = {
  ...onMembers(
    Provenance.properties,
    ["source", "basis", "confidence"],
    (record: { provenance: Provenance }) => record.provenance,
  ),
  ...onMembers(origin, ["updated_at"]),
};

/** External ids that are compared as texts. Others are compared as numbers, without separators and leading zeros. */
const textIds: readonly (keyof ExternalIds)[] = ["lei", "hud_id"];

/** Returns a condition on each of these external ids, under its key. */
export const onExternalIds = <K extends keyof ExternalIds>(keys: readonly K[]) =>
  eachOf(keys, (key) =>
    equality<{ external_ids: ExternalIds }>(
      ({ external_ids }) => external_ids[key],
      externalIdMeanings[key],
      { as: textIds.includes(key) ? "text" : "digits" },
    ),
  );
