/** Writes the records of a generation, and all they are found by, into its file. */
import { DatabaseSync } from "node:sqlite";
import { foldVersion } from "#records/fold.ts";
import { datasetHash } from "./dataset-hash.ts";
import { openDocumentWriter, type Changes } from "./document-writer.ts";
import type { DraftRecords } from "./draft-record.ts";
import { draftPragmas, formatVersion, indexes, tables, versionOf, type Meta } from "./format.ts";
import { formerIdsByGp } from "./former-ids.ts";
import type { Previous } from "./previous.ts";
import { openRowWriter } from "./row-writer.ts";
import type { Checksums } from "./served.ts";
import type { TextStore } from "./text-store.ts";
import { writeGps } from "./write-gps.ts";
import { writeIndex } from "./write-index.ts";
import { writeLinked } from "./write-linked.ts";

export interface Draft {
  /** All of the generation; the lists are empty afterwards. */
  records: DraftRecords;
  /** Holds their JSON; cleared afterwards. */
  texts: TextStore;
  /** Names, and when an import last changed something of each. */
  sources: Iterable<readonly [name: string, importedAt: string]>;
  /** Former ids and the GPs they lead to. */
  formerIds: ReadonlyMap<string, string>;
  builtAt: string;
}

/**
 * @param path of an empty file.
 * @param previous what the changes are counted against.
 * @param onWritten called now and then with the number of records written so far.
 * @returns `meta` null where nothing differs; the file is of no use then.
 */
export function writeDraft(
  path: string,
  { records, texts, sources, formerIds, builtAt }: Draft,
  previous: Previous,
  onWritten: (records: number) => void,
): { meta: Meta | null; changes: Changes } {
  // Defensive, SQLite would keep a journal whatever it is told, and a killed import would leave that behind too.
  const db = new DatabaseSync(path, { defensive: false });
  try {
    db.exec(`${draftPragmas}; begin; ${tables}`);
    const writer = openDocumentWriter(db, previous, builtAt, onWritten);
    const gps = writeGps(db, writer, texts, records.gp, formerIdsByGp(formerIds));
    writeLinked(db, writer, texts, records, gps);
    texts.clear();
    const changes = writer.changes();
    if (changes.added + changes.updated + changes.removed === 0) return { meta: null, changes };
    writePairs(db, "source", sources);
    writePairs(db, "former_id", formerIds);
    const checksums = { index_crc32: writeIndex(db), documents_crc32: writer.checksum() };
    const meta = metaOf(datasetHash(writer.contentHash()), builtAt, checksums);
    writePairs(db, "meta", Object.entries(meta));
    db.exec(`commit; ${indexes}`);
    return { meta, changes };
  } finally {
    db.close();
  }
}

function writePairs(
  db: DatabaseSync,
  table: string,
  pairs: Iterable<readonly [string, string]>,
): void {
  const rows = openRowWriter(db, table, 2);
  for (const pair of pairs) rows.add(...pair);
  rows.end();
}

const metaOf = (hash: string, builtAt: string, checksums: Checksums): Meta => ({
  format_version: String(formatVersion),
  fold_version: String(foldVersion),
  version: versionOf(builtAt, hash),
  hash,
  built_at: builtAt,
  ...checksums,
});
