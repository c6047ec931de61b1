/** The page of one GP: what happens on the left, what it is on the right, and everything else behind tabs. */
import { accountPage, wordReply } from "#dashboard/components/page.ts";
import {
  activityOf,
  apiCall,
  bandText,
  card,
  commonProvenance,
  figures,
  noteOf,
  projectTable,
  provenanceBadge,
  recordHead,
  recordLink,
  recordsOfGp,
  rowsOf,
  shownOf,
  signalTable,
  titleOrRoles,
  valueLinks,
} from "#dashboard/components/record-page.ts";
import {
  asSeen,
  byPoints,
  cutText,
  hostOf,
  listText,
  outside,
  place,
  provenanceWords,
  readRecords,
} from "#dashboard/components/records.ts";
import { browsePaths, capital } from "#dashboard/components/view.ts";
import { type Given, moved, type ReaderRequest, route, type Route } from "#dashboard/screen.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { placesOn, usMap } from "#pages/map.ts";
import { columnPlot, signalGroups, stepPlot } from "#pages/plot.ts";
import { counted, dayElement, grouped } from "#pages/prose.ts";
import { factList, table } from "#pages/table.ts";
import { money } from "#pages/values.ts";
import type { ExternalIds, Provenance } from "#records/common.ts";
import type { Gp } from "#records/gp.ts";
import type { Principal } from "#records/principal.ts";
import type { Project } from "#records/project.ts";
import type { Signal } from "#records/signal.ts";
import { readDocuments } from "#search/dataset-parts.ts";
import { middleOf, placeOfMarket } from "#search/market-places.ts";
import { nameOfMarket } from "#search/market-spellings.ts";
import { positionOfId } from "#search/name-index.ts";
import { prepareInTurns } from "#search/prepare-in-turns.ts";
import type { ReadModel } from "#search/read-model.ts";

export const browseGpRoutes: readonly Route[] = [
  route("/browse/gps/{id}", "reader", {
    GET: (request) => readRecords(request, (model) => showGp(request, model)),
  }),
];

const pathOf = ({ id }: Pick<Gp, "id">): string => `${browsePaths.gp}/${id}`;

interface ShownGp {
  gp: Gp;
  /** Its records, at most 5,000 of a kind, and their numbers. */
  signals: Listed<Signal>;
  people: Listed<Principal>;
  projects: Listed<Project>;
  model: ReadModel;
  /** Day of the dataset. */
  today: string;
}

interface Listed<R> {
  records: R[];
  total: number;
}

async function showGp(request: ReaderRequest, model: ReadModel): Promise<Given> {
  const id = request.names["id"]!;
  const position = positionOfId(model.parts.ids, id);
  if (position === -1)
    return wordReply(
      request,
      404,
      "There is no such GP",
      "Perhaps its records are no longer published, or the address was cut off.",
      { href: browsePaths.gp, label: "Browse GPs" },
    );
  const [gp] = readDocuments<Gp>(model.parts.documents.gp, [position]);
  if (gp!.id !== id) return moved(pathOf(gp!), request.query);
  // Places of markets are those of projects.
  await prepareInTurns(model, "project", { market: ["-"] });
  const people = recordsOfGp<Principal>(model, "principal", position);
  people.records = people.records.map((person) => asSeen(request, person));
  people.records.sort((a, b) => compareDays(b.last_seen_date, a.last_seen_date));
  const shown: ShownGp = {
    gp: gp!,
    model,
    today: model.parts.updatedAt.slice(0, 10),
    signals: recordsOfGp(model, "signal", position),
    people,
    projects: recordsOfGp(model, "project", position),
  };
  const tab = tabs.find((one) => one === request.query.get("tab")) ?? "overview";
  return accountPage(request, {
    title: `${gp!.name} · GP`,
    main: html`<div class="record">
      ${head(shown, request.now)} ${keyFigures(shown)} ${tabLinks(shown, tab)}
      ${tab === "overview" ? overview(shown, request) : tab === "sources" ? sources(shown) : wholeList(shown, tab, request.query.get("offset"))}
    </div>`,
  });
}

/** Compares days of which one may be unknown; an unknown one is the earliest. */
const compareDays = (a: string | null, b: string | null): number =>
  (a ?? "") < (b ?? "") ? -1 : (a ?? "") > (b ?? "") ? 1 : 0;

const lists = ["signals", "people", "projects"] as const;
type ListName = (typeof lists)[number];
const tabs = ["overview", ...lists, "sources"] as const;

/** Tables of records of the GP. */
const tableOf: { [K in ListName]: (shown: ShownGp, records: ShownGp[K]["records"]) => Html } = {
  signals: ({ gp, model }, signals) =>
    signalTable({ label: "Signals", signals, model, without: [gp.name] }),
  people: peopleTable,
  projects: ({ model }, projects) =>
    projectTable("Projects", projects, model, {
      label: "Raised",
      of: ({ raised_amount_usd }) => money(raised_amount_usd),
    }),
};

const tabHref = ({ gp }: ShownGp, name: string, offset = 0): string =>
  `${pathOf(gp)}?tab=${name}${offset > 0 ? `&offset=${offset}` : ""}`;

const tabLinks = (shown: ShownGp, chosen: (typeof tabs)[number]): Html =>
  html`<nav class="tabs" aria-label="${cutText(shown.gp.name, 80)}">
    ${tabs.map((tab) => {
      const href = tab === "overview" ? pathOf(shown.gp) : tabHref(shown, tab);
      const list = lists.find((one) => one === tab);
      return html`<a href="${href}" ${tab === chosen && html`aria-current="page"`}
        >${capital(tab)} ${list && html`<span>${grouped(shown[list].total)}</span>`}</a
      >`;
    })}
  </nav>`;

const rowsMax = 40;

/** Returns a whole list, 40 records at a time. @param from number of records to skip; anything else begins the list. */
function wholeList(shown: ShownGp, name: ListName, from: string | null): Html {
  const { records, total } = shown[name];
  const offset = /^\d{1,9}$/.test(from ?? "") ? Number(from) : 0;
  const part = records.slice(offset, offset + rowsMax);
  const end = offset + part.length;
  const rest = `/fetch-${name === "people" ? "principals" : name}?gp_name=${shown.gp.id}&offset=${end}`;
  return card({
    title: capital(name),
    aside: part.length > 0 && `${grouped(offset + 1)} to ${grouped(end)} of ${grouped(total)}`,
    body: html`${part.length === 0 ? html`<p>No ${name} here.</p>` : tableOf[name](shown, part as never)}
      <nav class="steps" aria-label="Pages">
        ${offset > 0 && html`<a href="${tabHref(shown, name, offset - rowsMax)}">Previous</a>`}
        ${end < records.length && html`<a href="${tabHref(shown, name, end)}">Next</a>`}
        ${end === records.length && end < total && html`<span>The rest: <code>${rest}</code></span>`}
      </nav>`,
  });
}

function head({ gp, model }: ShownGp, now: number): Html {
  const [market] = gp.markets;
  const tags = [
    ...valueLinks("gp", "strategy", gp.strategies),
    ...valueLinks("gp", "property_type", gp.property_types),
    ...valueLinks("gp", "theme", gp.themes),
    ...valueLinks("gp", "tag", gp.tags),
  ];
  return html`${recordHead({
      kind: "gp",
      market: market ?? null,
      model,
      name: gp.name,
      badge: provenanceBadge(gp.provenance),
      facts: [
        place(gp.hq_city, gp.hq_state, gp.hq_country),
        gp.legal_name !== gp.name && gp.legal_name !== null && cutText(gp.legal_name, 120),
        gp.website !== null && outside(gp.website, hostOf(gp.website)),
      ],
      updatedAt: gp.updated_at,
      now,
    })}
    ${gp.description !== null && html`<p class="description">${cutText(gp.description, 600)}</p>`}
    <p class="tags">
      ${tags.slice(0, tagsMax)}
      ${tags.length > tagsMax && html`<span>+${tags.length - tagsMax}</span>`}
    </p>`;
}

const tagsMax = 12;

function keyFigures({ gp, model, today, signals, people, projects }: ShownGp): Html {
  const monthAgo = new Date(Date.parse(today) - 30 * 86_400_000).toISOString().slice(0, 10);
  const recent = signals.records.filter(({ date }) => date >= monthAgo).length;
  const underWay = projects.records.filter(({ status }) => inProgress.has(status)).length;
  const firstSeen = people.records.filter(
    ({ first_seen_date }) =>
      first_seen_date !== null && first_seen_date.startsWith(today.slice(0, 4)),
  ).length;
  const [first, ...others] = gp.markets;
  return figures([
    {
      label: "Assets",
      value: money(gp.aum_usd),
      note: gp.aum_as_of !== null && dayElement(gp.aum_as_of),
    },
    { label: "Raised to date", value: money(gp.raised_to_date_usd), note: "as stated" },
    {
      label: "Signals",
      value: grouped(signals.total),
      note: `${grouped(recent)} in the last 30 days`,
    },
    {
      label: "People",
      value: grouped(people.total),
      note: firstSeen > 0 && `${grouped(firstSeen)} first named this year`,
    },
    { label: "Projects", value: grouped(projects.total), note: `${grouped(underWay)} in progress` },
    {
      label: "Markets",
      value: grouped(gp.markets.length),
      note:
        first !== undefined &&
        `${cutText(nameOfMarket(model, first).split(",")[0]!, 40)}${others.length > 0 ? ` and ${others.length} more` : ""}`,
    },
  ]);
}

const inProgress: ReadonlySet<Project["status"]> = new Set([
  "planned",
  "raising",
  "entitled",
  "under_construction",
]);

const shownMax = { signals: 10, people: 6, projects: 6 } as const;

function overview(shown: ShownGp, request: ReaderRequest): Html {
  const inOrder = { ...shown, projects: latestFirst(shown.projects) };
  const list = (name: ListName, title = capital(name)) => {
    const { records, total } = inOrder[name];
    const max = shownMax[name];
    const all = { href: tabHref(shown, name), label: `All ${grouped(total)} ${name}` };
    return (
      total > 0 &&
      card({
        title,
        aside: shownOf(Math.min(max, total), total),
        body: tableOf[name](shown, records.slice(0, max) as never),
        more: total > max && all,
      })
    );
  };
  return html`<div class="beside">
    <div>
      ${activity(shown)} ${list("signals", "Latest signals")} ${list("projects")} ${list("people")}
    </div>
    <div>${sales(shown)} ${map(shown)} ${apiCall(request, `/fetch-gp?gp_name=${shown.gp.id}`)}</div>
  </div>`;
}

/** Returns the projects in progress first, then the others, each by their latest change. */
const latestFirst = ({ records, total }: ShownGp["projects"]): ShownGp["projects"] => ({
  records: records.toSorted(
    (a, b) =>
      Number(inProgress.has(b.status)) - Number(inProgress.has(a.status)) ||
      compareDays(b.updated_at, a.updated_at),
  ),
  total,
});

function activity({ signals: { records, total }, today }: ShownGp): Part {
  if (records.length === 0) return null;
  const { unit, columns, left } = activityOf(records, today);
  const years = Map.groupBy(records, ({ date }) => date.slice(0, 4));
  const [first, second] = [...years].toSorted(([, a], [, b]) => b.length - a.length);
  const [year, most] = first!;
  const all = counted(records.length, "signal");
  const isBusiest = second === undefined || most.length > second[1].length;
  return columnPlot({
    finding: isBusiest ? `${year} is its busiest year, with ${most.length} of ${all}` : all,
    measure: `Signals by ${unit} and kind${total > records.length ? `, the newest ${all}` : ""}${left}`,
    head: capital(unit),
    series: signalGroups,
    columns,
  });
}

function peopleTable({ gp }: ShownGp, people: Principal[]): Html {
  const common = commonProvenance(people);
  const rows = people.map((person) => {
    const [other, ...others] = person.gps.filter(({ id }) => id !== gp.id);
    return [
      [recordLink("principal", person), noteOf(person, common)],
      titleOrRoles(person),
      person.ownership_band !== null && bandText(person.ownership_band),
      other !== undefined && [recordLink("gp", other), others.length > 0 && ` +${others.length}`],
      person.last_seen_date !== null && dayElement(person.last_seen_date),
    ];
  });
  const columns = ["Name", "Title", "Owns", "Also at", "Last named"];
  return rowsOf("named people", { label: "People", columns, rows }, common);
}

/** Returns what filings say was sold, as it grew, beside what the GP is said to have raised. */
function sales({ gp, signals: { records }, today }: ShownGp): Part {
  const sales = records
    .filter(({ type, amount_usd }) => addedTypes.has(type) && (amount_usd ?? 0) > 0)
    .toReversed();
  if (sales.length < 2) return null;
  let sum = 0;
  const steps = sales.map(({ date, amount_usd }) => ({ day: date, value: (sum += amount_usd!) }));
  const stated = gp.raised_to_date_usd;
  return stepPlot({
    finding: `${money(sum)} sold, by ${counted(sales.length, "notice")}`,
    measure: `First sales and later increases, added up; notices that state only a running total are left out${
      stated === null ? "" : `. Dashed: ${money(stated)} raised, as stated`
    }`,
    steps,
    until: today,
    compared: stated,
    format: money,
  });
}

/** Types of signals whose amounts can be added up: what was sold at first, and what was sold since. */
const addedTypes: ReadonlySet<Signal["type"]> = new Set(["first_sale", "capital_raised"]);

/** Returns where the GP's projects are, by market, or its markets if it has no projects. */
function map({ gp, model, projects: { records } }: ShownGp): Part {
  const byMarket = Map.groupBy(
    records.filter(({ market }) => market !== null),
    ({ market }) => market!,
  );
  const titles = byMarket.size > 0 ? [...byMarket.keys()] : gp.markets;
  if (titles.length === 0) return null;
  const found = titles.map((title) => {
    const here = byMarket.get(title) ?? [];
    const at = middleOf(here) ?? placeOfMarket(model, title);
    const label = nameOfMarket(model, title);
    return { title, label, count: Math.max(1, here.length), at };
  });
  const places = found.flatMap(({ at, label, count }) =>
    at === null ? [] : [{ ...at, label: cutText(label.split(",")[0]!, 40), count }],
  );
  const { off } = placesOn(places);
  const unplaced = [
    ...off.map(({ label }) => label),
    ...found.flatMap(({ at, label }) => (at === null ? [label] : [])),
  ];
  const [first] = found.toSorted((a, b) => b.count - a.count);
  const city = cutText(first!.label.split(",")[0]!, 60);
  const title =
    byMarket.size === 0
      ? `Works in ${counted(titles.length, "market")}`
      : `${grouped(first!.count)} of ${counted(records.length, "project")} ${first!.count === 1 ? "is" : "are"} around ${city}`;
  const byAddress = records.filter(({ market_basis }) => market_basis === "issuer_address").length;
  const drawing = usMap({
    label: title,
    places,
    width: 400,
    height: 200,
    isClose: true,
    namesMax: 8,
    radiusMax: 13,
    isCounted: true,
  });
  return card({
    title,
    body: html`${drawing}
      <p class="source">
        ${byPoints([
          unplaced.length > 0 && `Not on the map: ${cutText(unplaced.join("; "), 200)}`,
          byAddress > 0 && `${grouped(byAddress)} placed by the issuer’s address`,
        ])}
      </p>`,
  });
}

const idNames: Readonly<Record<keyof ExternalIds, string>> = {
  cik: "CIK",
  crd: "CRD",
  lei: "LEI",
  sec_number: "SEC number",
  form_d_file: "Form D",
  adv_fund: "ADV fund",
  hud_id: "HUD",
  other: "Other",
};

/** Returns where the GP's records are from, and its other names and ids. */
function sources({ gp, signals, people, projects }: ShownGp): Html {
  const kinds = [
    ["GP", [gp]],
    ["Signals", signals.records],
    ["People", people.records],
    ["Projects", projects.records],
  ] as const;
  const rows = kinds.flatMap(([kind, records]) =>
    Array.from(
      Map.groupBy(records as readonly { provenance: Provenance }[], ({ provenance }) =>
        provenanceWords({ ...provenance }),
      ),
      ([words, some]) => [kind, words, grouped(some.length)],
    ),
  );
  const ids = Object.entries(gp.external_ids).map(
    ([key, values]) => [idNames[key as keyof ExternalIds] ?? key, listText(values ?? [])] as const,
  );
  return html`<div class="beside">
    <div>
      ${card({
        title: "Where its records are from",
        body: table({
          label: "Sources",
          columns: ["Records", "Source, basis, confidence", { label: "Number", isNumber: true }],
          rows,
        }),
      })}
    </div>
    <div>
      ${card({
        title: "Names and ids",
        body: factList([
          ["Legal name", gp.legal_name],
          ["Also known as", listText(gp.aliases)],
          ["Founded", gp.founded_year],
          ...ids,
          ["GP ID", html`<code>${gp.id}</code>`],
          ["Former ids", listText(gp.former_ids)],
          [
            "Page of the source",
            gp.provenance.url !== null && outside(gp.provenance.url, hostOf(gp.provenance.url)),
          ],
        ]),
      })}
    </div>
  </div>`;
}
