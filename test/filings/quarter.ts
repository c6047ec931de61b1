/** The six tables of a quarter of Form D, written for a test in the layout of the SEC's data sets. */

const layouts = {
  FORMDSUBMISSION:
    "ACCESSIONNUMBER FILE_NUM FILING_DATE SIC_CODE SCHEMAVERSION SUBMISSIONTYPE TESTORLIVE OVER100PERSONSFLAG OVER100ISSUERFLAG",
  ISSUERS:
    "ACCESSIONNUMBER IS_PRIMARYISSUER_FLAG ISSUER_SEQ_KEY CIK ENTITYNAME STREET1 STREET2 CITY STATEORCOUNTRY STATEORCOUNTRYDESCRIPTION ZIPCODE ISSUERPHONENUMBER JURISDICTIONOFINC ISSUER_PREVIOUSNAME_1 ISSUER_PREVIOUSNAME_2 ISSUER_PREVIOUSNAME_3 EDGAR_PREVIOUSNAME_1 EDGAR_PREVIOUSNAME_2 EDGAR_PREVIOUSNAME_3 ENTITYTYPE ENTITYTYPEOTHERDESC YEAROFINC_TIMESPAN_CHOICE YEAROFINC_VALUE_ENTERED",
  OFFERING:
    "ACCESSIONNUMBER INDUSTRYGROUPTYPE INVESTMENTFUNDTYPE IS40ACT REVENUERANGE AGGREGATENETASSETVALUERANGE FEDERALEXEMPTIONS_ITEMS_LIST ISAMENDMENT PREVIOUSACCESSIONNUMBER SALE_DATE YETTOOCCUR MORETHANONEYEAR ISEQUITYTYPE ISDEBTTYPE ISOPTIONTOACQUIRETYPE ISSECURITYTOBEACQUIREDTYPE ISPOOLEDINVESTMENTFUNDTYPE ISTENANTINCOMMONTYPE ISMINERALPROPERTYTYPE ISOTHERTYPE DESCRIPTIONOFOTHERTYPE ISBUSINESSCOMBINATIONTRANS BUSCOMBCLARIFICATIONOFRESP MINIMUMINVESTMENTACCEPTED OVER100RECIPIENTFLAG TOTALOFFERINGAMOUNT TOTALAMOUNTSOLD TOTALREMAINING SALESAMTCLARIFICATIONOFRESP HASNONACCREDITEDINVESTORS NUMBERNONACCREDITEDINVESTORS TOTALNUMBERALREADYINVESTED SALESCOMM_DOLLARAMOUNT SALESCOMM_ISESTIMATE FINDERSFEE_DOLLARAMOUNT FINDERSFEE_ISESTIMATE FINDERFEECLARIFICATIONOFRESP GROSSPROCEEDSUSED_DOLLARAMOUNT GROSSPROCEEDSUSED_ISESTIMATE GROSSPROCEEDSUSED_CLAROFRESP AUTHORIZEDREPRESENTATIVE",
  RELATEDPERSONS:
    "ACCESSIONNUMBER RELATEDPERSON_SEQ_KEY FIRSTNAME MIDDLENAME LASTNAME STREET1 STREET2 CITY STATEORCOUNTRY STATEORCOUNTRYDESCRIPTION ZIPCODE RELATIONSHIP_1 RELATIONSHIP_2 RELATIONSHIP_3 RELATIONSHIPCLARIFICATION",
  RECIPIENTS:
    "ACCESSIONNUMBER RECIPIENT_SEQ_KEY RECIPIENTNAME RECIPIENTCRDNUMBER ASSOCIATEDBDNAME ASSOCIATEDBDCRDNUMBER STREET1 STREET2 CITY STATEORCOUNTRY STATEORCOUNTRYDESCRIPTION ZIPCODE STATES_OR_VALUE_LIST DESCRIPTIONS_LIST FOREIGNSOLICITATION",
  SIGNATURES:
    "ACCESSIONNUMBER SIGNATURE_SEQ_KEY ISSUERNAME SIGNATURENAME NAMEOFSIGNER SIGNATURETITLE SIGNATUREDATE",
};
export type Table = keyof typeof layouts;

type Cells = Readonly<Record<string, string>>;

/** Rows of each table, by column. Columns that are left out are blank. */
export type QuarterRows = Partial<Record<Table, readonly Cells[]>>;

/** Returns the tables as `<folder>TABLE.tsv` and their text. @param without columns that are left out. */
export function quarterFiles(
  rows: QuarterRows,
  { folder = "", without = [] }: { folder?: string; without?: readonly string[] } = {},
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(layouts).map(([table, layout]) => {
      const names = layout.split(" ").filter((name) => !without.includes(name));
      const lines = (rows[table as Table] ?? []).map((row) =>
        names.map((name) => row[name] ?? "").join("\t"),
      );
      return [`${folder}${table}.tsv`, [names.join("\t"), ...lines, ""].join("\n")];
    }),
  );
}

/** Returns the rows of a filing. @param cells of the one row of a table, or of several, but for the accession number. */
export const rowsOf = (
  ACCESSIONNUMBER: string,
  cells: Partial<Record<Table, Cells | readonly Cells[]>>,
): QuarterRows =>
  Object.fromEntries(
    Object.entries(cells).map(([table, rows]) => [
      table,
      [rows].flat().map((row) => ({ ACCESSIONNUMBER, ...row })),
    ]),
  );

/** Returns the rows of a plain filing. @param given cells that are otherwise, by table. */
export const oneFiling = (
  accession: string,
  name = "Briar Fund I, LP",
  given: Partial<Record<Table, Cells>> = {},
): QuarterRows =>
  rowsOf(accession, {
    FORMDSUBMISSION: {
      FILE_NUM: "021-400013               ",
      FILING_DATE: "30-JUN-2026",
      SIC_CODE: "6798",
      SUBMISSIONTYPE: "D",
      TESTORLIVE: "LIVE",
      ...given.FORMDSUBMISSION,
    },
    ISSUERS: {
      IS_PRIMARYISSUER_FLAG: "YES",
      ISSUER_SEQ_KEY: "1",
      CIK: "0001900013",
      ENTITYNAME: name,
      STREET1: "C/O BRIAR CAPITAL LLC",
      STREET2: "410 S. MAPLE AVE., STE. 410",
      CITY: "ORLANDO",
      STATEORCOUNTRY: "FL",
      ZIPCODE: "32801",
      ISSUERPHONENUMBER: "407-555-0100",
      JURISDICTIONOFINC: "DELAWARE",
      ISSUER_PREVIOUSNAME_1: "None",
      EDGAR_PREVIOUSNAME_1: "Old Briar Fund, LP",
      ENTITYTYPE: "Limited Partnership",
      ...given.ISSUERS,
    },
    OFFERING: {
      INDUSTRYGROUPTYPE: "Pooled Investment Fund",
      INVESTMENTFUNDTYPE: "Other Investment Fund",
      FEDERALEXEMPTIONS_ITEMS_LIST: "06b,3C,3C.5",
      SALE_DATE: "2026-06-20",
      YETTOOCCUR: "",
      ISPOOLEDINVESTMENTFUNDTYPE: "true",
      MINIMUMINVESTMENTACCEPTED: "50000",
      TOTALOFFERINGAMOUNT: "Indefinite",
      TOTALAMOUNTSOLD: "788172352.00",
      TOTALREMAINING: "Indefinite",
      HASNONACCREDITEDINVESTORS: "false",
      TOTALNUMBERALREADYINVESTED: "12",
      ...given.OFFERING,
    },
    RELATEDPERSONS: {
      RELATEDPERSON_SEQ_KEY: "1",
      FIRSTNAME: "Ann",
      MIDDLENAME: "None",
      LASTNAME: 'Smith "Annie',
      STREET1: "12 Home Street",
      CITY: "Tampa",
      STATEORCOUNTRY: "FL",
      ZIPCODE: "33601",
      RELATIONSHIP_1: "Executive Officer",
      RELATIONSHIP_2: "Director",
      RELATIONSHIPCLARIFICATION: "President of Briar  Capital\u00a0LLC, the Manager of the Issuer",
      ...given.RELATEDPERSONS,
    },
    RECIPIENTS: {
      RECIPIENT_SEQ_KEY: "1",
      RECIPIENTNAME: "Broker One",
      RECIPIENTCRDNUMBER: "None",
      ASSOCIATEDBDNAME: "None",
    },
    SIGNATURES: {
      SIGNATURE_SEQ_KEY: "1",
      ISSUERNAME: name,
      SIGNATURENAME: "/s/ Ann Smith",
      NAMEOFSIGNER: "Ann Smith",
      SIGNATURETITLE: "Manager",
    },
  });

/** Puts the rows of several filings together. */
export const together = (...all: readonly QuarterRows[]): QuarterRows =>
  Object.fromEntries(
    Object.keys(layouts).map((table) => [table, all.flatMap((rows) => rows[table as Table] ?? [])]),
  );
