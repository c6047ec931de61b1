/** The way from one page of a long list to the next. */
import { html, type Part } from "#pages/html.ts";
import { grouped } from "#pages/prose.ts";

interface Steps {
  offset: number;
  /** How many stand on this page. */
  shown: number;
  total: number;
  limit: number;
  /** Address of the page that begins there. */
  href(offset: number): string;
}

/** Nothing where one page holds all. */
export const pageSteps = ({ offset, shown, total, limit, href }: Steps): Part =>
  total > limit &&
  html`<nav class="steps" aria-label="Pages">
    ${offset > 0 && html`<a href="${href(Math.max(0, offset - limit))}" rel="prev">Back</a>`}
    <span>${shownWords(offset, shown)} of ${grouped(total)}</span>
    ${shown > 0 && offset + shown < total && html`<a href="${href(offset + limit)}" rel="next">Next</a>`}
  </nav>`;

const shownWords = (offset: number, shown: number): string =>
  shown === 0 ? "None" : `${grouped(offset + 1)} to ${grouped(offset + shown)}`;
