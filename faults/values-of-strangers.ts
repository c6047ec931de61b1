/** F15: whatever value a stranger sends, and however many different ones, the server does not keep them all. */
import { connect } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { makeKey } from "#keys/api-key.ts";
import { serve, type Server } from "../bench/program.ts";
import { askInside } from "../bench/servers.ts";
import { readAnswers } from "../fuzz/requests/read-answers.ts";
import type { Fault } from "./fault.ts";

const mebibyte = 2 ** 20;

/** Part of a request that a stranger chooses, with a request for each of its values. */
interface Input {
  name: string;
  method: "HEAD" | "POST";
  requestWith(number: number): string;
  /** What the answers may be. */
  statuses: readonly number[];
  /** Requests sent ahead on each connection. */
  pipelined: number;
  /** Only one of so many tries is made, where each costs the server much. */
  everyNth: number;
}

/** Tries are values of each input. */
export const valuesOfStrangers: Fault = {
  name: "F15 · values chosen by strangers",
  promise:
    "however many different ones come, the heap grows by less than 2 MiB after the first third of them",
  tries: { quick: 30_000, full: 300_000 },
  async attempt(work, tries) {
    const server = await serve({
      // Without records: a client without a key reaches none of them.
      dataDir: work.folder(),
      settings: { TRUSTED_PROXIES: "127.0.0.1" },
      isWatched: true,
      // Code that has not run for a while is dropped, which would hide growth of as much.
      nodeArgs: ["--expose-gc", "--no-flush-bytecode"],
      hear() {},
    });
    const seen: string[] = [];
    const broken: string[] = [];
    for (const input of inputs) {
      const count = Math.ceil(tries / input.everyNth);
      const third = Math.ceil(count / 3);
      work.tell(`sending ${count} ${input.name}`);
      const unexpected = await send(server, input, 0, third);
      const before = await heldBytes(server);
      unexpected.push(...(await send(server, input, third, count)));
      const growth = (await heldBytes(server)) - before;
      seen.push(`${input.name} ${inMebibytes(growth)}`);
      if (growth >= growthMax(tries))
        broken.push(
          `${input.name}: the heap grew by ${inMebibytes(growth)} in the last ${count - third} of ${count} requests`,
        );
      if (unexpected.length > 0)
        broken.push(`${input.name}: ${unexpected.length} answers like ${unexpected[0]}`);
    }
    await server.stop();
    return {
      done: `${tries.toLocaleString("en-US")} values of each input sent to one server, of sign-in addresses every hundredth`,
      seen: `growth in the last two thirds: ${seen.join(", ")}`,
      broken,
    };
  },
};

const fullTries = 300_000;
/** What fills up once, such as the tables of a cache, may still do so after the first third of a short run. */
const onceBytes = mebibyte / 2;

/** A short run is to find as slow a leak as a long one. */
const growthMax = (tries: number) =>
  Math.min(2 * mebibyte, onceBytes + (2 * mebibyte * tries) / fullTries);

const inMebibytes = (bytes: number) => `${(bytes / mebibyte).toFixed(2)} MiB`;

const readings = 3;
const readingEveryMilliseconds = 300;

/** The least of what all threads of the server hold, over about a second: some things are kept for so long, and no longer. */
async function heldBytes(server: Server): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let reading = 0; reading < readings; reading++) {
    await wait(readingEveryMilliseconds);
    least = Math.min(least, await askInside(server, "heldMemory"));
  }
  return least;
}

const connections = 4;

/** Sends the requests with these numbers. @returns each answer that was none of those expected, in words. */
async function send(
  { port }: Server,
  { method, requestWith, statuses, pipelined }: Input,
  from: number,
  to: number,
): Promise<string[]> {
  const unexpected: string[] = [];
  let next = from;
  const overConnection = async () => {
    const { promise: closed, resolve, reject } = Promise.withResolvers<void>();
    const socket = connect(port, "127.0.0.1");
    const reader = readAnswers(() => method);
    let awaited = 0;
    const sendMore = () => {
      let requests = "";
      for (; awaited < pipelined && next < to; awaited++) requests += requestWith(next++);
      if (requests === "") socket.end();
      else socket.write(requests);
    };
    socket.once("connect", sendMore).once("error", reject).once("close", resolve);
    socket.on("data", (chunk: Buffer) => {
      for (const { status } of reader.push(chunk)) {
        awaited--;
        if (!statuses.includes(status)) unexpected.push(String(status));
      }
      if (awaited === 0) sendMore();
    });
    await closed;
    for (; awaited > 0; awaited--) unexpected.push("none at all");
  };
  await Promise.all(Array.from({ length: connections }, overConnection));
  return unexpected;
}

const host = "host: 127.0.0.1";

const head = (target: string, ...headers: readonly string[]) =>
  `${[`HEAD ${target} HTTP/1.1`, ...headers].join("\r\n")}\r\n\r\n`;

const address = (number: number, first = 10) =>
  [first, (number >> 16) & 255, (number >> 8) & 255, number & 255].join(".");

/** An address in a network of its own, every second one of IPv6. */
const addressElsewhere = (number: number) =>
  number % 2 === 0
    ? address(number)
    : `2001:db8:${(number >> 16).toString(16)}:${(number & 0xffff).toString(16)}::1`;

const signInNetworks = 1000;

function signIn(number: number): string {
  const form = `email=person-${number}%40example.org&password=a+guess`;
  const headers = [
    host,
    `x-forwarded-for: ${address(number % signInNetworks)}`,
    "sec-fetch-site: same-origin",
    "content-type: application/x-www-form-urlencoded",
    `content-length: ${form.length}`,
  ];
  return `${["POST /account/sign-in HTTP/1.1", ...headers].join("\r\n")}\r\n\r\n${form}`;
}

const quick = { method: "HEAD", pipelined: 16, everyNth: 1 } as const;

const inputs: readonly Input[] = [
  {
    ...quick,
    name: "wrong keys",
    requestWith: () => head("/fetch-gp", host, `x-api-key: ${makeKey()}`),
    statuses: [401, 429],
  },
  {
    ...quick,
    name: "unknown paths",
    requestWith: (number) => head(`/path-${number}`, host),
    statuses: [404],
  },
  {
    ...quick,
    name: "request ids",
    requestWith: (number) => head("/health", host, `x-request-id: id-${number}`),
    statuses: [200],
  },
  {
    ...quick,
    name: "Accept",
    requestWith: (number) =>
      head("/", host, `accept: text/x-${number}${number % 2 === 0 ? ", */*" : ""}`),
    statuses: [200, 406],
  },
  {
    ...quick,
    name: "Accept-Encoding",
    requestWith: (number) => head("/docs", host, `accept-encoding: x-${number}, gzip`),
    statuses: [200],
  },
  {
    ...quick,
    name: "Host",
    // The account pages alone ask which host was meant, and take any of this machine.
    requestWith: (number) =>
      head(
        "/account/sign-in",
        `host: ${number % 2 === 0 ? address(number, 127) : `host-${number}.example`}`,
      ),
    statuses: [200, 403],
  },
  {
    ...quick,
    name: "client networks",
    requestWith: (number) =>
      head(
        "/fetch-gp",
        host,
        `x-forwarded-for: ${addressElsewhere(number)}`,
        `x-api-key: ${makeKey()}`,
      ),
    statuses: [401],
  },
  {
    name: "sign-in addresses",
    method: "POST",
    requestWith: signIn,
    statuses: [401],
    pipelined: 1,
    everyNth: 100,
  },
];
