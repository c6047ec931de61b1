/** The mix as HTTP requests, and what is answered to it. */
import { startRandom } from "#demo/random.ts";
import { ask } from "./ask.ts";
import type { Mix } from "./mix.ts";
import type { SentAnswer } from "./servers.ts";

const sameInAll = { host: "127.0.0.1", "user-agent": "gp-records-bench", accept: "*/*" };

export function requestText(target: string, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries({ ...sameInAll, ...headers }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  return `GET ${target} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

/** In the order of the mix; any key may ask anything. */
export function requestsOf(
  { targets, order }: Mix,
  keys: readonly string[],
  headers: Readonly<Record<string, string>> = {},
): string[] {
  const random = startRandom(1, "keys");
  return order.map((place) => {
    const key = keys[random.whole(0, keys.length - 1)]!;
    return requestText(targets[place]!, { "x-api-key": key, ...headers });
  });
}

/** Asks a server every question once. */
export async function answersTo(
  { targets }: Mix,
  port: number,
  key: string,
): Promise<SentAnswer[]> {
  const answers: SentAnswer[] = [];
  for (const target of targets) {
    const { status, rawHeaders, body } = await ask({ port, path: target, key });
    if (status !== 200) throw new Error(`${target} was answered with ${status} instead of 200.`);
    const headers: [string, string][] = [];
    for (let i = 0; i < rawHeaders.length; i += 2)
      headers.push([rawHeaders[i]!, rawHeaders[i + 1]!]);
    answers.push({ target, headers, bodyBytes: Buffer.byteLength(body) });
  }
  return answers;
}

export interface MixSizes {
  /** Of a body, as often as each is asked. */
  bodyBytesMean: number;
  /** Of the status line and the headers, and how many lines that are. */
  headBytesMean: number;
  headLinesMean: number;
}

export function sizesOf({ order }: Mix, answers: readonly SentAnswer[]): MixSizes {
  const mean = (sizeOf: (answer: SentAnswer) => number) =>
    order.reduce((sum, place) => sum + sizeOf(answers[place]!), 0) / order.length;
  return {
    bodyBytesMean: mean(({ bodyBytes }) => bodyBytes),
    headBytesMean: mean(headBytes),
    headLinesMean: mean(({ headers }) => headers.length + 1),
  };
}

/** With the empty line that ends the head. */
function headBytes({ headers }: SentAnswer): number {
  let bytes = "HTTP/1.1 200 OK\r\n\r\n".length;
  for (const [name, value] of headers) bytes += `${name}: ${value}\r\n`.length;
  return bytes;
}
