/** What an operation is: one read, told apart by what it returns and which filters it takes. */
import type { TSchema } from "typebox";
import type { RecordKind } from "#records/canonical.ts";
import type { GpFilter } from "#search/gp-search.ts";
import type { Bounds, ReadModel, Selection } from "#search/read-model.ts";

export const filterNames = ["gp_name", "tag", "theme", "market"] as const;
export type FilterName = (typeof filterNames)[number];

/** A request whose parameters are all valid. */
export interface Query extends Bounds {
  filter: GpFilter;
}

export interface Operation {
  /** Its name everywhere: path, `operationId`, heading, file. */
  name: `fetch-${string}`;
  path: `/fetch-${string}`;
  /** Kind of the records it returns. */
  kind: RecordKind;
  record: TSchema;
  summary: string;
  /** Paragraphs for the reference. */
  description: string;
  /** Filters it takes, in the order they are documented. */
  filters: readonly FilterName[];
  /** What `gp_name` must be here. */
  gpName: { isRequired: boolean; lengthMin: number };
  select(model: ReadModel, query: Query): Selection;
}
