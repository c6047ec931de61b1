/** The page of one GP: names, facts, people, signals and projects, as the operations serve them. */
import {
  browseHref,
  browsePaths,
  type ChoiceName,
  nothingChosen,
} from "#dashboard/components/browse-links.ts";
import { accountPage, wordReply } from "#dashboard/components/page.ts";
import {
  asSeen,
  byPoints,
  cutText,
  fitting,
  gpHref,
  hostOf,
  joined,
  listText,
  money,
  outside,
  place,
  provenanceWords,
  readRecords,
  signalItem,
  timeline,
  valueLabel,
} from "#dashboard/components/records.ts";
import { type Given, moved, type ReaderRequest, route, type Route } from "#dashboard/screen.ts";
import { fetchGp } from "#operations/fetch-gp.ts";
import { fetchProjects } from "#operations/fetch-projects.ts";
import type { Operation } from "#operations/operation.ts";
import { answer } from "#operations/page.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { counted, dayElement, grouped, relativeTime } from "#pages/prose.ts";
import { type Column, factList, table, type TableContent } from "#pages/table.ts";
import type { ExternalIds, Provenance } from "#records/common.ts";
import type { Gp } from "#records/gp.ts";
import type { Project } from "#records/project.ts";
import { nameOfMarket } from "#search/market-spellings.ts";
import { positionOfId } from "#search/name-index.ts";
import type { ReadModel } from "#search/read-model.ts";

export const browseGpRoutes: readonly Route[] = [
  route("/browse/gps/{id}", "reader", {
    GET: (request) => readRecords(request, (model) => showGp(request, model)),
  }),
];

const projectsMax = 100;

function showGp(request: ReaderRequest, model: ReadModel): Given {
  const id = request.names["id"]!;
  if (positionOfId(model.parts.ids, id) === -1)
    return wordReply(
      request,
      404,
      "There is no such GP",
      "Perhaps its records are no longer published, or the address was cut off.",
      { href: "/browse/gps", label: "Browse GPs" },
    );
  const [gp] = ask<Gp>(fetchGp, model, id, 1).data;
  if (gp!.id !== id) return moved(gpHref(gp!.id), request.query);
  const { data: projects, pagination } = ask<Project>(fetchProjects, model, id, projectsMax);
  const principals = gp!.principals.map((person) => asSeen(request, person));
  const shown = { model, gp: { ...gp!, principals }, projects, projectsTotal: pagination.total };
  return accountPage(request, { title: gp!.name, main: gpMain(shown, request.now) });
}

interface Body<R> {
  data: R[];
  pagination: { total: number };
}

/** Asks an operation about a GP. An id in place of a name selects only the GP with that id. */
const ask = <R>(operation: Operation, model: ReadModel, id: string, limit: number): Body<R> =>
  JSON.parse(
    answer(operation, model, {
      filter: { gp_name: id },
      values: {},
      limit,
      offset: 0,
    }).body.toString(),
  ) as Body<R>;

const descriptionLengthMax = 1000;
/**
 * Size limits in bytes of markup: all lists together, people, and projects. Signals, the longest list, get the rest.
 */
const bytesMax = { lists: 32_000, people: 8000, projects: 8000 } as const;

function gpMain(view: ShownGp, now: number): Html {
  const { gp } = view;
  const people = peopleSection(view, bytesMax.people);
  const projects = projectsSection(view, bytesMax.projects);
  const used = people.markup.length + projects.markup.length;
  return html`<div class="records">
    <h1>${gp.name}</h1>
    <p class="lede">${byPoints(inShort(view))}</p>
    ${gp.description !== null && html`<p>${cutText(gp.description, descriptionLengthMax)}</p>`}
    ${gpFacts(view)} ${timelineSection(view, bytesMax.lists - used)} ${people} ${projects}
    <p class="muted">
      Last changed ${relativeTime(gp.updated_at, now)}. To find only this GP, send its id as
      <code>gp_name</code>: <code>${gp.id}</code>
    </p>
  </div>`;
}

const inShort = ({ gp, projectsTotal }: ShownGp): Part[] => [
  place(gp.hq_city, gp.hq_state, gp.hq_country),
  gp.aum_usd !== null && `${money(gp.aum_usd)} under management`,
  html`<a href="#timeline">${counted(gp.signals_total, "signal")}</a>`,
  html`<a href="#people">${counted(gp.principals_total, "person", "people")}</a>`,
  html`<a href="#projects">${counted(projectsTotal, "project")}</a>`,
];

/** Returns the known facts about the GP itself. */
function gpFacts({ gp, model }: ShownGp): Html {
  const markets = gp.markets.map((title) => nameOfMarket(model, title));
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
  return factList(facts);
}

const linkBytesMax = 2000;

/** Links each value to a list of the GPs that have it. Shows as many links as fit. */
function links(name: ChoiceName, values: readonly string[]): Part {
  const all = values.map(
    (value) =>
      html`<a href="${browseHref(browsePaths.gps, { ...nothingChosen, [name]: [value] })}"
        >${valueLabel(value)}</a
      >`,
  );
  return joined(fitting(all, linkBytesMax), all.length);
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

const elsewhere = (ids: ExternalIds): Part =>
  listText(
    Object.entries(ids).flatMap(([key, values]) =>
      (values ?? []).map((value) => `${idNames[key as keyof ExternalIds] ?? key} ${value}`),
    ),
  );

const sourceLink = (url: string | null): Part => url !== null && [", ", outside(url, hostOf(url))];

interface ShownGp {
  /** GP as the operations serve it: at most 100 principals and 100 signals, with their total numbers. */
  gp: Gp;
  /** The GP's first projects, at most 100. */
  projects: readonly Project[];
  projectsTotal: number;
  model: ReadModel;
}

const projectsSection = ({ gp, projects, projectsTotal, model }: ShownGp, bytesMax: number): Html =>
  section({
    heading: "Projects",
    kind: "projects",
    gp,
    records: projects,
    total: projectsTotal,
    bytesMax,
    piece: (project, note) => [...projectCells(project, model), note],
    list: (rows) => filledTable("Projects", projectColumns, rows),
  });

const more: Column = { label: "More", isPlain: true };
const projectColumns = ["Name", "What it is", "State", "Where", "Size", more];

const projectCells = (project: Project, model: ReadModel): Part[] => [
  project.name,
  `${valueLabel(project.type)}, ${valueLabel(project.property_type).toLowerCase()}`,
  valueLabel(project.status),
  place(project.city, project.state, project.country) ||
    (project.market !== null && nameOfMarket(model, project.market)),
  sizeOf(project),
];

const sizeOf = ({ units, square_feet, total_amount_usd }: Project): string =>
  [
    units === null ? "" : `${grouped(units)} units`,
    square_feet === null ? "" : `${grouped(square_feet)} sq ft`,
    money(total_amount_usd),
  ]
    .filter((part) => part !== "")
    .join(", ");

const peopleSection = ({ gp }: ShownGp, bytesMax: number): Html =>
  section({
    heading: "People",
    kind: "principals",
    gp,
    records: gp.principals,
    total: gp.principals_total,
    bytesMax,
    piece: personCells,
    list: (rows) => filledTable("People", personColumns, rows),
  });

const personColumns = ["Name", "What they are", "Where", "Since", more];

const personCells = (person: Gp["principals"][number], note: Part): Part[] => [
  person.name,
  person.title ?? person.roles.map(valueLabel).join(", "),
  place(person.city, person.state, person.country),
  person.start_date !== null && dayElement(person.start_date),
  byPoints([
    person.email !== null && mailLink(person.email),
    person.linkedin_url !== null && outside(person.linkedin_url, "LinkedIn"),
    note,
  ]),
];

/** E-mail address without spaces and without `?`, `&` and `%`, which are special in a `mailto:` link (RFC 6068). */
const plainAddress = /^[^\s@?&%]+@[^\s@?&%]+$/;

const mailLink = (email: string): Html =>
  plainAddress.test(email) ? html`<a href="mailto:${email}">${email}</a>` : html`${email}`;

/** Returns the GP's signals, newest first. */
const timelineSection = ({ gp, model }: ShownGp, bytesMax: number): Html =>
  section({
    heading: "Timeline",
    kind: "signals",
    gp,
    records: gp.signals,
    total: gp.signals_total,
    bytesMax,
    piece: (signal, note) => {
      const marketName = signal.market === null ? null : nameOfMarket(model, signal.market);
      return signalItem({ ...signal, marketName }, [note]);
    },
    list: (items) => timeline("Timeline", items),
  });

interface Section<R extends Sourced, P extends Part> {
  heading: "Timeline" | "People" | "Projects";
  kind: "signals" | "principals" | "projects";
  gp: Gp;
  records: readonly R[];
  total: number;
  /** Size limit of all pieces together, in bytes of markup. */
  bytesMax: number;
  /** Returns a record's row or item. @param note the record's provenance if it is unusual, and a link to its source. */
  piece(record: R, note: Part): P;
  list(pieces: readonly P[]): Html;
}

/** A page size that every operation accepts. */
const limit = "100";

/** Returns a section with as many records as fit, their most common provenance, and the request for the others. */
function section<R extends Sourced, P extends Part>(shown: Section<R, P>): Html {
  const { heading, kind, records, total } = shown;
  const operation = `fetch-${kind}`;
  const common = commonProvenance(records);
  const pieces = fitting(
    records.map((record) => shown.piece(record, provenanceNote(record, common))),
    shown.bytesMax,
  );
  const offset = String(pieces.length);
  const query = new URLSearchParams({ gp_name: shown.gp.id, limit, offset }).toString();
  return html`<section>
    <h2 id="${heading.toLowerCase()}">${heading}</h2>
    ${common !== undefined && html`<p class="muted">Unless a line says otherwise: from ${common}.</p>`}
    ${total === 0 ? html`<p>No ${kind === "principals" ? "people" : kind} are known.</p>` : shown.list(pieces)}
    ${
      pieces.length < total &&
      html`<p>
        The first ${grouped(pieces.length)} of ${grouped(total)}. The others:
        <a class="mono" href="/docs#${operation}">/${operation}?${query}</a>
      </p>`
    }
  </section>`;
}

/** Returns a table without the columns that have no value. */
function filledTable(
  label: string,
  columns: TableContent["columns"],
  rows: TableContent["rows"],
): Html {
  const isFilled = columns.map((_, i) => rows.some((row) => !isEmpty(row[i])));
  const filled = <T>(row: readonly T[]) => row.filter((_, i) => isFilled[i]);
  return table({ label, columns: filled(columns), rows: rows.map(filled) });
}

const isEmpty = (cell: Part): boolean => html`${cell}`.markup === "";

interface Sourced {
  provenance: Provenance;
}

/** Returns the most common provenance, which is then stated once. Returns undefined if there are no records. */
function commonProvenance(records: readonly Sourced[]): string | undefined {
  const counts = new Map<string, number>();
  for (const { provenance } of records) {
    const words = provenanceWords(provenance);
    counts.set(words, (counts.get(words) ?? 0) + 1);
  }
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0];
}

/** Returns a record's provenance, if it differs from the common one, and a link to its source. */
function provenanceNote({ provenance }: Sourced, common: string | undefined): Part {
  const words = provenanceWords(provenance);
  const said = words === common ? null : `from ${words}`;
  if (provenance.url === null) return said;
  return [said, said !== null && ", ", outside(provenance.url, "source")];
}
