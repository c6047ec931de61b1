/**
 * Typed rows of public SEC filings, as read from the files of an operator's folder.
 *
 * Every reader trims texts, folds runs of spaces (no-break spaces included) to one, and turns blank cells and the word
 * `None` into null. Streets, phone numbers and e-mail addresses end in the readers. Of a street line only a firm that it
 * names goes on, and a hash of the address that tells equal addresses apart from others during one import.
 */

/** Where a row was read, for reports. */
export interface RowOrigin {
  /** File as the operator gave it, with the member of an archive after `!`. */
  file: string;
  /** Line on which the row begins, counted from 1; 1 for a filing that is a file of its own. */
  line: number;
}

/** Address without streets. */
export interface Place {
  city: string | null;
  /** Code of the filing as it is: a USPS code, or an EDGAR code of a province or country. */
  stateOrCountry: string | null;
  /** USPS code of a US state; null elsewhere. */
  state: string | null;
  /** ISO 3166-1 alpha-2 code; null if the filing's code is unknown. */
  country: string | null;
  zip: string | null;
  /** Hash of the folded street (without suite) and ZIP, salted anew for each import; null without a street. */
  addressHash: string | null;
  /** Firm that a street line names, such as that of `C/O Acme Management LLC`; null if none does. */
  firmInStreet: string | null;
}

export interface Issuer {
  /** CIK of ten digits. */
  cik: string;
  name: string;
  previousNames: readonly string[];
  /** Words of the filing, such as `Limited Liability Company`. */
  entityType: string | null;
  jurisdiction: string | null;
  place: Place;
}

export const personRoles = ["executive_officer", "director", "promoter"] as const;

/** Person or entity among the related persons of a Form D, not yet told apart. */
export interface RelatedPerson {
  first: string | null;
  middle: string | null;
  last: string | null;
  roles: readonly (typeof personRoles)[number][];
  clarification: string | null;
  place: Place;
}

interface Recipient {
  name: string | null;
  /** CRD number, digits alone. */
  crd: string | null;
  broker: string | null;
}

interface Signature {
  issuerName: string | null;
  signer: string | null;
  title: string | null;
}

/** A Form D or D/A. */
export interface FormD {
  /** `0001234567-25-000001`. */
  accession: string;
  type: "D" | "D/A";
  /** `021-400013`; null if no header or index says it. */
  fileNumber: string | null;
  /** `YYYY-MM-DD`; null if no header or index says it. */
  filedOn: string | null;
  previousAccession: string | null;
  sicCode: string | null;
  /** The primary issuer first; never empty. */
  issuers: readonly Issuer[];
  persons: readonly RelatedPerson[];
  recipients: readonly Recipient[];
  signatures: readonly Signature[];
  /** Industry group in the filing's words, such as `Pooled Investment Fund`. */
  industry: string | null;
  /** Kind of pooled fund in the filing's words, such as `Private Equity Fund`. */
  fundType: string | null;
  /** True if the filing offers interests in a pooled investment fund. */
  isPooledTicked: boolean;
  isTenantInCommonTicked: boolean;
  /** Exemptions as filed, such as `06b` and `3C.5`. */
  exemptions: readonly string[];
  /** `YYYY-MM-DD`; null if the first sale is yet to occur. */
  firstSaleOn: string | null;
  isIndefinite: boolean;
  /** Whole US dollars; null if indefinite or not given. */
  offeredUsd: number | null;
  soldUsd: number | null;
  remainingUsd: number | null;
  minimumUsd: number | null;
  investorCount: number | null;
  allowsNonAccredited: boolean;
  /** Remark of the filing on its amounts. */
  amountNote: string | null;
  origin: RowOrigin;
}

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
  /** `B` for an indirect owner. */
  schedule: "A" | "B";
  /** Individual CRD number, digits alone. */
  crd: string | null;
}

/** Private fund that an adviser reports in Schedule D, section 7.B.(1). */
export interface AdviserFund {
  /** `805-1234567890`. */
  fundId: string | null;
  name: string;
  /** Fund type in the filing's words, such as `Real Estate Fund`. */
  type: string | null;
  typeOther: string | null;
  isMaster: boolean;
  isFeeder: boolean;
  masterFundId: string | null;
  masterFundName: string | null;
  grossAssetsUsd: number | null;
  minimumUsd: number | null;
  /** Two-letter state of organization; null elsewhere. */
  state: string | null;
  country: string | null;
  /** General partner, manager, trustee or director of the fund. */
  partnerNames: readonly string[];
  /** File numbers of its Form D offerings, such as `021-400013`. */
  formDFiles: readonly string[];
}

/** A Form ADV of a registered adviser, or of one that reports as exempt. */
export interface AdviserFiling {
  filingId: string;
  /** CRD number of the firm, digits alone. */
  crd: string;
  /** `YYYY-MM-DD`. */
  filedOn: string;
  isExempt: boolean;
  legalName: string;
  businessName: string | null;
  otherNames: readonly string[];
  /** `801-12345`. */
  secNumber: string | null;
  lei: string | null;
  ciks: readonly string[];
  place: Place;
  /** Regulatory assets under management (item 5.F.(2)(c)), whole US dollars. */
  aumUsd: number | null;
  owners: readonly AdviserOwner[];
  funds: readonly AdviserFund[];
  origin: RowOrigin;
}

/** Line of `corrections.ndjson`. Ids are keys of the source or public ids. */
export type Correction = { why: string; line: number } & (
  | { kind: "is"; gp: string; name: string }
  | { kind: "sponsor"; cik: string; gp: string }
  | { kind: "same"; gps: readonly [string, string] }
  | { kind: "apart"; gp: string; ciks: readonly string[] }
  | { kind: "personApart"; person: string; accessions: readonly string[] }
  | { kind: "personField"; person: string; field: string; value: unknown }
);

/** Tells the metropolitan area of an address. */
export interface Geography {
  /** Returns the title of the area, such as `Dallas-Fort Worth-Arlington, TX`; null if the folder does not say. */
  marketOf(place: Pick<Place, "zip" | "city" | "state" | "country">): string | null;
}

/** A folder that was read: rows in an order that depends on their content alone. */
export interface Filings {
  /** Yields each filing once, by file number or else CIK, then by date and accession. */
  formD(): Iterable<FormD>;
  /** Yields each adviser's filings together, by CRD, oldest first. */
  advisers(): Iterable<readonly AdviserFiling[]>;
  /** Returns the filings of accession numbers, in their order. */
  formDOf(accessions: readonly string[]): FormD[];
  /** Returns the filings of an adviser, oldest first. */
  adviserFilingsOf(crd: string): readonly AdviserFiling[];
  corrections: readonly Correction[];
  geography: Geography;
  close(): void;
}
