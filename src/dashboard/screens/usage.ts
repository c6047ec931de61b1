/** An account's usage: its quota now, the last 24 hours and 30 days as plots, and totals by key and operation. */
import { type Account, findAccount } from "#accounts/accounts.ts";
import { mayReadChanges } from "#accounts/plans.ts";
import { headedPage } from "#dashboard/components/page.ts";
import { type MemberRequest, route } from "#dashboard/screen.ts";
import { readQuotaStatus } from "#dashboard/watch-notices.ts";
import type { WindowStatus } from "#limits/counters.ts";
import { type Column, html, type Html, type Part, table } from "#pages/html.ts";
import { columnPlot, hatching } from "#pages/plot.ts";
import { counted, grouped } from "#pages/prose.ts";
import { dayMilliseconds } from "#store/durations.ts";
import { statusClasses, type Bar, readBars, readTotalsBy, type Totals } from "#usage/totals.ts";
import { listOwn } from "./keys.ts";

export const usageRoutes = [
  route("/account/usage", "member", { GET: showUsage, link: { group: "API", label: "Usage" } }),
];

/** The two plots. Ticks are `tickEvery` bars apart, away from the edges. `named` is the part of an ISO time to show. */
const units = {
  hour: { span: "in the last 24 hours", count: 24, tickEvery: 6, named: [11, 16] },
  day: { span: "in the last 30 days", count: 30, tickEvery: 10, named: [0, 10] },
} as const;
type Unit = keyof typeof units;

const rowsMax = 40;

async function showUsage(request: MemberRequest): Promise<string> {
  const { services, now } = request;
  const { id, number } = request.account;
  const { database } = services.control;
  const barsOf = (unit: Unit) =>
    readBars(services.usage, { account: number, unit, count: units[unit].count, now });
  const days = await barsOf("day");
  const span = { account: number, since: Date.parse(days[0]!.at), until: now + dayMilliseconds };
  const account = (await findAccount(database, id))!;
  const plan = planWords(account, await mayReadChanges(database, number));
  const { windows } = await readQuotaStatus(services, number);
  const keys = await listOwn(request);
  const names = new Map(keys.map(({ id, name }) => [id, name]));
  const byKey = (await readTotalsBy(services.usage, span, "key")).slice(0, rowsMax);
  const byOperation = await readTotalsBy(services.usage, span, "operation");
  return headedPage(request, {
    title: "Usage",
    heading: headline(windows),
    main: html`<p>${plan}</p>
      <div class="figures">${windows.map(gauge)}</div>
      ${hatching} ${whatCounts} ${plotSection("hour", await barsOf("hour"))}
      ${isUsed(days) && plotSection("day", days)} ${totalsTable("key", byKey, names)}
      ${totalsTable("operation", byOperation)}`,
  });
}

function planWords({ plan, quotas }: Account, mayRead: boolean): string {
  const words = plan === null ? "Your account is on the default plan" : `Your plan is ${plan}`;
  const hasOwn = Object.values(quotas).some((quota) => quota !== null);
  const numbers = hasOwn ? ", with quotas that the operator set for your account." : ".";
  return `${words}${numbers}${mayRead ? "" : " This plan does not include /changes."}`;
}

const whatCounts = html`<p class="muted">
  Requests with a key count, and so do downloads and matched lists; viewing pages does not. The
  figures below cover requests with a key, including those refused with a 429, which use no quota.
</p>`;

/** Returns a heading about the longest exhausted window, or else about the window with the largest share used. */
function headline(windows: readonly WindowStatus[]): string {
  const full = windows.filter(({ waitSeconds }) => waitSeconds > 0);
  if (full.length > 0) return `Your quota per ${full.at(-1)!.name} is used up`;
  const percentOf = ({ quota, remaining }: WindowStatus) => (100 * (quota - remaining)) / quota;
  const most = windows.toSorted((a, b) => percentOf(b) - percentOf(a))[0]!;
  const percent = percentOf(most);
  if (percent < 1) return `${percent > 0 ? "Less than 1%" : "None"} of your quota is used`;
  return `You have used ${Math.floor(percent)}% of your quota per ${most.name}`;
}

const gaugeLabels = { minute: "Last minute", hour: "Last hour", day: "Last 24 hours" } as const;

function gauge(window: WindowStatus): Html {
  const { name, quota, remaining } = window;
  const used = quota - remaining;
  return html`<div>
    <h2 class="muted">${gaugeLabels[name]}</h2>
    <p class="counts">${grouped(used)} of ${grouped(quota)}</p>
    <progress max="${quota}" value="${used}" aria-hidden="true"></progress>
    <p class="muted">${freeWords(window)}</p>
  </div>`;
}

function freeWords({ quota, remaining, resetSeconds, waitSeconds }: WindowStatus): string {
  if (waitSeconds > 0) return `Nothing left. Try again in ${durationText(waitSeconds)}.`;
  if (remaining === quota) return "Nothing is used.";
  return `${grouped(remaining)} left. The earliest request stops counting in ${durationText(resetSeconds)}.`;
}

/** Returns a duration such as `34 s`, `12 min` or `5 h 20 min`, rounded up, so that waiting that long is enough. */
function durationText(seconds: number): string {
  if (seconds < 120) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/**
 * Returns a table of totals by key or operation, or null without rows. Each name links to its requests.
 * @param names names by id; an id without a name is shown as it is.
 */
function totalsTable(
  by: "key" | "operation",
  rows: readonly [id: string, totals: Totals][],
  names?: ReadonlyMap<string, string>,
): Part {
  if (rows.length === 0) return null;
  return html`<h2>Requests by ${by}, last 30 days</h2>
    ${table({
      label: `Requests by ${by}, last 30 days`,
      columns: [
        by === "key" ? "Key" : "Operation",
        ...["Requests", ...statusClasses, "Over quota", "Mean ms", "Bytes"].map(numeric),
      ],
      rows: rows.map(([id, totals]) => [
        html`<a class="name" href="/account/requests?${by}=${id}">${names?.get(id) ?? id}</a>`,
        grouped(totals.requests),
        ...statusClasses.map((one) => grouped(totals.byClass[one])),
        grouped(totals.overQuota),
        (totals.milliseconds / totals.requests).toFixed(1),
        grouped(totals.bytes),
      ]),
    })}`;
}

/** Hues of the status classes, chosen so that they can be told apart without colour. */
const hues = { "2xx": "accent", "3xx": "line-2", "4xx": "hatched", "5xx": "ink" } as const;

/** Returns a plot of the bars with the finding as its title. Returns only the finding and a hint if there was no request. */
function plotSection(unit: Unit, bars: readonly Bar[]): Html {
  const finding = findingOf(bars, units[unit].span);
  if (!isUsed(bars))
    return html`<h2>${finding}</h2>
      <p>
        Send one with <a href="/account/keys">one of your keys</a>; it appears here in seconds.
      </p>`;
  const { tickEvery, named } = units[unit];
  const name = (at: string) => at.slice(...named);
  const shown = statusClasses.filter((one) => bars.some(({ byClass }) => byClass[one] > 0));
  return columnPlot({
    finding,
    measure: `Requests by ${unit} and status class, UTC`,
    head: unit === "hour" ? "Hour" : "Day",
    series: shown.map((one) => ({ label: one, hue: hues[one] })),
    columns: bars.map(({ at, byClass }, i) => ({
      label: name(at),
      tick: i % tickEvery === tickEvery / 2 ? name(at) : undefined,
      values: shown.map((one) => byClass[one]),
    })),
  });
}

const isUsed = (bars: readonly Totals[]): boolean => bars.some(({ requests }) => requests > 0);

/** Returns the most important fact about the bars: server errors first, then requests over quota, then any 4xx. */
function findingOf(bars: readonly Bar[], span: string): string {
  const requests = sumOf(bars, (bar) => bar.requests);
  if (requests === 0) return `No request ${span}`;
  const words = `${counted(requests, "request")} ${span}`;
  const worst = [
    { count: sumOf(bars, ({ byClass }) => byClass["5xx"]), what: "failed on our side" },
    { count: sumOf(bars, ({ overQuota }) => overQuota), what: "refused over the quota" },
    { count: sumOf(bars, ({ byClass }) => byClass["4xx"]), what: "answered with a 4xx error" },
  ].find(({ count }) => count > 0);
  return worst
    ? `${words}, ${grouped(worst.count)} of them ${worst.what}`
    : `${words}, all answered`;
}

const sumOf = (bars: readonly Bar[], of: (bar: Bar) => number): number =>
  bars.reduce((sum, bar) => sum + of(bar), 0);

const numeric = (label: string): Column => ({ label, isNumber: true });
