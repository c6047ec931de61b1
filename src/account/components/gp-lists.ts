/** The lists on the page of a GP: projects, people and signals, each cut to a number of bytes. */
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

export interface ShownGp {
  /** As the operations serve it: at most 100 principals and signals, and how many there are. */
  gp: Gp;
  /** Title of each market → its short name. */
  marketNames: Readonly<Record<string, string>>;
}

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
    projects.map((project) => [
      ...projectCells(project, marketNames),
      provenanceNote(project, common),
    ]),
    bytesMax,
  );
  return html`<section>
    <h2 id="projects">Projects</h2>
    ${provenanceLine(common)}
    ${
      total === 0
        ? html`<p>No project of it is known.</p>`
        : table(filledColumns({ label: "Projects", columns: projectColumns, rows }))
    }
    ${restNote({ operation: "fetch-projects", gp: gp.id, shown: rows.length, total })}
  </section>`;
}

const projectColumns = [
  "Name",
  "What it is",
  "State",
  "Where",
  "Size",
  { label: "More", isPlain: true },
];

const projectCells = (project: Project, marketNames: ShownGp["marketNames"]): Part[] => [
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

export function peopleSection(
  { id, principals, principals_total: total }: Gp,
  bytesMax: number,
): Html {
  const common = commonProvenance(principals);
  const rows = fitting(
    principals.map((person) => personCells(person, common)),
    bytesMax,
  );
  return html`<section>
    <h2 id="people">People</h2>
    ${provenanceLine(common)}
    ${total === 0 ? html`<p>Nobody of it is known.</p>` : table(filledColumns({ label: "People", columns: personColumns, rows }))}
    ${restNote({ operation: "fetch-principals", gp: id, shown: rows.length, total })}
  </section>`;
}

const personColumns = ["Name", "What they are", "Where", "Since", { label: "More", isPlain: true }];

const personCells = (person: Gp["principals"][number], common: string | undefined): Part[] => [
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

/** An address without characters that mean more in a `mailto:` link, such as a subject (RFC 6068). */
const plainAddress = /^[^\s@?&%]+@[^\s@?&%]+$/;

const mailLink = (email: string): Html =>
  plainAddress.test(email) ? html`<a href="mailto:${email}">${email}</a>` : html`${email}`;

/** Its signals, newest first. */
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

/** A page size that every operation accepts. */
const limit = "100";

interface Rest {
  operation: "fetch-principals" | "fetch-signals" | "fetch-projects";
  gp: string;
  shown: number;
  total: number;
}

/** Names the request for the records that are not shown. */
function restNote({ operation, gp, shown, total }: Rest): Part {
  if (shown >= total) return null;
  const query = new URLSearchParams({ gp_name: gp, limit, offset: String(shown) }).toString();
  return html`<p>
    The first ${grouped(shown)} of ${grouped(total)}. The others:
    <a class="mono" href="/docs#${operation}">/${operation}?${query}</a>
  </p>`;
}

/** Leaves out columns without a value. */
function filledColumns({ label, columns, rows }: TableContent): TableContent {
  const isFilled = columns.map((_, i) => rows.some((row) => !isEmpty(row[i])));
  return {
    label,
    columns: columns.filter((_, i) => isFilled[i]),
    rows: rows.map((row) => row.filter((_, i) => isFilled[i])),
  };
}

const isEmpty = (cell: Part): boolean => html`${cell}`.markup === "";

interface Sourced {
  provenance: Provenance;
}

/** The provenance most of them share, which is then stated once; undefined without records. */
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

/** How the provenance of one record differs, and a link to its source. */
function provenanceNote({ provenance }: Sourced, common: string | undefined): Part {
  const words = provenanceWords(provenance);
  const said = words === common ? null : `from ${words}`;
  if (provenance.url === null) return said;
  return [said, said !== null && ", ", outside(provenance.url, "source")];
}
