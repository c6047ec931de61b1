/** The projects of a GP. */
import type { Project } from "#records/project.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { grouped } from "#pages/prose.ts";
import { table } from "#pages/table.ts";
import { filledColumns } from "./filled-columns.ts";
import { fitting } from "./fitting.ts";
import type { ShownGp } from "./gp-facts.ts";
import { restNote } from "./gp-rest.ts";
import { commonProvenance, provenanceLine, provenanceNote } from "./provenance-note.ts";
import { money, place } from "./record-words.ts";
import { valueLabel } from "./value-label.ts";

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
