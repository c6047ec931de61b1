/** Reads the six tables of a quarter of Form D filings, as the SEC's data sets have them. */
import { StringDecoder } from "node:string_decoder";
import { ImportFault, quoted } from "#importers/import-fault.ts";
import {
  accessionIn,
  cik,
  crd,
  date,
  flag,
  formDFile,
  isIndefinite,
  roles,
  type SkipReason,
  text,
  whole,
} from "./cells.ts";
import type { PlaceReader } from "./places.ts";
import type { FormD, Issuer, Recipient, RelatedPerson, Signature } from "./rows.ts";

const address = ["CITY", "STATEORCOUNTRY", "ZIPCODE", "STREET1", "STREET2"] as const;

/** Columns that are read, in the order in which cells are handed on; those after the bar may be missing. */
const tables = {
  FORMDSUBMISSION: "FILE_NUM FILING_DATE SUBMISSIONTYPE | SIC_CODE TESTORLIVE",
  ISSUERS: `IS_PRIMARYISSUER_FLAG ISSUER_SEQ_KEY CIK ENTITYNAME ${address.join(" ")} ENTITYTYPE | JURISDICTIONOFINC ENTITYTYPEOTHERDESC ISSUER_PREVIOUSNAME_1 ISSUER_PREVIOUSNAME_2 ISSUER_PREVIOUSNAME_3 EDGAR_PREVIOUSNAME_1 EDGAR_PREVIOUSNAME_2 EDGAR_PREVIOUSNAME_3`,
  OFFERING:
    "INDUSTRYGROUPTYPE INVESTMENTFUNDTYPE FEDERALEXEMPTIONS_ITEMS_LIST PREVIOUSACCESSIONNUMBER SALE_DATE YETTOOCCUR ISPOOLEDINVESTMENTFUNDTYPE MINIMUMINVESTMENTACCEPTED TOTALOFFERINGAMOUNT TOTALAMOUNTSOLD TOTALREMAINING TOTALNUMBERALREADYINVESTED HASNONACCREDITEDINVESTORS | ISTENANTINCOMMONTYPE SALESAMTCLARIFICATIONOFRESP",
  RELATEDPERSONS: `RELATEDPERSON_SEQ_KEY FIRSTNAME MIDDLENAME LASTNAME ${address.join(" ")} RELATIONSHIP_1 | RELATIONSHIP_2 RELATIONSHIP_3 RELATIONSHIPCLARIFICATION`,
  RECIPIENTS: "RECIPIENT_SEQ_KEY RECIPIENTNAME RECIPIENTCRDNUMBER | ASSOCIATEDBDNAME",
  SIGNATURES: "SIGNATURE_SEQ_KEY ISSUERNAME NAMEOFSIGNER | SIGNATURETITLE",
};
export type QuarterTable = keyof typeof tables;
export const quarterTables = Object.keys(tables) as QuarterTable[];

/** A table of a quarter: a file, or a member of an archive. It may be read more than once. */
export interface TableFile {
  /** Name in messages. */
  shown: string;
  size: number;
  open(): AsyncIterable<Buffer>;
}

interface Numbered<T> {
  sequence: number;
  row: T;
}

interface Draft {
  filing: Pick<FormD, "accession" | "type" | "fileNumber" | "filedOn" | "sicCode" | "origin">;
  offering: Omit<
    FormD,
    keyof Draft["filing"] | "issuers" | "persons" | "recipients" | "signatures"
  > | null;
  issuers: Numbered<{ isPrimary: boolean; issuer: Issuer }>[];
  persons: Numbered<RelatedPerson>[];
  recipients: Numbered<Recipient>[];
  signatures: Numbered<Signature>[];
}

/** Bytes of all tables that are put together at once. The filings of more lie in memory by turns. */
const passBytes = 48 * 1024 * 1024;

/**
 * Reads a quarter, and adds its filings one by one.
 * @param skip is told of each filing that is left out.
 * @param reject is told of each row that has too many cells, or belongs to no filing.
 * @throws ImportFault if a table lacks a column, or is cut off.
 */
export async function readFormDQuarter(
  files: Readonly<Record<QuarterTable, TableFile>>,
  placeOf: PlaceReader,
  add: (filing: FormD) => void,
  skip: (reason: SkipReason) => void,
  reject: (file: string, line: number) => void,
): Promise<void> {
  const bytes = quarterTables.reduce((sum, table) => sum + files[table].size, 0);
  const passes = Math.ceil(bytes / passBytes) || 1;
  for (let pass = 0; pass < passes; pass++) {
    const isDue = (accession: string) => Number(accession.slice(-3)) % passes === pass;
    const drafts = await readDrafts(files, placeOf, isDue, skip, pass === 0 ? reject : () => {});
    for (const draft of drafts.values()) {
      const filing = filingOf(draft);
      if (typeof filing === "string") skip(filing);
      else add(filing);
    }
  }
}

async function readDrafts(
  files: Readonly<Record<QuarterTable, TableFile>>,
  placeOf: PlaceReader,
  isDue: (accession: string) => boolean,
  skip: (reason: SkipReason) => void,
  reject: (file: string, line: number) => void,
): Promise<Map<string, Draft>> {
  const drafts = new Map<string, Draft>();
  const read = (
    table: QuarterTable,
    take: (accession: string, cells: readonly string[], line: number) => void,
  ) => readTable(files[table], table, take, reject);
  /** Reads a table whose rows belong to filings. */
  const join = (table: QuarterTable, take: (draft: Draft, cells: readonly string[]) => void) =>
    read(table, (accession, cells) => {
      const draft = drafts.get(accession);
      if (draft !== undefined) take(draft, cells);
    });
  const place = ([city, stateOrCountry, zip, ...streets]: readonly string[]) =>
    placeOf({ streets, city, stateOrCountry, zip });

  await read("FORMDSUBMISSION", (accession, [file, filedOn, written, sic, live], line) => {
    if (!isDue(accession)) return;
    const type = text(written)?.toUpperCase();
    if (live !== undefined && text(live)?.toUpperCase() !== "LIVE") skip("test");
    else if (type !== "D" && type !== "D/A") skip("other_form");
    else if (drafts.has(accession)) skip("twice");
    else
      drafts.set(accession, {
        filing: {
          accession,
          type,
          fileNumber: formDFile(file),
          filedOn: date(filedOn),
          sicCode: text(sic),
          origin: { file: files.FORMDSUBMISSION.shown, line },
        },
        offering: null,
        issuers: [],
        persons: [],
        recipients: [],
        signatures: [],
      });
  });
  await join("ISSUERS", ({ issuers }, cells) => {
    const [primary, sequence, number, written] = cells;
    const [entityType, jurisdiction, otherType, ...previous] = cells.slice(4 + address.length);
    const [issuerCik, name] = [cik(number), text(written)];
    if (issuerCik === null || name === null) return;
    const type = text(entityType);
    issuers.push({
      sequence: Number(sequence),
      row: {
        isPrimary: flag(primary),
        issuer: {
          cik: issuerCik,
          name,
          previousNames: [...new Set(previous.flatMap((one) => text(one) ?? []))],
          entityType: type === "Other" ? (text(otherType) ?? type) : type,
          jurisdiction: text(jurisdiction),
          place: place(cells.slice(4, 4 + address.length)),
        },
      },
    });
  });
  await join("OFFERING", (draft, cells) => {
    const [industry, fundType, exemptions, previous, saleDate, yetToOccur, pooled] = cells;
    const [minimum, offered, sold, remaining, investors, nonAccredited, inCommon, note] =
      cells.slice(7);
    draft.offering = {
      previousAccession: accessionIn(previous ?? ""),
      industry: text(industry),
      fundType: text(fundType),
      isPooledTicked: flag(pooled),
      isTenantInCommonTicked: flag(inCommon),
      exemptions: (text(exemptions) ?? "").split(/[,;|\s]+/).filter((one) => one !== ""),
      firstSaleOn: flag(yetToOccur) ? null : date(saleDate),
      isIndefinite: isIndefinite(offered),
      offeredUsd: whole(offered),
      soldUsd: whole(sold),
      remainingUsd: whole(remaining),
      minimumUsd: whole(minimum),
      investorCount: whole(investors),
      allowsNonAccredited: flag(nonAccredited),
      amountNote: text(note),
    };
  });
  await join("RELATEDPERSONS", ({ persons }, cells) => {
    const [sequence, first, middle, last] = cells;
    const [role1, role2, role3, clarification] = cells.slice(4 + address.length);
    persons.push({
      sequence: Number(sequence),
      row: {
        first: text(first),
        middle: text(middle),
        last: text(last),
        roles: roles([role1, role2, role3]),
        clarification: text(clarification),
        place: place(cells.slice(4, 4 + address.length)),
      },
    });
  });
  await join("RECIPIENTS", ({ recipients }, [sequence, name, number, broker]) => {
    recipients.push({
      sequence: Number(sequence),
      row: { name: text(name), crd: crd(number), broker: text(broker) },
    });
  });
  await join("SIGNATURES", ({ signatures }, [sequence, issuer, signer, title]) => {
    signatures.push({
      sequence: Number(sequence),
      row: { issuerName: text(issuer), signer: text(signer), title: text(title) },
    });
  });
  return drafts;
}

const inOrder = <T>(rows: Numbered<T>[]): T[] =>
  rows.sort((a, b) => a.sequence - b.sequence).map(({ row }) => row);

function filingOf(draft: Draft): FormD | SkipReason {
  const { filing, offering } = draft;
  const issuers = inOrder(draft.issuers)
    .sort((a, b) => Number(b.isPrimary) - Number(a.isPrimary))
    .map(({ issuer }) => issuer);
  if (issuers.length === 0) return "no_issuer";
  if (offering === null) return "no_offering";
  return {
    ...filing,
    ...offering,
    issuers,
    persons: inOrder(draft.persons),
    recipients: inOrder(draft.recipients),
    signatures: inOrder(draft.signatures),
  };
}

const accessionShape = /^\d{10}-\d\d-\d{6}$/;

/** Reads the rows of a table. Takes the cells of the table's columns; those that are missing are undefined. */
async function readTable(
  { shown, open }: TableFile,
  table: QuarterTable,
  take: (accession: string, cells: readonly string[], line: number) => void,
  reject: (file: string, line: number) => void,
): Promise<void> {
  let width = 0;
  let places: number[] | undefined;
  /** A row whose end is not known yet, because a cell may hold line breaks. */
  let begun: string[] | undefined;
  let begunLine = 0;
  const finish = () => {
    if (begun === undefined) return;
    const cells = begun;
    begun = undefined;
    if (cells.length > width) return reject(shown, begunLine);
    const [accession = "", ...wanted] = places!.map((at) => cells[at]!);
    take(accession.trim(), wanted, begunLine);
  };
  let line = 0;
  let isCut = false;
  for await (const { lines, isEnded } of readLines(open())) {
    isCut = !isEnded;
    for (const written of lines) {
      line++;
      const cells = written.split("\t");
      if (places === undefined) {
        const names = cells.map((name) => name.trim().toUpperCase());
        width = names.length;
        places = placesOf(shown, table, names);
        continue;
      }
      if (accessionShape.test((cells[places[0]!] ?? "").trim())) {
        finish();
        begun = cells;
        begunLine = line;
      } else if (begun !== undefined) {
        begun.push(`${begun.pop()} ${cells[0]}`, ...cells.slice(1));
      } else if (written.trim() !== "") reject(shown, line);
    }
  }
  if (isCut && begun !== undefined && begun.length < width)
    throw new ImportFault(shown, line, "the last row breaks off; download the quarter again");
  finish();
  if (places === undefined)
    throw new ImportFault(shown, null, "is empty; download the quarter again");
}

function placesOf(shown: string, table: QuarterTable, names: readonly string[]): number[] {
  const [needed = [], optional = []] = tables[table].split(" | ").map((list) => list.split(" "));
  const missing = ["ACCESSIONNUMBER", ...needed].filter((name) => !names.includes(name));
  if (missing.length > 0)
    throw new ImportFault(
      shown,
      1,
      `the header has no column ${missing.map(quoted).join(", ")}, which ${table} needs; download the quarter again`,
    );
  return ["ACCESSIONNUMBER", ...needed, ...optional].map((name) => names.indexOf(name));
}

/** Yields lines without their ends, some at a time. `isEnded` is false for a last line without an end. */
async function* readLines(
  bytes: AsyncIterable<Buffer>,
): AsyncGenerator<{ lines: string[]; isEnded: boolean }, void> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  for await (const chunk of bytes) {
    const lines = (rest + decoder.write(chunk)).split("\n");
    rest = lines.pop()!;
    yield { lines: lines.map(withoutReturn), isEnded: true };
  }
  rest += decoder.end();
  if (rest.trim() !== "") yield { lines: [withoutReturn(rest)], isEnded: false };
}

const withoutReturn = (line: string) => (line.endsWith("\r") ? line.slice(0, -1) : line);
