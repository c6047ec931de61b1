/** Lists of signals, newest first, on the browse pages and the page of a GP. */
import { html, type Html, type Part } from "#pages/html.ts";
import { dayElement } from "#pages/prose.ts";
import type { Signal } from "#records/signal.ts";
import { cutText } from "./fitting.ts";
import { money, outside, valueLabel } from "./record-words.ts";

export interface SignalView extends Pick<Signal, "date" | "title" | "url" | "type" | "amount_usd"> {
  /** The short name of its market; null without one. */
  marketName: string | null;
}

export const signalList = (
  label: string,
  signals: readonly (SignalView & Pick<Signal, "gps">)[],
): Html =>
  timeline(
    label,
    signals.map((signal) => signalItem(signal, gpLinks(signal.gps))),
  );

export const timeline = (label: string, items: readonly Html[]): Html =>
  html`<ol class="timeline" aria-label="${label}">
    ${items}
  </ol>`;

const titleLengthMax = 250;
const gpsMax = 5;

/** @param more facts after its type, amount and market. */
export function signalItem(signal: SignalView, more: readonly Part[]): Html {
  const { date, title, url, type, amount_usd, marketName } = signal;
  return html`<li>
    <span class="muted">${dayElement(date)}</span>
    <div>
      <p>${outside(url, cutText(title, titleLengthMax))}</p>
      <p class="muted">${byPoints([valueLabel(type), money(amount_usd), marketName, ...more])}</p>
    </div>
  </li>`;
}

export const gpHref = (id: string): string => `/account/browse/gp/${id}`;

const gpLinks = (gps: Signal["gps"]): Part[] => [
  ...gps.slice(0, gpsMax).map(gpLink),
  gps.length > gpsMax && `and ${gps.length - gpsMax} more`,
];

const gpLink = ({ id, name }: { id: string; name: string }): Html =>
  html`<a href="${gpHref(id)}">${cutText(name, 100)}</a>`;

/** The facts that are not empty, separated by points. */
export const byPoints = (facts: readonly Part[]): Part =>
  facts
    .filter((fact) => fact !== null && fact !== false && fact !== "")
    .map((fact, i) => [i > 0 && " · ", fact]);
