/** Memory that quotas take on purpose: the time of each counted request of a day. */
import { quotaMax } from "#limits/policy.ts";
import { validRoles } from "./secrets.ts";
import type { FuzzServer } from "./server.ts";

const timeBytes = 8;

/** Asks with each key how much of its day is left; a ring of times is as long as the next power of two. */
export async function quotaBytesOf({ port, secrets }: FuzzServer): Promise<number> {
  let bytes = 0;
  for (const role of validRoles) {
    const { headers } = await fetch(`http://127.0.0.1:${port}/fetch-signals?limit=1`, {
      headers: { "x-api-key": secrets.of(role)! },
    });
    const [, left] = /"day";r=(\d+)/.exec(headers.get("ratelimit") ?? "") ?? [];
    bytes += timeBytes * 2 ** Math.ceil(Math.log2(quotaMax - Number(left ?? quotaMax) + 1));
  }
  return bytes;
}
