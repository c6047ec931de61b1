/** The generation an import builds on: the current one, whose other sources are carried over. */
import type { Catalogue, Generation } from "./catalogue.ts";
import { openPublished } from "./open-generation.ts";

interface Base {
  version: string | null;
  path: string | null;
  records: Generation["records"];
  /** About how much of its file is carried over. */
  carriedBytes: number;
}

/**
 * @param notCarried sources of which nothing is carried over.
 * @throws DatasetFault where the current generation is damaged: its damage would be carried over too.
 */
export function measureBase(catalogue: Catalogue, notCarried: readonly string[]): Base {
  const current = catalogue.current();
  if (current === null) return nothing;
  const { version, records, bytes } = current;
  const path = catalogue.pathOf(version);
  const { db } = openPublished(path, current);
  const places = notCarried.map(() => "?").join(", ");
  const { share } = db
    .prepare(`select coalesce(avg(source not in (${places})), 0) as share from canonical`)
    .get(...notCarried)!;
  db.close();
  return { version, path, records, carriedBytes: bytes * Number(share) };
}

const nothing: Base = {
  version: null,
  path: null,
  records: { gp: 0, principal: 0, signal: 0, project: 0 },
  carriedBytes: 0,
};
