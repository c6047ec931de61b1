/** Derives offerings and their totals from filings, and signals from what is new in each filing. */
import type { AdviserFiling, Firm, FormD } from "#filings/rows.ts";
import type { CanonicalSignal, EvidenceDocument } from "#records/canonical.ts";
import { cut } from "#records/fields.ts";
import { fold } from "#records/fold.ts";
import { isRealEstateFund, realEstateWord } from "./classify.ts";
import { ownerName, readable, shortKey } from "./names.ts";

/** Returns the date of a filing, or else the year in its accession number, which is the year of submission. */
export function filedOn({ filedOn: date, accession }: Pick<FormD, "filedOn" | "accession">) {
  if (date !== null) return date;
  const year = Number(accession.split("-")[1]);
  return String(year < 93 ? 2000 + year : 1900 + year);
}

/** Returns a filing as a document that evidence cites. */
export const formOf = (filing: FormD) =>
  ({
    form: `Form ${filing.type}`,
    number: filing.accession,
    filer: filing.issuers[0]!.name,
    filed_on: filing.filedOn,
    url: `https://www.sec.gov/Archives/edgar/data/${Number(filing.issuers[0]!.cik)}/${filing.accession.replaceAll("-", "")}/primary_doc.xml`,
  }) satisfies EvidenceDocument;

export const adviserFormOf = (filing: AdviserFiling | Firm) =>
  ({
    form: "website" in filing ? "Firm feed" : "Form ADV",
    number: filing.filingId,
    filer: filing.legalName,
    filed_on: filing.filedOn,
    url: `https://adviserinfo.sec.gov/firm/summary/${filing.crd}`,
  }) satisfies EvidenceDocument;

/** Notices of one offering, oldest first. Never empty. */
type Offering = readonly FormD[];

/** Groups a vehicle's filings, given oldest first, by file number, or else by previous accession number. */
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

/** Returns a sum; null if there is no amount, one is unknown, or the sum is not exact. */
const sum = (amounts: readonly (number | null)[]): number | null => {
  const total = amounts.reduce<number>((all, amount) => all + (amount ?? NaN), 0);
  return amounts.length > 0 && Number.isSafeInteger(total) ? total : null;
};

/** Adds up the amounts in offerings' latest notices, and finds the first sale. Unknown amounts sold count as none. */
export function totalsOf(offerings: readonly Offering[]) {
  const latest = offerings.map((offering) => offering.at(-1)!);
  return {
    offeredUsd: sum(latest.map(({ offeredUsd }) => offeredUsd)),
    soldUsd: sum(latest.flatMap(({ soldUsd }) => soldUsd ?? [])),
    isSoldOut: latest.every(({ remainingUsd }) => remainingUsd === 0),
    hasRest: latest.some(({ isIndefinite, remainingUsd }) => remainingUsd ?? isIndefinite),
    firstSaleOn:
      offerings
        .flatMap((offering) => offering.flatMap(({ firstSaleOn }) => firstSaleOn ?? []))
        .sort()[0] ?? null,
  };
}

const wholeDollars = new Intl.NumberFormat("en-US");

/** Formats an amount for a text, such as `$12.5m`. */
function money(usd: number): string {
  if (usd < 999_950) return `$${wholeDollars.format(usd)}`;
  const [divisor, unit] = usd < 999_950_000 ? [1e6, "m"] : [1e9, "bn"];
  return `$${(usd / divisor).toFixed(1)}${unit}`;
}

type SignalType = NonNullable<CanonicalSignal["type"]>;

/** A signal without the members that its vehicle or adviser determines. */
export type Signal = Pick<
  CanonicalSignal,
  "id" | "type" | "title" | "summary" | "date" | "amount_usd" | "amount_basis" | "url"
> & { origin: FormD["origin"] };

const amountOf = (amount_usd: number | null, amount_basis: NonNullable<Signal["amount_basis"]>) =>
  amount_usd === null ? {} : { amount_usd, amount_basis };

/**
 * Returns an offering's signals. Reports what happens once only once, and no first sale if the notice of it is missing.
 * @param isNewFund true if this is the first offering of a fund.
 */
export function offeringSignals(offering: Offering, isNewFund: boolean): Signal[] {
  const signals: Signal[] = [];
  const told = new Set<SignalType>();
  let previous: FormD | undefined;
  for (const filing of offering) {
    const { type, accession, origin, offeredUsd, soldUsd, remainingUsd, firstSaleOn } = filing;
    const name = readable(filing.issuers[0]!.name);
    const source = { date: filedOn(filing), url: formOf(filing).url, origin };
    const add = (type: SignalType, title: string, rest: Partial<Signal> = {}) =>
      signals.push({ id: `${type}:${accession}`, type, title, ...source, ...rest });
    const addOnce = (type: SignalType, holds: boolean, title: string, rest?: Partial<Signal>) => {
      if (holds && !told.has(type)) add(type, title, rest);
      if (holds) told.add(type);
    };
    if (type === "D") {
      const unknown = filing.isIndefinite ? "an indefinite amount" : "securities";
      const size = offeredUsd === null ? unknown : money(offeredUsd);
      const amount = amountOf(offeredUsd, "offering_total");
      // A fund that sold its first interests more than a year ago is not new.
      const aYearOn = firstSaleOn?.replace(/^\d+/, (year) => String(Number(year) + 1)) ?? "9";
      if (isNewFund && previous === undefined && aYearOn > source.date)
        add("new_vehicle", `${name}, a new fund, reported an offering of ${size}`, amount);
      else add("new_offering", `${name} reported an offering of ${size}`, amount);
    } else {
      const before = previous?.soldUsd ?? null;
      if (soldUsd !== null && before !== null && soldUsd > before) {
        const summary = `${money(before)} → ${money(soldUsd)} reported sold`;
        const amount = amountOf(soldUsd - before, "sold_delta");
        add("capital_raised", `${name}: ${summary}`, { summary, ...amount });
      } else add("offering_amended", `${name} amended the notice of its offering`);
    }
    addOnce(
      "first_sale",
      firstSaleOn !== null && (previous ? previous.firstSaleOn === null : type === "D"),
      `${name} reported its first sale, on ${firstSaleOn}`,
    );
    addOnce(
      "fully_subscribed",
      remainingUsd === 0 && (offeredUsd ?? 0) > 0,
      `${name} reported its whole offering as sold`,
      amountOf(soldUsd, "sold_to_date"),
    );
    addOnce(
      "general_solicitation",
      filing.exemptions.includes("06c"),
      `${name} offers to the public under Rule 506(c)`,
    );
    previous = filing;
  }
  return signals;
}

/** Fraction of the earlier assets under management that a change must exceed to make a signal. */
const aumChangeMin = 0.01;

/** Returns an adviser's signals: changed assets, new real-estate funds, new principals. @param filings oldest first. */
export function adviserSignals(filings: readonly AdviserFiling[]): Signal[] {
  const signals: Signal[] = [];
  const known = new Set<string>();
  let previous: AdviserFiling | undefined;
  for (const filing of filings) {
    const { filingId, filedOn: date, origin, aumUsd: now } = filing;
    const name = readable(filing.businessName ?? filing.legalName);
    const source = { date, url: adviserFormOf(filing).url, origin };
    const add = (type: SignalType, subject: string[], title: string, rest: Partial<Signal>) =>
      signals.push({
        id: shortKey([type, filingId, ...subject].join(":")),
        type,
        title,
        ...source,
        ...rest,
      });
    /** Remembers a fund or person, and reports whether it is new. Nothing is new in an adviser's first filing. */
    const isNew = (type: SignalType, subject: string): boolean => {
      const isKnown = known.has(`${type} ${subject}`);
      known.add(`${type} ${subject}`);
      return !isKnown && previous !== undefined;
    };
    const before = previous?.aumUsd ?? null;
    if (before !== null && now !== null && Math.abs(now - before) > aumChangeMin * before) {
      const summary = `${money(before)} → ${money(now)} of regulatory assets under management`;
      const amount = amountOf(now - before, "regulatory_aum");
      add("aum_change", [], `${name}: ${summary}`, { summary, ...amount });
    }
    for (const fund of filing.funds) {
      const key = fund.fundId ?? fold(fund.name);
      const isRealEstate = isRealEstateFund(fund) || realEstateWord(fund.name) !== null;
      const amount = amountOf(fund.grossAssetsUsd, "gross_assets");
      if (isNew("fund_reported", key) && isRealEstate)
        add("fund_reported", [key], `${name} reported the fund ${readable(fund.name)}`, amount);
    }
    for (const owner of filing.owners.filter(({ isPerson }) => isPerson)) {
      const key = owner.crd ?? fold(owner.name);
      const { first, middle, last } = ownerName(owner);
      const person = readable([first, middle, last].filter(Boolean).join(" "));
      const title = owner.title === null ? {} : { summary: cut(readable(owner.title)) };
      // A filing may lack a person's CRD number that another gives.
      const isNewName = isNew("new_principal", `named ${fold(owner.name)}`);
      if (isNew("new_principal", key) && isNewName)
        add("new_principal", [key], `${name} named ${person} in its Form ADV`, title);
    }
    previous = filing;
  }
  return signals;
}
