/** How much of its quota an account uses now, asked from the thread that counts. */
import { quotasInForce } from "#accounts/plans.ts";
import type { Quotas } from "#limits/policy.ts";
import type { GaugeView } from "#pages/account/gauges.ts";
import type { Rooms } from "./visit.ts";

/** Minute, hour, day. @param account its number. */
export async function readGauges(
  { control, desk }: Pick<Rooms, "control" | "desk">,
  account: number,
): Promise<GaugeView[]> {
  const quotas: Quotas = await quotasInForce(control.database, account);
  const { windows } = await desk.look(account, quotas);
  return windows.map(({ name, quota, remaining, resetSeconds, waitSeconds }) => ({
    name,
    quota,
    used: quota - remaining,
    resetSeconds,
    waitSeconds,
  }));
}
