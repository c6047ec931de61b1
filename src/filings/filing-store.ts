/** Keeps typed rows between reading and resolving, in a temporary SQLite file, so that memory stays bounded. */
import { rmSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { AdvRow } from "./cells.ts";
import type { AdviserFiling, AdviserFund, FormD } from "./rows.ts";

export type FilingStore = ReturnType<typeof openFilingStore>;

// The file is worth nothing after a crash, so that nothing is synced or journaled.
const schema = `
  pragma journal_mode = off;
  pragma synchronous = off;
  pragma locking_mode = exclusive;
  pragma cache_size = -32768;
  create table form_d (accession text primary key, chain text, filed_on text, is_quarter integer, row text) without rowid;
  create table filed (accession text primary key, filed_on text) without rowid;
  create table base (filing_id text primary key, crd text, filed_on text, row text) without rowid;
  create table part (filing_id text, kind text, reference text, row text);
  create index form_d_order on form_d (chain, filed_on, accession);
  create index base_order on base (length(crd), crd, filed_on, length(filing_id), filing_id);
  create index part_filing on part (filing_id);
`;

/** Rows that are written in one transaction. */
const batchRows = 50_000;

/**
 * Opens a store. Replaces a file that a killed import has left.
 * @param path file, removed by `close`.
 */
export function openFilingStore(path: string) {
  rmSync(path, { force: true });
  writeFileSync(path, "", { mode: 0o600 });
  const db = new DatabaseSync(path);
  db.exec(schema);
  db.exec("begin");
  let written = 0;
  const wrote = () => {
    if (++written % batchRows === 0) db.exec("commit; begin");
  };
  const addForm = db.prepare(
    "insert into form_d values (:accession, :chain, :filedOn, :isQuarter, :row) on conflict do nothing",
  );
  const findForm = db.prepare("select is_quarter, row from form_d where accession = ?");
  const removeForm = db.prepare("delete from form_d where accession = ?");
  const addFiled = db.prepare(
    "insert into filed values (?, ?) on conflict do update set filed_on = min(filed_on, excluded.filed_on)",
  );
  const addBase = db.prepare("insert into base values (?, ?, ?, ?) on conflict do nothing");
  const findBase = db.prepare("select row from base where filing_id = ?");
  const removeBase = db.prepare("delete from base where filing_id = ?");
  const addPart = db.prepare("insert into part values (?, ?, ?, ?)");

  return {
    /** Adds a filing. Returns whether it is the first of its accession number; of two, the better one is kept. */
    addFormD(filing: FormD, isQuarter: boolean): boolean {
      const { accession, fileNumber, filedOn, issuers } = filing;
      const chain = fileNumber ?? `cik:${issuers[0]!.cik}`;
      const row = JSON.stringify(filing);
      const values = {
        accession,
        chain,
        filedOn: filedOn ?? "",
        isQuarter: Number(isQuarter),
        row,
      };
      wrote();
      if (addForm.run(values).changes > 0) return true;
      const kept = findForm.get(accession) as { is_quarter: number; row: string };
      const isBetter =
        kept.is_quarter === values.isQuarter
          ? isBefore(filing, JSON.parse(kept.row) as FormD)
          : isQuarter;
      if (isBetter) {
        removeForm.run(accession);
        addForm.run(values);
      }
      return false;
    },
    /** Adds the date that an index says of a filing. */
    addFilingDate(accession: string, filedOn: string): void {
      addFiled.run(accession, filedOn);
      wrote();
    },
    /** Adds a row of an archive of Form ADV. Returns whether it is no base, or the first of its FilingID. */
    addAdv(row: AdvRow): boolean {
      wrote();
      if (row.kind !== "base") {
        const { filingId, kind, ...rest } = row;
        const { referenceId = "", ...part } = rest as { referenceId?: string };
        addPart.run(filingId, kind, referenceId, JSON.stringify(part));
        return true;
      }
      const { filingId, filing } = row;
      const values = [filingId, filing.crd, filing.filedOn, JSON.stringify(filing)] as const;
      if (addBase.run(...values).changes > 0) return true;
      const kept = findBase.get(filingId) as { row: string };
      if (isBefore(filing, JSON.parse(kept.row) as typeof filing)) {
        removeBase.run(filingId);
        addBase.run(...values);
      }
      return false;
    },
    /** Ends the writing, and gives the dates of indexes to filings without one. */
    seal() {
      db.exec(`
        update form_d set filed_on = (select filed_on from filed where filed.accession = form_d.accession)
          where filed_on = '' and accession in (select accession from filed);
        commit;
      `);
      const count = (sql: string) => (db.prepare(sql).get() as { count: number }).count;
      return {
        formD: count("select count(*) as count from form_d"),
        /** Filings of which neither a header nor a quarter tells the file number. */
        unnumbered: count("select count(*) as count from form_d where chain like 'cik:%'"),
        /** Filings of which neither a header nor an index tells the date. */
        undated: count("select count(*) as count from form_d where filed_on = ''"),
        advisers: count("select count(*) as count from base"),
        withoutBase: count(
          "select count(distinct filing_id) as count from part where filing_id not in (select filing_id from base)",
        ),
      };
    },
    *formD(): Generator<FormD, void> {
      const rows = db
        .prepare("select filed_on, row from form_d order by chain, filed_on, accession")
        .iterate() as IterableIterator<{ filed_on: string; row: string }>;
      for (const { filed_on, row } of rows) {
        const filing = JSON.parse(row) as FormD;
        yield { ...filing, filedOn: filed_on === "" ? null : filed_on };
      }
    },
    *advisers(): Generator<readonly AdviserFiling[], void> {
      const bases = db
        .prepare(
          "select filing_id, row from base order by length(crd), crd, filed_on, length(filing_id), filing_id",
        )
        .iterate() as IterableIterator<{ filing_id: string; row: string }>;
      // Equal rows stand in two archives, or twice in one.
      const parts = db.prepare(
        "select distinct kind, reference, row from part where filing_id = ? order by kind, reference, row",
      );
      let filings: AdviserFiling[] = [];
      for (const { filing_id, row } of bases) {
        const filing = joined(JSON.parse(row) as Base, parts.all(filing_id) as unknown as Part[]);
        if (filings.length > 0 && filings[0]!.crd !== filing.crd) {
          yield filings;
          filings = [];
        }
        filings.push(filing);
      }
      if (filings.length > 0) yield filings;
    },
    close(): void {
      if (db.isOpen) db.close();
      rmSync(path, { force: true });
    },
  };
}

type Base = Extract<AdvRow, { kind: "base" }>["filing"];

interface Part {
  kind: Exclude<AdvRow["kind"], "base">;
  reference: string;
  row: string;
}

function joined(base: Base, parts: readonly Part[]): AdviserFiling {
  const byKind = Map.groupBy(parts, ({ kind }) => kind);
  type Row<K> = Omit<Extract<AdvRow, { kind: K }>, "kind" | "filingId">;
  const rowsOf = <K extends Part["kind"]>(kind: K): (Row<K> & { referenceId: string })[] =>
    (byKind.get(kind) ?? []).map(({ reference, row }) => ({
      ...(JSON.parse(row) as Row<K>),
      referenceId: reference,
    }));
  const partners = Map.groupBy(rowsOf("partners"), ({ referenceId }) => referenceId);
  const files = Map.groupBy(rowsOf("formDFiles"), ({ referenceId }) => referenceId);
  return {
    ...base,
    ciks: rowsOf("ciks").map(({ cik }) => cik),
    owners: rowsOf("owners").map(({ owner }) => owner),
    funds: rowsOf("funds").map(({ fund, referenceId }): AdviserFund => ({
      ...fund,
      partnerNames: (partners.get(referenceId) ?? []).map(({ name }) => name),
      formDFiles: (files.get(referenceId) ?? []).map(({ fileNumber }) => fileNumber),
    })),
  };
}

/**
 * Reports whether of two versions of one filing the first is kept. Leaves out hashes, whose salt differs from import to
 * import, and origins, which differ from folder to folder.
 */
function isBefore(one: object, other: object): boolean {
  const comparable = (row: object) =>
    JSON.stringify(row, (name, value: unknown) =>
      name === "addressHash" || name === "origin" ? undefined : value,
    );
  return comparable(one) < comparable(other);
}
