/** How much of the quota is used now: one gauge for each window, refreshed by a script. */
import { quotasInForce } from "#accounts/plans.ts";
import type { AccountServices } from "#dashboard/screen.ts";
import type { Quotas } from "#limits/policy.ts";
import { html, type Html } from "#pages/html.ts";
import { grouped } from "#pages/prose.ts";
import { durationText } from "./relative.ts";

/** The use of one window. */
export interface GaugeView {
  name: "minute" | "hour" | "day";
  quota: number;
  used: number;
  /** Seconds until the oldest counted request leaves the window; 0 if none is counted. */
  resetSeconds: number;
  /** Seconds until the window admits a request; 0 if it does now. */
  waitSeconds: number;
}

const labels = { minute: "Last minute", hour: "Last hour", day: "Last 24 hours" } as const;

export const gauges = (views: readonly GaugeView[]): Html =>
  html`<div class="gauges" data-gauges="/account/usage/quota">${views.map(gauge)}</div>`;

function gauge(view: GaugeView): Html {
  const { used, free, share } = gaugeWords(view);
  return html`<div data-gauge="${view.name}">
    <h2>${labels[view.name]}</h2>
    <p class="counts"><span data-used>${used}</span></p>
    <svg class="gauge" width="100%" height="8" aria-hidden="true">
      <rect class="empty" width="100%" height="8" rx="4" />
      <rect class="full" width="${share}" height="8" rx="4" data-share />
    </svg>
    <p class="muted" data-free>${free}</p>
  </div>`;
}

/** The texts of a gauge, which the script of the page only inserts. */
export function gaugeWords(view: GaugeView): { used: string; free: string; share: string } {
  const { used, quota } = view;
  return {
    used: `${grouped(used)} of ${grouped(quota)}`,
    free: freeWords(view),
    share: `${Math.round((1000 * used) / quota) / 10}%`,
  };
}

function freeWords({ used, quota, resetSeconds, waitSeconds }: GaugeView): string {
  if (waitSeconds > 0) return `Nothing left. Free again in ${durationText(waitSeconds)}.`;
  if (used === 0) return "All of it is free.";
  return `${grouped(quota - used)} left. The oldest comes back in ${durationText(resetSeconds)}.`;
}

/** Minute, hour, day. @param account its number. */
export async function readGauges(
  { control, lookAtQuota }: Pick<AccountServices, "control" | "lookAtQuota">,
  account: number,
): Promise<GaugeView[]> {
  const quotas: Quotas = await quotasInForce(control.database, account);
  const { windows } = await lookAtQuota(account, quotas);
  return windows.map(({ name, quota, remaining, resetSeconds, waitSeconds }) => ({
    name,
    quota,
    used: quota - remaining,
    resetSeconds,
    waitSeconds,
  }));
}
