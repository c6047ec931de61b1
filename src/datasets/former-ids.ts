/** Keeps public ids when GPs turn out to be the same: the oldest id stays, and the others lead to it. */
import { DatasetFault } from "./dataset-fault.ts";
import { type DraftRecord, mintId } from "./draft-record.ts";
import type { Previous } from "./previous.ts";

const publicIdShape = /^gp_[0-9a-z]{16}$/;

/** String that sorts after every time. */
const youngest = "9999";

/**
 * Gives each GP of the source its lasting id. Merged GPs stay merged. A GP that was left out gets its public id back
 * when it returns, under its own source id or that of a GP it was merged with.
 * @param gps all GPs of the draft, from any source.
 * @returns every former id with the id that it leads to, even for absent GPs, which may return.
 * @throws DatasetFault if a former id is still a separate GP's id, or two GPs claim it.
 */
export function settleIds(
  gps: readonly DraftRecord[],
  source: string,
  previous: Previous,
): ReadonlyMap<string, string> {
  const lasting = previous.formerIds();
  const leads = new Map(lasting);
  const lastingId = (id: string) => lasting.get(id) ?? id;
  const own = gps.filter((gp) => gp.source === source);
  for (const gp of own) gp.id = lastingId(gp.id);
  const claims = own.filter((gp) => gp.formerIds.length > 0);
  if (claims.length > 0) settleClaims(claims, leads, lastingId, previous);
  for (const [id, same] of Map.groupBy(gps, (gp) => leads.get(gp.id) ?? gp.id))
    if (same.length > 1) throw twins(id, same);
  return leads;
}

function settleClaims(
  claims: readonly DraftRecord[],
  leads: Map<string, string>,
  lastingId: (id: string) => string,
  previous: Previous,
): void {
  const known = previous.known("gp");
  const sinceOf = (id: string) => known.get(id)?.since ?? youngest;
  const formerIds = formerIdsByGp(leads);
  const claimedBy = new Map<string, string>();
  for (const gp of claims) {
    const publicIds = gp.formerIds.map((id) =>
      lastingId(publicIdShape.test(id) ? id : mintId("gp", gp.source, id)),
    );
    const ids = [...new Set([gp.id, ...publicIds])];
    for (const id of ids) claim(claimedBy, id, gp);
    // The sort is stable, so that among ids of the same age the GP's own stays.
    const [oldest = gp.id, ...others] = ids.toSorted((a, b) =>
      sinceOf(a) < sinceOf(b) ? -1 : sinceOf(a) > sinceOf(b) ? 1 : 0,
    );
    gp.id = oldest;
    for (const other of others)
      for (const id of [other, ...(formerIds.get(other) ?? [])]) leads.set(id, oldest);
  }
}

/**
 * Returns the former ids of each GP that has any, in byte order.
 * @param leads former ids, with the GPs that they lead to.
 */
export const formerIdsByGp = (
  leads: ReadonlyMap<string, string>,
): ReadonlyMap<string, readonly string[]> =>
  Map.groupBy([...leads.keys()].toSorted(), (id) => leads.get(id)!);

function claim(claimedBy: Map<string, string>, id: string, { sourceId, source }: DraftRecord) {
  const rival = claimedBy.get(id);
  if (rival !== undefined)
    throw new DatasetFault(
      `GPs '${rival}' and '${sourceId}' of source '${source}' both claim the id ${id}, as their own or in \`former_ids\`. Nothing was published. Remove this id, or the source's id for it, from the \`former_ids\` of one GP, or leave that GP out.`,
    );
  claimedBy.set(id, sourceId);
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
