/** Routes, and the exchange that passes through one: a request, its sender and its response. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { isIP, type BlockList } from "node:net";
import type { Config } from "#config.ts";
import type { Asker, Caller, Client } from "#gateway/gateway.ts";
import type { HeaderLines } from "#gateway/headers.ts";
import { keyPattern } from "#keys/api-key.ts";
import type { ReadName } from "#operations/reads.ts";
import { maskKeys } from "#problems.ts";

export interface Route {
  /** Path. A `/*` at its end stands for all paths below it. */
  path: string;
  /** Methods that are answered. Any other method gets a 405. The account worker refuses further ones for each page. */
  methods: readonly string[];
  /**
   * Callers that the route serves. `public`: everyone. `key`: holders of a key. `person`: browsers and feed readers;
   * the account worker decides what they may see, and pages of other origins cannot read the answer.
   */
  who: "public" | "key" | "person";
  /** Label in metrics, and name in the usage store. */
  name: ReadName | typeof otherPaths;
  /** Maximum size of a body, in bytes; 64 KiB by default. */
  bodyBytesMax?: number;
  /** True if the key may also be sent in `Authorization`. */
  takesBearer?: boolean;
  /** True if the route is served even while the service starts or drains. */
  isAlwaysOpen?: boolean;
  /** Answers a request. An error that it throws is sent as a problem. */
  handle(exchange: Exchange): void | Promise<void>;
}

/** Label of pages, health checks, unknown paths and unreadable requests in metrics. */
export const otherPaths = "other";

export const readMethods = ["GET", "HEAD", "OPTIONS"];

export type Router = ReturnType<typeof openRouter>;

export function openRouter(routes: readonly Route[]) {
  const byPath = new Map(routes.map((route) => [route.path, route]));
  const below = routes.filter(({ path }) => path.endsWith("/*"));
  const paths = [...byPath.keys()].filter((path) => !path.endsWith("/*"));
  return {
    /** Returns the route of a decoded path, or null if nothing is served there. */
    find: (path: string): Route | null =>
      byPath.get(path) ?? below.find((route) => path.startsWith(route.path.slice(0, -1))) ?? null,
    /** Paths of the routes that serve a single path. */
    paths,
  };
}

/** A request and its response, with the facts that become known on the way. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Id of the request, which the response repeats in `X-Request-Id`. */
  readonly id: string;
  /** Time at which the server began to handle the request, in ms, by `performance.now()`. */
  readonly arrivedAt: number;
  /** Path and query as sent, without scheme and host. */
  readonly target: string;
  /** Decoded path; null if it is not valid percent-encoded UTF-8. */
  readonly path: string | null;
  route: Route | null;
  /**
   * Body of a POST; empty for other methods. Rejects with a Problem if the body is too large, if the client network
   * sends too many bodies at once, or if the connection ends too early.
   */
  body: Promise<Buffer>;
  /** Sender and key; null on paths that need no key, and until the key is looked up. */
  caller: Caller | null;
  /** Account and key that the request is recorded under; null if it is not recorded. */
  asker: Asker | null;
  /** `RateLimit` fields; null until the account's quota status is known. */
  quotaHeaders: HeaderLines | null;
  /** Version of the dataset that the response was made from; null if it was made from none. */
  datasetVersion: string | null;
  /** Code of the problem that the response reports; null if it reports none. */
  problemCode: string | null;
  /** True if the connection must end with this response. */
  isLast: boolean;
  /** True once the response is on its way, at least to the commit barrier. */
  isAnswered: boolean;
}

export function beginExchange(request: IncomingMessage, response: ServerResponse): Exchange {
  const target = withoutAuthority(request.url!);
  return {
    request,
    response,
    id: requestIdOf(request),
    arrivedAt: performance.now(),
    target,
    path: decodedPath(target),
    route: null,
    body: noBody,
    caller: null,
    asker: null,
    quotaHeaders: null,
    datasetVersion: null,
    problemCode: null,
    isLast: false,
    isAnswered: false,
  };
}

/** Empty body, for a request that has none or whose body is not read. */
export const noBody = Promise.resolve(Buffer.alloc(0));

/**
 * Returns the path and query of a target. Ignores the host in an absolute target such as `http://host/path`, which is
 * also valid (RFC 9112 §3.2.2).
 */
function withoutAuthority(url: string): string {
  if (url.startsWith("/")) return url;
  const target = url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "");
  return target.startsWith("/") ? target : `/${target}`;
}

export const sentPath = (target: string): string => target.split("?", 1)[0]!;

function decodedPath(target: string): string | null {
  const path = sentPath(target);
  if (!path.includes("%")) return path;
  try {
    // An escaped slash stays escaped: it does not divide a path (RFC 3986 §2.2).
    return decodeURIComponent(path.replaceAll(/%2f/gi, "%252F"));
  } catch {
    return null;
  }
}

/** Returns the query as sent, without the `?`; empty if there is none. */
export function queryText({ target }: Pick<Exchange, "target">): string {
  const mark = target.indexOf("?");
  return mark === -1 ? "" : target.slice(mark + 1);
}

/** Returns the rest of the path below a route that ends in `/*`, decoded; empty for any other route. */
export const pathBelow = ({ route, path }: Exchange): string =>
  path!.slice(route!.path.replace("*", "").length);

const fromClient = /^[A-Za-z0-9._-]{1,64}$/;

/** Alphabet of Crockford's base 32, which omits I, L, O and U. */
const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const timeLength = 10;

// Cached, because many requests share a millisecond.
let timeText = "";
let timeMilliseconds = -1;

/**
 * Returns an id that sorts by time: `req_`, 10 characters for the milliseconds since 1970 in base 32, and 16 random
 * digits. The id need not be hard to guess.
 */
export function makeRequestId(nowMilliseconds = Date.now()): string {
  if (nowMilliseconds !== timeMilliseconds) {
    timeMilliseconds = nowMilliseconds;
    timeText = timeCharacters(nowMilliseconds);
  }
  return `req_${timeText}${String(Math.floor(Math.random() * 1e16)).padStart(16, "0")}`;
}

function timeCharacters(milliseconds: number): string {
  let text = "";
  for (let left = milliseconds; text.length < timeLength; left = Math.floor(left / 32))
    text = alphabet[left % 32]! + text;
  return text;
}

/** Returns the id of a request: the client's if it is safe to log, otherwise a new one. */
function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers["x-request-id"];
  const isFit = typeof given === "string" && fromClient.test(given) && maskKeys(given) === given;
  return isFit ? given : makeRequestId();
}

/** Returns facts about a client apart from its key, each computed only when needed. */
export const clientOf = ({ trustedProxies }: Config, request: IncomingMessage): Client => ({
  address: () => clientAddress(request, trustedProxies),
  isForwarded: () => isForwarded(request),
  misplacedKey: () => misplacedKey(request),
});

/** Returns the named headers that were sent. Node joins the values of a repeated header, or keeps the first. */
export function sentOnce<N extends string>(
  { headers }: IncomingMessage,
  names: readonly N[],
): Partial<Record<N, string>> {
  const found: Partial<Record<N, string>> = {};
  for (const name of names) {
    const value = headers[name];
    if (typeof value === "string") found[name] = value;
  }
  return found;
}

/** Returns the value of `x-api-key`. Node joins several lines into one value, which is not a valid key. */
export const presentedKey = ({ headers }: IncomingMessage) =>
  headers["x-api-key"] as string | undefined;

/** Returns the value of `x-api-key`, otherwise that of `Authorization: Bearer`, where MCP clients send a secret. */
export const presentedKeyOrBearer = (request: IncomingMessage): string | undefined =>
  presentedKey(request) || bearerOf(request);

/**
 * Reports whether `x-api-key` and `Authorization: Bearer` are both sent, and Bearer contains a different key. A Bearer
 * token that is not a key may be meant for a proxy.
 */
export function hasTwoKeys(request: IncomingMessage): boolean {
  const bearer = bearerOf(request) ?? "";
  const key = presentedKey(request) || bearer;
  return key !== bearer && keyPattern.test(bearer);
}

const bearerOf = ({ headers }: IncomingMessage): string | undefined =>
  /^Bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];

function misplacedKey({ url = "", headers }: IncomingMessage): string | undefined {
  if (keyPattern.test(url.slice(url.indexOf("?") + 1))) return "the query string";
  if (keyPattern.test(headers.authorization ?? "")) return "the header Authorization";
  if (keyPattern.test(headers.cookie ?? "")) return "a cookie";
  return undefined;
}

/**
 * Returns the client's address: the peer's or, if the peer is a trusted proxy, the right-most address in
 * `X-Forwarded-For` that is not a trusted proxy's. A client can forge all addresses further left. Returns the peer's
 * address if the header has no such address, or if an entry further right is not an address.
 * @param trusted addresses of the trusted proxies; null if there are none.
 */
export function clientAddress(
  { socket, headers }: IncomingMessage,
  trusted: BlockList | null,
): string {
  const peer = socket.remoteAddress ?? "unknown";
  if (!isTrusted(trusted, peer)) return peer;
  const forwarded = headers["x-forwarded-for"];
  const hops = (Array.isArray(forwarded) ? forwarded.join(",") : (forwarded ?? "")).split(",");
  for (const hop of hops.toReversed()) {
    const address = hop.trim();
    if (isIP(address) === 0) break;
    if (!isTrusted(trusted, address)) return address;
  }
  return peer;
}

/** Reports whether an address is a trusted proxy's. @param ranges addresses of the proxies; null if none is trusted. */
export function isTrusted(ranges: BlockList | null, address: string): boolean {
  if (ranges === null) return false;
  const mapped = address.startsWith("::ffff:") ? address.slice(7) : address;
  const family = isIP(mapped);
  return family !== 0 && ranges.check(mapped, family === 4 ? "ipv4" : "ipv6");
}

const forwardingHeaders = [
  "forwarded",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-forwarded-port",
  "x-real-ip",
  "x-client-ip",
  "true-client-ip",
  "cf-connecting-ip",
] as const;

/** Reports whether the request has a header that proxies add. */
const isForwarded = ({ headers }: IncomingMessage) =>
  forwardingHeaders.some((name) => headers[name] !== undefined);
