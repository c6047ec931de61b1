/** Keeps public ids when GPs turn out to be one: the older id stays, the others lead to it for good. */
import type { DatabaseSync } from "node:sqlite";
import { DatasetFault } from "./dataset-fault.ts";
import { mintId } from "./mint-id.ts";

const publicIdShape = /^gp_[0-9a-z]{16}$/;

/**
 * Gives each GP of the source its lasting id and fills `former_id`. What was found to be one stays one: a GP that was
 * left out and comes back, by its own source id or by one it gave way to, has the id it had.
 * @throws DatasetFault where a former id is still a GP of its own, or belongs to two.
 */
export function settleIds(draft: DatabaseSync, source: string, hasPrevious: boolean): void {
  if (hasPrevious) keepFormerIds(draft, source);
  const { lastingIdOf, sinceOf } = openMemory(draft, hasPrevious);
  const giveId = draft.prepare("update canonical set public_id = ? where rowid = ?");
  const lead = draft.prepare("insert or replace into former_id values (?, ?)");
  const known = formerIdsOf(draft);
  const claimedBy = new Map<string, string>();
  for (const { row, sourceId, publicId, formerIds } of claimsOf(draft, source)) {
    const publicIds = formerIds.map((id) =>
      lastingIdOf(publicIdShape.test(id) ? id : mintId("gp", source, id)),
    );
    const ids = [...new Set([publicId, ...publicIds])];
    for (const id of ids) claim(claimedBy, id, sourceId, source);
    // The sort is stable: of equals the GP's own id stays.
    const [oldest = publicId, ...others] = ids.toSorted((a, b) =>
      sinceOf(a) < sinceOf(b) ? -1 : sinceOf(a) > sinceOf(b) ? 1 : 0,
    );
    giveId.run(oldest, row);
    for (const other of others)
      for (const id of [other, ...(known.get(other) ?? [])]) lead.run(id, oldest);
  }
  refuseTwins(draft);
}

/** Former ids of each GP that has any, in byte order. */
export function formerIdsOf(draft: DatabaseSync): ReadonlyMap<string, readonly string[]> {
  const rows = draft.prepare("select former_id, gp_id from former_id order by former_id").all();
  const byGp = new Map<string, string[]>();
  for (const { former_id, gp_id } of rows as unknown as { former_id: string; gp_id: string }[])
    byGp.set(gp_id, [...(byGp.get(gp_id) ?? []), former_id]);
  return byGp;
}

/** Also those of GPs that are not there now: they may come back. */
function keepFormerIds(draft: DatabaseSync, source: string): void {
  draft.exec("insert into former_id select former_id, gp_id from previous.former_id");
  draft
    .prepare(
      `update canonical set public_id = f.gp_id from former_id f
       where f.former_id = canonical.public_id and canonical.source = ? and canonical.kind = 'gp'`,
    )
    .run(source);
}

/** What the dataset before knows of an id; one it has no GP of is younger than any it has. */
function openMemory(draft: DatabaseSync, hasPrevious: boolean) {
  const youngest = "9999";
  if (!hasPrevious) return { lastingIdOf: (id: string) => id, sinceOf: () => youngest };
  const lasting = draft.prepare("select gp_id from previous.former_id where former_id = ?");
  const since = draft.prepare("select since from previous.gp where id = ?");
  return {
    lastingIdOf: (id: string) => (lasting.get(id)?.["gp_id"] ?? id) as string,
    sinceOf: (id: string) => (since.get(id)?.["since"] ?? youngest) as string,
  };
}

/** The GPs of the source that name former ids. */
function claimsOf(draft: DatabaseSync, source: string) {
  return draft
    .prepare(
      `select rowid, source_id, public_id, json_extract(body, '$.former_ids') as former from canonical
       where source = ? and kind = 'gp' and json_extract(body, '$.former_ids') is not null`,
    )
    .all(source)
    .map((row) => ({
      row: row["rowid"] as number,
      sourceId: row["source_id"] as string,
      publicId: row["public_id"] as string,
      formerIds: JSON.parse(row["former"] as string) as string[],
    }));
}

function claim(claimedBy: Map<string, string>, id: string, sourceId: string, source: string): void {
  const rival = claimedBy.get(id);
  if (rival !== undefined)
    throw new DatasetFault(
      `GPs '${rival}' and '${sourceId}' of source '${source}' both claim ${id} by \`former_ids\`. A former id belongs to one GP, and to none that is still there.`,
    );
  claimedBy.set(id, sourceId);
}

/** By their former ids two GPs are one, and yet both are there. */
function refuseTwins(draft: DatabaseSync): void {
  const twins = draft
    .prepare(
      `select id, json_group_array(json_array(source_id, source) order by source, source_id) as gps
       from (
         select coalesce(f.gp_id, c.public_id) as id, c.source_id, c.source from canonical c
         left join former_id f on f.former_id = c.public_id
         where c.kind = 'gp')
       group by id having count(*) > 1 limit 1`,
    )
    .get();
  if (twins === undefined) return;
  const { id, gps } = twins as { id: string; gps: string };
  const both = (JSON.parse(gps) as [sourceId: string, source: string][])
    .map(([sourceId, source]) => `'${sourceId}' of source '${source}'`)
    .join(" and ");
  throw new DatasetFault(
    `GPs ${both} are one, ${id}, by a former id, but each is still a GP of its own. Leave one of them out; to part them again, roll back to the dataset before they became one.`,
  );
}
