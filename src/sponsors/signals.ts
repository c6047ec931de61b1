/** Tells what filings report as dated signals: notices of offerings, and what changed from one Form ADV to the next. */
import type { AdviserFiling, FormD } from "#filings/rows.ts";
import { fold } from "#records/fold.ts";
import type { CanonicalSignal } from "#records/canonical.ts";
import { isRealEstateFund, realEstateWord } from "./classify.ts";
import { readable } from "./names.ts";
import { adviserUrl, filedOn, filingUrl, money, type Offering } from "./offerings.ts";

type SignalType = NonNullable<CanonicalSignal["type"]>;

/** A signal without what follows from the vehicle or adviser that it is of. */
export type Signal = Pick<
  CanonicalSignal,
  "id" | "type" | "title" | "summary" | "date" | "amount_usd" | "amount_basis" | "url"
> & { origin: FormD["origin"] };

type Add = (type: SignalType, title: string, rest?: Partial<Signal>) => void;

const amountOf = (amount_usd: number | null, amount_basis: NonNullable<Signal["amount_basis"]>) =>
  amount_usd === null ? {} : { amount_usd, amount_basis };

/**
 * Returns the signals of an offering. A first sale, a full subscription and a general solicitation are told once.
 * @param isNewFund true if this is the first offering of a fund.
 */
export function offeringSignals(offering: Offering, isNewFund: boolean): Signal[] {
  const signals: Signal[] = [];
  const told = new Set<string>();
  let previous: FormD | undefined;
  for (const filing of offering) {
    const name = readable(filing.issuers[0]!.name);
    const source = { date: filedOn(filing), url: filingUrl(filing), origin: filing.origin };
    const add: Add = (type, title, rest) =>
      signals.push({ id: `${type}:${filing.accession}`, type, title, ...source, ...rest });
    const once = (type: SignalType, holds: boolean, title: string, rest?: Partial<Signal>) => {
      if (holds && !told.has(type)) add(type, title, rest);
      if (holds) told.add(type);
    };
    if (filing.type === "D") {
      const size =
        filing.offeredUsd === null
          ? filing.isIndefinite
            ? "an indefinite amount"
            : "securities"
          : money(filing.offeredUsd);
      const amount = amountOf(filing.offeredUsd, "offering_total");
      if (isNewFund && previous === undefined)
        add("new_vehicle", `${name}, a new fund, reported an offering of ${size}`, amount);
      else add("new_offering", `${name} reported an offering of ${size}`, amount);
    } else {
      const [before, now] = [previous?.soldUsd ?? null, filing.soldUsd];
      if (now !== null && before !== null && now > before) {
        const summary = `${money(before)} → ${money(now)} reported sold`;
        const amount = amountOf(now - before, "sold_delta");
        add("capital_raised", `${name}: ${summary}`, { summary, ...amount });
      } else add("offering_amended", `${name} amended the notice of its offering`);
    }
    once(
      "first_sale",
      filing.firstSaleOn !== null,
      `${name} reported its first sale${filing.firstSaleOn === null ? "" : `, on ${filing.firstSaleOn}`}`,
    );
    once(
      "fully_subscribed",
      filing.remainingUsd === 0 && (filing.offeredUsd ?? 0) > 0,
      `${name} reported its whole offering as sold`,
      amountOf(filing.soldUsd, "sold_to_date"),
    );
    once(
      "general_solicitation",
      filing.exemptions.includes("06c"),
      `${name} offers to the public under Rule 506(c)`,
    );
    previous = filing;
  }
  return signals;
}

/** Smallest change of assets under management that is a signal, as a share. */
const aumChangeMin = 0.01;

/** Returns the signals of an adviser's filings, oldest first: what each reports that the one before did not. */
export function adviserSignals(filings: readonly AdviserFiling[]): Signal[] {
  const signals: Signal[] = [];
  const funds = new Set<string>();
  const owners = new Set<string>();
  let previous: AdviserFiling | undefined;
  for (const filing of filings) {
    const name = readable(filing.businessName ?? filing.legalName);
    const source = { date: filing.filedOn, url: adviserUrl(filing.crd), origin: filing.origin };
    const add = (type: SignalType, subject: string, title: string, rest: Partial<Signal> = {}) =>
      signals.push({
        id: [type, filing.filingId, subject].filter(Boolean).join(":"),
        type,
        title,
        ...source,
        ...rest,
      });
    const [before, now] = [previous?.aumUsd ?? null, filing.aumUsd];
    if (before !== null && now !== null && Math.abs(now - before) >= aumChangeMin * before) {
      const summary = `${money(before)} → ${money(now)} of regulatory assets under management`;
      add("aum_change", "", `${name}: ${summary}`, {
        summary,
        ...amountOf(now - before, "regulatory_aum"),
      });
    }
    for (const fund of filing.funds) {
      const key = fund.fundId ?? fold(fund.name);
      const isRealEstate = isRealEstateFund(fund) || realEstateWord(fund.name) !== null;
      if (previous !== undefined && isRealEstate && !funds.has(key))
        add("fund_reported", key, `${name} reported the fund ${readable(fund.name)}`, {
          ...amountOf(fund.grossAssetsUsd, "gross_assets"),
        });
      funds.add(key);
    }
    for (const owner of filing.owners.filter(({ isPerson }) => isPerson)) {
      const key = owner.crd ?? fold(owner.name);
      if (previous !== undefined && !owners.has(key))
        add(
          "new_principal",
          key,
          `${name} named ${readable(naturalOrder(owner.name))} in its Form ADV`,
          owner.title === null ? {} : { summary: readable(owner.title) },
        );
      owners.add(key);
    }
    previous = filing;
  }
  return signals;
}

/** Returns `LAST, FIRST, MIDDLE` as `FIRST MIDDLE LAST`. */
function naturalOrder(name: string): string {
  const [last = "", ...others] = name.split(",").map((part) => part.trim());
  return [...others.filter(Boolean), last].join(" ");
}
