/** Groups a vehicle's filings into offerings: the first notice and its amendments. */
import type { AdviserFiling, FormD } from "#filings/rows.ts";
import type { EvidenceDocument } from "#records/canonical.ts";

/** Notices of one offering, oldest first. Never empty. */
export type Offering = readonly FormD[];

/**
 * Groups filings by file number, else by the chain of previous accessions.
 * @param filings a vehicle's filings, oldest first.
 */
export function offeringsOf(filings: readonly FormD[]): Offering[] {
  const byAccession = new Map<string, FormD[]>();
  const byFile = new Map<string, FormD[]>();
  const offerings: FormD[][] = [];
  for (const filing of filings) {
    const { fileNumber, previousAccession, accession } = filing;
    let offering = byFile.get(fileNumber ?? "") ?? byAccession.get(previousAccession ?? "");
    if (offering === undefined) offerings.push((offering = []));
    offering.push(filing);
    byAccession.set(accession, offering);
    if (fileNumber !== null) byFile.set(fileNumber, offering);
  }
  return offerings;
}

const sum = (amounts: readonly (number | null)[]): number | null => {
  const known = amounts.filter((amount) => amount !== null);
  return known.length === 0 ? null : known.reduce((total, amount) => total + amount, 0);
};

/** Amounts of offerings by the latest notice of each, summed up, and the earliest first sale. */
export function totalsOf(offerings: readonly Offering[]) {
  const latest = offerings.map((offering) => offering.at(-1)!);
  return {
    offeredUsd: sum(latest.map((filing) => filing.offeredUsd)),
    soldUsd: sum(latest.map((filing) => filing.soldUsd)),
    remainingUsd: sum(latest.map((filing) => filing.remainingUsd)),
    isIndefinite: latest.some((filing) => filing.isIndefinite),
    firstSaleOn:
      offerings
        .flatMap((offering) => offering.flatMap(({ firstSaleOn }) => firstSaleOn ?? []))
        .sort()[0] ?? null,
  };
}

/**
 * Returns the date of a filing. One that no header and no index dates has the year of its accession number, which is
 * that of its submission.
 */
export function filedOn({
  filedOn: date,
  accession,
}: Pick<FormD, "filedOn" | "accession">): string {
  if (date !== null) return date;
  const year = Number(accession.split("-")[1]);
  return String(year < 93 ? 2000 + year : 1900 + year);
}

/** Returns the address of a filing's document. */
export const filingUrl = ({ issuers, accession }: FormD): string =>
  `https://www.sec.gov/Archives/edgar/data/${Number(issuers[0]!.cik)}/${accession.replaceAll("-", "")}/primary_doc.xml`;

/** Returns the address of an adviser's public page. */
export const adviserUrl = (crd: string): string =>
  `https://adviserinfo.sec.gov/firm/summary/${crd}`;

const wholeDollars = new Intl.NumberFormat("en-US");

/** Returns a filing as the document that evidence is from. */
export const formOf = (filing: FormD): EvidenceDocument => ({
  form: `Form ${filing.type}`,
  number: filing.accession,
  filer: filing.issuers[0]!.name,
  filed_on: filing.filedOn,
  url: filingUrl(filing),
});

export const adviserFormOf = (filing: AdviserFiling): EvidenceDocument => ({
  form: "Form ADV",
  number: filing.filingId,
  filer: filing.legalName,
  filed_on: filing.filedOn,
  url: adviserUrl(filing.crd),
});

/** Returns an amount as texts show it, such as `$12.5m`. */
export function money(usd: number): string {
  const [divisor, unit] =
    Math.abs(usd) >= 999_950_000 ? [1e9, "bn"] : Math.abs(usd) >= 999_950 ? [1e6, "m"] : [1, ""];
  const amount = usd / divisor;
  return `${usd < 0 ? "-" : ""}$${
    unit === "" ? wholeDollars.format(Math.abs(amount)) : Math.abs(amount).toFixed(1) + unit
  }`;
}
