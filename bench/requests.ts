/** The mix as HTTP requests, and what is answered to it. */
import { Agent, get, type IncomingHttpHeaders } from "node:http";
import { startRandom, whole } from "#demo/random.ts";
import type { Mix } from "./mix.ts";
import type { SentAnswer } from "./servers.ts";

const sameInAll = { host: "127.0.0.1", "user-agent": "gp-records-bench", accept: "*/*" };

/** @param body in ASCII; makes it a POST. */
export function requestText(
  target: string,
  headers: Readonly<Record<string, string>>,
  body?: string,
): string {
  const length = body === undefined ? {} : { "content-length": String(body.length) };
  const lines = Object.entries({ ...sameInAll, ...headers, ...length }).map(
    ([name, value]) => `${name}: ${value}\r\n`,
  );
  const method = body === undefined ? "GET" : "POST";
  return `${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n${body ?? ""}`;
}

/** A GET, or with a body a POST. */
export interface Question {
  path: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
}

/** As the program is asked. */
export const byPath = (path: string, key: string): Question => ({
  path,
  headers: { "x-api-key": key },
});

/** By clients that accept compression, as most of those that programs use do. */
export const compressedByPath = (path: string, key: string): Question => ({
  path,
  headers: { "x-api-key": key, "accept-encoding": "gzip, deflate, br" },
});

/** In the order of the mix; any key may ask anything. */
export function requestsOf(
  { targets, order }: Mix,
  keys: readonly string[],
  questionOf: (target: string, key: string) => Question = byPath,
): string[] {
  const random = startRandom(1, "keys");
  return order.map((place) => {
    const key = keys[whole(random, 0, keys.length - 1)]!;
    const { path, headers, body } = questionOf(targets[place]!, key);
    return requestText(path, headers, body);
  });
}

/** Asks a server every question once. @param asked the headers of each. */
export async function answersTo(
  { targets }: Mix,
  port: number,
  asked: Readonly<Record<string, string>>,
): Promise<SentAnswer[]> {
  const answers: SentAnswer[] = [];
  for (const target of targets) {
    const answer = await fetchOnce(port, target, asked);
    if (answer.status !== 200)
      throw new Error(`${target} was answered with ${answer.status} instead of 200.`);
    const { rawHeaders, bodyBytes } = answer;
    const headers: [string, string][] = [];
    for (let i = 0; i < rawHeaders.length; i += 2)
      headers.push([rawHeaders[i]!, rawHeaders[i + 1]!]);
    answers.push({ target, headers, bodyBytes });
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

export interface OneAnswer {
  status: number;
  bodyBytes: number;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

/** One request, for whoever wants to know what is answered rather than how fast. */
export function fetchOnce(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<OneAnswer> {
  return new Promise((resolve, reject) => {
    get({ agent, host: "127.0.0.1", port, path, headers }, (response) => {
      let bodyBytes = 0;
      response.on("data", (chunk: Buffer) => (bodyBytes += chunk.length));
      response.on("end", () =>
        resolve({
          status: response.statusCode!,
          bodyBytes,
          headers: response.headers,
          rawHeaders: response.rawHeaders,
        }),
      );
    }).on("error", reject);
  });
}
