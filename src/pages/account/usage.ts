/** The page of what an account used: its quota now, the last 24 hours and 30 days, by key and by operation. */
import { html, type Part } from "#pages/html.ts";
import { grouped } from "#pages/prose.ts";
import { type Column, table } from "#pages/table.ts";
import type { Bar, Totals } from "#usage/totals.ts";
import { statusClasses } from "#usage/status-class.ts";
import { accountPage, type Frame } from "./frame.ts";
import { type GaugeView, gauges } from "./gauges.ts";
import { plotPatterns } from "./plot.ts";
import { dayPlot, hourPlot, isUsed } from "./usage-plots.ts";

interface UsageView {
  frame: Frame | null;
  /** Where the numbers of the quota come from. */
  plan: string;
  gauges: readonly GaugeView[];
  /** Oldest first; the last is under way. */
  hours: readonly Bar[];
  days: readonly Bar[];
  /** Of the last 30 days, most requests first; `href` leads to the requests themselves. */
  byKey: readonly UsageRow[];
  byOperation: readonly UsageRow[];
}

export interface UsageRow {
  name: string;
  href: string | null;
  totals: Totals;
}

export function usagePage(view: UsageView): string {
  return accountPage({
    title: "Usage",
    frame: view.frame,
    scripts: ["account.js"],
    main: html`<h1>${headline(view.gauges)}</h1>
      <p>${view.plan}</p>
      ${gauges(view.gauges)} ${whatCounts} ${plotPatterns} ${hourPlot(view.hours)}
      ${isUsed(view.days) && dayPlot(view.days)} ${rowsTable("By key", "Key", view.byKey)}
      ${rowsTable("By operation", "Operation", view.byOperation)}`,
  });
}

const whatCounts = html`<p class="muted">
  Requests with a key and from the <a href="/account/explorer">explorer</a> count; pages you look at
  do not. Below stand those that were refused with 429, too, which used up nothing.
</p>`;

const spans = { minute: "this minute", hour: "this hour", day: "today" } as const;

/** The window that is nearest to its end says it. */
function headline(views: readonly GaugeView[]): string {
  const full = views.filter(({ waitSeconds }) => waitSeconds > 0);
  if (full.length > 0) return `Your quota is used up for ${spans[full.at(-1)!.name]}`;
  const shares = views.map(({ used, quota }) => Math.floor((100 * used) / quota));
  const highest = Math.max(...shares);
  if (highest === 0) return "Your quota is free";
  return `You use ${highest} % of your quota for ${spans[views[shares.indexOf(highest)]!.name]}`;
}

const numeric = (label: string): Column => ({ label, isNumber: true });

function rowsTable(heading: string, column: string, rows: readonly UsageRow[]): Part {
  if (rows.length === 0) return null;
  return html`<h2>${heading}, in 30 days</h2>
    ${table({
      label: `${heading}, in the last 30 days`,
      columns: [
        column,
        ...["Requests", ...statusClasses, "Over quota", "Mean ms", "Bytes"].map(numeric),
      ],
      rows: rows.map(({ name, href, totals }) => [
        href === null ? name : html`<a class="name" href="${href}">${name}</a>`,
        grouped(totals.requests),
        ...statusClasses.map((one) => grouped(totals.byClass[one])),
        grouped(totals.overQuota),
        totals.requests === 0 ? "0" : (totals.milliseconds / totals.requests).toFixed(1),
        grouped(totals.bytes),
      ]),
    })}`;
}
