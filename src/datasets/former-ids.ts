/**
 * Keeps public ids when GPs turn out to be the same: the oldest id stays, and the others lead to it. A source may name
 * former ids, which lead on for good; or each of its GPs and principals claims all source ids that it could have had,
 * and then every import settles anew which record an id leads to.
 */
import { namedGpPrefix } from "#records/canonical.ts";
import type { RecordKind } from "#records/kinds.ts";
import { DatasetFault } from "./dataset-fault.ts";
import { type DraftRecord, type DraftRecords, mintId } from "./draft-record.ts";
import type { Previous } from "./previous.ts";

/** Shape of a GP's public id. */
export const publicIdShape = /^gp_[0-9a-z]{16}$/;

interface SettleOrder {
  /** All records of the draft, from any source. */
  records: DraftRecords;
  source: string;
  /** Public ids of other sources' GPs that take the place of GPs that rows only named, by source id. */
  replaced: ReadonlyMap<string, string>;
  /** True if the source keeps ids by claims. */
  isClaiming: boolean;
  builtAt: string;
  previous: Previous;
}

interface SettledIds {
  /** Every former id with the id that it leads to, even for absent records, which may return. */
  formerIds: ReadonlyMap<string, string>;
  /** Every id that a GP or principal of a source with claims ever had, with the time since when it was published. */
  publishedIds: ReadonlyMap<string, string>;
}

/**
 * Gives each GP and principal of the source its lasting id. A record that was left out gets its public id back when it
 * returns, under its own source id or that of a record it was merged with.
 * @throws DatasetFault if two records claim one id, or a former id of a source without claims is still a separate GP's.
 */
export function settleIds(order: SettleOrder): SettledIds {
  const { records, source, isClaiming, builtAt, previous } = order;
  const publishedIds = previous.publishedIds(isClaiming ? [source] : []);
  const formerIds = isClaiming ? settleClaims(order, publishedIds) : settleFormerIds(order);
  if (isClaiming || publishedIds.size > 0) {
    const own = claimants.flatMap((kind) => records[kind].filter((one) => one.source === source));
    // Ids of a source that claimed before are kept also while it does not.
    if (isClaiming || own.some(({ id }) => publishedIds.has(id)))
      for (const { id } of own) publishedIds.getOrInsert(id, builtAt);
  }
  return { formerIds, publishedIds };
}

/** Kinds of records that claim ids. */
const claimants = ["gp", "principal"] as const;

/**
 * Settles the ids of a source with claims. Of the ids that a record claims, the oldest one ever published is its id, and
 * the others that were lead to it. An id that no record claims leads on to where it led.
 * @param published ids published so far, with the time since when they were; receives former ids that it lacks.
 * @returns every former id with the id that it leads to.
 */
function settleClaims(
  { records, source, builtAt, previous }: SettleOrder,
  published: Map<string, string>,
): ReadonlyMap<string, string> {
  const before: ReadonlyMap<string, string> = previous.formerIds();
  const leads = new Map(before);
  // A dataset of an earlier program does not say when a former id was published: no earlier than the one it leads to.
  const sinceOf = (id: string) =>
    published.get(id) ?? published.get(before.get(id) ?? "") ?? builtAt;
  for (const kind of claimants) {
    const claimedBy = new Map<string, DraftRecord>();
    for (const record of records[kind].filter((one) => one.source === source)) {
      const claimed = record.formerIds.toSorted().map((id) => publicIdOf(kind, source, id));
      const ids = [...new Set([record.id, ...claimed])];
      for (const id of ids) {
        const rival = claim(claimedBy, id, record);
        if (rival !== null)
          throw new DatasetFault(
            `${kind === "gp" ? "GPs" : "Principals"} ${rival} both claim the id ${id}. Nothing was published. This is a fault of the source's importer: report it with these names.`,
          );
      }
      // The sort is stable: among ids of the same age that of an existing record stays, then the record's own.
      const [oldest = record.id, ...others] = ids
        .filter((id) => published.has(id) || before.has(id))
        .map((id) => ({ id, since: sinceOf(id), isFormer: Number(before.has(id)) }))
        .sort((a, b) => compare(a.since, b.since) || a.isFormer - b.isFormer)
        .map(({ id }) => id);
      record.id = oldest;
      leads.delete(oldest);
      for (const id of others) leads.set(id, oldest);
      for (const id of others) published.set(id, sinceOf(id));
    }
  }
  for (const [id, to] of leads) leads.set(id, leads.get(to) ?? to);
  return leads;
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** Returns the public id of a record by its source id, or the id itself if it is one of a GP. */
export const publicIdOf = (kind: RecordKind, source: string, id: string) =>
  publicIdShape.test(id) ? id : mintId(kind, source, id);

/** String that sorts after every time. */
const youngest = "9999";

/**
 * Settles the ids of a source without claims. GPs that were merged stay merged. The id of a GP that rows named leads to
 * the GP that replaces it, until rows name it again.
 * @returns every former id with the id that it leads to.
 */
function settleFormerIds({
  records: { gp: gps },
  source,
  replaced,
  previous,
}: SettleOrder): ReadonlyMap<string, string> {
  const leads = previous.formerIds();
  const own = gps.filter((gp) => gp.source === source);
  const ownIds = new Set(own.map(({ id }) => id));
  for (const { id, sourceId } of own)
    if (sourceId.startsWith(namedGpPrefix) && !ownIds.has(leads.get(id) ?? id)) leads.delete(id);
  const lasting: ReadonlyMap<string, string> = new Map(leads);
  const lastingId = (id: string) => lasting.get(id) ?? id;
  for (const gp of own) gp.id = lastingId(gp.id);
  const known = replaced.size > 0 ? previous.known("gp") : null;
  const formerIds = formerIdsOf(lasting);
  for (const [sourceId, to] of replaced) {
    const id = mintId("gp", source, sourceId);
    if (ownIds.has(id) || !(known!.has(id) || lasting.has(id))) continue;
    for (const former of [id, ...(formerIds.get(id) ?? [])]) leads.set(former, lastingId(to));
  }
  const merging = own.filter((gp) => gp.formerIds.length > 0);
  if (merging.length > 0) merge(merging, leads, lastingId, previous);
  for (const [id, same] of Map.groupBy(gps, (gp) => leads.get(gp.id) ?? gp.id))
    if (same.length > 1) throw twins(id, same);
  return leads;
}

function merge(
  gps: readonly DraftRecord[],
  leads: Map<string, string>,
  lastingId: (id: string) => string,
  previous: Previous,
): void {
  const known = previous.known("gp");
  const sinceOf = (id: string) => known.get(id)?.since ?? youngest;
  const formerIds = formerIdsOf(leads);
  const claimedBy = new Map<string, DraftRecord>();
  for (const gp of gps) {
    const publicIds = gp.formerIds.map((id) => lastingId(publicIdOf("gp", gp.source, id)));
    const ids = [...new Set([gp.id, ...publicIds])];
    for (const id of ids) {
      const rival = claim(claimedBy, id, gp);
      if (rival !== null)
        throw new DatasetFault(
          `GPs ${rival} both claim the id ${id}, as their own or in \`former_ids\`. Nothing was published. Remove this id, or the source's id for it, from the \`former_ids\` of one GP, or leave that GP out.`,
        );
    }
    // The sort is stable, so that among ids of the same age the GP's own stays.
    const [oldest = gp.id, ...others] = ids.toSorted((a, b) => compare(sinceOf(a), sinceOf(b)));
    gp.id = oldest;
    for (const other of others)
      for (const id of [other, ...(formerIds.get(other) ?? [])]) leads.set(id, oldest);
  }
}

/**
 * Returns the former ids of each record that has any, in byte order.
 * @param leads former ids, with the ids that they lead to.
 */
export const formerIdsOf = (
  leads: ReadonlyMap<string, string>,
): ReadonlyMap<string, readonly string[]> =>
  Map.groupBy([...leads.keys()].toSorted(), (id) => leads.get(id)!);

/** Notes who claims an id. @returns words for both records if another one does, too; else null. */
function claim(
  claimedBy: Map<string, DraftRecord>,
  id: string,
  record: DraftRecord,
): string | null {
  const rival = claimedBy.get(id);
  claimedBy.set(id, record);
  return rival === undefined
    ? null
    : `'${rival.sourceId}' and '${record.sourceId}' of source '${record.source}'`;
}

function twins(id: string, gps: readonly DraftRecord[]): DatasetFault {
  const names = gps
    .map(({ source, sourceId }) => `'${sourceId}' of source '${source}'`)
    .toSorted()
    .join(" and ");
  return new DatasetFault(
    `Former ids merge GPs ${names} into one GP, ${id}, but they still exist as separate GPs. Nothing was published. Leave all but one of them out, or the former id if it is new. To undo an earlier merge, publish the dataset before it with 'gp-records datasets publish VERSION'.`,
  );
}
