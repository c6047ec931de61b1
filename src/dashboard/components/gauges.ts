/** How much of the quota is used now: one gauge for each window, refreshed by a script. */
import { quotasInForce } from "#accounts/plans.ts";
import type { AccountServices } from "#dashboard/screen.ts";
import type { WindowStatus } from "#limits/counters.ts";
import { html, type Html } from "#pages/html.ts";
import { grouped } from "#pages/prose.ts";

const labels = { minute: "Last minute", hour: "Last hour", day: "Last 24 hours" } as const;

export const gauges = (windows: readonly WindowStatus[]): Html =>
  html`<div class="gauges" data-gauges="/account/usage/quota">${windows.map(gauge)}</div>`;

function gauge(window: WindowStatus): Html {
  const { used, free, share } = gaugeWords(window);
  return html`<div data-gauge="${window.name}">
    <h2>${labels[window.name]}</h2>
    <p class="counts"><span data-used>${used}</span></p>
    <svg class="gauge" width="100%" height="8" aria-hidden="true">
      <rect class="empty" width="100%" height="8" rx="4" />
      <rect class="full" width="${share}" height="8" rx="4" data-share />
    </svg>
    <p class="muted" data-free>${free}</p>
  </div>`;
}

/** Returns the texts of a gauge, which the script of the page only inserts. */
export function gaugeWords(window: WindowStatus): { used: string; free: string; share: string } {
  const { quota, remaining } = window;
  const used = quota - remaining;
  return {
    used: `${grouped(used)} of ${grouped(quota)}`,
    free: freeWords(window),
    share: `${Math.round((1000 * used) / quota) / 10}%`,
  };
}

function freeWords({ quota, remaining, resetSeconds, waitSeconds }: WindowStatus): string {
  if (waitSeconds > 0) return `Nothing left. Free again in ${durationText(waitSeconds)}.`;
  if (remaining === quota) return "All of it is free.";
  return `${grouped(remaining)} left. The oldest comes back in ${durationText(resetSeconds)}.`;
}

/** Returns a time such as `34 s`, `12 min` or `5 h 20 min`, rounded up, so that waiting that long is enough. */
function durationText(seconds: number): string {
  if (seconds < 120) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

type Asked = Pick<AccountServices, "control" | "lookAtQuota">;

/** Reads the windows of an account: minute, hour, day. @param account its number. */
export async function readWindows(
  { control, lookAtQuota }: Asked,
  account: number,
): Promise<readonly WindowStatus[]> {
  return (await lookAtQuota(account, await quotasInForce(control.database, account))).windows;
}

/** Reads the use of the last 24 hours. @param account its number. */
export async function readUseOfDay(asked: Asked, account: number) {
  const windows = await readWindows(asked, account);
  const { quota, remaining } = windows.find(({ name }) => name === "day")!;
  return { used: quota - remaining, quota };
}
