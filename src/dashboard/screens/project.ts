/** The page of one project: its figures, its course, amounts that sources name, its signals and its neighbours. */
import { accountPage, wordReply } from "#dashboard/components/page.ts";
import {
  apiCall,
  card,
  figures,
  gpLinks,
  placeOf,
  projectTable,
  provenanceBadge,
  recordHead,
  shownOf,
  signalTable,
  valueLinks,
} from "#dashboard/components/record-page.ts";
import {
  cutText,
  hostOf,
  outside,
  percentText,
  place,
  provenanceWords,
  readRecords,
} from "#dashboard/components/records.ts";
import { type Given, type ReaderRequest, route, type Route } from "#dashboard/screen.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { usMap } from "#pages/map.ts";
import { amountBars, milestones } from "#pages/plot.ts";
import { counted, dayElement, dayText, grouped } from "#pages/prose.ts";
import { factList } from "#pages/table.ts";
import { money, valueLabel } from "#pages/values.ts";
import type { Project } from "#records/project.ts";
import type { Signal } from "#records/signal.ts";
import { readDocuments } from "#search/dataset-parts.ts";
import { nameOfMarket } from "#search/market-spellings.ts";
import { prepareInTurns } from "#search/prepare-in-turns.ts";
import type { ReadModel } from "#search/read-model.ts";

export const projectRoutes: readonly Route[] = [
  route("/browse/projects/{id}", "reader", {
    GET: (request) => readRecords(request, (model) => showProject(request, model)),
  }),
];

const nearestMax = 6;
/** Most projects of a market that are read to find the nearest. */
const neighboursMax = 2000;
const signalsMax = 20;

async function showProject(request: ReaderRequest, model: ReadModel): Promise<Given> {
  await prepareInTurns(model, "project", { id: ["-"], market: ["-"] });
  await prepareInTurns(model, "signal", { project_id: ["-"] });
  const id = [request.names["id"]!];
  const [project] = findProjects(model, { id }, 1);
  if (project === undefined)
    return wordReply(
      request,
      404,
      "There is no such project",
      "Perhaps its records are no longer published, or the address was cut off.",
      { href: "/browse/projects", label: "Browse projects" },
    );
  const { positions, total } = model.select(
    "signal",
    { project_id: id },
    { limit: signalsMax, offset: 0 },
  );
  const signals = readDocuments<Signal>(model.parts.documents.signal, positions);
  const today = model.parts.updatedAt.slice(0, 10);
  const near = neighbours(project, model);
  return accountPage(request, {
    title: `${project.name} · Project`,
    main: html`<div class="record">
      ${recordHead({
        kind: "project",
        market: project.market,
        model,
        name: project.name,
        badge: html`<span class="badge">${valueLabel(project.status)}</span>
          ${provenanceBadge(project.provenance)}`,
        facts: [byGps(project), addressOf(project, model)],
        updatedAt: project.updated_at,
        now: request.now,
      })}
      ${keyFigures(project, signals, today)}
      <div class="beside">
        <div>
          ${course(project, signals, today)} ${amounts(project, signals)}
          ${
            total > 0 &&
            card({
              title: "Signals",
              aside: shownOf(signals.length, total),
              body: signalTable({ label: "Signals", signals, model, without: [] }),
            })
          }
          ${nearest(project, near, model)}
        </div>
        <div>
          ${map(project, near, model)} ${facts(project, model)}
          ${apiCall(request, `/list-projects?id=${project.id}`)}
        </div>
      </div>
    </div>`,
  });
}

const findProjects = (
  model: ReadModel,
  filter: { id?: string[]; market?: string[] },
  limit: number,
) =>
  readDocuments<Project>(
    model.parts.documents.project,
    model.select("project", filter, { limit, offset: 0 }).positions,
  );

const kindOf = ({ type, property_type }: Project): string =>
  `${valueLabel(type)}, ${valueLabel(property_type).toLowerCase()}`;

const byGps = (project: Project): Part => [
  kindOf(project),
  project.gps.length > 0 && [" by ", gpLinks(project.gps)],
];

const addressOf = ({ address, zip, ...project }: Project, model: ReadModel): string =>
  [address, [placeOf({ ...project, address, zip }, model), zip].filter(Boolean).join(" ")]
    .filter(Boolean)
    .join(", ");

/** Returns the newest signal with an amount of a kind that is this project's alone. Signals come newest first. */
const latestOf = (signals: readonly Signal[], basis: Signal["amount_basis"]) =>
  signals.find(
    ({ amount_basis, amount_usd, project_ids }) =>
      amount_basis === basis && amount_usd !== null && project_ids.length === 1,
  );

function keyFigures(project: Project, signals: readonly Signal[], today: string): Html {
  const { total_amount_usd: amount, square_feet: area, units, completion_date: end } = project;
  const loan = latestOf(signals, "loan");
  return figures([
    { label: "Amount", value: money(amount), note: "total, US dollars" },
    { label: "Raised", value: money(project.raised_amount_usd), note: "so far, US dollars" },
    {
      label: "Dwellings",
      value: units !== null && grouped(units),
      note:
        project.affordable_units !== null && `${grouped(project.affordable_units)} below market`,
    },
    { label: "Floor area", value: area !== null && grouped(area), note: "square feet" },
    ...(amount !== null && units !== null && units > 0
      ? [
          {
            label: "Per dwelling",
            value: money(Math.round(amount / units)),
            note: "amount by dwellings",
          },
        ]
      : amount !== null && area !== null && area > 0
        ? [
            {
              label: "Per square foot",
              value: money(Math.round(amount / area)),
              note: "amount by area",
            },
          ]
        : []),
    { label: "Loan", value: money(loan?.amount_usd ?? null), note: loan && dayElement(loan.date) },
    {
      label: "Completion",
      value: end !== null && dayText(end.slice(0, 7)),
      note: end !== null && (isAfter(end, today) ? "planned" : "as stated"),
    },
  ]);
}

/** Reports whether a day is surely after another, however roughly it is known. */
const isAfter = (day: string, today: string): boolean => day > today.slice(0, day.length);

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
  const told = signals.flatMap(({ type, date }) => {
    const label = eventNames[type];
    return label === undefined ? [] : [{ day: date, label }];
  });
  const has = (label: string) => told.some((one) => one.label === label);
  const { start_date: start, completion_date: end, first_sale_date: sale } = project;
  const stated = [
    start !== null && !has("Start of work") && { day: start, label: "Start" },
    sale !== null && { day: sale, label: "First sale" },
    end !== null &&
      !has("Completion") && {
        day: end,
        label: isAfter(end, today) ? "Completion, planned" : "Completion",
      },
  ].filter((one) => one !== false);
  const events = [...told, ...stated]
    .toSorted((a, b) => (a.day < b.day ? -1 : 1))
    .map((event) => ({ ...event, isPlanned: isAfter(event.day, today) }));
  if (events.length < 2) return null;
  const [before, last] = events.slice(-2) as [(typeof events)[0], (typeof events)[0]];
  return milestones({
    finding: `${last.label.split(",")[0]!} ${last.isPlanned ? "is planned " : ""}${spanText(before.day, last.day)} after the ${lowered(before.label)}`,
    measure: "Events by day, true to scale",
    events,
    today,
  });
}

const lowered = (label: string): string => label.charAt(0).toLowerCase() + label.slice(1);

/** Returns the time between two days in words, in months or years. */
function spanText(from: string, until: string): string {
  const months = Math.round((Date.parse(until) - Date.parse(from)) / (30.44 * 86_400_000));
  return months < 36 ? counted(months, "month") : counted(Math.round(months / 12), "year");
}

const amountNames = {
  price: "Price",
  loan: "Loan",
  offering_total: "Offering",
  sold_to_date: "Sold so far",
  other: "Cost as announced",
} as const;

/** Returns the amounts that sources name, side by side. They mean different things and are never added. */
function amounts(project: Project, signals: readonly Signal[]): Part {
  const { total_amount_usd: amount, raised_amount_usd: raised, updated_at } = project;
  const day = dayElement(updated_at.slice(0, 10));
  const rows = [
    amount !== null && { label: "Amount in the record", value: amount, note: day, isMain: true },
    raised !== null && { label: "Raised in the record", value: raised, note: day },
    ...Object.entries(amountNames).map(([basis, label]) => {
      const signal = latestOf(signals, basis as Signal["amount_basis"]);
      return (
        signal !== undefined && { label, value: signal.amount_usd!, note: dayElement(signal.date) }
      );
    }),
  ]
    .filter((row) => row !== false)
    .toSorted((a, b) => b.value - a.value);
  if (rows.length < 2) return null;
  const loan = latestOf(signals, "loan")?.amount_usd ?? null;
  const finding =
    amount !== null && amount > 0 && loan !== null
      ? `The loan is ${percentText(loan / amount)} of the amount`
      : amount !== null && amount > 0 && raised !== null
        ? `${percentText(raised / amount)} of the amount is raised`
        : "What sources say it costs";
  return amountBars({
    finding,
    measure: "Amounts that sources name, US dollars",
    amounts: rows,
    format: money,
  });
}

interface Neighbour {
  project: Project;
  miles: number;
}

/** Returns the projects of the same market that have coordinates, nearest first. */
function neighbours({ id, market, latitude, longitude }: Project, model: ReadModel): Neighbour[] {
  if (market === null || latitude === null || longitude === null) return [];
  return findProjects(model, { market: [market] }, neighboursMax)
    .flatMap((project) =>
      project.id === id || project.latitude === null || project.longitude === null
        ? []
        : [
            {
              project,
              miles: milesBetween([latitude, longitude], [project.latitude, project.longitude]),
            },
          ],
    )
    .toSorted((a, b) => a.miles - b.miles);
}

type Coordinates = readonly [latitude: number, longitude: number];

const earthMiles = 3959;
const radians = (degrees: number): number => (degrees * Math.PI) / 180;

/** Returns the distance on the globe (haversine formula). */
function milesBetween(
  [fromLatitude, fromLongitude]: Coordinates,
  [latitude, longitude]: Coordinates,
) {
  const half = (from: number, to: number) => Math.sin(radians(to - from) / 2) ** 2;
  const chord =
    half(fromLatitude, latitude) +
    Math.cos(radians(fromLatitude)) * Math.cos(radians(latitude)) * half(fromLongitude, longitude);
  return 2 * earthMiles * Math.asin(Math.sqrt(chord));
}

const nearest = ({ market }: Project, near: readonly Neighbour[], model: ReadModel): Part => {
  const milesOf = new Map(near.map(({ project, miles }) => [project.id, miles]));
  return (
    near.length > 0 &&
    card({
      title: "Nearest projects",
      aside: `${shownOf(Math.min(nearestMax, near.length), near.length)} in ${nameOfMarket(model, market!)}`,
      body: projectTable(
        "Nearest projects",
        near.slice(0, nearestMax).map(({ project }) => project),
        model,
        {
          label: "Miles",
          of: ({ id }) => milesOf.get(id)!.toFixed(1),
        },
      ),
    })
  );
};

function map(project: Project, near: readonly Neighbour[], model: ReadModel): Part {
  const { latitude, longitude, name } = project;
  if (latitude === null || longitude === null) return null;
  const others = near.slice(0, pointsMax).map((one) => ({
    label: cutText(one.project.name, 60),
    latitude: one.project.latitude!,
    longitude: one.project.longitude!,
    count: 1,
  }));
  const drawing = usMap({
    label: `${name} and ${counted(others.length, "other project")}`,
    places: [
      { label: cutText(name, 40), latitude, longitude, count: 1, isChosen: true },
      ...others,
    ],
    width: 400,
    height: 260,
    isClose: true,
    namesMax: 1,
    radiusMax: 4,
  });
  return (
    drawing &&
    card({
      title: "Map",
      aside: `${latitude.toFixed(4)}, ${longitude.toFixed(4)}`,
      body: html`${drawing}
        <p class="source">
          ${counted(others.length, "other project")} in ${nameOfMarket(model, project.market ?? "")}
        </p>`,
    })
  );
}

/** Most neighbours on the map. */
const pointsMax = 100;

/** How the market is known, as the end of a sentence. */
const marketBasisWords: Readonly<Record<NonNullable<Project["market_basis"]>, string>> = {
  property_address: "from the property’s own address",
  issuer_address: "from the issuer’s address; the property may be elsewhere",
  stated: "as the source names it",
};

function facts(project: Project, model: ReadModel): Html {
  const { market, market_basis: basis, external_ids: ids } = project;
  const link = (name: string, values: readonly string[]) =>
    values.length > 0 && valueLinks("project", name, values);
  const day = (of: string | null) => of !== null && dayElement(of);
  return card({
    title: "Facts",
    body: factList([
      ["Kind", kindOf(project)],
      ["Status", valueLabel(project.status)],
      ["Strategy", project.strategy !== null && valueLabel(project.strategy)],
      ["GPs", project.gps.length > 0 && gpLinks(project.gps)],
      [
        "Market",
        market !== null && [
          nameOfMarket(model, market),
          basis !== null && html`<br /><span class="note">${marketBasisWords[basis]}</span>`,
        ],
      ],
      [
        "Address",
        [project.address, place(project.city, project.state, project.country)]
          .filter(Boolean)
          .join(", "),
      ],
      ["Start", day(project.start_date)],
      ["First sale", day(project.first_sale_date)],
      ["Completion", day(project.completion_date)],
      ["Themes", link("theme", project.themes)],
      ["Tags", link("tag", project.tags)],
      ["CIK", ids.cik?.join(", ")],
      ["Form D", ids.form_d_file?.join(", ")],
      ["HUD", ids.hud_id?.join(", ")],
      [
        "Source",
        [
          provenanceWords(project.provenance),
          project.provenance.url !== null && [
            ", ",
            outside(project.provenance.url, hostOf(project.provenance.url)),
          ],
        ],
      ],
      ["Project ID", html`<code>${project.id}</code>`],
    ]),
  });
}
