/** The page of one project: its figures, its timeline, amounts that sources name, its signals and its neighbours. */
import {
  card,
  factsCard,
  figures,
  findRecords,
  type Found,
  listLinks,
  projectCells,
  recordRoute,
  recordsCard,
  signalCells,
} from "#dashboard/components/record-page.ts";
import {
  cutText,
  day,
  gpLinks,
  place,
  placeOf,
  probableGps,
  probably,
  reportedSold,
  statusOf,
} from "#dashboard/components/records.ts";
import { html, type Html, type Part, table } from "#pages/html.ts";
import { usMap } from "#pages/map.ts";
import { hueOf, timeline } from "#pages/plot.ts";
import { counted, dayText, grouped } from "#pages/prose.ts";
import { money, valueLabel } from "#pages/values.ts";
import { isFiled, percentText } from "#records/explanation.ts";
import type { Project } from "#records/project.ts";
import type { Signal } from "#records/signal.ts";
import { nameOfMarket } from "#search/market-spellings.ts";
import type { ReadModel } from "#search/read-model.ts";

export const projectPage = recordRoute("project", showProject);

async function showProject({ record: project, model, today }: Found<Project>) {
  const { id, market, gps } = project;
  const signals = await findRecords<Signal>(model, "signal", { project_id: [id] }, 20);
  const near = await neighbours(project, model);
  type Neighbour = (typeof near)[number];
  const miles = { label: "Miles", isNumber: true, cell: (one: Neighbour) => one.miles.toFixed(1) };
  return {
    market,
    status: statusOf(project),
    facts: [
      [kindOf(project), gps.length > 0 && [probably(project), " by ", gpLinks(gps)]],
      gps.length === 0 && isFiled(project) && "no filing names a sponsor",
      addressOf(project, model),
    ],
    top: keyFigures(project, signals.records, today),
    left: [
      course(project, signals.records, today),
      amounts(project, signals.records),
      recordsCard(model, { layout: "signals", list: signals, of: project, columns: signalCells() }),
      recordsCard(model, {
        title: "Nearest projects",
        layout: "projects",
        list: { records: near, total: near.length },
        of: project,
        max: 6,
        aside: ` in ${nameOfMarket(model, market ?? "")}`,
        columns: projectCells(miles),
      }),
    ],
    right: [map(project), facts(project, model)],
    call: `/list-projects?id=${id}`,
  };
}

const kindOf = ({ type, property_type }: Project): string =>
  property_type === "unknown"
    ? valueLabel(type)
    : `${valueLabel(type)}, ${valueLabel(property_type).toLowerCase()}`;

const addressOf = (project: Project, model: ReadModel): string =>
  [project.address, [placeOf(project, model), project.zip].filter(Boolean).join(" ")]
    .filter(Boolean)
    .join(", ");

/**
 * Returns the newest signal that has an amount with this basis and is about a single project. Its amount and date are
 * null if there is none. @param signals newest first.
 */
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
    : (["square foot", area, "floor area"] as const);
  const rate = amount && size ? money(Math.round(amount / size)) : null;
  return figures([
    ["Amount", money(amount), "total, US dollars"],
    [raisedLabel(project), money(project.raised_amount_usd), "so far, US dollars"],
    ["Dwellings", units && grouped(units), below !== null && `${grouped(below)} below market`],
    ["Floor area", area && grouped(area), "square feet"],
    [`Per ${one}`, rate, `amount divided by ${many}`],
    ["Loan", money(loan.amount_usd), day(loan.date)],
    [
      "Completion",
      end && dayText(end.slice(0, 7)),
      isAfter(end ?? "", today) ? "planned" : "as stated",
    ],
  ]);
}

const raisedLabel = (project: Project): string => (isFiled(project) ? reportedSold : "Raised");

/** Reports whether a date, which may be only a year or a month, is certainly after a day. */
const isAfter = (one: string, today: string): boolean => one > today.slice(0, one.length);

/** Returns a timeline of deals, building and the record's own dates. Returns null for fewer than two events. */
function course(project: Project, signals: readonly Signal[], today: string): Part {
  const { start_date: start, completion_date: end, first_sale_date: sale } = project;
  const told = signals
    .map(({ type, date }) => ({ type, name: valueLabel(type), day: date, hue: hueOf(type) }))
    .filter(({ hue }) => hue === "building" || hue === "deals");
  const isTold = (one: Signal["type"]) => told.some(({ type }) => type === one);
  const stated = [
    { name: "Start", day: isTold("construction_started") ? null : start, hue: "building" },
    { name: "First sale", day: sale, hue: "offerings" },
    { name: "Completion", day: isTold("project_completed") ? null : end, hue: "building" },
  ] as const;
  const events = [...told, ...stated]
    .flatMap(({ day: at, ...one }) =>
      at === null ? [] : { ...one, day: at, isPlanned: isAfter(at, today) },
    )
    .toSorted((a, b) => (a.day < b.day ? -1 : 1));
  const [before, last] = events.slice(-2);
  if (last === undefined) return null;
  const time = spanText(before!.day, last.day);
  return timeline({
    finding: `${last.name} ${last.isPlanned ? "is planned " : ""}${time} after ${before!.name.toLowerCase()}`,
    measure: "Events by date, to scale; a ring marks a planned event, the line marks today",
    rows: events.map(({ name, day: at, hue, isPlanned }) => ({
      label: `${name}, ${dayText(at)}`,
      marks: [{ day: at, hue, label: isPlanned ? "planned" : "reported", isRinged: isPlanned }],
    })),
    until: last.isPlanned ? last.day : today,
    today,
  });
}

function spanText(from: string, until: string): string {
  const months = Math.round((Date.parse(until) - Date.parse(from)) / (30.44 * 86_400_000));
  return months < 36 ? counted(months, "month") : counted(Math.round(months / 12), "year");
}

const amountNames: Partial<Record<NonNullable<Signal["amount_basis"]>, string>> = {
  price: "Price",
  loan: "Loan",
  offering_total: "Offering",
  sold_to_date: "Sold so far",
  other: "Cost as announced",
};

/** Returns the amounts that sources name; null for fewer than two. Their meanings differ, so they are never added. */
function amounts(project: Project, signals: readonly Signal[]): Part {
  const { total_amount_usd: amount, raised_amount_usd: raised, updated_at } = project;
  // Each filing gives a signal, and the newest signal comes first.
  const changed = isFiled(project) ? (signals[0]?.date ?? null) : updated_at.slice(0, 10);
  const named = Object.entries(amountNames).map(([basis, label]) => {
    const { amount_usd: value, date: at } = latestOf(signals, basis as Signal["amount_basis"]);
    return { label, value, at };
  });
  const rows = [
    { label: "Amount in the record", value: amount, at: changed },
    { label: `${raisedLabel(project)} in the record`, value: raised, at: changed },
    ...named,
  ]
    .flatMap(({ value, at, label }) => (value === null ? [] : { label, value, at: day(at) }))
    .toSorted((a, b) => b.value - a.value);
  if (rows.length < 2) return null;
  const shareOf = (part: number | null) => amount && part !== null && percentText(part / amount);
  const [lent, sold] = [shareOf(latestOf(signals, "loan").amount_usd), shareOf(raised)];
  const finding = lent
    ? `The loan is ${lent} of the amount`
    : sold
      ? `${sold} of the amount is ${raisedLabel(project).toLowerCase()}`
      : "Cost according to sources";
  const measure = "Amounts that sources name, in US dollars";
  const numbers = table({
    label: measure,
    columns: ["Amount", "Bar", { label: "US dollars", isNumber: true }, "Date"],
    rows: rows.map(({ label, value, at }) => [
      label,
      bar(Math.max(0, value) / Math.max(1, rows[0]!.value)),
      money(value),
      at,
    ]),
  });
  return card({ title: finding, aside: measure, body: numbers });
}

const bar = (share: number): Html =>
  html`<svg width="100%" height="12" aria-hidden="true">
    <rect fill="var(--accent)" width="${Math.round(share * 100)}%" height="12" rx="2" />
  </svg>`;

/** Maximum number of a market's projects that are read to find the nearest ones. */
const neighboursMax = 2000;
const milesOfDegree = 69.1;

/** Returns other projects of the market, nearest first. Returns none if the market or the coordinates are unknown. */
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

function map({ latitude, longitude, name }: Project): Part {
  if (latitude === null || longitude === null) return null;
  const place = { label: cutText(name, 40), latitude, longitude, count: 1, isChosen: true };
  const size = { width: 400, height: 260, namesMax: 1, radiusMax: 5, isClose: true };
  const drawing = usMap({ label: name, places: [place], ...size });
  const aside = `${latitude.toFixed(4)}, ${longitude.toFixed(4)}`;
  return drawing && card({ title: "Map", aside, body: drawing });
}

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
    ["Status", statusOf(project)],
    ["Strategy", project.strategy && valueLabel(project.strategy)],
    ["GPs", probableGps(project)],
    ["Market", marketFact],
    ["Address", [address, place(city, state, country)].filter(Boolean).join(", ")],
    ["Start", day(project.start_date)],
    ["First sale", day(project.first_sale_date)],
    ["Completion", day(project.completion_date)],
    ["Themes", listLinks("project", "theme", themes)],
    ["Tags", listLinks("project", "tag", tags)],
  ]);
}
