/** Members that several kinds of record share. */
import { Type, type Static, type TArray, type TOptional, type TString } from "./schema.ts";
import { decimal, id, label, link, list, oneOf, orNull, text, time } from "./fields.ts";
import { externalIdKeys, provenanceBases } from "./vocabulary.ts";

export const Provenance = Type.Object(
  {
    source: text("Name of the import the record came by.", 64),
    basis: oneOf("Why the record is believed.", provenanceBases),
    confidence: decimal("From 0 to 1.", 0, 1),
    url: orNull(link("Where the source says so.")),
  },
  { description: "Where the record comes from and how sure it is.", additionalProperties: false },
);
export type Provenance = Static<typeof Provenance>;

export const ExternalIds = Type.Object(
  Object.fromEntries(
    externalIdKeys.map((key) => [
      key,
      Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 100 }))),
    ]),
  ) as Record<(typeof externalIdKeys)[number], TOptional<TArray<TString>>>,
  { description: "Ids elsewhere; only the keys that are known.", additionalProperties: false },
);
export type ExternalIds = Static<typeof ExternalIds>;

export const GpLink = Type.Object(
  { id: id("gp", "Id of the GP."), name: text("Name of the GP.") },
  { additionalProperties: false },
);
export type GpLink = Static<typeof GpLink>;

export const gps = list("The GPs this record belongs to; none is possible.", GpLink);
export const tags = list("Open vocabulary: facts such as `reg_d_506c`.", label);
export const themes = list("Open vocabulary: what the business is about.", label);
export const markets = list("Metropolitan areas by title, `Austin-Round Rock, TX`.", label);
export const updatedAt = time("When the content last changed, UTC.");
