/** The projects of a GP. */
import { html, type Html, type Part } from "#pages/html.ts";
import { grouped } from "#pages/prose.ts";
import { table, type TableContent } from "#pages/table.ts";
import { dayElement } from "#pages/times.ts";
import type { Provenance } from "#records/common.ts";
import type { Gp } from "#records/gp.ts";
import type { Project } from "#records/project.ts";
import { fitting } from "./fitting.ts";
import { money, outside, place, provenanceWords, valueLabel, valueLabels } from "./record-words.ts";
import { byPoints, signalItem, timeline } from "./signal-list.ts";

/** A GP as its page shows it. */
export interface ShownGp {
  /** As the operations serve it: at most 100 principals and signals, and how many there are. */
  gp: Gp;
  /** Title of each market that is named → what it is called. */
  marketNames: Readonly<Record<string, string>>;
}

const columns = ["Name", "What it is", "State", "Where", "Size", { label: "More", isPlain: true }];

export interface ShownProjects extends ShownGp {
  /** At most 100. */
  projects: readonly Project[];
  projectsTotal: number;
}

export function projectsSection(
  { gp, projects, projectsTotal: total, marketNames }: ShownProjects,
  bytesMax: number,
): Html {
  const common = commonProvenance(projects);
  const rows = fitting(
    projects.map((project) => [...cellsOf(project, marketNames), provenanceNote(project, common)]),
    bytesMax,
  );
  return html`<section>
    <h2 id="projects">Projects</h2>
    ${provenanceLine(common)}
    ${
      total === 0
        ? html`<p>No project of it is known.</p>`
        : table(filledColumns({ label: "Projects", columns, rows }))
    }
    ${restNote({ operation: "fetch-projects", gp: gp.id, shown: rows.length, total })}
  </section>`;
}

const cellsOf = (project: Project, marketNames: ShownGp["marketNames"]): Part[] => [
  project.name,
  `${valueLabel(project.type)}, ${valueLabel(project.property_type).toLowerCase()}`,
  valueLabel(project.status),
  place(project.city, project.state, project.country) ||
    (project.market !== null && marketNames[project.market]),
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

/** The people of a GP. */
const columnsOfGpPeople = [
  "Name",
  "What they are",
  "Where",
  "Since",
  { label: "More", isPlain: true },
];

export function peopleSection(
  { id, principals, principals_total: total }: Gp,
  bytesMax: number,
): Html {
  const common = commonProvenance(principals);
  const rows = fitting(
    principals.map((person) => cellsOfOfGpPeople(person, common)),
    bytesMax,
  );
  return html`<section>
    <h2 id="people">People</h2>
    ${provenanceLine(common)}
    ${total === 0 ? html`<p>Nobody of it is known.</p>` : table(filledColumns({ label: "People", columns: columnsOfGpPeople, rows }))}
    ${restNote({ operation: "fetch-principals", gp: id, shown: rows.length, total })}
  </section>`;
}

const cellsOfOfGpPeople = (
  person: Gp["principals"][number],
  common: string | undefined,
): Part[] => [
  person.name,
  person.title ?? valueLabels(person.roles),
  place(person.city, person.state, person.country),
  person.start_date !== null && dayElement(person.start_date),
  byPoints([
    person.email !== null && mailLink(person.email),
    person.linkedin_url !== null && outside(person.linkedin_url, "LinkedIn"),
    provenanceNote(person, common),
  ]),
];

/** Without what a link could say beside the address, such as a subject (RFC 6068). */
const plainAddress = /^[^\s@?&%]+@[^\s@?&%]+$/;

const mailLink = (email: string): Html =>
  plainAddress.test(email) ? html`<a href="mailto:${email}">${email}</a>` : html`${email}`;

/** What has happened at a GP, newest first. */
export function timelineSection({ gp, marketNames }: ShownGp, bytesMax: number): Html {
  const { id, signals, signals_total: total } = gp;
  const common = commonProvenance(signals);
  const items = fitting(
    signals.map((signal) => {
      const marketName = signal.market === null ? null : marketNames[signal.market]!;
      return signalItem({ ...signal, marketName }, [provenanceNote(signal, common)]);
    }),
    bytesMax,
  );
  return html`<section>
    <h2 id="timeline">Timeline</h2>
    ${provenanceLine(common)}
    ${total === 0 ? html`<p>No signal of it is known.</p>` : timeline("Timeline", items)}
    ${restNote({ operation: "fetch-signals", gp: id, shown: items.length, total })}
  </section>`;
}

/** A page of every operation. */
const limit = "100";

interface Rest {
  operation: "fetch-principals" | "fetch-signals" | "fetch-projects";
  gp: string;
  shown: number;
  total: number;
}

/** Nothing where all are shown. */
function restNote({ operation, gp, shown, total }: Rest): Part {
  if (shown >= total) return null;
  const query = new URLSearchParams({ gp_name: gp, limit, offset: String(shown) }).toString();
  return html`<p>
    The first ${grouped(shown)} of ${grouped(total)}. The others:
    <a class="mono" href="/account/explorer?operation=${operation}&amp;${query}#answer"
      >/${operation}?${query}</a
    >
  </p>`;
}

/** Tables of records, which often lack a member: a column nobody fills is left out. */
const isEmpty = (cell: Part): boolean => html`${cell}`.markup === "";

function filledColumns({ label, columns, rows }: TableContent): TableContent {
  const isFilled = columns.map((_, i) => rows.some((row) => !isEmpty(row[i])));
  return {
    label,
    columns: columns.filter((_, i) => isFilled[i]),
    rows: rows.map((row) => row.filter((_, i) => isFilled[i])),
  };
}

/** Where records come from and how sure each is: said once for most of them, and again only where it differs. */
interface Sourced {
  provenance: Provenance;
}

/** What most of them say of themselves; undefined for no records. */
function commonProvenance(records: readonly Sourced[]): string | undefined {
  const counts = new Map<string, number>();
  for (const { provenance } of records) {
    const words = provenanceWords(provenance);
    counts.set(words, (counts.get(words) ?? 0) + 1);
  }
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0];
}

const provenanceLine = (common: string | undefined): Part =>
  common !== undefined && html`<p class="muted">Unless a line says otherwise: from ${common}.</p>`;

/** What one record says differently, and where its source says so. */
function provenanceNote({ provenance }: Sourced, common: string | undefined): Part {
  const words = provenanceWords(provenance);
  const said = words === common ? null : `from ${words}`;
  if (provenance.url === null) return said;
  return [said, said !== null && ", ", outside(provenance.url, "source")];
}
