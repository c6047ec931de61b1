/** Random records and queries made to be awkward, the same for the same seed. */
export { awkwardQueries } from "./awkward/queries.ts";
export { awkwardRecords, type AwkwardCounts } from "./awkward/records.ts";
