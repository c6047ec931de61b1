/** The mix as HTTP requests, and what the answers to it look like. */
import { startRandom, whole } from "#demo/random.ts";
import { fetchOnce } from "./fetch-once.ts";
import type { Mix } from "./mix.ts";
import type { BareOrder } from "./servers.ts";

export const requestText = (target: string, headers: Readonly<Record<string, string>>) =>
  `GET ${target} HTTP/1.1\r\nhost: 127.0.0.1\r\nuser-agent: gp-records-bench\r\naccept: */*\r\n${Object.entries(
    headers,
  )
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}\r\n`;

/** In the order of the mix; any key may ask anything. */
export function requestsOf({ targets, order }: Mix, keys: readonly string[]): string[] {
  const random = startRandom(1, "keys");
  return order.map((place) =>
    requestText(targets[place]!, { "x-api-key": keys[whole(random, 0, keys.length - 1)]! }),
  );
}

/** What a bare server has to send, and for people how large it is. */
export interface MixSizes extends BareOrder {
  bodyBytesMean: number;
}

/** Asks a server every question once. */
export async function sizesOf(
  { targets, order }: Mix,
  port: number,
  key: string,
): Promise<MixSizes> {
  const bodyBytes: number[] = [];
  let headerBytes = 0;
  for (const target of targets) {
    const answer = await fetchOnce(port, target, { "x-api-key": key });
    if (answer.status !== 200)
      throw new Error(`${target} was answered with ${answer.status} instead of 200.`);
    bodyBytes.push(answer.bodyBytes);
    for (const text of answer.rawHeaders) headerBytes += text.length + ": ".length;
  }
  return {
    bodyBytes,
    order,
    headerBytes: Math.round(headerBytes / targets.length),
    bodyBytesMean: order.reduce((sum, place) => sum + bodyBytes[place]!, 0) / order.length,
  };
}
