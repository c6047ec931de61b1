/** Docs pages of the operations, `/vocabulary` and `/explain`. All but the last have a form that sends a request. */
import {
  type DeclaredFilter,
  isRepeatable,
  type Operation,
  type PageParameter,
  pageSchemas,
  parametersOf,
  referenceOf,
} from "#operations/operation.ts";
import { explainPath, explainSummary } from "#operations/reads.ts";
import { vocabularyPath } from "#operations/vocabulary.ts";
import {
  declarations,
  membersOf,
  type ValueList,
  valueLists,
  valuesOf,
} from "#records/declarations.ts";
import { anyExplained, Explanation } from "#records/explanation.ts";
import { datePattern } from "#records/fields.ts";
import { kinds } from "#records/kinds.ts";
import type { MemberSchema, TSchema } from "#records/schema.ts";
import { type ProblemCode, problemKinds } from "#problems/kinds.ts";
import { callBlocks, exampleTarget, jsonBlock, originOf } from "./code-block.ts";
import { exampleExplanation, exampleRecords, exampleVocabulary } from "./example-records.ts";
import { html, type Html, type Part, table } from "./html.ts";
import { docsLayout, type Site } from "./layout.ts";
import { codes, counted, prose } from "./prose.ts";

interface OperationFacts {
  site: Site;
  /** Public origin (and path) of the service, without a trailing slash; null if it is unknown. */
  publicUrl: string | null;
  /** Maximum value of `limit`. */
  pageSizeMax: number;
}

export function operationPage(operation: Operation, facts: OperationFacts): string {
  const { name, path, kind, summary, description, sorts } = operation;
  const { schema } = declarations[kind];
  const isList = sorts !== null;
  return docsLayout({
    site: facts.site,
    title: name,
    description: summary,
    path: referenceOf(operation),
    scripts: ["docs.js"],
    main: html`<div class="operation">
      <div>
        <h1>${isList ? "List" : "Find"} ${kinds[kind].singular}s</h1>
        <p><code class="badge">GET ${path}</code></p>
        <p class="lede">${summary} ${prose(description)}</p>
        <h2 id="parameters">Parameters</h2>
        ${isList && html`<p><a href="/docs#lists">Filters and order</a> explains ranges, dates and sorts.</p>`}
        ${termList(`Parameters of ${path}`, [
          ...filterTerms(operation),
          ...(isList ? [sortTerm(sorts)] : []),
          ...pageTerms(facts.pageSizeMax),
        ])}
        <h2 id="members">Answer</h2>
        <p>
          A page of ${kinds[kind].singular}s in <code>data</code>, with <code>pagination</code> and
          <code>meta</code>. <a href="/docs#answer">Answer and paging</a> explains them. Each record
          has these members:
        </p>
        ${memberList(`Members of each record of ${path}`, schema)}
        <h2 id="errors">Errors</h2>
        ${codeTable("Errors", ["Error", "Meaning"], commonErrors)}
      </div>
      <div>
        ${tryIt({
          path,
          target: exampleTarget(operation),
          publicUrl: facts.publicUrl,
          fields: isList ? pairsField(operation) : fieldsOf(operation, facts),
          example: jsonBlock(`Example of a record of ${path}`, exampleRecords[kind]),
        })}
      </div>
    </div>`,
  });
}

export const explainPage = (site: Site, publicUrl: string | null): string =>
  docsLayout({
    site,
    title: "Explain",
    description: explainSummary,
    path: "/docs/explain",
    main: html`<h1>Explain a record</h1>
      <p><code class="badge">GET ${explainPath}/{id}</code></p>
      <p class="lede">${explainSummary} The page of a record shows this under “Why this name”.</p>
      <p>
        <code>{id}</code> is the id of a ${anyExplained}; a former id leads to the record that
        replaced it. The path takes no parameter and counts 1 against your quota. An unknown id is
        the error <a href="/errors/unknown-path"><code>unknown-path</code></a
        >.
      </p>
      ${callBlocks(originOf(publicUrl), `${explainPath}/${exampleExplanation.id}`)}
      <h2 id="members">Members of <code>data</code></h2>
      ${memberList("Members of an explanation", Explanation)}
      ${jsonBlock("Example of an explanation", exampleExplanation)}`,
  });

/** Returns the page at `/docs/vocabulary`, which needs no key. Its tags, themes and markets are only examples. */
export const vocabularyPage = (site: Site, publicUrl: string | null): string =>
  docsLayout({
    site,
    title: "Vocabulary",
    description: "Which tags, themes, markets and other values records carry.",
    path: "/docs/vocabulary",
    scripts: ["docs.js"],
    contents: html`<li><a href="#open">Tags, themes and markets</a></li>
      <li>
        <a href="#closed">Closed lists</a>
        <ul>
          ${valueLists.map((list) => html`<li><a href="#${anchorOf(list)}">${list.members[0]}</a></li> `)}
        </ul>
      </li>`,
    main: html`<h1>Vocabulary</h1>
      <p class="lede">
        Tags, themes and markets are open: ask the service for those in use. Other members take
        their values from closed lists, which are below.
      </p>
      <section>
        <h2 id="open">Tags, themes and markets</h2>
        <h3 id="vocabulary"><code>GET ${vocabularyPath}</code></h3>
        <p>
          This path lists each value with <code>gps_total</code>, the number of GPs that a search by
          that value alone finds, the most GPs first. It takes no parameter, needs your key and
          counts 1 against your quota. <code>tags</code> includes strategies and property types,
          because the parameter <code>tag</code> finds them too. The value of a market is its whole
          title; its <code>spellings</code> find it as well, along with any other market of that
          name.
        </p>
        ${tryIt({
          path: vocabularyPath,
          target: vocabularyPath,
          publicUrl,
          fields: null,
          example: jsonBlock(
            "Example of an answer, with one closed list of many",
            exampleVocabulary,
          ),
        })}
      </section>
      <section>
        <h2 id="closed">Closed lists</h2>
        <p>These members take only the values below; a minor version of the API may add values.</p>
        ${valueLists.map(listSection)}
      </section>`,
  });

const listSection = (list: ValueList): Html =>
  html`<h3 id="${anchorOf(list)}">${codes(list.members)}</h3>
    ${table({
      label: `Values of ${list.members[0]}`,
      columns: ["Value", { label: "Meaning", isPlain: true }],
      rows: list.values.map(({ value, meaning }) => [html`<code>${value}</code>`, prose(meaning)]),
    })}`;

/** Returns a table of error codes with status and title, linked to their pages. */
export const codeTable = (
  label: string,
  [first, last]: readonly [string, string],
  shown: readonly ProblemCode[],
) =>
  table({
    label,
    columns: [first, { label: "Status", isNumber: true }, { label: last, isPlain: true }],
    rows: shown.map((code) => [
      html`<a href="/errors/${code}"><code>${code}</code></a>`,
      problemKinds[code].status,
      problemKinds[code].title,
    ]),
  });

/** Some of the errors that every operation may return. */
const commonErrors = ["invalid-parameters", "api-key-missing", "quota-exceeded"] as const;

/** A parameter or member: its names, its type or values, and its meaning. */
interface Term {
  /** Names as code: one, or the two ends of a range. */
  names: Part;
  /** Type or values, in a few words. */
  rule: Part;
  meaning: Part;
}

const termList = (label: string, terms: readonly Term[]): Html =>
  html`<dl class="terms" aria-label="${label}">
    ${terms.map(
      ({ names, rule, meaning }) =>
        html`<div>
          <dt>${names} <span>${rule}</span></dt>
          <dd>${meaning}</dd>
        </div>`,
    )}
  </dl>`;

/** Returns the filters of an operation. The two ends of a range share one entry. */
function filterTerms({ filters }: Operation): Term[] {
  const byCondition = Map.groupBy(
    Object.entries(filters),
    ([, { condition, isOfSignal }]) => `${condition} ${isOfSignal}`,
  );
  return [...byCondition.values()].map((ends) => {
    const [, filter] = ends[0]!;
    const names = ends.map(([name], i) => [i > 0 && html`<br />`, html`<code>${name}</code>`]);
    const rule = html`${filter.isRequired && "required, "}${takes(filter)}`;
    return { names, rule, meaning: prose(ends.length > 1 ? filter.about : filter.meaning) };
  });
}

/** Returns the type or values of a filter, in a few words. */
function takes({ form, values, numbers, lengthMin, lengthMax, valuesMax }: DeclaredFilter): Part {
  if (values !== undefined) return valueWords(values);
  if (numbers) {
    const { minimum, maximum, isWhole } = numbers;
    const kind = isWhole ? "whole number" : "number";
    return maximum === Number.MAX_SAFE_INTEGER ? kind : `${kind}, ${minimum} to ${maximum}`;
  }
  if (form === "flag") return codes(["true", "false"]);
  if (form === "date") return "date";
  const characters = `${lengthMin} to ${lengthMax} characters`;
  return valuesMax > 1 ? `${characters}, up to ${valuesMax} times` : characters;
}

function sortTerm(sorts: readonly string[]): Term {
  const names = new Set(sorts.map((sort) => sort.replace(/^-/, "")));
  return {
    names: codes(["sort"]),
    rule: html`default <code>${sorts[0]}</code>`,
    meaning: html`One of ${codes([...names])}. A <code>-</code> before it reverses the order.`,
  };
}

/** Meanings of the parameters that every operation has. */
export const pageMeanings: Readonly<Record<PageParameter, string>> = {
  limit: "Maximum number of records on a page.",
  offset: "Number of records to skip before the first one on the page.",
};

const pageTerms = (pageSizeMax: number): Term[] =>
  Object.entries(pageSchemas(pageSizeMax)).map(([name, schema]) => ({
    names: codes([name]),
    rule: `whole number, ${schema.minimum} to ${schema.maximum}, default ${schema.default}`,
    meaning: pageMeanings[name as PageParameter],
  }));

/** Number of members that are always shown. The others are collapsed. */
const membersAtOnce = 10;

/** Returns a list of the members of an object: the name, type and meaning of each. */
export function memberList(label: string, record: TSchema): Part {
  const terms = membersOf(record).map(([name, schema]) => ({
    names: codes([name]),
    rule: html`${typeCell(schema)}${isNullable(schema) && " or null"}`,
    meaning: html`${prose(schema.description ?? "Open vocabulary.")}${innerMembers(schema)}`,
  }));
  const more = terms.slice(membersAtOnce);
  return [
    termList(label, terms.slice(0, membersAtOnce)),
    more.length > 0 &&
      folded(counted(more.length, "more member"), termList(`${label}, the rest`, more)),
  ];
}

const folded = (summary: string, content: Part): Html =>
  html`<details>
    <summary>${summary}</summary>
    ${content}
  </details>`;

/** Returns the URL fragment of a closed list on the vocabulary page. */
const anchorOf = ({ members }: ValueList): string => `values-${members[0]}`;

function typeCell(schema: MemberSchema): Part {
  const values = valuesOf(schema) ?? valuesOf(schema.items ?? {});
  if (values === undefined) return typeWords(schema);
  return html`${schema.items === undefined ? "one" : "list"} of ${valueWords(values)}`;
}

/** Returns the values of a closed list. Returns a link instead if the list is on the vocabulary page. */
function valueWords(values: readonly string[]): Html {
  const listed = valueLists.find(
    (one) => one.values.map(({ value }) => value).join() === values.join(),
  );
  return listed === undefined
    ? codes(values)
    : html`<a href="/docs/vocabulary#${anchorOf(listed)}">${values.length} values</a>`;
}

/** Maximum number of members that are listed for an inner object. A larger object is a record with its own list. */
const innerMembersMax = 10;

function innerMembers({ properties, items }: MemberSchema): Part {
  const names = Object.keys(properties ?? items?.properties ?? {});
  if (names.length === 0 || names.length > innerMembersMax) return null;
  return html` Members: ${codes(names)}.`;
}

interface TryIt {
  path: string;
  /** Path and query of the example. */
  target: string;
  publicUrl: string | null;
  /** Fields for the parameters; null for a path without parameters. */
  fields: Part;
  /** Example that the answer replaces. */
  example: Html;
}

/**
 * Returns a request as code, a form to send it, and an example of the answer. The form is disabled until its script
 * runs, because without the script a browser cannot send the key. The field for the key has no name, so that a
 * browser never puts the key into a URL.
 */
const tryIt = ({ path, target, publicUrl, fields, example }: TryIt): Html =>
  html`${callBlocks(originOf(publicUrl), target)}
    <form class="card try" data-path="${path}" data-target="${target}" autocomplete="off">
      <h2>Try it</h2>
      <noscript
        ><p>
          Without JavaScript a browser cannot send the header <code>x-api-key</code>: use the curl
          line above.
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
      <p class="outcome" role="status" aria-live="polite"></p>
    </form>
    <section class="card answer">
      <h2>Example</h2>
      ${example}
      <details hidden>
        <summary>Headers of the answer</summary>
        <dl class="facts"></dl>
      </details>
    </section>`;

/** Returns a field for each parameter. Those that the example does not use are collapsed. */
function fieldsOf(operation: Operation, { pageSizeMax }: OperationFacts): Part {
  const fieldOf = (name: string): Html => {
    const value = operation.example[name];
    if (isRepeatable(operation, name))
      return html`<label
        ><code>${name}</code> <span class="muted">one per line</span>
        <textarea name="${name}"></textarea>
      </label>`;
    const { isRequired } = operation.filters[name] ?? {};
    const usual = pageSchemas(pageSizeMax)[name as PageParameter]?.default;
    return html`<label
      ><code>${name}</code> <span class="muted">${isRequired ? "required" : usual}</span>
      <input name="${name}" ${value !== undefined && html`value="${value}"`}
    /></label>`;
  };
  const isOptional = (name: string) => operation.example[name] === undefined;
  const [more = [], first = []] = [true, false].map((one) =>
    parametersOf(operation).filter((name) => isOptional(name) === one),
  );
  const rest = html`<div class="fields">${more.map(fieldOf)}</div>`;
  return [first.map(fieldOf), folded(counted(more.length, "more parameter"), rest)];
}

/** Returns one field for all parameters of a list, because most requests use two or three of dozens. */
function pairsField({ example }: Operation): Html {
  const lines = Object.entries(example).map(([name, value]) => `${name}=${value}`);
  return html`<label
    >Parameters <span class="muted">one per line</span>
    <textarea data-pairs>${lines.join("\n")}</textarea>
  </label>`;
}

const isNullable = ({ type }: MemberSchema): boolean => [type].flat().includes("null");

/** Returns a type in words, such as `text`, `date` or `list of ids`. */
function typeWords(schema: MemberSchema): string {
  const [type] = [schema.type].flat();
  switch (type) {
    case "array":
      return `list of ${typeWords(schema.items ?? {})}s`;
    case "integer":
      return "whole number";
    case "string":
      return textWords(schema);
    default:
      return type ?? "any";
  }
}

function textWords({ enum: values, format, pattern = "" }: MemberSchema): string {
  if (values !== undefined) return "value";
  if (format === "date-time") return "time";
  if (pattern === datePattern) return "date";
  if (pattern.startsWith(datePattern)) return "date or time";
  if (pattern.startsWith("^http")) return "URL";
  return /^\^[a-z]+_/.test(pattern) ? "id" : "text";
}
