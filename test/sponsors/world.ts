/** A folder of invented filings in memory, resolved and turned into records. */
import type { Correction } from "#filings/corrections.ts";
import type {
  AdviserFiling,
  AdviserFund,
  AdviserOwner,
  Filings,
  Firm,
  FormD,
} from "#filings/rows.ts";
import type { CanonicalRecord } from "#records/canonical.ts";
import { recordsOf } from "#sponsors/records.ts";
import { type ResolveOptions, resolveSponsors } from "#sponsors/resolve.ts";
import { filingOf, placeIn } from "./form-d.ts";

type Given = Parameters<typeof filingOf>[0] & { cik: number; state?: string; address?: string };

/** Returns a filing of an issuer by number, with an accession number of its own unless one is given. */
export function formD({ cik, state = "TX", address, ...given }: Given): FormD {
  const number = String(cik).padStart(10, "0");
  const place = { state, country: "US", city: "Dallas", addressHash: address ?? null };
  const filing = filingOf({ accession: `${number}-26-000001`, filedOn: "2026-03-01", ...given });
  return {
    ...filing,
    issuers: filing.issuers.map((issuer) => {
      return { ...issuer, cik: number, place: { ...issuer.place, ...place } };
    }),
  };
}

export const fundOf = (name: string, given: Partial<AdviserFund> = {}): AdviserFund => ({
  fundId: null,
  name,
  type: "Real Estate Fund",
  typeOther: null,
  isMaster: false,
  isFeeder: false,
  masterFundId: null,
  grossAssetsUsd: null,
  partnerNames: [],
  formDFiles: [],
  ...given,
});

export const ownerOf = (name: string, given: Partial<AdviserOwner> = {}): AdviserOwner => ({
  name,
  isPerson: true,
  title: "MANAGING MEMBER",
  since: null,
  ownershipCode: null,
  isControlPerson: false,
  schedule: "A",
  crd: null,
  ...given,
});

export const adviserOf = (
  crd: string,
  legalName: string,
  { state = "TX", ...given }: Partial<AdviserFiling> & { state?: string } = {},
): AdviserFiling => ({
  filingId: `f${crd}`,
  crd,
  filedOn: "2026-02-01",
  isExempt: false,
  legalName,
  businessName: null,
  otherNames: [],
  secNumber: null,
  lei: null,
  ciks: [],
  place: { ...placeIn(), state, country: "US", city: "DALLAS" },
  aumUsd: null,
  owners: [],
  funds: [],
  origin: { file: "adv", line: 1 },
  ...given,
});

export const firmOf = (
  crd: string,
  legalName: string,
  given: Partial<Firm> & { state?: string } = {},
): Firm => {
  const { ciks: _, owners: __, funds: ___, ...facts } = adviserOf(crd, legalName, given);
  return { website: null, ...facts, filingId: crd };
};

type WithoutReason<C> = C extends Correction
  ? Omit<C, "why" | "file" | "line"> & Partial<C>
  : never;

/** Gives a correction a reason and a place, unless it has its own. */
export const corrected = (given: WithoutReason<Correction>): Correction =>
  ({ why: "w", file: "deep/fixes.ndjson", line: 1, ...given }) as Correction;

export interface World {
  forms?: readonly FormD[];
  advisers?: readonly (readonly AdviserFiling[])[];
  firms?: readonly Firm[];
  corrections?: readonly Correction[];
  minConfidence?: number;
  publicId?: ResolveOptions["publicId"];
}

/** Resolves filings. Public ids are keys behind `gp_` or `pr_`, unless the world says otherwise. */
export function resolved({
  forms = [],
  advisers = [],
  firms = [],
  corrections = [],
  minConfidence = 0.5,
  publicId = (kind, key) => `${kind === "gp" ? "gp" : "pr"}_${key}`,
}: World) {
  const filings: Filings = {
    formD: () => forms,
    advisers: () => advisers,
    formDOf: (accessions) =>
      accessions.map((number) => forms.find(({ accession }) => accession === number)!),
    adviserFilingsOf: (crd) => advisers.find(([first]) => first!.crd === crd) ?? [],
    firms: () => firms,
    firmOf: (crd) => firms.find((firm) => firm.crd === crd),
    corrections,
    geography: { marketOf: ({ state }) => (state === "TX" ? "Dallas, TX" : null) },
    close: () => {},
  };
  const options = { minConfidence, publicId };
  const resolution = resolveSponsors(filings, options);
  const entries = [...recordsOf(filings, resolution, options)];
  const records = entries.flatMap((entry) => entry.records);
  const all = <K extends CanonicalRecord["record"]>(kind: K) =>
    records.filter((one): one is CanonicalRecord & { record: K } => one.record === kind);
  return {
    ...resolution,
    entries,
    records,
    all,
    /** Key, name and basis of the GP of each vehicle by CIK; null for a vehicle that nobody is named for. */
    links: resolution.vehicles.map(({ link }) =>
      link === null ? null : [link.gp.key, link.gp.name, link.evidence.basis],
    ),
  };
}
