/**
 * Serves the public paths: landing page, docs, errors, changelog, privacy, llms.txt, OpenAPI description, feed, assets
 * and health checks.
 */
import { brotliQualityMax, compress, negotiateBody } from "#gateway/answer-cache.ts";
import {
  contentTag,
  matchesTag,
  headerLines,
  type Encoding,
  preferredType,
} from "#gateway/headers.ts";
import { served, notAcceptable } from "#gateway/reads.ts";
import { feedPath } from "#operations/changes.ts";
import { operations } from "#operations/index.ts";
import { referenceOf } from "#operations/operation.ts";
import { readAssets } from "#pages/assets.ts";
import { problemCodes } from "#problems/kinds.ts";
import { notReadyDetails, unavailable } from "#problems.ts";
import { type HttpDependencies, whyNotReady } from "./dependencies.ts";
import { type Route, otherPaths, readMethods } from "./routes.ts";
import { html, json, pageHeaders, type HttpAnswer, sendAnswer } from "./send-answer.ts";

export function publicRoutes(http: HttpDependencies): Route[] {
  // Imported on the first request for a text, so that the start does not wait for it.
  const texts = once(async () => (await import("./public-texts.ts")).openPublicTexts(http));
  const fixed = (path: string) => {
    const make = () => once(async () => (await texts()).fixed[path]!());
    // While the service runs, these texts change only with `browse`.
    const made = { members: make(), everyone: make() };
    return () => made[http.browse()]();
  };
  const references = operations.map(referenceOf);
  const guides = ["vocabulary", "explain", "mcp"].map((name) => `/docs/${name}`);
  const pages = ["/docs", ...references, ...guides, "/errors"];
  const errors = problemCodes.map((code) => `/errors/${code}`);
  return [
    documentRoute(http, "/", {
      [html]: async () => (await texts()).landing(),
      [json]: async () => (await texts()).landingIndex(),
    }),
    ...[...pages, ...errors, "/changelog"].map((path) =>
      documentRoute(http, path, { [html]: fixed(path) }),
    ),
    documentRoute(http, "/privacy", { [html]: async () => (await texts()).privacy() }),
    documentRoute(http, "/llms.txt", { "text/plain; charset=utf-8": fixed("/llms.txt") }),
    documentRoute(http, "/openapi.json", { [json]: fixed("/openapi.json") }),
    documentRoute(http, feedPath, { "application/atom+xml; charset=utf-8": () => feedOf(http) }),
    ...readAssets().map(({ path, contentType, bytes }) =>
      documentRoute(http, path, { [contentType]: () => bytes }, asset),
    ),
    ...healthRoutes(http),
  ];
}

const isAlive: HttpAnswer = {
  status: 200,
  headers: headerLines({ "content-type": json, "cache-control": "no-store" }),
  body: Buffer.from('{"status":"ok"}'),
};

/**
 * Returns the routes of `/health`, which reports that the process is alive, and `/ready`, which reports whether it can
 * answer queries.
 */
function healthRoutes(http: HttpDependencies): Route[] {
  const route = (path: string, why: () => ReturnType<typeof whyNotReady>): Route => ({
    path,
    methods: readMethods,
    who: "public",
    name: otherPaths,
    isAlwaysOpen: true,
    handle(exchange) {
      const reason = why();
      if (reason !== undefined) throw unavailable(reason, notReadyDetails[reason]);
      sendAnswer(http, exchange, isAlive);
    },
  });
  return [route("/health", () => undefined), route("/ready", () => whyNotReady(http))];
}

/** Returns a function that makes a value on its first call and keeps it. The next call tries again if that fails. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

/** Returns the feed of changes. @throws Problem 503 while no records are published. */
async function feedOf(http: HttpDependencies): Promise<string> {
  const { changesFeed } = await import("#pages/atom.ts");
  const { version, updatedAt } = served(http).parts;
  const address = `${http.config.publicUrl ?? ""}${feedPath}`;
  return changesFeed(http.changes.list(version).toReversed(), address, updatedAt);
}

/**
 * Function that returns a document's content. Called for each request, because the text may change with the dataset.
 */
type Content = () => string | Buffer | Promise<string>;

const changing = { methods: readMethods, cacheControl: "public, max-age=300" };

/** Methods and caching of documents whose path contains a hash of their content. */
const asset = { methods: ["GET", "HEAD"], cacheControl: "public, max-age=31536000, immutable" };

/** Returns the route of a document. @param forms representations by media type, with the default first. */
function documentRoute(
  http: HttpDependencies,
  path: string,
  forms: Readonly<Record<string, Content>>,
  { methods, cacheControl } = changing,
): Route {
  const common = headerLines({ "cache-control": cacheControl }) + pageHeaders;
  const types = new Map(Object.keys(forms).map((type) => [type.split(";")[0]!, type]));
  const available = [...types.keys()];
  // The first form is the default. If a client names several forms with the same preference, it gets the last of them.
  const preferred = available.toReversed();
  const written = new Map<string, ReturnType<typeof write>>();
  return {
    path,
    methods,
    who: "public",
    name: otherPaths,
    async handle(exchange) {
      const {
        accept,
        "accept-encoding": encodings,
        "if-none-match": tags,
      } = exchange.request.headers;
      const type = types.get(preferredType(accept, available, preferred) ?? "");
      if (type === undefined) throw notAcceptable(available);
      const content = await forms[type]!();
      let known = written.get(type);
      if (known?.content !== content) written.set(type, (known = write(content)));
      const { etag, body, encoded } = known;
      const headers = common + headerLines({ etag });
      if (matchesTag(tags, etag))
        return sendAnswer(http, exchange, { status: 304, headers, body: null });
      const sent = await negotiateBody(encodings, body, (_, encoding) =>
        encoded.getOrInsertComputed(encoding, () => {
          const made = compress(body, encoding, brotliQualityMax);
          made.catch(() => encoded.delete(encoding));
          return made;
        }),
      );
      const own = headers + headerLines({ "content-type": type }) + sent.headers;
      sendAnswer(http, exchange, { ...sent, status: 200, headers: own });
    },
  };
}

/** Returns a representation to serve until its content changes, which most never do. */
function write(content: string | Buffer) {
  const body = Buffer.from(content as string);
  const encoded = new Map<Encoding, Promise<Buffer>>();
  return { content, body, etag: contentTag(body), encoded };
}
