/** The page at `/docs/lists`: how to list records by their values, with the filters and the orders of each list. */
import { fetchOperations, listOperations } from "#operations/index.ts";
import { listWords } from "#operations/lists.ts";
import {
  type DeclaredFilter,
  type Operation,
  parameterBounds,
  pageSchemas,
} from "#operations/operation.ts";
import { filterableCommon } from "#records/common.ts";
import { exampleTarget } from "./code-block.ts";
import {
  operationLinks,
  pageMeanings,
  type Parameter,
  parameterList,
  referenceOf,
  tryForm,
  valueWords,
} from "./docs-operation.ts";
import { html, type Html, type Part } from "./html.ts";
import { docsLayout, type Site } from "./layout.ts";
import { codes, prose } from "./prose.ts";

/** Returns the page. @param pageSizeMax maximum value of `limit`. */
export const listsPage = (site: Site, publicUrl: string | null, pageSizeMax: number): string =>
  docsLayout({
    site,
    title: "Lists",
    description: "How to list records by any of their values, with filters and orders.",
    path: "/docs/lists",
    scripts: ["docs.js"],
    contents: html`<li><a href="#rules">Filters and order</a></li>
      <li><a href="#every-list">Filters of every list</a></li>
      <li>
        <a href="#lists">The four lists</a>
        ${operationLinks(listOperations)}
      </li>`,
    main: html`<h1>Lists</h1>
      <p class="lede">
        Records of one kind by any of their values, in any order: GPs by their capital, projects by
        their size, signals of the last 90 days. Keys, quotas, answers, formats and errors are those
        of the <a href="/docs">operations</a>.
      </p>
      ${rules()} ${commonFilters(pageSizeMax)}
      <section>
        <h2 id="lists">The four lists</h2>
        ${listOperations.map((list) => listSection(list, publicUrl))}
      </section>`,
  });

const rules = (): Html =>
  html`<section>
    <h2 id="rules">Filters and order</h2>
    <ul>
      <li>
        A record is listed if it satisfies all filters. Repeat a filter to allow several values:
        <code>status=planned&amp;status=raising</code> finds projects of either status. A filter
        takes up to ${parameterBounds.valuesMax} values, or ${parameterBounds.idsMax} ids. Names,
        the ends of a range, <code>has_gp</code> and <code>sort</code> are given once.
      </li>
      <li>
        Texts are whole values, whatever their case, accents and punctuation. Only
        <code>name</code> and <code>gp_name</code> also find parts of a name.
        <a href="/docs#matching">Matching</a> says how, and which spellings find a market. In the
        numbers of registers only digits count: <code>cik=1912345</code> finds
        <code>0001912345</code>.
      </li>
      <li>
        <code>_from</code> and <code>_to</code>, or <code>_min</code> and <code>_max</code>, are the
        ends of a range. A value equal to an end is in the range, and either end may be left out.
      </li>
      <li>
        A date is <code>2026</code>, <code>2026-03</code>, <code>2026-03-31</code>, or a number of
        days before the day of the dataset: <code>-90d</code>. <code>date_to=2026-03</code> includes
        all of March. Where a record gives only a year or a month, it is listed if any day of that
        time is in the range.
      </li>
      <li>
        <code>sort</code> puts the least or earliest first; with a minus sign, as in
        <code>sort=-aum_usd</code>, the greatest or latest. Equal records are in the order of their
        ids.
      </li>
      <li>
        A record whose value is <code>null</code> is in no range. Sorted by that value it comes
        last, in both directions.
      </li>
      <li>
        A value that a closed list does not have is an error that names those it has. Any other text
        that no record carries finds nothing, and a hint suggests what is near.
      </li>
    </ul>
  </section>`;

/** Conditions of the filters that mean the same in every list. */
const commonConditions = new Set(["gp_name", ...Object.keys(filterableCommon)]);

function commonFilters(pageSizeMax: number): Html {
  const [first] = listOperations;
  const filters = Object.entries(first!.filters).filter(([, { condition }]) =>
    commonConditions.has(condition),
  );
  const paging = Object.entries(pageSchemas(pageSizeMax)).map(([name, schema]) => ({
    names: codes([name]),
    rule: `whole number, ${schema.minimum} to ${schema.maximum}`,
    meaning: html`${prose(pageMeanings[name as "limit" | "offset"])} ${schema.default} if left out.`,
  }));
  return html`<section>
    <h2 id="every-list">Filters of every list</h2>
    ${parameterList("Parameters of every list", [...entriesOf(filters), ...paging])}
  </section>`;
}

function listSection(list: Operation, publicUrl: string | null): Html {
  const { name, path, kind, summary, filters, sorts, example } = list;
  const own = Object.entries(filters).filter(
    ([, { condition }]) => !commonConditions.has(condition),
  );
  const same = fetchOperations.find((operation) => operation.kind === kind)!;
  return html`<section class="operation">
    <div>
      <h3 id="${name}"><code>GET ${path}</code></h3>
      <p>
        ${summary} ${prose(listWords[kind].description)} The members of a record stand with
        <a href="${referenceOf(same)}"><code>${same.path}</code></a
        >.
      </p>
      ${parameterList(`Parameters of ${path}`, [...entriesOf(own), sortEntry(sorts!)])}
    </div>
    <div>
      ${tryForm({ path, target: exampleTarget(list), publicUrl, fields: pairsField(example) })}
    </div>
  </section>`;
}

/** Returns what to say of each filter. The two ends of a range share one entry. */
function entriesOf(filters: readonly [name: string, filter: DeclaredFilter][]): Parameter[] {
  const byCondition = Map.groupBy(
    filters,
    ([, { condition, isOfSignal }]) => `${condition} ${isOfSignal}`,
  );
  return [...byCondition.values()].map((ends) => {
    const [, filter] = ends[0]!;
    const names = ends.map(([name], i) => [i > 0 && html`<br />`, html`<code>${name}</code>`]);
    return { names, rule: takes(filter), meaning: prose(filter.about) };
  });
}

/** Returns what a filter takes, in a few words. */
function takes({ form, values, numbers, valuesMax }: DeclaredFilter): Part {
  if (values !== undefined) return valueWords(values);
  if (numbers) {
    const { minimum, maximum, isWhole } = numbers;
    const kind = isWhole ? "whole number" : "number";
    return maximum === Number.MAX_SAFE_INTEGER ? kind : `${kind}, ${minimum} to ${maximum}`;
  }
  if (form === "flag") return codes(["true", "false"]);
  if (form === "date") return "date";
  if (form === "text") return "words of a name";
  return valuesMax === parameterBounds.idsMax ? "id" : "text";
}

function sortEntry(sorts: readonly string[]): Parameter {
  const names = new Set(sorts.map((sort) => sort.replace(/^-/, "")));
  return {
    names: codes(["sort"]),
    rule: html`default <code>${sorts[0]}</code>`,
    meaning: html`One of ${codes([...names])}, each also with <code>-</code> before it.`,
  };
}

/** Returns a field for all parameters of a list, because most requests use two or three of dozens. */
function pairsField(example: Operation["example"]): Html {
  const lines = Object.entries(example).map(([name, value]) => `${name}=${value}`);
  return html`<label
    >Parameters <span class="muted">one a line</span>
    <textarea data-pairs>${lines.join("\n")}</textarea>
  </label>`;
}
