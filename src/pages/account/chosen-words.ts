/** What is chosen on the browse pages, in words, and what to do where nothing is like it. */
import { html, type Html, type Part } from "#pages/html.ts";
import { grouped } from "#pages/prose.ts";
import { browseHref, choiceNames, nothingChosen, type Chosen } from "./browse-links.ts";
import { valueLabel } from "./value-label.ts";

/** A chosen value that nothing carries, and known ones like it. */
export interface Unknown {
  value: string;
  /** With the choice that has it instead. */
  suggestions: readonly { value: string; chosen: Chosen }[];
}

export const countOf = (count: number, noun: string): string =>
  `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;

const namedMax = 4;

/** Joined by "or"; of many the first ones. */
const eitherOf = (values: readonly string[]): string => {
  const more = values.length - namedMax;
  return [...values.slice(0, namedMax), ...(more > 0 ? [`${more} more`] : [])].join(" or ");
};

/** As the end of a heading. */
export const inMarkets = ({ market }: Chosen): string =>
  market.length === 0 ? "" : ` in ${eitherOf(market)}`;

/** All that is chosen beside the market, and the way back to everything. */
export function choiceLine(path: string, chosen: Chosen): Part {
  if (choiceNames.every((name) => chosen[name].length === 0)) return null;
  const groups = [chosen.type, chosen.tag, chosen.theme]
    .filter((values) => values.length > 0)
    .map((values) => eitherOf(values.map(valueLabel)));
  const everything = { ...nothingChosen, order: chosen.order };
  return html`<p>
    ${groups.map((group, i) => [i > 0 && " and ", html`<strong>${group}</strong>`])}
    <a href="${browseHref(path, everything)}">Show everything</a>
  </p>`;
}

export const unknownNote = (path: string, { value, suggestions }: Unknown): Html =>
  html`<p class="fault" role="alert">
    Nothing carries “${value}”.
    ${
      suggestions.length > 0 && [
        "Did you mean ",
        suggestions.map((near, i) => [
          i > 0 && " or ",
          html`<a href="${browseHref(path, near.chosen)}">${near.value}</a>`,
        ]),
        "?",
      ]
    }
  </p>`;
