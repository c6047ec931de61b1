/**
 * Typed rows of public SEC filings, as read from an operator's files.
 *
 * Every reader trims texts, folds runs of spaces (no-break spaces included) to one, and turns blank cells and the word
 * `None` into null. The readers drop phone numbers and e-mail addresses. All that they keep of streets is a firm named
 * in a street line, and a salted hash, which shows during one import whether two addresses are equal.
 */
import { rmSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import type { RowOrigin } from "./cells.ts";
import type { Correction } from "./corrections.ts";
import type { FormD } from "./form-d.ts";
import type { openGeography, Place } from "./places.ts";

export type { RowOrigin } from "./cells.ts";
export type { FormD, RelatedPerson } from "./form-d.ts";
export type { Place } from "./places.ts";

/** Row of Schedule A or B: an owner or executive officer of an adviser. */
export interface AdviserOwner {
  /** `LAST, FIRST, MIDDLE` of a person, or an entity's name, as filed. */
  name: string;
  isPerson: boolean;
  title: string | null;
  /** `YYYY-MM`; null if not given. */
  since: string | null;
  /** Code `A` to `E`, or `NA`; null for the older scale and blanks. */
  ownershipCode: string | null;
  isControlPerson: boolean;
  /** `A` for a direct owner or an officer, `B` for an indirect owner. */
  schedule: "A" | "B";
  /** CRD number of the owner, digits only; null if not given. */
  crd: string | null;
}

/** Private fund that an adviser reports in Schedule D, section 7.B.(1). */
export interface AdviserFund {
  /** Private fund number, such as `805-1234567890`; null if not given. */
  fundId: string | null;
  name: string;
  /** Fund type in the filing's words, such as `Real Estate Fund`; null if not given. */
  type: string | null;
  typeOther: string | null;
  isMaster: boolean;
  isFeeder: boolean;
  masterFundId: string | null;
  grossAssetsUsd: number | null;
  /** General partners, managers, trustees and directors of the fund. */
  partnerNames: readonly string[];
  /** File numbers of its Form D offerings, such as `021-400013`. */
  formDFiles: readonly string[];
}

/** A Form ADV of a registered adviser, or of one that reports as exempt. */
export interface AdviserFiling {
  filingId: string;
  /** CRD number of the firm, digits only. */
  crd: string;
  /** `YYYY-MM-DD`. */
  filedOn: string;
  isExempt: boolean;
  legalName: string;
  businessName: string | null;
  otherNames: readonly string[];
  /** SEC file number, such as `801-12345`; null if not given. */
  secNumber: string | null;
  lei: string | null;
  ciks: readonly string[];
  place: Place;
  /** Regulatory assets under management (item 5.F.(2)(c)), in whole US dollars; null if not given. */
  aumUsd: number | null;
  owners: readonly AdviserOwner[];
  funds: readonly AdviserFund[];
  origin: RowOrigin;
}

/** Facts from the base table of Form ADV. */
type AdviserFacts = Omit<AdviserFiling, "ciks" | "owners" | "funds">;

/** Adviser in the SEC's daily feed of firms, as of the adviser's latest filing. The `filingId` is the CRD number. */
export interface Firm extends AdviserFacts {
  /** Address of the firm's own site; null if the firm names none, or only pages on sites of others. */
  website: string | null;
}

type FilingStore = ReturnType<typeof openFilingStore>;

/** Filings that have been read. The order of rows depends only on their content. */
export interface Filings extends Omit<FilingStore, `add${string}` | "seal"> {
  corrections: readonly Correction[];
  geography: Pick<ReturnType<typeof openGeography>, "marketOf">;
}

/** Row of a Form ADV archive. The rows of a filing share its FilingID and come in any order. */
export type AdvRow = { filingId: string } & (
  | { kind: "base"; filing: AdviserFacts }
  | { kind: "owners"; owner: AdviserOwner }
  | { kind: "funds"; referenceId: string; fund: Omit<AdviserFund, "partnerNames" | "formDFiles"> }
  | { kind: "partners"; referenceId: string; name: string }
  | { kind: "formDFiles"; referenceId: string; fileNumber: string }
  | { kind: "ciks"; cik: string }
);

// The file is useless after a crash, so nothing is synced or journaled. A defensive database would keep its journal.
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

/** Number of rows written in one transaction. */
const batchRows = 50_000;

/**
 * Opens a store. Replaces a file left by a killed import.
 * @param path path of the file, which `close` removes.
 * @param onRow called after every 1,000 rows, with the number of rows added so far.
 */
export function openFilingStore(path: string, onRow: (rows: number) => void = () => {}) {
  rmSync(path, { force: true });
  writeFileSync(path, "", { mode: 0o600 });
  const db = new DatabaseSync(path, { defensive: false });
  db.exec(schema);
  db.exec("begin");
  let written = 0;
  /** Prepares a statement that adds a row. The returned function reports whether the table changed. */
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
  const find = db.prepare("select filed_on, rank, row from filing where form = ? and id = ?");
  const addPart = adder("insert into part values (?, ?, ?, ?)");
  const addDate = adder(
    "insert into filed values (?, ?) on conflict do update set filed_on = min(filed_on, excluded.filed_on)",
  );
  /** Adds a filing. Keeps one per id: the lower rank, else the first by `isBefore`. Reports whether the id is new. */
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
  const findAdviser = db.prepare(
    `${columns} = 'ADV' and length(owner) = length(?1) and owner = ?1 order by filed_on, length(id), id`,
  );
  // The same row may be in two archives, or twice in one.
  const findParts = db.prepare(
    "select distinct row from part where filing_id = ? order by kind, reference, row",
  );
  /** Returns the filings of an adviser, oldest first. */
  const adviserFilingsOf = (crd: string): readonly AdviserFiling[] =>
    (findAdviser.all(crd) as Row[]).map(({ id, row }) => {
      const parts = findParts.all(id).map((part) => JSON.parse(part["row"] as string) as AdvRow);
      return joined(JSON.parse(row) as AdviserFacts, parts);
    });

  return {
    /** Adds a filing, and prefers a quarter's version. Reports whether it is the first with its accession number. */
    addFormD(filing: FormD, isQuarter: boolean): boolean {
      const { accession, fileNumber, filedOn, issuers } = filing;
      const owner = fileNumber ?? `cik:${issuers[0]!.cik}`;
      return addFiling(filing, "D", accession, owner, filedOn ?? "", isQuarter ? 0 : 1);
    },
    addFilingDate: (accession: string, filedOn: string): boolean => addDate(accession, filedOn),
    /** Adds a row of a Form ADV archive. Returns false for a second base row of a FilingID. */
    addAdv(row: AdvRow): boolean {
      if (row.kind === "base")
        return addFiling(row.filing, "ADV", row.filingId, row.filing.crd, row.filing.filedOn, 0);
      const reference = "referenceId" in row ? row.referenceId : "";
      return addPart(row.filingId, row.kind, reference, JSON.stringify(row));
    },
    /** Adds a firm from a feed. Keeps the version in the newest feed. @param feedOn date of the feed. */
    addFirm(firm: Firm, feedOn: string): void {
      const { crd, filedOn } = firm;
      addFiling(firm, "feed", crd, crd, filedOn, -Date.parse(feedOn) / 86_400_000);
    },
    /** Ends writing, fills in missing filing dates from indexes, and returns the counts and the newest dates. */
    seal() {
      db.exec(`
        update filing set filed_on = (select filed_on from filed where accession = id)
          where form = 'D' and filed_on = '' and id in (select accession from filed);
        commit;
      `);
      const counts = db.prepare(`
        select count(*) filter (where form = 'D') as formD,
          count(*) filter (where form = 'D' and owner like 'cik:%') as unnumbered,
          count(*) filter (where form = 'D' and filed_on = '') as undated,
          count(*) filter (where form = 'ADV') as advisers,
          count(*) filter (where form = 'feed') as firms,
          nullif(max(filed_on) filter (where form = 'D'), '') as form_d,
          max(filed_on) filter (where form = 'ADV') as form_adv,
          date(max(-rank) filter (where form = 'feed') * 86400, 'unixepoch') as firm_feed,
          (select count(distinct filing_id) from part
            where filing_id not in (select id from filing where form = 'ADV')) as withoutBase
        from filing`);
      const { form_d, form_adv, firm_feed, ...rest } = counts.get() as unknown as Counts;
      return { ...rest, newest: { form_d, form_adv, firm_feed } };
    },
    /** Yields each filing once, in order of file number or else CIK, then of date and accession number. */
    *formD(): Iterable<FormD> {
      for (const row of rowsOf("D")) yield formD(row);
    },
    /** Returns the filings with the given accession numbers, in the same order. All must be in the store. */
    formDOf: (accessions: readonly string[]): FormD[] =>
      accessions.map((accession) => formD(find.get("D", accession) as Row)),
    /** Yields each adviser's filings together, oldest first. The advisers are in order of CRD number. */
    *advisers(): Iterable<readonly AdviserFiling[]> {
      const owners = db.prepare(
        "select distinct owner from filing where form = 'ADV' order by length(owner), owner",
      );
      for (const { owner } of owners.iterate()) yield adviserFilingsOf(owner as string);
    },
    adviserFilingsOf,
    /** Yields firms in order of CRD number, each from the newest feed that lists it. */
    *firms(): Iterable<Firm> {
      for (const { row } of rowsOf("feed")) yield JSON.parse(row) as Firm;
    },
    /** Returns a firm from the newest feed that lists it. Returns undefined if none does. */
    firmOf(crd: string): Firm | undefined {
      const kept = find.get("feed", crd) as Pick<Row, "row"> | undefined;
      return kept && (JSON.parse(kept.row) as Firm);
    },
    close(): void {
      if (db.isOpen) db.close();
      rmSync(path, { force: true });
    },
  };
}

type Form = "D" | "ADV" | "feed";
type Count = "formD" | "unnumbered" | "undated" | "advisers" | "firms" | "withoutBase";
type Counts = Record<Count, number> & Record<"form_d" | "form_adv" | "firm_feed", string | null>;
type Row = Record<"id" | "owner" | "filed_on" | "row", string>;

function joined(base: AdviserFacts, rows: readonly AdvRow[]): AdviserFiling {
  const of = <K extends AdvRow["kind"]>(kind: K) =>
    rows.filter((row): row is Extract<AdvRow, { kind: K }> => row.kind === kind);
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
 * Reports whether the first of two versions of a filing is kept. Ignores hashes, whose salt differs from import to
 * import, and origins, which differ from folder to folder.
 */
function isBefore(one: object, other: object): boolean {
  const comparable = (row: object) =>
    JSON.stringify(row, (name, value: unknown) =>
      name === "addressHash" || name === "origin" ? undefined : value,
    );
  return comparable(one) < comparable(other);
}
