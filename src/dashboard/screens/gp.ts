/** The page of one GP: events on the left, facts on the right, and everything else behind tabs. */
import { byMarket, signalsBy } from "#dashboard/components/browse-plots.ts";
import { neededBy, valueFacet } from "#dashboard/components/facets.ts";
import {
  card,
  factsCard,
  figures,
  type Found,
  latestFirst,
  listHref,
  listLinks,
  personCells,
  projectCells,
  recordRoute,
  type Records,
  recordsCard,
  recordsOfGps,
  signalCells,
} from "#dashboard/components/record-page.ts";
import {
  byPoints,
  type Column,
  cutText,
  day,
  linkTo,
  listText,
  place,
  raised,
  reportedSold,
  sorted,
  type Sourced,
} from "#dashboard/components/records.ts";
import { capital, readView, type View } from "#dashboard/components/view.ts";
import { html, type Html, type Part, table } from "#pages/html.ts";
import { usMap } from "#pages/map.ts";
import { columnPlot, periodsUntil } from "#pages/plot.ts";
import { counted, grouped } from "#pages/prose.ts";
import { money } from "#pages/values.ts";
import { isFiled, provenanceWords } from "#records/explanation.ts";
import type { Fund, Gp } from "#records/gp.ts";
import { kinds, type RecordKind } from "#records/kinds.ts";
import type { Principal } from "#records/principal.ts";
import type { Project } from "#records/project.ts";
import type { Signal } from "#records/signal.ts";
import { placeOfMarket } from "#search/market-places.ts";
import { nameOfMarket } from "#search/market-spellings.ts";
import { prepareInTurns, type ReadModel } from "#search/read-model.ts";

export const gpPage = recordRoute("gp", showGp);

interface Linked {
  signals: Records<Signal>;
  people: Records<Principal>;
  projects: Records<Project>;
}
type List = keyof Linked;
const tabs = ["overview", "signals", "people", "projects", "funds", "sources"] as const;

/** Maximum numbers of rows on the overview. The tabs have more. */
const shownMax = { signals: 10, people: 6, projects: 6, funds: 6 };
/** Maximum number of rows on a tab, except for funds. The rest is in Browse. */
const wholeMax = 40;

/** Returns the plots of the overview: signals by quarter, and a map of projects, or else of signals or of markets. */
async function plotsOf(gp: Gp, model: ReadModel) {
  const read = async (kind: RecordKind): Promise<View> => {
    await prepareInTurns(model, kind, neededBy(kind));
    return { ...readView(model, kind, `gp_id=${gp.id}`), path: kinds[kind].path };
  };
  const [signals, projects] = [await read("signal"), await read("project")];
  const map = (view: View) => byMarket(view, [valueFacet(view, "market")], true);
  return {
    activity: signalsBy(signals, "quarter"),
    map: map(projects) ?? map(signals) ?? marketMap(gp, model),
  };
}

function marketMap({ markets }: Gp, model: ReadModel): Part {
  const places = markets.flatMap((market) => {
    const place = placeOfMarket(model, market);
    const label = nameOfMarket(model, market).split(",")[0]!;
    const href = listHref("gp", "market", market);
    return place === null ? [] : [{ ...place, label, count: 1, href }];
  });
  const look = { width: 320, height: 200, namesMax: 8, radiusMax: 5, isClose: true };
  const drawing = usMap({ label: "Markets of this GP", places, ...look });
  return drawing && card({ title: "Markets", aside: grouped(markets.length), body: drawing });
}

async function showGp({ record, model, request, today }: Found<Gp>) {
  // Datasets built before GPs had funds lack these members.
  const gp: Gp = Object.assign({ funds: [], funds_total: 0 }, record);
  const linked: Linked = {
    signals: await recordsOfGps(model, "signal", [gp.id]),
    people: await recordsOfGps(model, "principal", [gp.id]),
    projects: await recordsOfGps(model, "project", [gp.id]),
  };
  const { signals, people, projects } = linked;
  people.records.sort((a, b) => latestFirst(a.last_seen_date, b.last_seen_date));
  projects.records.sort(
    (a, b) =>
      Number(isInProgress(b)) - Number(isInProgress(a)) || latestFirst(a.updated_at, b.updated_at),
  );
  const path = `${kinds.gp.path}/${gp.id}`;
  const tab = tabs.find((one) => one === request.query.get("tab")) ?? "overview";
  const isOverview = tab === "overview";
  const plots = isOverview ? await plotsOf(gp, model) : null;
  const listOf = <R extends Sourced>(layout: List, list: Records<R>, columns: Column<R>[]) => {
    if (!isOverview && tab !== layout) return null;
    const title = layout === "signals" ? "Latest signals" : undefined;
    const max = isOverview ? shownMax[layout] : wholeMax;
    const all = isOverview ? `${path}?tab=${layout}` : `/browse/${layout}?gp_id=${gp.id}`;
    const rows = recordsCard(model, { title, layout, list, of: gp, max, columns, all });
    return rows ?? (!isOverview && html`<p>This GP has no ${layout}.</p>`);
  };
  const { provenance } = gp;
  const funds = recordsCard(model, {
    layout: "funds",
    of: gp,
    list: { records: gp.funds.map((fund) => ({ ...fund, provenance })), total: gp.funds_total },
    columns: isOverview ? fundColumns.slice(0, 3) : fundColumns,
    ...(isOverview && { max: shownMax.funds, all: `${path}?tab=funds` }),
  });
  const otherGps = (person: Principal) => person.gps.filter(({ id }) => id !== gp.id);
  return {
    market: gp.markets[0] ?? null,
    facts: [
      place(gp.hq_city, gp.hq_state, gp.hq_country),
      gp.legal_name !== gp.name && gp.legal_name && cutText(gp.legal_name, 120),
      linkTo(gp.website),
    ],
    top: [
      about(gp),
      keyFigures(gp, linked, model, today),
      html`<nav class="tabs" aria-label="${cutText(gp.name, 80)}">
        ${tabs.map((one) => {
          const href = one === "overview" ? path : `${path}?tab=${one}`;
          const total = one === "funds" ? gp.funds_total : linked[one as List]?.total;
          const count = total !== undefined && grouped(total);
          return html`<a href="${href}" ${one === tab && html`aria-current="page"`}
            >${capital(one)} ${count && html`<span class="muted">${count}</span>`}</a
          >`;
        })}
      </nav>`,
    ],
    left: [
      plots?.activity,
      listOf("signals", signals, signalCells(gp.name)),
      listOf("projects", projects, projectCells<Project>(raised("raised_amount_usd"))),
      listOf("people", people, personCells(people.records, "Also at", otherGps)),
      tab === "funds" && (funds ?? html`<p>This GP has no funds.</p>`),
      tab === "sources" && sources(gp, linked),
    ],
    right: plots
      ? [sales(signals.records, gp, today), plots.map, funds]
      : tab === "sources" && names(gp),
    call: `/fetch-gp?gp_name=${gp.id}`,
  };
}

const inProgress: readonly string[] = ["planned", "raising", "entitled", "under_construction"];
const isInProgress = ({ status }: Project): boolean => inProgress.includes(status);

const tagsMax = 12;

function about({ description, strategies, property_types, themes, tags }: Gp): Part {
  const links = [
    ...listLinks("gp", "strategy", strategies),
    ...listLinks("gp", "property_type", property_types),
    ...listLinks("gp", "theme", themes),
    ...listLinks("gp", "tag", tags),
  ];
  const more = links.length - tagsMax;
  return html`${description && html`<p>${cutText(description, 600)}</p>`}
    <p class="tags">${links.slice(0, tagsMax)} ${more > 0 && html`<span>+${more}</span>`}</p>`;
}

function keyFigures(gp: Gp, linked: Linked, model: ReadModel, today: string): Html {
  const { signals, people, projects } = linked;
  const monthAgo = new Date(Date.parse(today) - 30 * 86_400_000).toISOString().slice(0, 10);
  const recent = signals.records.filter(({ date }) => date >= monthAgo).length;
  const underWay = projects.records.filter(isInProgress).length;
  const year = today.slice(0, 4);
  const added = people.records.filter((one) => one.first_seen_date?.startsWith(year)).length;
  const [first, ...others] = gp.markets;
  const markets = [
    first !== undefined && cutText(nameOfMarket(model, first), 40),
    others.length > 0 && ` and ${others.length} more`,
  ];
  return figures([
    ["Assets", money(gp.aum_usd), day(gp.aum_as_of)],
    isFiled(gp)
      ? [reportedSold, money(gp.raised_to_date_usd), "in notices of offerings"]
      : ["Raised to date", money(gp.raised_to_date_usd), "as stated"],
    ["Signals", grouped(signals.total), `${grouped(recent)} in the last 30 days`],
    ["People", grouped(people.total), added > 0 && `${grouped(added)} first named this year`],
    [
      "Projects",
      grouped(projects.total),
      `${grouped(underWay)} ${isFiled(gp) ? "reported on offer" : "in progress"}`,
    ],
    ["Markets", grouped(gp.markets.length), markets],
  ]);
}

/** Types and bases of amounts that can be added up: those of first sales, and of later increases. */
const addable = /^(?:first_sale sold_(?:to_date|delta)|capital_raised sold_delta)$/;

/** Returns a plot that adds up the sales in notices, and states the record's total; null for fewer than two sales. */
function sales(signals: readonly Signal[], gp: Gp, today: string): Part {
  const isAddable = (one: Signal) => addable.test(`${one.type} ${one.amount_basis}`);
  const sold = signals.filter((one) => isAddable(one) && (one.amount_usd ?? 0) > 0);
  if (sold.length < 2) return null;
  const sumUntil = (month: string) =>
    sold.reduce((sum, one) => sum + (one.date.slice(0, 7) <= month ? one.amount_usd! : 0), 0);
  const total = money(gp.raised_to_date_usd);
  const inAll = isFiled(gp) ? `In all: ${total} reported sold` : `As stated: ${total} raised`;
  // First-sale signals from filings have no amount.
  const isMore = sold.every(({ type }) => type === "capital_raised");
  const columns = periodsUntil(today, "quarter", 24).map(({ until, ...words }) => {
    return { ...words, values: [sumUntil(until)] };
  });
  return columnPlot({
    finding: `${money(sumUntil(today))} ${isMore ? "more " : ""}sold, according to ${counted(sold.length, "notice")}`,
    measure: `${isMore ? "Increases from notice to notice" : "First sales and later increases"}, added up; notices that state only a running total are left out${total && `. ${inAll}`}`,
    head: "Until",
    series: [{ label: "Sold", hue: "accent" }],
    columns,
    format: money,
  });
}

/** Columns of funds. The overview shows only the first three. */
const fundColumns: Column<Fund & Sourced>[] = [
  {
    label: "Fund",
    cell: ({ name, type, structure }) =>
      html`<span title="${name}">${cutText(name, 80)}</span>
        <span class="note">${byPoints([type, structure])}</span>`,
  },
  sorted("Gross assets", "gross_assets_usd", money),
  sorted(reportedSold, "sold_usd", money),
  sorted("Offered", "offered_usd", money),
  sorted("First sale", "first_sale_date", day),
  sorted("Assets as of", "as_of", day),
];

function sources(gp: Gp, linked: Linked): Html {
  const all: Record<string, { records: readonly Sourced[] }> = { GP: { records: [gp] }, ...linked };
  const rows = Object.entries(all).flatMap(([kind, { records }]) => {
    const counts = Map.groupBy(records, ({ provenance }) => provenanceWords(provenance));
    return Array.from(counts, ([words, { length }]) => [capital(kind), words, grouped(length)]);
  });
  const columns = ["Records", "Source, basis, confidence", { label: "Number", isNumber: true }];
  const body = table({ label: "Sources", columns, rows });
  return card({ title: "Where these records come from", body });
}

const names = (gp: Gp): Html =>
  factsCard("gp", gp, [
    ["Legal name", gp.legal_name],
    ["Also known as", listText(gp.aliases)],
    ["Founded", gp.founded_year],
    ["Former ids", listText(gp.former_ids)],
  ]);
