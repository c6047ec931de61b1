/** Clients with persistent connections that ask on and on, and keep books of what became of every request. */
import http from "node:http";
import https from "node:https";
import { setTimeout as wait } from "node:timers/promises";

export interface ClientBooks {
  /** Answers by status. */
  statuses: Record<number, number>;
  /**
   * Sent once more, because the connection that had carried earlier ones was closed before a byte of the answer came:
   * what RFC 9112 §9.3.1 has clients do with idempotent requests, since neither side can see the other's close in time.
   */
  sentAgain: number;
  /** What befell all others, in words. */
  failures: string[];
  /** Of the slowest request. */
  longestMilliseconds: number;
}

interface Order {
  port: number;
  path: string;
  headers?: Record<string, string>;
  clients: number;
  /** Over TLS, whatever the certificate says. */
  isSecure?: boolean;
  /** Between an answer and the next request of a client. */
  gapMilliseconds?: () => number;
}

export function askOn(order: Order) {
  const { clients, isSecure = false, gapMilliseconds = () => 0 } = order;
  const kept = { keepAlive: true, maxSockets: clients };
  const agent = isSecure
    ? new https.Agent({ ...kept, rejectUnauthorized: false })
    : new http.Agent(kept);
  const books: ClientBooks = { statuses: {}, sentAgain: 0, failures: [], longestMilliseconds: 0 };
  const awaiting = new Set<{ left: number; resolve: () => void }>();
  let isOver = false;
  const tell = () => {
    for (const one of awaiting) {
      if (--one.left > 0) continue;
      awaiting.delete(one);
      one.resolve();
    }
  };
  const askOnce = async () => {
    const startedAt = performance.now();
    for (;;) {
      const outcome = await send(agent, order);
      if (outcome === "closed before") {
        books.sentAgain++;
        continue;
      }
      if (typeof outcome === "number") books.statuses[outcome] = (books.statuses[outcome] ?? 0) + 1;
      else books.failures.push(outcome);
      break;
    }
    books.longestMilliseconds = Math.max(books.longestMilliseconds, performance.now() - startedAt);
    tell();
  };
  const client = async () => {
    while (!isOver) {
      await askOnce();
      const gap = gapMilliseconds();
      if (gap > 0) await wait(gap);
    }
  };
  const running = Promise.all(Array.from({ length: clients }, client));
  return {
    books,
    /** Resolves when so many more answers have come. */
    answered(count: number): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      awaiting.add({ left: count, resolve });
      return promise;
    },
    /** Ends after the requests under way. */
    async end(): Promise<ClientBooks> {
      isOver = true;
      await running;
      agent.destroy();
      return books;
    },
  };
}

/** @returns the status; `closed before` where the request may be sent again; else what happened. */
function send(
  agent: http.Agent,
  { port, path, headers, isSecure }: Order,
): Promise<number | string> {
  return new Promise((resolve) => {
    let hasBegun = false;
    const { get } = isSecure === true ? https : http;
    const where = { host: "127.0.0.1", servername: "localhost", port };
    const request = get({ ...where, path, headers, agent }, (response) => {
      hasBegun = true;
      // A proxy answers, too, where it knows no better.
      if (response.headers["api-version"] === undefined) resolve("an answer of somebody else");
      response.on("end", () => resolve(response.complete ? response.statusCode! : "cut off"));
      response.on("error", ({ message }) => resolve(`cut off: ${message}`));
      response.resume();
    });
    request.on("error", ({ message }) =>
      resolve(request.reusedSocket && !hasBegun ? "closed before" : message),
    );
  });
}
