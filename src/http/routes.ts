/** The table of routes: what a row of it says, how a path finds its row, and the exchange that passes through it. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Asker, KeyHolder } from "#api/caller.ts";
import type { HeaderLines } from "./common-headers.ts";
import { requestIdOf } from "./request-id.ts";
import type { CountedOperation } from "./record-requests.ts";

export interface Route {
  /** With `/*` at its end it stands for all paths below. */
  path: string;
  /** Methods that are answered; any other is a 405. */
  methods: readonly string[];
  /**
   * Who is answered: anybody (`public`), holders of a key, whose quota it counts against (`key`), or browsers, whose
   * sessions the account worker checks, and which no other origin may read (`person`).
   */
  who: "public" | "key" | "person";
  /** What its metrics are labelled with. */
  name: CountedOperation;
  /** What a POST brings. */
  body?: { type: string; bytesMax: number };
  /** The key may come in `Authorization`, too. */
  takesBearer?: boolean;
  /** It is answered while the service starts or drains, too. */
  isAlwaysOpen?: boolean;
  /** What it throws is sent as a problem. */
  handle(exchange: Exchange): void | Promise<void>;
}

/** The methods of what is only read. */
export const readMethods = ["GET", "HEAD", "OPTIONS"];

/** Serves a path of its own also below `/v1`, with identical answers. */
export const withAlias = (route: Route): Route[] => [route, { ...route, path: `/v1${route.path}` }];

export interface Router {
  /** Returns the route of a decoded path, or null where nothing is served. */
  find(path: string): Route | null;
  /** Paths that stand for themselves alone. */
  paths: readonly string[];
}

export function openRouter(routes: readonly Route[]): Router {
  const byPath = new Map(routes.map((route) => [route.path, route]));
  const below = routes.filter(({ path }) => path.endsWith("/*"));
  const paths = [...byPath.keys()].filter((path) => !path.endsWith("/*"));
  return {
    find: (path) =>
      byPath.get(path) ?? below.find((route) => path.startsWith(route.path.slice(0, -1))) ?? null,
    paths,
  };
}

/** A request and its response, with what becomes known of them on the way. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Id of the request. */
  readonly id: string;
  /** When its headers had arrived; `performance.now()`. */
  readonly arrivedAt: number;
  /** Path and query as they were sent, without a scheme and a host. */
  readonly target: string;
  /** Decoded path; null where it is not valid percent-encoded UTF-8. */
  readonly path: string | null;
  /** What its path is served by; null where there is nothing. */
  route: Route | null;
  /** Body of a POST, once it has arrived; empty until then. */
  body: Buffer;
  /** Who sent it; null on paths that need no key. */
  caller: KeyHolder | null;
  /** For whom it was counted; null until then. */
  asker: Asker | null;
  /** `RateLimit` fields, once it was counted. */
  quotaHeaders: HeaderLines | null;
  /** Version of the dataset that the response was made from. */
  datasetVersion: string | null;
  /** Code of the problem that was sent. */
  problemCode: string | null;
  /** No other request can follow on its connection. */
  isLast: boolean;
  /** Its response is on its way, if only to the commit barrier. */
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
    body: empty,
    caller: null,
    asker: null,
    quotaHeaders: null,
    datasetVersion: null,
    problemCode: null,
    isLast: false,
    isAnswered: false,
  };
}

const empty = Buffer.alloc(0);

/** `GET http://host/path` is a valid request line (RFC 9112 §3.2.2); the host in it is ignored. */
function withoutAuthority(url: string): string {
  if (url.startsWith("/")) return url;
  const target = url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, "");
  return target.startsWith("/") ? target : `/${target}`;
}

/** Returns the path of a target as it was sent. */
export const sentPath = (target: string): string => target.split("?", 1)[0]!;

function decodedPath(target: string): string | null {
  const path = sentPath(target);
  if (!path.includes("%")) return path;
  try {
    // An escaped slash stays escaped: it parts no path (RFC 3986 §2.2).
    return decodeURIComponent(path.replaceAll(/%2f/gi, "%252F"));
  } catch {
    return null;
  }
}

/** Returns the query as it was sent, without the `?`. */
export function queryText({ target }: Pick<Exchange, "target">): string {
  const mark = target.indexOf("?");
  return mark === -1 ? "" : target.slice(mark + 1);
}

/** Returns what follows the path of a route that ends in `/*`, decoded. */
export const pathBelow = ({ route, path }: Exchange): string =>
  path!.slice(route!.path.length - "*".length);

/** Returns `Accept-Encoding` as it was sent; Node joins several lines to one. */
export const acceptedEncodings = ({ request }: Exchange): string | undefined =>
  request.headers["accept-encoding"] as string | undefined;
