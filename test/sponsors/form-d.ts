/** Filings of invented issuers: what a test does not say is blank. */
import type { FormD, Place, RelatedPerson } from "#filings/rows.ts";

export const placeIn = (firmInStreet: string | null = null): Place => ({
  city: null,
  state: null,
  country: null,
  zip: null,
  addressHash: null,
  firmInStreet,
});

export const person = (
  first: string | null,
  last: string | null,
  clarification: string | null = null,
  more: Partial<RelatedPerson> = {},
): RelatedPerson => ({
  first,
  middle: null,
  last,
  roles: ["executive_officer"],
  clarification,
  firmInStreet: null,
  ...more,
});

/** Says in a filing's words that a person manages the firm that manages the issuer. */
export const managerOf = (firm: string) => `Manager of ${firm}, the Manager of the Issuer`;

interface Given extends Partial<Omit<FormD, "issuers">> {
  name: string;
  street?: string;
  coIssuers?: readonly string[];
}

export const filingOf = ({ name, street, coIssuers = [], ...given }: Given): FormD => ({
  accession: "0001000001-26-000001",
  type: "D",
  fileNumber: null,
  filedOn: null,
  previousAccession: null,
  sicCode: null,
  issuers: [name, ...coIssuers].map((issuer) => ({
    cik: "0001000001",
    name: issuer,
    previousNames: [],
    place: placeIn(street),
  })),
  persons: [],
  recipients: [],
  signatures: [],
  industry: "Residential",
  fundType: null,
  isPooledTicked: false,
  isTenantInCommonTicked: false,
  exemptions: ["06b"],
  firstSaleOn: null,
  isIndefinite: false,
  offeredUsd: null,
  soldUsd: null,
  remainingUsd: null,
  minimumUsd: null,
  investorCount: null,
  allowsNonAccredited: false,
  amountNote: null,
  origin: { file: "test", line: 1 },
  ...given,
});
