/** The page of one project: its figures, its course, amounts that sources name, its signals and its neighbours. */
import {
  card,
  type Column,
  factsCard,
  figures,
  findRecords,
  type Found,
  gpLinks,
  listLinks,
  placeOf,
  projectCells,
  recordRoute,
  recordsCard,
  signalCells,
} from "#dashboard/components/record-page.ts";
import { cutText, day, percentText, place } from "#dashboard/components/records.ts";
import type { Route } from "#dashboard/screen.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { usMap } from "#pages/map.ts";
import { amountBars, milestones } from "#pages/plot.ts";
import { counted, dayText, grouped } from "#pages/prose.ts";
import { money, valueLabel } from "#pages/values.ts";
import type { Project } from "#records/project.ts";
import type { Signal } from "#records/signal.ts";
import { nameOfMarket } from "#search/market-spellings.ts";
import type { ReadModel } from "#search/read-model.ts";

export const projectRoutes: readonly Route[] = [recordRoute("project", showProject)];

async function showProject({ record: project, model, today }: Found<Project>) {
  const { id, market, gps } = project;
  const signals = await findRecords<Signal>(model, "signal", { project_id: [id] }, 20);
  const near = await neighbours(project, model);
  const miles: Column<(typeof near)[number]> = ["Miles", (one) => one.miles.toFixed(1), "number"];
  return {
    market,
    status: project.status,
    facts: [[kindOf(project), gps.length > 0 && [" by ", gpLinks(gps)]], addressOf(project, model)],
    top: keyFigures(project, signals.records, today),
    left: [
      course(project, signals.records, today),
      amounts(project, signals.records),
      recordsCard({ layout: "signals", list: signals, columns: signalCells(model) }),
      recordsCard({
        title: "Nearest projects",
        layout: "projects",
        list: { records: near, total: near.length },
        max: 6,
        aside: ` in ${nameOfMarket(model, market ?? "")}`,
        columns: projectCells(model, miles),
      }),
    ],
    right: [map(project, near, model), facts(project, model)],
    call: `/list-projects?id=${id}`,
  };
}

const kindOf = ({ type, property_type }: Project): string =>
  `${valueLabel(type)}, ${valueLabel(property_type).toLowerCase()}`;

const addressOf = (project: Project, model: ReadModel): string =>
  [project.address, [placeOf(project, model), project.zip].filter(Boolean).join(" ")]
    .filter(Boolean)
    .join(", ");

/** Returns the newest signal with an amount of a kind that is this project's alone. Signals come newest first. */
const latestOf = (signals: readonly Signal[], basis: Signal["amount_basis"]) =>
  signals.find(
    ({ amount_basis, amount_usd, project_ids }) =>
      amount_basis === basis && amount_usd !== null && project_ids.length === 1,
  ) ?? { amount_usd: null, date: null };

function keyFigures(project: Project, signals: readonly Signal[], today: string): Html {
  const { total_amount_usd: amount, square_feet: area, units, affordable_units: below } = project;
  const { completion_date: end } = project;
  const loan = latestOf(signals, "loan");
  const [one, size, many] = units
    ? (["dwelling", units, "dwellings"] as const)
    : (["square foot", area, "area"] as const);
  const rate = amount && size ? money(Math.round(amount / size)) : null;
  return figures([
    ["Amount", money(amount), "total, US dollars"],
    ["Raised", money(project.raised_amount_usd), "so far, US dollars"],
    ["Dwellings", units && grouped(units), below !== null && `${grouped(below)} below market`],
    ["Floor area", area && grouped(area), "square feet"],
    [`Per ${one}`, rate, `amount by ${many}`],
    ["Loan", money(loan.amount_usd), day(loan.date)],
    [
      "Completion",
      end && dayText(end.slice(0, 7)),
      isAfter(end ?? "", today) ? "planned" : "as stated",
    ],
  ]);
}

/** Reports whether a day is surely after another, however roughly it is known. */
const isAfter = (one: string, today: string): boolean => one > today.slice(0, one.length);

const eventNames: Partial<Record<Signal["type"], string>> = {
  project_announced: "Announcement",
  permit_issued: "Permit",
  construction_started: "Start of work",
  project_completed: "Completion",
  acquisition: "Purchase",
  disposition: "Sale",
  financing: "Financing",
};

/** Returns the events of the project: what signals tell, and else what its record says. */
function course(project: Project, signals: readonly Signal[], today: string): Part {
  const { start_date: start, completion_date: end, first_sale_date: sale } = project;
  const told = signals.map(({ type, date }) => [eventNames[type], date] as const);
  const isTold = (name: string) => told.some(([label]) => label === name);
  const dates: readonly (readonly [name: string | undefined, day: string | null])[] = [
    ...told,
    ["Start", isTold("Start of work") ? null : start],
    ["First sale", sale],
    ["Completion", isTold("Completion") ? null : end],
  ];
  const events = dates
    .flatMap(([name, at]) => {
      if (name === undefined || at === null) return [];
      const isPlanned = isAfter(at, today);
      return { name, day: at, isPlanned, label: isPlanned ? `${name}, planned` : name };
    })
    .toSorted((a, b) => (a.day < b.day ? -1 : 1));
  const [before, last] = events.slice(-2);
  if (last === undefined) return null;
  const time = spanText(before!.day, last.day);
  return milestones({
    finding: `${last.name} ${last.isPlanned ? "is planned " : ""}${time} after the ${before!.name.toLowerCase()}`,
    measure: "Events by day, true to scale",
    events,
    today,
  });
}

/** Returns the time between two days in words, in months or years. */
function spanText(from: string, until: string): string {
  const months = Math.round((Date.parse(until) - Date.parse(from)) / (30.44 * 86_400_000));
  return months < 36 ? counted(months, "month") : counted(Math.round(months / 12), "year");
}

/** Returns the amounts that sources name, side by side. They mean different things and are never added. */
function amounts(project: Project, signals: readonly Signal[]): Part {
  const { total_amount_usd: amount, raised_amount_usd: raised, updated_at } = project;
  const changed = updated_at.slice(0, 10);
  const named = (label: string, basis: Signal["amount_basis"]) => {
    const { amount_usd: value, date: at } = latestOf(signals, basis);
    return { label, value, at };
  };
  const loan = named("Loan", "loan");
  const rows = [
    { label: "Amount in the record", value: amount, at: changed, isMain: true },
    { label: "Raised in the record", value: raised, at: changed },
    named("Price", "price"),
    loan,
    named("Offering", "offering_total"),
    named("Sold so far", "sold_to_date"),
    named("Cost as announced", "other"),
  ]
    .flatMap(({ value, at, ...row }) => (value === null ? [] : { ...row, value, note: day(at) }))
    .toSorted((a, b) => b.value - a.value);
  if (rows.length < 2) return null;
  const shareOf = (part: number | null) => amount && part !== null && percentText(part / amount);
  const [lent, sold] = [shareOf(loan.value), shareOf(raised)];
  const finding = lent
    ? `The loan is ${lent} of the amount`
    : sold
      ? `${sold} of the amount is raised`
      : "What sources say it costs";
  const measure = "Amounts that sources name, US dollars";
  return amountBars({ finding, measure, amounts: rows, format: money });
}

/** Most projects of a market that are read to find the nearest. */
const neighboursMax = 2000;
const milesOfDegree = 69.1;

/** Returns the projects of the same market that have coordinates, nearest first. */
async function neighbours({ id, market, ...here }: Project, model: ReadModel) {
  const { latitude, longitude } = here;
  if (market === null || latitude === null || longitude === null) return [];
  const inMarket = { market: [market] };
  const { records } = await findRecords<Project>(model, "project", inMarket, neighboursMax);
  // Across a market the earth is flat enough, but degrees of longitude are shorter.
  const shortened = Math.cos((latitude * Math.PI) / 180);
  return records
    .flatMap((project) => {
      const { latitude: north, longitude: east } = project;
      if (project.id === id || north === null || east === null) return [];
      const degrees = Math.hypot(north - latitude, (east - longitude) * shortened);
      return { ...project, latitude: north, longitude: east, miles: degrees * milesOfDegree };
    })
    .toSorted((a, b) => a.miles - b.miles);
}

/** Most neighbours on the map. */
const pointsMax = 100;

function map(
  { latitude, longitude, name, market }: Project,
  near: Awaited<ReturnType<typeof neighbours>>,
  model: ReadModel,
): Part {
  if (latitude === null || longitude === null) return null;
  const others = near
    .slice(0, pointsMax)
    .map((one) => ({ ...one, label: cutText(one.name, 60), count: 1 }));
  const own = { label: cutText(name, 40), latitude, longitude, count: 1, isChosen: true };
  const count = counted(others.length, "other project");
  const size = { width: 400, height: 260, namesMax: 1, radiusMax: 4, isClose: true };
  const drawing = usMap({ label: `${name} and ${count}`, places: [own, ...others], ...size });
  const aside = `${latitude.toFixed(4)}, ${longitude.toFixed(4)}`;
  const body = html`${drawing}
    <p class="source">${count} in ${nameOfMarket(model, market ?? "")}</p>`;
  return drawing && card({ title: "Map", aside, body });
}

/** How the market is known, as the end of a sentence. */
const marketBasisWords: Readonly<Record<NonNullable<Project["market_basis"]>, string>> = {
  property_address: "from the property’s own address",
  issuer_address: "from the issuer’s address; the property may be elsewhere",
  stated: "as the source names it",
};

function facts(project: Project, model: ReadModel): Html {
  const { market, market_basis: basis, address, city, state, country, themes, tags } = project;
  const marketFact = market !== null && [
    nameOfMarket(model, market),
    basis && html`<br /><span class="note">${marketBasisWords[basis]}</span>`,
  ];
  return factsCard("project", project, [
    ["Kind", kindOf(project)],
    ["Status", valueLabel(project.status)],
    ["Strategy", project.strategy && valueLabel(project.strategy)],
    ["GPs", gpLinks(project.gps)],
    ["Market", marketFact],
    ["Address", [address, place(city, state, country)].filter(Boolean).join(", ")],
    ["Start", day(project.start_date)],
    ["First sale", day(project.first_sale_date)],
    ["Completion", day(project.completion_date)],
    ["Themes", listLinks("project", "theme", themes)],
    ["Tags", listLinks("project", "tag", tags)],
  ]);
}
