/** Tells why a record says what it says: what its source gave as evidence, or else its provenance alone. */
import type { DatabaseSync } from "node:sqlite";
import type { Evidence, EvidenceDocument } from "#records/canonical.ts";
import type { GpLink, Provenance } from "#records/common.ts";
import type { RecordKind } from "#records/kinds.ts";
import { mintId } from "./draft-record.ts";
import { evidenceColumns, openEvidenceReader } from "./evidence.ts";
import { readSources } from "./open-generation.ts";
import { arraysOf } from "./rows.ts";

const explained = ["gp", "principal", "project"] as const;

/** A row of evidence, its document apart. */
type ToldEvidence = { document: EvidenceDocument; taken: boolean } & Omit<
  Evidence,
  keyof EvidenceDocument | "is_taken" | "others"
>;

export interface Explanation {
  id: string;
  kind: RecordKind;
  name: string;
  source: string;
  /** The source's own id. */
  key: string;
  provenance: Provenance;
  /** GPs of a principal or project. */
  gps: GpLink[];
  evidence: ToldEvidence[];
  documents_left_out: number;
}

/**
 * Explains the GPs, principals and projects of a public id, a former id, or an id of a source, which several may share.
 * @throws Error if evidence is damaged.
 */
export function explain(db: DatabaseSync, id: string): Explanation[] {
  const keys = readSources(db).flatMap(([source]) =>
    explained.map((kind) => mintId(kind, source, id)),
  );
  const leads = db.prepare("select gp_id from former_id where former_id = ?");
  const ids = [id, ...keys].flatMap((one) => [one, (leads.get(one)?.["gp_id"] as string) ?? one]);
  const evidenceOf = openEvidenceReader(db);
  return explained.flatMap((kind) => {
    const marks = ids.map(() => "?").join();
    const sql = `select id, source, source_id, document from ${kind} where id in (${marks}) or source_id = ?`;
    return Array.from(arraysOf<string[]>(db, sql, ...ids, id), (row): Explanation => {
      const [found, source, key, document] = row as [string, string, string, string];
      const { name, provenance, gps } = { gps: [], ...JSON.parse(document) } as Explanation;
      const { rows, leftOut } = evidenceOf(found) ?? { rows: [], leftOut: 0 };
      const evidence = rows.map((values): ToldEvidence => {
        const named = Object.fromEntries(values.map((value, i) => [evidenceColumns[i]!, value]));
        const { form, number, filer, filed_on, url, is_taken, ...rest } =
          named as unknown as Evidence;
        return { document: { form, number, filer, filed_on, url }, ...rest, taken: is_taken === 1 };
      });
      const told = { evidence, documents_left_out: leftOut };
      return { id: found, kind, name, source, key, provenance, gps, ...told };
    });
  });
}
