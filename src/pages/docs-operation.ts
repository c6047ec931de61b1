/** The reference of one operation: results, parameters, an example and a form to try it. */
import {
  isRepeatable,
  type Operation,
  type PageParameter,
  pageSchemas,
  parametersOf,
} from "#operations/operation.ts";
import {
  declarations,
  membersOf,
  type ValueList,
  valueLists,
  valuesOf,
} from "#records/declarations.ts";
import { datePattern } from "#records/fields.ts";
import type { MemberSchema, TSchema } from "#records/schema.ts";
import { curlBlock, exampleTarget, jsonBlock } from "./code-block.ts";
import { exampleRecords } from "./example-records.ts";
import { html, type Html, type Part } from "./html.ts";
import { codes, prose } from "./prose.ts";
import { table } from "./table.ts";

interface OperationFacts {
  pageSizeMax: number;
  publicUrl: string | null;
}

/** Returns the address of an operation's reference. */
export const referenceOf = ({ name, sorts }: Operation): string =>
  `${sorts === null ? "/docs" : "/docs/lists"}#${name}`;

/** Returns links to the references of operations on the same page. */
export const operationLinks = (operations: readonly Operation[]): Html =>
  html`<ul>
    ${operations.map(({ name }) => html`<li><a href="#${name}">${name}</a></li> `)}
  </ul>`;

/** Returns the reference of an operation that is not a list. */
export function operationSection(operation: Operation, facts: OperationFacts): Html {
  const { publicUrl } = facts;
  const { name, path, kind, summary, description } = operation;
  const { schema } = declarations[kind];
  return html`<section class="operation">
    <div>
      <h3 id="${name}"><code>GET ${path}</code></h3>
      <p>${summary} ${prose(description)}</p>
      ${parameterList(
        `Parameters of ${path}`,
        parametersOf(operation).map((parameter) => {
          const { need, rule, meaning } = wordsOf(parameter, operation, facts);
          return { names: codes([parameter]), rule: `${need}, ${rule}`, meaning: prose(meaning) };
        }),
      )}
      <details>
        <summary>Members of each record (${membersOf(schema).length})</summary>
        ${memberTable(`Members of each record of ${path}`, schema)}
      </details>
    </div>
    <div>
      ${tryForm({
        path,
        target: exampleTarget(operation),
        publicUrl,
        fields: parametersOf(operation).map((parameter) => field(operation, parameter, facts)),
      })}
      <details open>
        <summary>Example of a record</summary>
        ${jsonBlock(`Example of a record of ${path}`, exampleRecords[kind])}
      </details>
    </div>
  </section>`;
}

export interface Parameter {
  /** Names as code: one, or the two ends of a range. */
  names: Part;
  /** Values it takes, in a few words. */
  rule: Part;
  meaning: Part;
}

/** Returns parameters one below the other, each with what it takes and means. */
export const parameterList = (label: string, parameters: readonly Parameter[]): Html =>
  html`<dl class="parameters" aria-label="${label}">
    ${parameters.map(
      ({ names, rule, meaning }) =>
        html`<div>
          <dt>${names} <span>${rule}</span></dt>
          <dd>${meaning}</dd>
        </div>`,
    )}
  </dl>`;

/** Meanings of the parameters that every operation has. */
export const pageMeanings: Readonly<Record<PageParameter, string>> = {
  limit: "How many records a page has at most.",
  offset: "How many records to skip.",
};

/**
 * Returns the texts about a parameter. `need` says `required`, `optional` or what the default is. `rule` says which
 * values the operation accepts. Backticks in `meaning` mark code.
 */
function wordsOf(name: string, operation: Operation, { pageSizeMax }: OperationFacts) {
  if (name === "limit" || name === "offset") {
    const { minimum, maximum, default: usual } = pageSchemas(pageSizeMax)[name];
    return {
      need: `default ${usual}`,
      rule: `whole number, ${minimum} to ${maximum}`,
      meaning: pageMeanings[name],
    };
  }
  const { meaning, isRequired, lengthMin, lengthMax, valuesMax } = operation.filters[name]!;
  const characters = `${lengthMin} to ${lengthMax} characters`;
  return {
    need: isRequired ? "required" : "optional",
    rule: valuesMax > 1 ? `${characters}, up to ${valuesMax} times` : characters,
    meaning,
  };
}

/** Returns a table of the members of a record or problem: name, type (with null) and meaning. */
export const memberTable = (label: string, record: TSchema): Html =>
  table({
    label,
    columns: ["Member", { label: "Type", isPlain: true }, { label: "Meaning", isPlain: true }],
    rows: membersOf(record).map(([name, schema]) => [
      html`<code>${name}</code>`,
      html`${typeCell(schema)}${isNullable(schema) && " or null"}`,
      html`${prose(schema.description ?? "Open vocabulary.")}${innerMembers(schema)}`,
    ]),
  });

/** Returns the URL fragment of a closed list on the vocabulary page. */
export const anchorOf = ({ members }: ValueList): string => `values-${members[0]}`;

function typeCell(schema: MemberSchema): Part {
  const values = valuesOf(schema) ?? valuesOf(schema.items ?? {});
  if (values === undefined) return typeWords(schema);
  return html`${schema.items === undefined ? "one" : "list"} of ${valueWords(values)}`;
}

/** Returns the values of a closed list. Those of records are long and shared, so there is a link to them. */
export function valueWords(values: readonly string[]): Html {
  const listed = valueLists.find(
    (one) => one.values.map(({ value }) => value).join() === values.join(),
  );
  return listed === undefined
    ? codes(values)
    : html`<a href="/docs/vocabulary#${anchorOf(listed)}">${values.length} values</a>`;
}

/** Maximum number of members of an inner object. Larger objects are records, which have tables of their own. */
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
  /** One field for each parameter; null for a path without parameters. */
  fields: Part;
}

/**
 * Returns a form that is disabled until its script runs, because a browser cannot send the header without the script.
 * The field for the key has no name, so that a browser never puts the key into a URL.
 */
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
      <div class="fields">
        <label
          ><code>x-api-key</code> <span class="muted">kept in this tab only</span>
          <input type="password" data-key autocomplete="off"
        /></label>
        ${fields}
      </div>
      <button type="submit">Send request</button>
    </fieldset>
    ${curlBlock(`The request to ${path} with curl`, publicUrl, target)}
    <p class="outcome" role="status" aria-live="polite"></p>
    <div class="answer" hidden>
      <pre tabindex="0" role="group" aria-label="Body of the answer of ${path}"><code></code></pre>
      <details>
        <summary>Headers</summary>
        <dl class="facts"></dl>
      </details>
    </div>
  </form>`;

function field(operation: Operation, name: string, facts: OperationFacts): Html {
  const { need } = wordsOf(name, operation, facts);
  const value = operation.example[name];
  if (isRepeatable(operation, name))
    return html`<label
      ><code>${name}</code> <span class="muted">${need}, one a line</span>
      <textarea name="${name}"></textarea>
    </label>`;
  return html`<label
    ><code>${name}</code> <span class="muted">${need}</span>
    <input name="${name}" ${value !== undefined && html`value="${value}"`}
  /></label>`;
}

/** Reports whether a member may be `null`. */
const isNullable = ({ type }: MemberSchema): boolean => typesOf(type).includes("null");

/** Returns a type in words, such as `text`, `date` or `list of ids`. */
function typeWords(schema: MemberSchema): string {
  const [type] = typesOf(schema.type);
  switch (type) {
    case "array":
      return `list of ${plurals[typeWords(schema.items ?? {})] ?? "values"}`;
    case "integer":
      return "whole number";
    case "string":
      return textWords(schema);
    default:
      return type ?? "any";
  }
}

const typesOf = (type: MemberSchema["type"]): readonly string[] =>
  typeof type === "string" ? [type] : (type ?? []);

const plurals: Readonly<Record<string, string>> = {
  text: "texts",
  id: "ids",
  value: "values",
  object: "objects",
};

function textWords({ enum: values, format, pattern = "" }: MemberSchema): string {
  if (values !== undefined) return "value";
  if (format === "date-time") return "time";
  if (pattern === datePattern) return "date";
  if (pattern.startsWith(datePattern)) return "date or time";
  if (pattern.startsWith("^http")) return "URL";
  return /^\^[a-z]+_/.test(pattern) ? "id" : "text";
}
