/**
 * Keeps public ids valid when GPs turn out to be the same: the oldest id stays, and the others lead to it. A source
 * chooses one of two ways. It may name former ids, which then lead to the GP for good. Or its GPs and principals claim
 * every source id that they could have had, and each import decides again which record an id leads to.
 */
import { namedGpPrefix } from "#records/canonical.ts";
import type { RecordKind } from "#records/kinds.ts";
import { DatasetFault } from "./dataset-fault.ts";
import { type DraftRecord, type DraftRecords, mintId } from "./draft-record.ts";
import type { Previous } from "./previous.ts";

export const publicIdShape = /^gp_[0-9a-z]{16}$/;

interface SettleOrder {
  /** All records of the draft, from any source. */
  records: DraftRecords;
  source: string;
  /** Public ids of GPs of other sources, by the source ids of the named GPs that they replace. */
  replaced: ReadonlyMap<string, string>;
  /** True if the source's records claim ids. */
  isClaiming: boolean;
  builtAt: string;
  previous: Previous;
}

interface SettledIds {
  /** Every former id with the id that it leads to. Includes ids of absent records, because these may return. */
  formerIds: ReadonlyMap<string, string>;
  /** Ids published for GPs and principals of sources with claims, with the time of their first publication. */
  publishedIds: ReadonlyMap<string, string>;
}

/**
 * Gives each GP and principal of the source its lasting id. A record that returns after being left out gets its public
 * id back. It may return under the source id of a record that it was merged with.
 * @throws DatasetFault if two records claim one id, or a former id named by a source without claims still belongs to a
 *   separate GP.
 */
export function settleIds(order: SettleOrder): SettledIds {
  const { records, source, isClaiming, builtAt, previous } = order;
  const publishedIds = previous.publishedIds(isClaiming ? [source] : []);
  const formerIds = isClaiming ? settleClaims(order, publishedIds) : settleFormerIds(order);
  if (isClaiming || publishedIds.size > 0) {
    const own = claimants.flatMap((kind) => records[kind].filter((one) => one.source === source));
    // The ids of a source that once made claims are still noted while it makes none.
    if (isClaiming || own.some(({ id }) => publishedIds.has(id)))
      for (const { id } of own) publishedIds.getOrInsert(id, builtAt);
  }
  return { formerIds, publishedIds };
}

const claimants = ["gp", "principal"] as const;

/**
 * Settles the ids of a source with claims. A record keeps the oldest published id that it claims, and its other
 * published ids lead to that one. An unclaimed former id keeps its target, and follows it to another id if necessary.
 * @param published ids published so far, with the time of their first publication. Receives missing former ids.
 * @returns every former id with the id that it leads to.
 */
function settleClaims(
  { records, source, builtAt, previous }: SettleOrder,
  published: Map<string, string>,
): ReadonlyMap<string, string> {
  const before: ReadonlyMap<string, string> = previous.formerIds();
  const leads = new Map(before);
  // Earlier programs did not store when a former id was published. It counts as old as the id that it leads to.
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
            `${kind === "gp" ? "GPs" : "Principals"} ${rival} both claim the id ${id}. Nothing was published. This is a bug in the source's importer: report it with these names.`,
          );
      }
      // Among ids of the same age, current ones precede former ones. The stable sort then puts the record's own first.
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

/** Returns the public id for a source id. Returns the id itself if it is already a GP's public id. */
export const publicIdOf = (kind: RecordKind, source: string, id: string) =>
  publicIdShape.test(id) ? id : mintId(kind, source, id);

/** String that sorts after every time. */
const youngest = "9999";

/**
 * Settles the ids of a source without claims. GPs that were merged stay merged. The id of a named GP leads to the
 * GP that replaces it, until rows name the replaced GP again.
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
    // The sort is stable, so the GP's own id stays if another is equally old.
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

/** Notes that a record claims an id. @returns a phrase that names both if another claims it too, else null. */
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
