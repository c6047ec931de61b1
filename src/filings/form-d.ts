/** Assembles a Form D of named cells, whether they are those of the SEC's tables or elements of one filing. */
import {
  accessionIn,
  cik,
  crd,
  date,
  flag,
  isIndefinite,
  named,
  roles,
  type SkipReason,
  whole,
} from "./cells.ts";
import { type PlaceReader, withoutStreets } from "./places.ts";
import type { FormD, Issuer } from "./rows.ts";

/** Cells of a row of a table, by the table's names of its columns. */
export interface Cells {
  /** Returns a text; null for a blank cell, and for one that is not there. */
  cell(name: string): string | null;
  /** Returns the texts of a column that is there several times, as `NAME_1`, `NAME_2` and so on. */
  list(name: string): string[];
}

const placeIn = ({ cell }: Cells, placeOf: PlaceReader) =>
  placeOf({
    streets: [cell("STREET1"), cell("STREET2")],
    city: cell("CITY"),
    stateOrCountry: cell("STATEORCOUNTRY") ?? cell("STATEORCOUNTRYDESCRIPTION"),
    zip: cell("ZIPCODE"),
  });

/** Reads a row of each table. */
export const partReaders = {
  /** Returns null for an issuer without a CIK, or a name that has a letter or a digit. */
  ISSUERS(cells: Cells, placeOf: PlaceReader): Issuer | null {
    const { cell, list } = cells;
    const [number, name, type] = [cik(cell("CIK")), named(cell("ENTITYNAME")), cell("ENTITYTYPE")];
    if (number === null || name === null) return null;
    return {
      cik: number,
      name,
      previousNames: [...new Set([...list("ISSUER_PREVIOUSNAME"), ...list("EDGAR_PREVIOUSNAME")])],
      entityType: type === "Other" ? (cell("ENTITYTYPEOTHERDESC") ?? type) : type,
      jurisdiction: cell("JURISDICTIONOFINC"),
      place: placeIn(cells, placeOf),
    };
  },
  OFFERING: ({ cell, list }: Cells) => ({
    previousAccession: accessionIn(cell("PREVIOUSACCESSIONNUMBER") ?? ""),
    industry: cell("INDUSTRYGROUPTYPE"),
    fundType: cell("INVESTMENTFUNDTYPE"),
    isPooledTicked: flag(cell("ISPOOLEDINVESTMENTFUNDTYPE")),
    isTenantInCommonTicked: flag(cell("ISTENANTINCOMMONTYPE")),
    exemptions: list("FEDERALEXEMPTIONS_ITEMS_LIST").flatMap(
      (all) => all.match(/[^,;|\s]+/g) ?? [],
    ),
    firstSaleOn: flag(cell("YETTOOCCUR")) ? null : date(cell("SALE_DATE")),
    isIndefinite: isIndefinite(cell("TOTALOFFERINGAMOUNT")),
    offeredUsd: whole(cell("TOTALOFFERINGAMOUNT")),
    soldUsd: whole(cell("TOTALAMOUNTSOLD")),
    remainingUsd: whole(cell("TOTALREMAINING")),
    minimumUsd: whole(cell("MINIMUMINVESTMENTACCEPTED")),
    investorCount: whole(cell("TOTALNUMBERALREADYINVESTED")),
    allowsNonAccredited: flag(cell("HASNONACCREDITEDINVESTORS")),
    amountNote: withoutStreets(cell("SALESAMTCLARIFICATIONOFRESP")),
  }),
  RELATEDPERSONS: (cells: Cells, placeOf: PlaceReader) => ({
    first: cells.cell("FIRSTNAME"),
    middle: cells.cell("MIDDLENAME"),
    last: cells.cell("LASTNAME"),
    roles: roles(cells.list("RELATIONSHIP")),
    clarification: withoutStreets(cells.cell("RELATIONSHIPCLARIFICATION")),
    place: placeIn(cells, placeOf),
  }),
  RECIPIENTS: ({ cell }: Cells) => ({
    name: cell("RECIPIENTNAME"),
    crd: crd(cell("RECIPIENTCRDNUMBER")),
    broker: cell("ASSOCIATEDBDNAME"),
  }),
  SIGNATURES: ({ cell }: Cells) => ({
    issuerName: cell("ISSUERNAME"),
    signer: cell("NAMEOFSIGNER"),
    title: withoutStreets(cell("SIGNATURETITLE")),
  }),
};

export type PartTable = keyof typeof partReaders;
export const partTables = Object.keys(partReaders) as PartTable[];

/** Rows of a filing that were read, by table; the primary issuer first. */
export type Parts = { [T in PartTable]: NonNullable<ReturnType<(typeof partReaders)[T]>>[] };

export const noParts = (): Parts => ({
  ISSUERS: [],
  OFFERING: [],
  RELATEDPERSONS: [],
  RECIPIENTS: [],
  SIGNATURES: [],
});

/** Facts in the header of a filing. */
export type Head = Pick<
  FormD,
  "accession" | "type" | "fileNumber" | "filedOn" | "sicCode" | "origin"
>;

/** Returns the filing that parts make, or the reason why they make none. */
export function formDOf(head: Head, parts: Parts): FormD | SkipReason {
  const { ISSUERS: issuers, RELATEDPERSONS: persons, RECIPIENTS: recipients } = parts;
  const offering = parts.OFFERING.at(-1);
  if (issuers.length === 0) return "no_issuer";
  if (offering === undefined) return "no_offering";
  return { ...head, ...offering, issuers, persons, recipients, signatures: parts.SIGNATURES };
}
