/** The facets of the browse pages: values to choose, each with the number of records it would give. */
import { html, type Html, type Part } from "#pages/html.ts";
import { grouped } from "#pages/prose.ts";
import { fold } from "#records/fold.ts";
import { propertyTypes, strategies } from "#records/vocabulary.ts";
import { nameOfMarket } from "#search/market-spellings.ts";
import { facetNames } from "#search/dataset-parts.ts";
import type { ReadModel } from "#search/read-model.ts";
import {
  browseHref,
  type ChoiceName,
  type Chosen,
  filterOf,
  keptFields,
  withoutValue,
  withValue,
} from "./browse-links.ts";
import { bytesOf, fitting, valueLabel } from "./records.ts";

export interface FacetView {
  name: ChoiceName;
  label: string;
  /** In the order they are shown: most records first. */
  values: readonly { value: string; count: number }[];
}

type Values = FacetView["values"];

/** Tags are shown as three facets: strategies, property types and the rest. All are one parameter of the operations. */
export function gpFacets(model: ReadModel, chosen: Chosen): FacetView[] {
  const tags = counted(model, "gp", "tag", chosen);
  const isOneOf = (list: readonly string[]) => (value: string) => list.includes(value);
  const [isStrategy, isPropertyType] = [isOneOf(strategies), isOneOf(propertyTypes)];
  const tagsThat = (isWanted: (value: string) => boolean) =>
    tags.filter(({ value }) => isWanted(value));
  const facet = (name: ChoiceName): FacetView => ({
    name,
    label: valueLabel(name),
    values: counted(model, "gp", name, chosen),
  });
  return [
    facet("market"),
    { name: "tag", label: "Strategy", values: tagsThat(isStrategy) },
    { name: "tag", label: "Property type", values: tagsThat(isPropertyType) },
    ...facetNames.filter((name) => name !== "market" && name !== "tag").map(facet),
    {
      name: "tag",
      label: "Tag",
      values: tagsThat((value) => !isStrategy(value) && !isPropertyType(value)),
    },
  ];
}

/** Returns the facets of signals: type and market. */
export const signalFacets = (model: ReadModel, chosen: Chosen): FacetView[] => [
  { name: "type", label: "Type", values: counted(model, "signal", "type", chosen) },
  { name: "market", label: "Market", values: counted(model, "signal", "market", chosen) },
];

/** Returns each value with the number of records that it would give. */
function counted(
  model: ReadModel,
  kind: "gp" | "signal",
  name: ChoiceName,
  chosen: Chosen,
): Values {
  const all = withChosen(shortValues(model, kind, name), chosen[name]);
  const counts = model.count(kind, name, all, filterOf(kind, chosen));
  return worthwhile(
    all.map((value, i) => ({ value, count: counts[i]! })),
    chosen[name],
  );
}

/** Returns the values that records carry; markets under their short names. */
export const shortValues = (
  model: ReadModel,
  kind: "gp" | "signal",
  name: ChoiceName,
): readonly string[] => {
  const values = model.values(kind, name);
  return name === "market" ? values.map((title) => nameOfMarket(model, title)) : values;
};

/** Includes values chosen in another spelling, so that they can be removed. */
const withChosen = (values: readonly string[], chosen: readonly string[]): string[] => [
  ...values,
  ...chosen.filter((value) => !values.includes(value)),
];

/** Leaves out values that would give no record. */
const worthwhile = (values: Values, chosen: readonly string[]): Values =>
  mostFirst(values.filter(({ value, count }) => count > 0 || chosen.includes(value)));

/** Sorts values by count, most first; equal counts by name. */
export const mostFirst = (values: Values): Values =>
  values.toSorted((a, b) => b.count - a.count || (fold(a.value) < fold(b.value) ? -1 : 1));

/** Links shown at once; the others unfold. */
const atOnce = 6;
/** Bytes of markup of all links, each of which repeats the whole choice, and of the options of a field. */
const bytesMax = { links: 18_000, options: 1500 } as const;

/** Returns the facets with their links. @param path path of the page. */
export function facetList(path: string, chosen: Chosen, facets: readonly FacetView[]): Part {
  const lists = facets
    .filter(({ values }) => values.length > 0)
    .map((facet) => ({ facet, links: linksOf(path, chosen, facet) }));
  if (lists.length === 0) return null;
  const bytes = lists.reduce((sum, { links }) => sum + bytesOf(links), 0);
  const each = bytes <= bytesMax.links ? Infinity : bytesMax.links / lists.length;
  return html`<details class="fold">
    <summary>Narrow down</summary>
    <nav class="facets" aria-label="Narrow down">
      ${lists.map(({ facet, links }) => {
        const shown = fitting(links, each);
        const others = chosenFirst(facet, chosen).slice(shown.length);
        return facetSection(
          facet.label,
          shown,
          links.length,
          otherValue(path, chosen, facet, others),
        );
      })}
    </nav>
  </details>`;
}

const chosenFirst = ({ name, values }: FacetView, chosen: Chosen): FacetView["values"] => {
  const isChosen = ({ value }: { value: string }) => chosen[name].includes(value);
  return [...values.filter(isChosen), ...values.filter((one) => !isChosen(one))];
};

const linksOf = (path: string, chosen: Chosen, facet: FacetView): Html[] =>
  chosenFirst(facet, chosen).map(({ value, count }) => {
    const { name } = facet;
    const isChosen = chosen[name].includes(value);
    const next = isChosen ? withoutValue(chosen, name, value) : withValue(chosen, name, value);
    return html`<li>
      <a href="${browseHref(path, next)}" ${isChosen && html`aria-current="true"`}
        >${valueLabel(value)}</a
      >
      <span class="muted number">${grouped(count)}</span>
    </li>`;
  });

const facetSection = (label: string, links: readonly Html[], count: number, other: Part): Html =>
  html`<section>
    <h2>${label}</h2>
    <ul>
      ${links.slice(0, atOnce)}
    </ul>
    ${
      count > Math.min(atOnce, links.length) &&
      html`<details>
        <summary>${count - Math.min(atOnce, links.length)} more</summary>
        <ul>
          ${links.slice(atOnce)}
        </ul>
        ${other}
      </details>`
    }
  </section>`;

/** Returns a field for the values that did not fit the page. */
const otherValue = (
  path: string,
  chosen: Chosen,
  { name, label }: FacetView,
  others: FacetView["values"],
): Part =>
  others.length > 0 &&
  html`<form action="${path}">
    ${keptFields(chosen)}
    <label
      >Another ${label.toLowerCase()}
      <input name="${name}" list="${listId(label)}" data-suggest="${name}" required
    /></label>
    <datalist id="${listId(label)}">
      ${fitting(
        others.map(({ value }) => html`<option value="${value}"></option>`),
        bytesMax.options,
      )}
    </datalist>
    <button class="quiet">Choose</button>
  </form>`;

const listId = (label: string) => `other-${label.toLowerCase().replaceAll(" ", "-")}`;
