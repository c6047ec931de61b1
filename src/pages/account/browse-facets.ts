/** The values one can choose on the browse pages, each with how many records it would give. */
import { html, type Html, type Part } from "#pages/html.ts";
import { grouped } from "#pages/prose.ts";
import {
  browseHref,
  choiceNames,
  withoutValue,
  withValue,
  type ChoiceName,
  type Chosen,
} from "./browse-links.ts";
import { hidden } from "./fields.ts";
import { bytesOf, fitting } from "./fitting.ts";
import { valueLabel } from "./value-label.ts";

export interface FacetView {
  name: ChoiceName;
  label: string;
  /** In the order they are shown: most first. */
  values: readonly { value: string; count: number }[];
}

/** Seen at once; the others are one click away. */
const atOnce = 6;
/** Markup of all links, as each repeats what is chosen, and of the options of a field. */
const bytesMax = { links: 18_000, options: 1500 } as const;

/** @param path of the page that is narrowed down. */
export function facetList(path: string, chosen: Chosen, facets: readonly FacetView[]): Html {
  const lists = facets
    .filter(({ values }) => values.length > 0)
    .map((facet) => ({ facet, links: linksOf(path, chosen, facet) }));
  const bytes = lists.reduce((sum, { links }) => sum + bytesOf(links), 0);
  const each = bytes <= bytesMax.links ? Infinity : bytesMax.links / lists.length;
  return html`<nav class="facets" aria-label="Narrow down">
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
  </nav>`;
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

/** Where there are more values than a page has room for. */
const otherValue = (
  path: string,
  chosen: Chosen,
  { name, label }: FacetView,
  others: FacetView["values"],
): Part =>
  others.length > 0 &&
  html`<form action="${path}">
    ${choiceNames.flatMap((other) => chosen[other].map((value) => hidden(other, value)))}
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
