/** Makes canonical records of resolved sponsors, each with its evidence: GPs, principals, signals and projects. */
import type { Correction } from "#filings/corrections.ts";
import type {
  AdviserFiling,
  AdviserFund,
  Filings,
  Firm,
  FormD,
  Place,
  RowOrigin,
} from "#filings/rows.ts";
import type {
  CanonicalGp,
  CanonicalProject,
  CanonicalRecord,
  CanonicalSignal,
  Evidence,
  SourceEntry,
} from "#records/canonical.ts";
import type { ExternalIds, Provenance } from "#records/common.ts";
import { cut } from "#records/fields.ts";
import { fold } from "#records/fold.ts";
import { type Fund, fundsMax, largestFirst } from "#records/gp.ts";
import { sizeBand, subjectsOf, tagsOf } from "./classify.ts";
import { type Candidate, correctionOf, evidenceOf, stated, statementOf } from "./evidence.ts";
import { entityOf, firmKey, mostFrequent, readable } from "./names.ts";
import {
  adviserFormOf,
  adviserSignals,
  formOf,
  offeringSignals,
  offeringsOf,
  type Signal,
  totalsOf,
} from "./offerings.ts";
import { principalsOf } from "./people.ts";
import type { Resolution, ResolveOptions } from "./resolve.ts";
import type { ResolvedGp, Vehicle } from "./vehicles.ts";

type FiledVehicle = Vehicle<FormD>;
type FiledGp = ResolvedGp<FormD>;

/** Yields each record's entry: GPs with their principals and Form ADV signals, then vehicles' projects and signals. */
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
    const advisers = gp.crds.flatMap((crd) => filings.adviserFilingsOf(crd)).sort(byDate);
    const whole = { ...gp, vehicles: gp.vehicles.map(filed) };
    yield* gpEntries(whole, advisers, filings, resolution, options);
  }
  for (const vehicle of resolution.vehicles)
    yield* vehicleEntries(filed(vehicle), filings, resolution, options);
}

const byDate = (one: AdviserFiling | Firm, other: AdviserFiling | Firm) =>
  Number(one.filedOn > other.filedOn) - Number(one.filedOn < other.filedOn);
const newestFirst = (one: AdviserFiling | Firm, other: AdviserFiling | Firm) => byDate(other, one);

const entryOf = (
  record: CanonicalRecord,
  { file, line }: RowOrigin,
  rest: Pick<SourceEntry, "claims" | "evidence"> = {},
): SourceEntry => ({ ...rest, file, line, records: [record], namedGps: [], faults: [] });

function* gpEntries(
  gp: FiledGp,
  advisers: readonly AdviserFiling[],
  { corrections, geography, firmOf }: Filings,
  { unmet }: Resolution,
  { publicId }: ResolveOptions,
): Iterable<SourceEntry> {
  const { origin } = advisers.at(-1) ?? gp.vehicles[0]!.filings.at(-1)!;
  const keys = [
    ...gp.crds.map((crd) => `crd:${crd}`),
    ...gp.vehicles.map(({ cik }) => `cik:${cik}`),
  ];
  const ids = new Set([...keys, ...keys.map((key) => publicId("gp", key))]);
  const isOwn = (one: Correction) =>
    one.kind === "same"
      ? one.gps.every((id) => ids.has(id))
      : (one.kind === "is" || one.kind === "apart") && ids.has(one.gp);
  const met = corrections.filter((one) => isOwn(one) && !unmet.has(one));
  const firms = gp.crds.flatMap((crd) => firmOf(crd) ?? []);
  const evidence = gpEvidence(gp, advisers, firms, met);
  const claims = keys.filter((key) => key !== gp.key);
  const byCrd = Map.groupBy(advisers, ({ crd }) => crd);
  const latest = Array.from(byCrd.values(), (filed) => filed.at(-1)!).sort(newestFirst);
  yield entryOf(gpRecord(gp, latest, firms, geography), origin, { claims, evidence });
  const personId = (key: string) => publicId("principal", key);
  for (const { principal, ...rest } of principalsOf(gp, advisers, corrections, unmet, personId))
    yield entryOf(principal, origin, rest);
  for (const filed of byCrd.values())
    for (const signal of adviserSignals(filed)) {
      const provenance = { basis: "stated" as const, confidence: 1, url: signal.url ?? null };
      yield signalEntry(signal, { gps: [gp.key], provenance });
    }
}

/** Makes the record of a GP. @param latest last Form ADV under each of its CRD numbers, newest first. */
function gpRecord(
  gp: FiledGp,
  latest: readonly AdviserFiling[],
  firms: readonly Firm[],
  geography: Filings["geography"],
): CanonicalGp {
  const { vehicles, legalName } = gp;
  // The newest statement counts. Older ones fill in what it leaves out.
  const said = [...latest, ...firms].sort(newestFirst);
  const sized = said.find(({ aumUsd }) => aumUsd !== null);
  const placed = said.find((one) => one.place.city !== null) ?? said[0];
  const forms = vehicles.flatMap(({ filings }) => filings);
  const places = forms.map(({ issuers }) => issuers[0]!.place);
  const placeKey = ({ city, state, country }: Place) => JSON.stringify([city, state, country]);
  const place = placed?.place ?? mostFrequent(places, placeKey);
  const markets = vehicles.map((vehicle) => marketOf(vehicle, geography) ?? "").sort();
  const reported = fundsIn(latest);
  const findFund = fundFinder(reported);
  const funds = fundsOf(gp, reported, findFund);
  const names = [...vehicles.map(({ name }) => name), ...reported.map(({ name }) => name), gp.name];
  const counted = vehicles.filter(
    (vehicle) => !vehicle.isAccommodation && !isFeeder(findFund(vehicle), reported),
  );
  const { soldUsd } = totalsOf(counted.flatMap(({ filings }) => offeringsOf(filings)));
  const aumUsd = sized?.aumUsd ?? null;
  const aliases = [
    ...said.flatMap((one) => [one.businessName ?? "", one.legalName, ...one.otherNames]),
    ...vehicles.map((vehicle) => vehicle.link!.evidence.firm),
  ].filter(
    (name) =>
      !["", fold(gp.name)].includes(fold(name)) && firmKey(name) !== firmKey(legalName ?? ""),
  );
  return {
    record: "gp",
    id: gp.key,
    name: cut(gp.name),
    legal_name: legalName && cut(readable(legalName)),
    website: firms.flatMap(({ website }) => website ?? [])[0] ?? null,
    aliases: known(aliases.map((name) => cut(readable(name)))).sort(),
    hq_city: place.city && cut(place.city, 200),
    hq_state: place.state,
    hq_country: place.country,
    aum_usd: aumUsd,
    aum_as_of: sized?.filedOn ?? null,
    raised_to_date_usd: soldUsd,
    ...subjectsOf(names),
    tags: [
      ...tagsOf(forms),
      ...(vehicles.length >= serialVehicles ? ["serial_filer"] : []),
      ...said
        .slice(0, 1)
        .map(({ isExempt }) => (isExempt ? "exempt_reporting_adviser" : "registered_adviser")),
      ...(aumUsd ? [sizeBand(aumUsd)] : []),
    ],
    markets: known([geography.marketOf(place), ...markets]),
    external_ids: externalIds({
      cik: [...latest.flatMap(({ ciks }) => ciks), ...vehicles.flatMap(ciksOf)],
      crd: gp.crds,
      lei: latest.map(({ lei }) => lei),
      sec_number: said.map(({ secNumber }) => secNumber),
      form_d_file: fileNumbers(forms),
      adv_fund: reported.map(({ fundId }) => fundId),
    }),
    funds: funds.slice(0, fundsMax),
    funds_total: funds.length,
    provenance: provenanceOf(gp, said[0]),
  };
}

const serialVehicles = 5;

type Texts = readonly (string | null | undefined)[];

/** Returns the texts that are not empty, each once. */
const known = (texts: Texts): string[] => [...new Set(texts.flatMap((text) => text || []))];

/** Returns ids by register, sorted and each once. Leaves out registers without ids. */
const externalIds = (ids: Partial<Record<keyof ExternalIds, Texts>>): ExternalIds =>
  Object.fromEntries(
    Object.entries(ids)
      .map(([register, some]) => [register, known(some).sort()] as const)
      .filter(([, some]) => some.length > 0),
  );

const fileNumbers = (forms: readonly FormD[]) =>
  forms.flatMap(({ fileNumber }) => fileNumber ?? []);
const ciksOf = ({ filings }: FiledVehicle) =>
  filings.flatMap(({ issuers }) => issuers.map(({ cik }) => cik));

type ReportedFund = AdviserFund & Pick<AdviserFiling, "filedOn">;

/** Returns the funds in Form ADV filings, each from the first filing that reports it. */
function fundsIn(forms: readonly AdviserFiling[]): ReportedFund[] {
  const formOfFund = new Map<string, AdviserFiling>();
  return forms.flatMap((form) =>
    form.funds
      .filter(({ fundId, name }) => formOfFund.getOrInsert(fundId ?? fold(name), form) === form)
      .map((fund) => ({ ...fund, filedOn: form.filedOn })),
  );
}

/** Returns a function that finds a vehicle's fund, if any, among reported funds, by file number or else by name. */
function fundFinder(funds: readonly ReportedFund[]) {
  const byName = Map.groupBy(funds, ({ name }) => fold(name));
  const offered = funds.flatMap((fund) => fund.formDFiles.map((file) => ({ file, fund })));
  const byFile = Map.groupBy(offered, ({ file }) => file);
  return (vehicle: FiledVehicle): ReportedFund | undefined => {
    const named = byName.get(fold(issuerName(vehicle))) ?? [];
    const filed = fileNumbers(vehicle.filings).flatMap((file) =>
      (byFile.get(file) ?? []).map(({ fund }) => fund),
    );
    return filed.find((fund) => named.includes(fund)) ?? filed[0] ?? named[0];
  };
}

type FindFund = ReturnType<typeof fundFinder>;

/** Returns a GP's funds, largest first: those in its Form ADV, with facts from notices, and others from notices. */
function fundsOf(gp: FiledGp, reported: readonly ReportedFund[], findFund: FindFund): Fund[] {
  const vehicles = gp.vehicles.filter(({ kind }) => kind === "fund");
  const offered = Map.groupBy(vehicles, (vehicle) => findFund(vehicle) ?? vehicle);
  const all = new Set([...reported, ...offered.keys()]);
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
      as_of: grossAssets === null ? null : fund!.filedOn,
      offered_usd: offeredUsd,
      sold_usd: soldUsd,
      first_sale_date: firstSaleOn,
      external_ids: externalIds({
        cik: issued.map(({ cik }) => cik),
        form_d_file: [...(fund?.formDFiles ?? []), ...fileNumbers(forms)],
        adv_fund: [fund?.fundId],
      }),
    };
  });
  return funds.filter(({ name }) => fold(name) !== "").sort(largestFirst);
}

/** Reports whether a fund is a feeder of a reported master, whose sales already include those of the feeder. */
const isFeeder = (fund: AdviserFund | undefined, funds: readonly AdviserFund[]): boolean =>
  fund?.isFeeder === true &&
  funds.some(({ fundId }) => fundId !== null && fundId === fund.masterFundId);

function provenanceOf(gp: FiledGp, latest: AdviserFiling | Firm | undefined): Partial<Provenance> {
  if (gp.isRenamed) return { basis: "corrected", confidence: 1 };
  if (latest !== undefined)
    return { basis: "stated", confidence: 1, url: adviserFormOf(latest).url };
  return linkProvenance(
    gp.vehicles.find(({ link }) => link?.evidence === gp.evidence) ?? gp.vehicles[0]!,
  );
}

/** Returns the provenance of a vehicle's link to its GP. Cites the latest filing as `stated` if there is no link. */
function linkProvenance(vehicle: FiledVehicle): Partial<Provenance> {
  const { filings, link } = vehicle;
  const filing = link === null ? undefined : filingOf(vehicle, link.evidence);
  const { basis, confidence } = link?.evidence ?? stated;
  return { basis, confidence, url: formOf(filing ?? filings.at(-1)!).url };
}

const issuerName = ({ filings }: FiledVehicle) => filings.at(-1)!.issuers[0]!.name;

const marketOf = ({ filings }: FiledVehicle, geography: Filings["geography"]): string | null =>
  geography.marketOf(filings.at(-1)!.issuers[0]!.place);

function* vehicleEntries(
  vehicle: FiledVehicle,
  { geography }: Filings,
  { candidatesOf }: Resolution,
  { minConfidence }: ResolveOptions,
): Iterable<SourceEntry> {
  const { cik, name, filings, link, kind } = vehicle;
  const offerings = offeringsOf(filings);
  const market = marketOf(vehicle, geography);
  const subjects = subjectsOf([name]);
  const gps = link === null ? [] : [link.gp.key];
  const shared = { market, gps, provenance: linkProvenance(vehicle), themes: subjects.themes };
  if (kind === "project") {
    const latest = filings.at(-1)!;
    const totals = totalsOf(offerings);
    const record: CanonicalProject = {
      record: "project",
      id: `cik:${cik}`,
      name: cut(name),
      type: "property_offering",
      property_type: propertyTypeOf(subjects.property_types, latest),
      status: statusOf(totals),
      market_basis: market === null ? null : "issuer_address",
      total_amount_usd: totals.offeredUsd,
      raised_amount_usd: totals.soldUsd,
      first_sale_date: totals.firstSaleOn,
      strategy: subjects.strategies[0] ?? null,
      tags: tagsOf(filings),
      external_ids: externalIds({ cik: ciksOf(vehicle), form_d_file: fileNumbers(filings) }),
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
        tags: tagsOf(offering),
        project_ids: kind === "project" ? [`cik:${cik}`] : [],
      });
}

type PropertyType = NonNullable<CanonicalProject["property_type"]>;

function propertyTypeOf([type, other]: readonly PropertyType[], { industry }: FormD): PropertyType {
  if (other !== undefined) return "mixed_use";
  return type ?? (industry === "Residential" ? "residential_other" : "unknown");
}

const statusOf = ({ isSoldOut, hasRest }: ReturnType<typeof totalsOf>) =>
  isSoldOut ? "closed" : hasRest ? "raising" : "unknown";

const signalEntry = (
  { origin, title, ...signal }: Signal,
  rest: Partial<CanonicalSignal>,
): SourceEntry => entryOf({ record: "signal", title: cut(title), ...signal, ...rest }, origin);

const filingOf = ({ filings }: FiledVehicle, { document }: Candidate): FormD | undefined =>
  filings.find(({ accession }) => accession === document);

const bestFirst = (one: Evidence, other: Evidence) =>
  other.is_taken - one.is_taken || other.confidence - one.confidence;

/** Returns the firms proposed as a project's sponsor. Adds the persons of the latest filing if there is no GP. */
function projectEvidence(
  vehicle: FiledVehicle,
  candidates: readonly Candidate[],
  minConfidence: number,
): Evidence[] {
  const { link, filings } = vehicle;
  const all = [...(link === null ? [] : [link.evidence]), ...candidates];
  const said = ({ basis, field, text, stem }: Candidate) => [basis, field, text, stem].join("\n");
  const rows = [...Map.groupBy(all, said).values()].map(([one, ...others]): Evidence => {
    const row = evidenceOf(one!, filingOf(vehicle, one!), others);
    if (!one!.isTaken || one!.stem === link?.evidence.stem) return row;
    const weak = `a link to a GP needs a confidence of ${minConfidence}`;
    const why = link === null ? weak : "better evidence names another firm";
    return { ...row, is_taken: 0, why };
  });
  const latest = filings.at(-1)!;
  const persons = latest.persons.filter((one) => link === null && entityOf(one) === null);
  const named = persons.map((person): Evidence => {
    const { field, text } = statementOf(person);
    const why = "a person is not a sponsor";
    return { ...formOf(latest), ...stated, field, text, is_taken: 0, why };
  });
  return [...rows.sort(bestFirst), ...named];
}

/** Returns the evidence for a GP: corrections, its Form ADV, facts from the feed of firms, and its vehicles' links. */
function gpEvidence(
  { vehicles }: FiledGp,
  advisers: readonly AdviserFiling[],
  firms: readonly Firm[],
  corrections: readonly Correction[],
): Evidence[] {
  const [latest, ...older] = advisers.toReversed();
  const others = older.map(({ filingId }) => filingId);
  const named = latest && { field: "1A", text: latest.legalName, firm: latest.legalName };
  const why = "the adviser says so itself";
  const fed = firms.flatMap((firm) => {
    const { legalName, aumUsd, website } = firm;
    const isNewer = latest === undefined || byDate(firm, latest) > 0;
    const told = { ...(isNewer && { LegalNm: legalName, Q5F2C: aumUsd }), WebAddr: website };
    const quoted = Object.entries(told).filter(([, value]) => value !== null);
    const field = quoted.map(([name]) => name).join(", ");
    const text = quoted.map(([, value]) => value).join("; ");
    return field === "" ? [] : [{ ...adviserFormOf(firm), ...stated, field, text, why }];
  });
  const links = vehicles.map((vehicle) => [vehicle, vehicle.link!.evidence] as const);
  return [
    ...corrections.map((one) => evidenceOf(correctionOf(one))),
    ...(named ? [{ ...adviserFormOf(latest), ...stated, ...named, why, others }] : []),
    ...fed,
    ...links.map(([vehicle, one]) => evidenceOf(one, filingOf(vehicle, one))).sort(bestFirst),
  ];
}
