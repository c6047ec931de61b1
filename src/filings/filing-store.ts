/** Keeps typed rows between reading and resolving, in a temporary SQLite file, so that memory stays bounded. */
import { rmSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { AdvRow } from "./cells.ts";
import type { AdviserFiling, FormD } from "./rows.ts";

// The file is worth nothing after a crash, so that nothing is synced or journaled. A defensive database keeps its journal.
const schema = `
  pragma journal_mode = off;
  pragma synchronous = off;
  pragma locking_mode = exclusive;
  pragma cache_size = -8192;
  create table filing (form text, id text, owner text, filed_on text, rank integer, row text, primary key (form, id)) without rowid;
  create index filing_order on filing (form, length(owner), owner, filed_on, length(id), id);
  create table filed (accession text primary key, filed_on text) without rowid;
  create table part (filing_id text, kind text, reference text, row text);
  create index part_filing on part (filing_id);
`;

/** Rows that are written in one transaction. */
const batchRows = 50_000;

/**
 * Opens a store. Replaces a file that a killed import has left.
 * @param path file, removed by `close`.
 * @param onRow called after every 1,000 rows, with the number of rows added so far.
 */
export function openFilingStore(path: string, onRow: (rows: number) => void = () => {}) {
  rmSync(path, { force: true });
  writeFileSync(path, "", { mode: 0o600 });
  const db = new DatabaseSync(path, { defensive: false });
  db.exec(schema);
  db.exec("begin");
  let written = 0;
  /** Prepares a statement that adds a row. It returns whether there was none of the same key. */
  const adder = (sql: string) => {
    const statement = db.prepare(sql);
    return (...values: (string | number)[]): boolean => {
      if (++written % 1000 === 0) onRow(written);
      if (written % batchRows === 0) db.exec("commit; begin");
      return statement.run(...values).changes > 0;
    };
  };
  const add = adder("insert into filing values (?, ?, ?, ?, ?, ?) on conflict do nothing");
  const replace = adder("replace into filing values (?, ?, ?, ?, ?, ?)");
  const find = db.prepare("select rank, row from filing where form = ? and id = ?");
  const addPart = adder("insert into part values (?, ?, ?, ?)");
  const addDate = adder(
    "insert into filed values (?, ?) on conflict do update set filed_on = min(filed_on, excluded.filed_on)",
  );
  /** Adds a filing. Of two with one id, keeps that of the lower rank. Returns whether it is the first. */
  const addFiling = (row: object, ...key: readonly [Form, string, string, string, number]) => {
    const [form, id, , , rank] = key;
    if (add(...key, JSON.stringify(row))) return true;
    const kept = find.get(form, id) as { rank: number; row: string };
    const isBetter =
      kept.rank === rank ? isBefore(row, JSON.parse(kept.row) as object) : rank < kept.rank;
    if (isBetter) replace(...key, JSON.stringify(row));
    return false;
  };
  const columns = "select id, owner, filed_on, row from filing where form";
  const order = "order by length(owner), owner, filed_on, length(id), id";
  const rowsOf = (form: Form) =>
    db.prepare(`${columns} = ? ${order}`).iterate(form) as IterableIterator<Row>;
  const formD = ({ filed_on, row }: Row): FormD => ({
    ...(JSON.parse(row) as FormD),
    filedOn: filed_on === "" ? null : filed_on,
  });
  const findFormD = db.prepare(`${columns} = 'D' and id = ?`);
  const findAdviser = db.prepare(
    `${columns} = 'ADV' and length(owner) = length(?1) and owner = ?1 order by filed_on, length(id), id`,
  );
  // Equal rows stand in two archives, or twice in one.
  const findParts = db.prepare(
    "select distinct row from part where filing_id = ? order by kind, reference, row",
  );
  const adviserFiling = ({ id, row }: Row): AdviserFiling => {
    const parts = findParts.all(id) as { row: string }[];
    return joined(
      JSON.parse(row) as Base,
      parts.map((part) => JSON.parse(part.row) as AdvRow),
    );
  };

  return {
    /** Adds a filing. Returns whether it is the first of its accession number; of two, the quarter's is kept. */
    addFormD(filing: FormD, isQuarter: boolean): boolean {
      const { accession, fileNumber, filedOn, issuers } = filing;
      const owner = fileNumber ?? `cik:${issuers[0]!.cik}`;
      return addFiling(filing, "D", accession, owner, filedOn ?? "", isQuarter ? 0 : 1);
    },
    /** Adds the date that an index says of a filing. */
    addFilingDate: (accession: string, filedOn: string): boolean => addDate(accession, filedOn),
    /** Adds a row of an archive of Form ADV. Returns whether it is no base, or the first of its FilingID. */
    addAdv(row: AdvRow): boolean {
      if (row.kind === "base")
        return addFiling(row.filing, "ADV", row.filingId, row.filing.crd, row.filing.filedOn, 0);
      const reference = "referenceId" in row ? row.referenceId : "";
      return addPart(row.filingId, row.kind, reference, JSON.stringify(row));
    },
    /** Ends the writing, gives the dates of indexes to filings without one, and counts. */
    seal() {
      db.exec(`
        update filing set filed_on = (select filed_on from filed where accession = id)
          where form = 'D' and filed_on = '' and id in (select accession from filed);
        commit;
      `);
      const one = <T>(sql: string) => (db.prepare(`select ${sql}`).get() as { one: T }).one;
      const count = (from: string) => one<number>(`count(*) as one from ${from}`);
      const newest = (form: Form) =>
        one<string | null>(`nullif(max(filed_on), '') as one from filing where form = '${form}'`);
      return {
        formD: count("filing where form = 'D'"),
        unnumbered: count("filing where form = 'D' and owner like 'cik:%'"),
        undated: count("filing where form = 'D' and filed_on = ''"),
        advisers: count("filing where form = 'ADV'"),
        newest: { form_d: newest("D"), form_adv: newest("ADV") },
        withoutBase: count(
          "(select distinct filing_id from part where filing_id not in (select id from filing where form = 'ADV'))",
        ),
      };
    },
    *formD(): Generator<FormD, void> {
      for (const row of rowsOf("D")) yield formD(row);
    },
    formDOf: (accessions: readonly string[]): FormD[] =>
      accessions.map((accession) => formD(findFormD.get(accession) as Row)),
    *advisers(): Generator<readonly AdviserFiling[], void> {
      let filings: AdviserFiling[] = [];
      for (const row of rowsOf("ADV")) {
        if (filings.length > 0 && filings[0]!.crd !== row.owner) {
          yield filings;
          filings = [];
        }
        filings.push(adviserFiling(row));
      }
      if (filings.length > 0) yield filings;
    },
    adviserFilingsOf: (crd: string): AdviserFiling[] =>
      (findAdviser.all(crd) as Row[]).map(adviserFiling),
    close(): void {
      if (db.isOpen) db.close();
      rmSync(path, { force: true });
    },
  };
}

type Form = "D" | "ADV";
/** Row of the table `filing`. */
type Row = Record<"id" | "owner" | "filed_on" | "row", string>;
type RowOf<K extends AdvRow["kind"]> = Extract<AdvRow, { kind: K }>;
type Base = RowOf<"base">["filing"];

function joined(base: Base, rows: readonly AdvRow[]): AdviserFiling {
  const of = <K extends AdvRow["kind"]>(kind: K) =>
    rows.filter((row): row is RowOf<K> => row.kind === kind);
  const partners = Map.groupBy(of("partners"), ({ referenceId }) => referenceId);
  const files = Map.groupBy(of("formDFiles"), ({ referenceId }) => referenceId);
  const funds = of("funds").map(({ fund, referenceId }) => ({
    ...fund,
    partnerNames: (partners.get(referenceId) ?? []).map(({ name }) => name),
    formDFiles: (files.get(referenceId) ?? []).map(({ fileNumber }) => fileNumber),
  }));
  const ciks = of("ciks").map(({ cik }) => cik);
  return { ...base, ciks, owners: of("owners").map(({ owner }) => owner), funds };
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
