/** The people of a GP. */
import type { Gp } from "#records/gp.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { table } from "#pages/table.ts";
import { dayElement } from "#pages/times.ts";
import { filledColumns } from "./filled-columns.ts";
import { fitting } from "./fitting.ts";
import { restNote } from "./gp-rest.ts";
import { commonProvenance, provenanceLine, provenanceNote } from "./provenance-note.ts";
import { outside, place } from "./record-words.ts";
import { byPoints } from "./signal-list.ts";
import { valueLabels } from "./value-label.ts";

const columns = ["Name", "What they are", "Where", "Since", { label: "More", isPlain: true }];

export function peopleSection(
  { id, principals, principals_total: total }: Gp,
  bytesMax: number,
): Html {
  const common = commonProvenance(principals);
  const rows = fitting(
    principals.map((person) => cellsOf(person, common)),
    bytesMax,
  );
  return html`<section>
    <h2 id="people">People</h2>
    ${provenanceLine(common)}
    ${total === 0 ? html`<p>Nobody of it is known.</p>` : table(filledColumns({ label: "People", columns, rows }))}
    ${restNote({ operation: "fetch-principals", gp: id, shown: rows.length, total })}
  </section>`;
}

const cellsOf = (person: Gp["principals"][number], common: string | undefined): Part[] => [
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
