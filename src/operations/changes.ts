/** Parameters and answers of `/changes` and the steps below it; see docs/changes.md. */
import { eachOf, recordKinds } from "#records/kinds.ts";
import { oneOf, orNull, text, time, whole } from "#records/fields.ts";
import { changeKinds, type Publication, type StoredStep } from "#records/publication.ts";
import { type Static, Type } from "#records/schema.ts";
import type { ParameterFault } from "#problems/kinds.ts";
import { Problem, unavailable } from "#problems.ts";
import type { DatasetParts } from "#search/dataset-parts.ts";
import { pastTheEnd } from "./hints.ts";
import { invalidParameters, readQuery } from "./parameters.ts";
import { onlyPaging, type Operation, type Query } from "./operation.ts";
import { metaOf, paginationOf } from "./page.ts";

export const changesPath = "/changes";
export const changesSummary = "The publications of datasets, and what each of them changed.";
export const stepPath = `${changesPath}/{from}..{to}.ndjson`;
export const stepSummary = "The changes from one dataset to the next, as NDJSON.";
export const feedPath = "/changes.atom";

const Counts = Type.Object(
  eachOf(recordKinds, () =>
    Type.Object(eachOf(changeKinds, (change) => whole(`Number of records ${change}.`, 0))),
  ),
  { description: "Numbers of changes by kind of record." },
);

/** Schema of an entry of the list, for the reference. */
export const PublishedChange = Type.Object({
  version: text("Version of the dataset that was published."),
  published_at: time("Time of the publication."),
  from: orNull(text("Version that was served before; `null` if it is unknown.")),
  hash: orNull(
    text("Hash of the dataset, as the guide to changes defines it; `null` while it is unknown."),
  ),
  step: orNull(text("Path of the step from `from` to `version`; `null` if there is none.")),
  changes: orNull(whole("Number of changes in the step; `null` without a step.", 0)),
  counts: orNull(Counts),
});
export type PublishedChange = Omit<Static<typeof PublishedChange>, "counts"> & {
  counts: NonNullable<Publication["step"]>["counts"] | null;
};

/** Schema of a step's lines after its head, for the reference. */
export const RecordChange = Type.Object({
  change: oneOf("What happened to the record.", changeKinds),
  kind: oneOf("Kind of the record.", recordKinds),
  id: text("Id of the record."),
  record: Type.Optional(
    Type.Object(
      {},
      { description: "The whole record, if it was added or its set of members is different now." },
    ),
  ),
  before: Type.Optional(Type.Object({}, { description: "Old values of the changed members." })),
  after: Type.Optional(Type.Object({}, { description: "New values of the changed members." })),
  into: Type.Optional(text("Id of the GP that the record was merged into.")),
});
export type RecordChange = Static<typeof RecordChange>;

export interface ChangesSource {
  /** Lists publications, oldest first. @param served version that is served. */
  list(served: string): readonly Publication[];
  stepPath(from: string, to: string): string;
  /** Opens a step. Returns null if its file is missing. */
  openStep(from: string, to: string): StoredStep | null;
}

const addressOf = (from: string, to: string) => `${changesPath}/${from}..${to}.ndjson`;

const entryOf = ({ version, published_at, from, hash, step }: Publication): PublishedChange => ({
  version,
  published_at,
  from,
  hash,
  step: step === null ? null : addressOf(from!, version),
  changes: step?.changes ?? null,
  counts: step?.counts ?? null,
});

/** Reads the list's query. @throws Problem as `readQuery` does. */
export const readListQuery = (queryText: string, pageSizeMax: number, all: readonly Operation[]) =>
  readQuery({ path: changesPath, ...onlyPaging }, queryText, pageSizeMax, all);

/** Returns a page of publications, newest first. @param publications oldest first. */
export function publicationPage(
  publications: readonly Publication[],
  parts: DatasetParts,
  query: Query,
) {
  const { limit, offset } = query;
  const data = publications
    .toReversed()
    .slice(offset, offset + limit)
    .map(entryOf);
  const pagination = paginationOf(query, data.length, publications.length);
  return { data, pagination, meta: metaOf(parts, pastTheEnd(offset, publications.length)) };
}

const stepShape = /^(\d{8}T\d{6}Z-[0-9a-f]{8})\.\.(\d{8}T\d{6}Z-[0-9a-f]{8})\.ndjson$/;

/** Number of changes that count as one request. */
export const changesOfRequest = 100;
/** Maximum number of steps that a 404 lists. */
const keptMax = 20;

/** The part of a step that answers a request. */
export type StepPart = ReturnType<typeof findStep>;

const notFetched = "This server has not fetched this step yet. Try again in 5 seconds.";

interface StepOrder {
  /** Rest of the path after `/changes/`. */
  name: string;
  queryText: string;
  /** Maximum number of requests that a single request may count as. */
  greatestRequest: number;
  operations: readonly Operation[];
}

/**
 * Finds a part of a step.
 * @throws Problem if the step is not kept or not fetched yet, if a parameter is invalid, or if the part is too large.
 */
export function findStep(
  source: ChangesSource,
  served: string,
  { name, queryText, greatestRequest, operations }: StepOrder,
) {
  const [, from, to] = stepShape.exec(name) ?? [];
  const kept = source.list(served).filter(({ step }) => step !== null);
  const publication = kept.find((one) => one.from === from && one.version === to);
  const path = `${changesPath}/${name}`;
  if (publication === undefined) throw noSuchStep(kept, from, operations);
  const step = source.openStep(from!, to!);
  if (step === null) throw unavailable("starting", notFetched, 5);
  const most = changesOfRequest * greatestRequest;
  const { limit, offset } = readQuery({ path, ...onlyPaging }, queryText, most, operations, {
    limitDefault: Infinity,
  });
  const sent = Math.max(0, Math.min(limit, step.changes - offset));
  if (sent > most) throw tooMany(sent, most);
  return {
    from: from!,
    to: to!,
    /** Full path, without a query. */
    path,
    file: source.stepPath(from!, to!),
    ...step.placeOf(offset, sent),
    total: step.changes,
    limit: limit === Infinity ? null : limit,
    offset,
    /** Number of requests that the part counts as. */
    requests: Math.max(1, Math.ceil(sent / changesOfRequest)),
  };
}

/** Returns the problem for a part that is too large for the quota. It is not a 429, because waiting would not help. */
function tooMany(changes: number, most: number): Problem {
  const fault: ParameterFault = {
    parameter: "limit",
    code: "missing",
    detail: `Required, because ${changes} changes are too many for one answer: your quota allows at most ${most}. Fetch them in parts, with limit and offset.`,
    minimum: 1,
    maximum: most,
  };
  return invalidParameters([fault], 1);
}

function noSuchStep(
  kept: readonly Publication[],
  from: string | undefined,
  operations: readonly Operation[],
): Problem {
  const paths = kept.toReversed().map(({ from: before, version: to }) => addressOf(before!, to));
  const next = kept.findLast((one) => one.from === from);
  return new Problem("unknown-path", "No such step is kept. /changes lists the steps that are.", {
    suggestion: next === undefined ? changesPath : addressOf(next.from!, next.version),
    operations: operations.map(({ path }) => path),
    kept: [...new Set(paths)].slice(0, keptMax),
  });
}
