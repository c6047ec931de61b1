/** Makes canonical records of resolved sponsors: GPs with their principals, and signals and projects with their GPs. */
import type { AdviserFiling, AdviserFund, Filings, FormD, Place } from "#filings/rows.ts";
import type {
  CanonicalGp,
  CanonicalPrincipal,
  CanonicalProject,
  CanonicalRecord,
  CanonicalSignal,
  SourceEntry,
} from "#records/canonical.ts";
import type { Provenance } from "#records/common.ts";
import { fold } from "#records/fold.ts";
import { type Fund, fundsMax, largestFirst } from "#records/gp.ts";
import { firmKey, readable } from "./names.ts";
import { adviserUrl, filingUrl, offeringsOf, totalsOf } from "./offerings.ts";
import { principalsOf } from "./people.ts";
import { gpEvidence, principalEvidence, projectEvidence } from "./proof.ts";
import type { Resolution, ResolvedGp, ResolveOptions, Vehicle } from "./resolve.ts";
import { adviserSignals, offeringSignals, type Signal } from "./signals.ts";
import { sizeBand, subjectsOf, tagsOf } from "./subjects.ts";

const textLengthMax = 500;

const cut = (text: string) =>
  text.length <= textLengthMax
    ? text
    : `${text.slice(0, textLengthMax - 1).replace(/[\ud800-\udbff]$|\s+$/, "")}…`;

const once = <T>(values: readonly T[]): T[] => [...new Set(values)];

type FiledVehicle = Vehicle<FormD>;
type FiledGp = ResolvedGp<FormD>;

/** Yields an entry for each record: GPs with their principals first, then what their vehicles report. */
export function* recordsOf(
  filings: Filings,
  resolution: Resolution,
  options: ResolveOptions,
): Iterable<SourceEntry> {
  const filed = (vehicle: Vehicle): FiledVehicle => ({
    ...vehicle,
    filings: filings.formDOf(vehicle.filings.map(({ accession }) => accession)),
  });
  for (const gp of resolution.gps) {
    const advisers = gp.crds.flatMap((crd) => filings.adviserFilingsOf(crd));
    const whole = { ...gp, vehicles: gp.vehicles.map(filed) };
    yield* gpEntries(whole, advisers, filings, resolution.unmet, options);
  }
  for (const vehicle of resolution.vehicles)
    yield* vehicleEntries(filed(vehicle), filings, resolution, options);
}

const entryOf = (
  record: CanonicalRecord,
  { file, line }: FormD["origin"],
  { claims, ...rest }: Pick<SourceEntry, "claims" | "evidence"> = {},
): SourceEntry => ({
  ...(claims && { claims: claims.filter((key) => key !== record.id) }),
  ...rest,
  file,
  line,
  records: [record],
  namedGps: [],
  faults: [],
});

function* gpEntries(
  gp: FiledGp,
  advisers: readonly AdviserFiling[],
  filings: Filings,
  unmet: Resolution["unmet"],
  { publicId }: ResolveOptions,
): Iterable<SourceEntry> {
  const { origin } = advisers.at(-1) ?? gp.vehicles[0]!.filings.at(-1)!;
  const claims = [
    ...gp.crds.map((crd) => `crd:${crd}`),
    ...gp.vehicles.map(({ cik }) => `cik:${cik}`),
  ];
  const ids = new Set([...claims, ...claims.map((key) => publicId("gp", key))]);
  const renames = filings.corrections.filter((one) => one.kind === "is" && ids.has(one.gp));
  const evidence = gpEvidence(gp, advisers, renames);
  yield entryOf(gpRecord(gp, advisers, filings), origin, { claims, evidence });
  const principals = principalsOf(gp, advisers, {
    corrections: filings.corrections,
    unmet,
    publicId: (key) => publicId("principal", key),
  });
  for (const { principal, claims: keys, mentions, corrected } of principals) {
    const { title, ...rest } = principal;
    const record: CanonicalPrincipal = {
      record: "principal",
      ...rest,
      ...(title && { title: cut(title) }),
      gps: [gp.key],
    };
    const proof = principalEvidence(mentions, corrected);
    yield entryOf(record, origin, { claims: keys, evidence: proof });
  }
  for (const [, filed] of Map.groupBy(advisers, ({ crd }) => crd))
    for (const signal of adviserSignals(filed)) {
      const provenance = { basis: "stated" as const, confidence: 1, url: signal.url ?? null };
      yield signalEntry(signal, { gps: [gp.key], provenance });
    }
}

function gpRecord(
  gp: FiledGp,
  advisers: readonly AdviserFiling[],
  { geography }: Filings,
): CanonicalGp {
  const latest = advisers.at(-1);
  const forms = gp.vehicles.flatMap((vehicle) => vehicle.filings);
  const place = latest?.place ?? mostFrequentPlace(forms);
  const market = place && geography.marketOf(place);
  const vehicleMarkets = gp.vehicles.flatMap((vehicle) => marketOf(vehicle, geography) ?? []);
  const reported = latest?.funds ?? [];
  const findFund = fundFinder(reported);
  const funds = fundsOf(gp, latest, findFund);
  const names = [...gp.vehicles.map(nameOf), ...reported.map(({ name }) => name), gp.name];
  const raised = gp.vehicles.filter(
    (vehicle) => !vehicle.isAccommodation && !isFeeder(findFund(vehicle), reported),
  );
  const { soldUsd } = totalsOf(raised.flatMap((vehicle) => offeringsOf(vehicle.filings)));
  const aliases = once(
    [
      latest?.businessName,
      ...(latest?.otherNames ?? []),
      ...gp.vehicles.map((vehicle) => vehicle.link!.evidence.firm),
    ].flatMap((name) => (name ? readable(name) : [])),
  ).filter((name) => fold(name) !== fold(gp.name) && firmKey(name) !== firmKey(gp.legalName ?? ""));
  return {
    record: "gp",
    id: gp.key,
    name: cut(gp.name),
    ...(gp.legalName && { legal_name: cut(readable(gp.legalName)) }),
    aliases: aliases.sort().map(cut),
    ...(place?.city && { hq_city: readable(place.city) }),
    ...(place?.state && { hq_state: place.state }),
    ...(place?.country && { hq_country: place.country }),
    ...(latest?.aumUsd !== undefined &&
      latest.aumUsd !== null && { aum_usd: latest.aumUsd, aum_as_of: latest.filedOn }),
    ...(soldUsd !== null && { raised_to_date_usd: soldUsd }),
    ...subjectsOf(names),
    tags: [
      ...tagsOf(forms),
      ...(gp.vehicles.length === 1 && latest === undefined ? ["first_time_filer"] : []),
      ...(gp.vehicles.length >= serialVehicles ? ["serial_filer"] : []),
      ...(latest === undefined ? [] : [advised(latest)]),
      ...(latest?.aumUsd ? [sizeBand(latest.aumUsd)] : []),
    ],
    markets: once([...(market ? [market] : []), ...vehicleMarkets.sort()]),
    external_ids: {
      ...some("cik", [...(latest?.ciks ?? []), ...gp.vehicles.flatMap(ciksOf)]),
      ...some("crd", gp.crds),
      ...some("lei", latest?.lei ? [latest.lei] : []),
      ...some("sec_number", latest?.secNumber ? [latest.secNumber] : []),
      ...some("form_d_file", fileNumbers(forms)),
      ...some(
        "adv_fund",
        reported.flatMap(({ fundId }) => fundId ?? []),
      ),
    },
    funds: funds.slice(0, fundsMax),
    funds_total: funds.length,
    provenance: provenanceOf(gp, latest),
  };
}

/** Number of vehicles from which on a GP is called a serial filer. */
const serialVehicles = 5;

const advised = ({ isExempt }: AdviserFiling) =>
  isExempt ? "exempt_reporting_adviser" : "registered_adviser";

const some = (key: string, values: readonly string[]) =>
  values.length === 0 ? {} : { [key]: once(values).sort() };

const fileNumbers = (forms: readonly FormD[]) =>
  forms.flatMap(({ fileNumber }) => fileNumber ?? []);
const ciksOf = ({ filings }: FiledVehicle) =>
  filings.flatMap(({ issuers }) => issuers.map(({ cik }) => cik));

/** Returns a function that finds the fund that an adviser reports for a vehicle, by file number or else by name. */
function fundFinder(funds: readonly AdviserFund[]) {
  const byName = Map.groupBy(funds, ({ name }) => fold(name));
  const offered = funds.flatMap((fund) => fund.formDFiles.map((file) => ({ file, fund })));
  const byFile = Map.groupBy(offered, ({ file }) => file);
  return (vehicle: FiledVehicle): AdviserFund | undefined => {
    const named = byName.get(fold(issuerName(vehicle))) ?? [];
    const filed = fileNumbers(vehicle.filings).flatMap((file) =>
      (byFile.get(file) ?? []).map(({ fund }) => fund),
    );
    return filed.find((fund) => named.includes(fund)) ?? filed[0] ?? named[0];
  };
}

type FindFund = ReturnType<typeof fundFinder>;

/** Returns the funds that an adviser reports, with what their notices say, and the other funds of a GP's notices. */
function fundsOf(gp: FiledGp, adviser: AdviserFiling | undefined, findFund: FindFund): Fund[] {
  const vehicles = gp.vehicles.filter(({ kind }) => kind === "fund");
  const offered = Map.groupBy(vehicles, (vehicle) => findFund(vehicle) ?? vehicle);
  const all = new Set([...(adviser?.funds ?? []), ...offered.keys()]);
  const funds = Array.from(all, (one): Fund => {
    const fund = "fundId" in one ? one : undefined;
    const issued = offered.get(one) ?? [];
    const forms = issued.flatMap(({ filings }) => filings);
    const { offeredUsd, soldUsd, firstSaleOn } = totalsOf(
      issued.flatMap((vehicle) => (vehicle.isAccommodation ? [] : offeringsOf(vehicle.filings))),
    );
    const type = fund?.type ?? fund?.typeOther ?? forms.at(-1)?.fundType ?? forms.at(-1)?.industry;
    const grossAssets = fund?.grossAssetsUsd ?? null;
    return {
      name: cut(readable(fund?.name ?? issuerName(issued[0]!))),
      type: type ? cut(type) : null,
      structure: fund?.isMaster ? "master" : fund?.isFeeder ? "feeder" : null,
      gross_assets_usd: grossAssets,
      as_of: grossAssets === null ? null : adviser!.filedOn,
      offered_usd: offeredUsd,
      sold_usd: soldUsd,
      first_sale_date: firstSaleOn,
      external_ids: {
        ...some(
          "cik",
          issued.map(({ cik }) => cik),
        ),
        ...some("form_d_file", [...(fund?.formDFiles ?? []), ...fileNumbers(forms)]),
        ...some("adv_fund", fund?.fundId ? [fund.fundId] : []),
      },
    };
  });
  return funds.filter(({ name }) => fold(name) !== "").sort(largestFirst);
}

/** Reports whether an adviser reports a vehicle as a feeder, whose master counts what it raised. */
function isFeeder(fund: AdviserFund | undefined, funds: readonly AdviserFund[]): boolean {
  return fund?.isFeeder === true && funds.some(({ fundId }) => fundId === fund.masterFundId);
}

function provenanceOf(gp: FiledGp, latest: AdviserFiling | undefined): Partial<Provenance> {
  if (gp.isRenamed) return { basis: "corrected", confidence: 1 };
  if (latest !== undefined) return { basis: "stated", confidence: 1, url: adviserUrl(latest.crd) };
  return linkProvenance(
    gp.vehicles.find(({ link }) => link?.evidence === gp.evidence) ?? gp.vehicles[0]!,
  );
}

/** Returns the provenance of a vehicle's link to its GP; what is named by nobody states only itself. */
function linkProvenance({ filings, link }: FiledVehicle): Provenance {
  const latest = filings.at(-1)!;
  const filing = filings.find(({ accession }) => accession === link?.evidence.document) ?? latest;
  const { basis, confidence } = link?.evidence ?? { basis: "stated", confidence: 1 };
  return { basis, confidence, url: filingUrl(filing) } as Provenance;
}

function mostFrequentPlace(forms: readonly FormD[]): Place | undefined {
  const places = forms.map(({ issuers }) => issuers[0]!.place);
  const key = ({ city, state, country }: Place) => JSON.stringify([city, state, country]);
  return [...Map.groupBy(places, key)].sort(
    ([a, some], [b, others]) => others.length - some.length || (a < b ? -1 : 1),
  )[0]?.[1][0];
}

const issuerName = ({ filings }: FiledVehicle) => filings.at(-1)!.issuers[0]!.name;

/** Returns an issuer's name without its legal form, in readable capitals. */
function nameOf(vehicle: FiledVehicle): string {
  const name = issuerName(vehicle);
  const words = name.split(/\s+/);
  while (words.length > 1 && firmKey(words.slice(0, -1).join(" ")) === firmKey(name)) words.pop();
  return readable(words.join(" ").replace(/[\s,]+$/, ""), name);
}

const marketOf = ({ filings }: FiledVehicle, geography: Filings["geography"]): string | null =>
  geography.marketOf(filings.at(-1)!.issuers[0]!.place);

function* vehicleEntries(
  vehicle: FiledVehicle,
  { geography }: Filings,
  { candidatesOf }: Resolution,
  { minConfidence }: ResolveOptions,
): Iterable<SourceEntry> {
  const { cik, filings, link, kind } = vehicle;
  const latest = filings.at(-1)!;
  const offerings = offeringsOf(filings);
  const provenance = linkProvenance(vehicle);
  const gps = link === null ? [] : [link.gp.key];
  const market = marketOf(vehicle, geography);
  const name = nameOf(vehicle);
  const subjects = subjectsOf([name]);
  const shared = { ...(market && { market }), gps, provenance };
  if (kind === "project") {
    const totals = totalsOf(offerings);
    const [property_type, ...others] = subjects.property_types;
    const record: CanonicalProject = {
      record: "project",
      id: `cik:${cik}`,
      name: cut(name),
      type: "property_offering",
      property_type:
        property_type === undefined
          ? latest.industry === "Residential"
            ? "residential_other"
            : "unknown"
          : others.length === 0
            ? property_type
            : "mixed_use",
      status: statusOf(totals),
      ...(market && { market_basis: "issuer_address" }),
      ...(!vehicle.isAccommodation && {
        ...(totals.offeredUsd !== null && { total_amount_usd: totals.offeredUsd }),
        ...(totals.soldUsd !== null && { raised_amount_usd: totals.soldUsd }),
        ...(totals.firstSaleOn !== null && { first_sale_date: totals.firstSaleOn }),
      }),
      ...(subjects.strategies[0] && { strategy: subjects.strategies[0] }),
      tags: tagsOf(filings),
      themes: subjects.themes,
      external_ids: {
        ...some("cik", ciksOf(vehicle)),
        ...some("form_d_file", fileNumbers(filings)),
      },
      ...shared,
    };
    const evidence = projectEvidence(vehicle, candidatesOf(filings), minConfidence);
    yield entryOf(record, latest.origin, { evidence });
  }
  if (vehicle.isAccommodation) return;
  for (const [i, offering] of offerings.entries())
    for (const signal of offeringSignals(offering, kind === "fund" && i === 0))
      yield signalEntry(signal, {
        ...shared,
        property_types: subjects.property_types,
        themes: subjects.themes,
        tags: tagsOf(offering),
        ...(kind === "project" && { project_ids: [`cik:${cik}`] }),
      });
}

function statusOf({
  remainingUsd,
  isIndefinite,
}: ReturnType<typeof totalsOf>): NonNullable<CanonicalProject["status"]> {
  if (remainingUsd === 0) return "closed";
  return remainingUsd !== null || isIndefinite ? "raising" : "unknown";
}

const signalEntry = (
  { origin, title, ...signal }: Signal,
  rest: Partial<CanonicalSignal>,
): SourceEntry => entryOf({ record: "signal", title: cut(title), ...signal, ...rest }, origin);
