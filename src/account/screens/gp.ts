/** The page of one GP, with what the operations serve: names, facts, people, signals and projects. */
import {
  browseHref,
  browsePaths,
  type ChoiceName,
  nothingChosen,
} from "#account/components/browse-links.ts";
import { cutText, fitting, listText } from "#account/components/fitting.ts";
import { accountPage, type Frame, framed } from "#account/components/frame.ts";
import {
  peopleSection,
  projectsSection,
  type ShownProjects,
  timelineSection,
  type ShownGp,
} from "#account/components/gp-lists.ts";
import {
  hostOf,
  money,
  outside,
  place,
  provenanceWords,
  valueLabel,
} from "#account/components/record-words.ts";
import { byPoints } from "#account/components/signal-list.ts";
import { wordPage } from "#account/components/word.ts";
import { readRecords } from "#account/read-records.ts";
import { page, type Reply } from "#account/reply.ts";
import type { MemberRequest } from "#account/request.ts";
import { route, type Route } from "#account/route.ts";
import { fetchGp } from "#operations/fetch-gp.ts";
import { fetchProjects } from "#operations/fetch-projects.ts";
import type { Operation } from "#operations/operation.ts";
import { answer } from "#operations/page.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { counted } from "#pages/prose.ts";
import { dayElement, timeElement } from "#pages/times.ts";
import type { ExternalIds } from "#records/common.ts";
import type { Gp } from "#records/gp.ts";
import type { Project } from "#records/project.ts";
import { browse } from "#search/browse.ts";
import { positionOfId } from "#search/id-index.ts";
import type { ReadModel } from "#search/read-model.ts";

export const browseGpRoutes: readonly Route[] = [
  route("/account/browse/gp/{id}", "member", {
    GET: (request) => readRecords(request, (model) => showGp(request, model)),
  }),
];

const projectsMax = 100;

function showGp(request: MemberRequest, model: ReadModel): Reply {
  const id = request.names["id"]!;
  if (positionOfId(model.parts.ids, id) === -1) return unknown(request);
  const [gp] = ask<Gp>(fetchGp, model, id, 1).data;
  const { data: projects, pagination } = ask<Project>(fetchProjects, model, id, projectsMax);
  const { nameOfMarket } = browse(model.parts);
  const titles = [...gp!.markets, ...[...gp!.signals, ...projects].map(({ market }) => market)];
  return page(
    gpPage({
      frame: framed(request),
      gp: gp!,
      projects,
      projectsTotal: pagination.total,
      marketNames: Object.fromEntries(
        titles.filter((title) => title !== null).map((title) => [title, nameOfMarket(title)]),
      ),
    }),
  );
}

interface Body<R> {
  data: R[];
  pagination: { total: number };
}

/** An id in place of the name selects that GP only. */
const ask = <R>(operation: Operation, model: ReadModel, id: string, limit: number): Body<R> =>
  JSON.parse(
    answer(operation, model, { filter: { name: id }, limit, offset: 0 }).body.toString(),
  ) as Body<R>;

const unknown = (request: MemberRequest): Reply =>
  page(
    wordPage(
      "There is no such GP",
      "Perhaps its records are no longer published, or the address was cut off.",
      framed(request),
      { href: "/account/browse", label: "Browse GPs" },
    ),
    404,
  );

interface GpView extends ShownProjects {
  frame: Frame | null;
}

const descriptionLengthMax = 1000;
/** Bytes of markup of all lists, of people and of projects; signals, which are most, get the rest. */
const bytesMax = { lists: 32_000, people: 8000, projects: 8000 } as const;

function gpPage(view: GpView): string {
  const { frame, gp } = view;
  const people = peopleSection(gp, bytesMax.people);
  const projects = projectsSection(view, bytesMax.projects);
  const used = people.markup.length + projects.markup.length;
  return accountPage({
    title: gp.name,
    frame,
    main: html`<div class="records">
      <h1>${gp.name}</h1>
      <p class="lede">${byPoints(inShort(view))}</p>
      ${gp.description !== null && html`<p>${cutText(gp.description, descriptionLengthMax)}</p>`}
      ${gpFacts(view)} ${timelineSection(view, bytesMax.lists - used)} ${people} ${projects}
      <p class="muted">
        Last changed ${timeElement(gp.updated_at)}. Its id, which finds it alone as
        <code>gp_name</code>: <code>${gp.id}</code>
      </p>
    </div>`,
  });
}

const inShort = ({ gp, projectsTotal }: GpView): Part[] => [
  place(gp.hq_city, gp.hq_state, gp.hq_country),
  gp.aum_usd !== null && `${money(gp.aum_usd)} under management`,
  html`<a href="#timeline">${counted(gp.signals_total, "signal")}</a>`,
  html`<a href="#people">${counted(gp.principals_total, "person", "people")}</a>`,
  html`<a href="#projects">${counted(projectsTotal, "project")}</a>`,
];

/** What is known of the GP itself; unknown facts are left out. */
function gpFacts({ gp, marketNames }: ShownGp): Html {
  const markets = gp.markets.map((title) => marketNames[title] ?? title);
  const facts: readonly (readonly [term: string, what: Part])[] = [
    ["Legal name", gp.legal_name],
    ["Also known as", listText(gp.aliases)],
    ["Head office", place(gp.hq_city, gp.hq_state, gp.hq_country)],
    ["Markets", links("market", markets)],
    ["Strategies", links("tag", gp.strategies)],
    ["Property types", links("tag", gp.property_types)],
    ["Themes", links("theme", gp.themes)],
    ["Tags", links("tag", gp.tags)],
    ["Assets under management", assets(gp)],
    ["Raised so far", money(gp.raised_to_date_usd)],
    ["Founded", gp.founded_year],
    ["Website", gp.website !== null && outside(gp.website, hostOf(gp.website))],
    ["Known elsewhere as", elsewhere(gp.external_ids)],
    ["Former ids", listText(gp.former_ids)],
    ["Source", [provenanceWords(gp.provenance), sourceLink(gp.provenance.url)]],
  ];
  return html`<dl class="facts known">
    ${facts.map(
      ([term, what]) =>
        isSaid(what) &&
        html`<div>
          <dt>${term}</dt>
          <dd>${what}</dd>
        </div>`,
    )}
  </dl>`;
}

const isSaid = (what: Part): boolean =>
  what !== null && what !== undefined && what !== false && what !== "";

const linkBytesMax = 2000;

/** Each value links to all GPs that have it. */
function links(name: ChoiceName, values: readonly string[]): Part {
  const all = values.map(
    (value) =>
      html`<a href="${browseHref(browsePaths.gps, { ...nothingChosen, [name]: [value] })}"
        >${valueLabel(value)}</a
      >`,
  );
  const shown = fitting(all, linkBytesMax);
  const more = all.length - shown.length;
  return (
    all.length > 0 && [
      shown.map((link, i) => [i > 0 && "; ", link]),
      more > 0 && ` and ${more} more`,
    ]
  );
}

const assets = ({ aum_usd, aum_as_of }: Gp): Part =>
  aum_usd !== null && [
    money(aum_usd),
    aum_as_of !== null && html` <span class="muted">on ${dayElement(aum_as_of)}</span>`,
  ];

const idNames: Readonly<Record<keyof ExternalIds, string>> = {
  cik: "CIK",
  crd: "CRD",
  lei: "LEI",
  sec_number: "SEC",
  form_d_file: "Form D",
  adv_fund: "ADV fund",
  hud_id: "HUD",
  other: "other",
};

const elsewhere = (ids: ExternalIds): string =>
  listText(
    Object.entries(ids).flatMap(([key, values]) =>
      (values ?? []).map((value) => `${idNames[key as keyof ExternalIds] ?? key} ${value}`),
    ),
  );

const sourceLink = (url: string | null): Part => url !== null && [", ", outside(url, hostOf(url))];
