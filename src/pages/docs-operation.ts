/** The reference of one operation: what it returns, what it takes, an example, a form to try it. */
import type { Operation } from "#operations/operation.ts";
import { parametersOf } from "#operations/parameter-names.ts";
import { jsonBlock } from "./code-block.ts";
import { exampleRecords } from "./example-records.ts";
import { html, type Html } from "./html.ts";
import { memberTable } from "./member-table.ts";
import { membersOf } from "./member-type.ts";
import { parameterMeanings, parameterNeed, parameterRule } from "./parameter-words.ts";
import { prose } from "./prose.ts";
import { table } from "./table.ts";
import { tryForm } from "./try-form.ts";

export function operationSection(
  operation: Operation,
  pageSizeMax: number,
  publicUrl: string | null,
): Html {
  const { name, path, kind, record, summary, description } = operation;
  return html`<section>
    <h3 id="${name}"><code>GET ${path}</code></h3>
    <p>${summary} ${prose(description)}</p>
    ${parameterTable(operation, pageSizeMax)} ${tryForm(operation, publicUrl)}
    <details>
      <summary>Example of a record</summary>
      ${jsonBlock(`Example of a record of ${path}`, exampleRecords[kind])}
    </details>
    <details>
      <summary>Members of each record (${membersOf(record).length})</summary>
      ${memberTable(`Members of each record of ${path}`, record)}
    </details>
  </section>`;
}

const parameterTable = (operation: Operation, pageSizeMax: number): Html =>
  table({
    label: `Parameters of ${operation.path}`,
    columns: ["Parameter", "Needed", "Takes", "Meaning"].map((label) => ({ label, isPlain: true })),
    rows: parametersOf(operation).map((name) => [
      html`<code>${name}</code>`,
      parameterNeed(name, operation),
      parameterRule(name, operation, pageSizeMax),
      prose(parameterMeanings[name]),
    ]),
  });
