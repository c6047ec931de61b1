/** The reference of one operation: what it returns, what it takes, an example, a form to try it. */
import {
  isRepeatable,
  type Operation,
  type ParameterName,
  parametersOf,
} from "#operations/operation.ts";
import {
  type MemberSchema,
  membersOf,
  type ValueList,
  valueLists,
  valuesOf,
} from "#records/value-lists.ts";
import { copyBlock, curlLine, jsonBlock } from "./code-block.ts";
import { exampleTarget } from "./example-query.ts";
import { exampleRecords } from "./example-records.ts";
import { html, type Html, type Part } from "./html.ts";
import { isNullable, typeWords } from "./member-type.ts";
import { parameterMeanings, parameterNeed, parameterRule } from "./parameter-words.ts";
import { codes, prose } from "./prose.ts";
import { table } from "./table.ts";

interface OperationFacts {
  pageSizeMax: number;
  publicUrl: string | null;
}

export function operationSection(operation: Operation, facts: OperationFacts): Html {
  const { publicUrl } = facts;
  const { name, path, kind, record, summary, description } = operation;
  return html`<section>
    <h3 id="${name}"><code>GET ${path}</code></h3>
    <p>${summary} ${prose(description)}</p>
    ${parameterTable(operation, facts)}
    ${tryForm({
      path,
      target: exampleTarget(operation),
      publicUrl,
      fields: parametersOf(operation).map((parameter) => field(operation, parameter)),
    })}
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

const parameterTable = (operation: Operation, { pageSizeMax }: OperationFacts): Html =>
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

/** The members of a record: name, type, whether it may be null, meaning. */
const memberTable = (label: string, record: Operation["record"]): Html =>
  table({
    label,
    columns: ["Member", { label: "Type", isPlain: true }, { label: "Meaning", isPlain: true }],
    rows: membersOf(record).map(([name, schema]) => [
      html`<code>${name}</code>`,
      html`${typeCell(schema)}${isNullable(schema) && " or null"}`,
      html`${prose(schema.description ?? "Open vocabulary.")}${innerMembers(schema)}`,
    ]),
  });

/** Fragment of the address of a closed list in the vocabulary. @param values all of the list. */
export const anchorOf = (values: readonly string[]): string => {
  const isWhole = (list: ValueList) =>
    list.values.map(({ value }) => value).join() === values.join();
  return `values-${valueLists.find(isWhole)!.members[0]}`;
};

/** Closed lists are long and shared, so the cell links to them. */
function typeCell(schema: MemberSchema): Part {
  const values = valuesOf(schema) ?? valuesOf(schema.items ?? {});
  if (values === undefined) return typeWords(schema);
  const link = html`<a href="/docs/vocabulary#${anchorOf(values)}">${values.length} values</a>`;
  return html`${schema.items === undefined ? "one" : "list"} of ${link}`;
}

/** Objects with more members are records, described in a table of their own. */
const innerMembersMax = 10;

function innerMembers({ properties, items }: MemberSchema): Part {
  const names = Object.keys(properties ?? items?.properties ?? {});
  if (names.length === 0 || names.length > innerMembersMax) return null;
  return html` Members: ${codes(names)}.`;
}

interface TryForm {
  path: string;
  /** Path and query of the example. */
  target: string;
  publicUrl: string | null;
  /** One for each parameter, none for a path without any. */
  fields: Part;
}

/** Disabled until its script runs, because without it a browser cannot send the header. */
export const tryForm = ({ path, target, publicUrl, fields }: TryForm): Html =>
  html`<form class="card try" data-path="${path}" data-base="${publicUrl}" autocomplete="off">
    <h4>Try ${path}</h4>
    <noscript
      ><p>
        Without JavaScript a browser cannot send the header <code>x-api-key</code>: use the curl
        line below.
      </p></noscript
    >
    <fieldset disabled aria-label="Request to ${path}">
      <div class="fields">${keyField()} ${fields}</div>
      <button type="submit">Send request</button>
    </fieldset>
    ${copyBlock(`The request to ${path} with curl`, curlLine(publicUrl, target))}
    <p class="outcome" role="status" aria-live="polite"></p>
    <div class="answer" hidden>
      <pre tabindex="0" role="group" aria-label="Body of the answer of ${path}"><code></code></pre>
      <details>
        <summary>Headers</summary>
        <dl class="facts"></dl>
      </details>
    </div>
  </form>`;

/** Without a name, so that a browser never puts the key into a URL. */
const keyField = (): Html =>
  html`<label
    ><code>x-api-key</code> <span class="muted">kept in this tab only</span>
    <input type="password" data-key autocomplete="off"
  /></label>`;

function field(operation: Operation, name: ParameterName): Html {
  const need = parameterNeed(name, operation);
  const value = operation.example[name];
  if (isRepeatable(name))
    return html`<label
      ><code>${name}</code> <span class="muted">${need}, one a line</span>
      <textarea name="${name}"></textarea>
    </label>`;
  return html`<label
    ><code>${name}</code> <span class="muted">${need}</span>
    <input name="${name}" ${value !== undefined && html`value="${value}"`}
  /></label>`;
}
