/** The plots of usage: each says what it found, shows it, and has its numbers beside it. */
import { html, type Html } from "#pages/html.ts";
import { grouped } from "#pages/prose.ts";
import { type Column, table } from "#pages/table.ts";
import { type StatusClass, statusClasses } from "#usage/status-class.ts";
import type { Bar, Totals } from "#usage/totals.ts";
import { plot, type PlotBar } from "./plot.ts";

export const hourPlot = (bars: readonly Bar[]): Html =>
  measured({
    span: "in the last 24 hours",
    unit: "hour",
    bars: bars.map((bar) => {
      const hour = bar.at.slice(11, 16);
      const tick = Number(hour.slice(0, 2)) % 6 === 0 ? hour : null;
      return { ...bar, name: hour, tick };
    }),
  });

export const dayPlot = (bars: readonly Bar[]): Html =>
  measured({
    span: "in the last 30 days",
    unit: "day",
    bars: bars.map((bar, i) => {
      const tick = (bars.length - 1 - i) % 10 === 0 ? shortDay(bar.at) : null;
      return { ...bar, name: bar.at.slice(0, 10), tick };
    }),
  });

const shortDay = (at: string): string =>
  new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

interface Measured {
  span: string;
  unit: "hour" | "day";
  bars: readonly (Bar & PlotBar)[];
}

/** The finding, its plot and its numbers; the last bar grows still. */
function measured({ span, unit, bars }: Measured): Html {
  const finding = findingOf(bars, span);
  if (!isUsed(bars))
    return html`<h2>${finding}</h2>
      <p>Send one with <a href="/account/keys">a key of yours</a>; it is here within seconds.</p>`;
  const label = `${finding}. The table beside it has the numbers.`;
  return html`<h2>${finding}</h2>
    <div class="measured">
      <div class="plot-room">
        ${plot({ label, upward: `requests each ${unit}`, onward: `${unit}, UTC`, bars })}
      </div>
      <div class="figures" tabindex="0" role="group" aria-label="The numbers of each ${unit}">
        ${figures(unit, bars)}
      </div>
    </div>`;
}

export const isUsed = (bars: readonly Totals[]): boolean =>
  bars.some(({ requests }) => requests > 0);

/** What one should know of the bars, worst first. */
function findingOf(bars: readonly (Bar & PlotBar)[], span: string): string {
  const sum = (of: (totals: Totals) => number) => bars.reduce((all, bar) => all + of(bar), 0);
  const requests = sum((bar) => bar.requests);
  if (requests === 0) return `No request ${span}`;
  const words = `${counted(requests, "request")} ${span}`;
  const failed = sum(({ byClass }) => byClass["5xx"]);
  if (failed > 0) return `${words}, ${grouped(failed)} of them failed on our side`;
  const overQuota = sum((bar) => bar.overQuota);
  if (overQuota > 0) return `${words}, ${grouped(overQuota)} of them beyond the quota`;
  const refused = sum(({ byClass }) => byClass["4xx"]);
  if (refused > 0) return `${words}, ${grouped(refused)} of them refused`;
  return `${words}, all answered`;
}

const counted = (count: number, thing: string): string =>
  `${grouped(count)} ${thing}${count === 1 ? "" : "s"}`;

/** Newest first. */
const figures = (unit: "hour" | "day", bars: readonly PlotBar[]): Html =>
  table({
    label: `Requests by ${unit} and status class`,
    columns: [unit === "hour" ? "Hour" : "Day", ...["All", ...statusClasses].map(numeric)],
    rows: bars
      .toReversed()
      .map(({ name, requests, byClass }) => [
        unit === "hour" ? name : name.slice(5),
        grouped(requests),
        ...statusClasses.map((one: StatusClass) => byClass[one] > 0 && grouped(byClass[one])),
      ]),
  });

const numeric = (label: string): Column => ({ label, isNumber: true });
