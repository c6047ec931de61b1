/** Serves the documents that need no key: landing page, docs, errors, changelog, OpenAPI description, feed, assets. */
import { brotliQualityMax, compress, encodedBytesMin } from "#gateway/answer-cache.ts";
import {
  contentTag,
  matchesTag,
  headerLines,
  type HeaderLines,
  type Encoding,
  preferredEncoding,
  preferredType,
} from "#gateway/headers.ts";
import { served, notAcceptable } from "#gateway/reads.ts";
import { feedPath } from "#operations/changes.ts";
import { readAssets } from "#pages/assets.ts";
import { problemCodes } from "#problems.ts";
import type { Publication } from "#records/publication.ts";
import type { HttpDependencies } from "./dependencies.ts";
import type { PublicTexts } from "./public-texts.ts";
import { type Route, acceptedEncodings, type Exchange, otherPaths, readMethods } from "./routes.ts";
import { html, json, pageHeaders, type HttpAnswer, sendAnswer } from "./send-answer.ts";

export function publicRoutes(http: HttpDependencies): Route[] {
  const documents = new Map<string, Document>();
  const texts = once(() => loadTexts(http));

  const addPage = (path: string, make: (texts: PublicTexts) => string) => {
    const page = once(async () => make(await texts()));
    documents.set(path, { forms: [formOf(html, page)] });
  };
  documents.set("/", {
    forms: [
      formOf(html, async () => (await texts()).landing()),
      formOf(json, async () => (await texts()).landingIndex()),
    ],
  });
  addPage("/docs", ({ docs }) => docs());
  addPage("/docs/samples", ({ samples }) => samples());
  addPage("/docs/vocabulary", ({ vocabulary }) => vocabulary());
  addPage("/docs/mcp", ({ mcp }) => mcp());
  addPage("/errors", ({ errors }) => errors());
  for (const code of problemCodes) addPage(`/errors/${code}`, ({ error }) => error(code));
  addPage("/changelog", ({ changelog }) => changelog());
  const llms = once(async () => (await texts()).llms());
  documents.set("/llms.txt", { forms: [formOf(plainText, llms)] });
  const description = once(async () => (await texts()).description());
  documents.set("/openapi.json", { forms: [formOf(json, description)] });
  documents.set(feedPath, feedOf(http));
  for (const { path, contentType, bytes } of readAssets())
    documents.set(path, { forms: [formOf(contentType, () => bytes)], serving: immutable });
  return documentRoutes(http, documents);
}

const plainText = "text/plain; charset=utf-8";

/** Loads the pages with the first request for one. They are a third of all our code, and most servers serve only records. */
async function loadTexts(http: HttpDependencies): Promise<PublicTexts> {
  const { openPublicTexts } = await import("./public-texts.ts");
  return openPublicTexts(http);
}

/** Makes a value on the first request, and again after a failure. The start does not wait for pages that few ask for. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

/** Returns the feed of changes, written once for each list of publications, which rarely changes. */
function feedOf(http: HttpDependencies): Document {
  const { publicUrl } = http.config;
  let known: { from: readonly Publication[]; text: string } | null = null;
  const content = async () => {
    const { changesFeed } = await import("#pages/changes-feed.ts");
    const { version, updatedAt } = served(http).parts;
    const from = http.changes.list(version);
    if (known?.from !== from) {
      const address = `${publicUrl ?? ""}${feedPath}`;
      known = { from, text: changesFeed({ publications: from.toReversed(), address, updatedAt }) };
    }
    return known.text;
  };
  return { forms: [formOf("application/atom+xml; charset=utf-8", content)] };
}

/** A representation of a document, chosen by the media type that the client accepts. */
interface Form {
  accept: string;
  contentType: string;
  /** Returns the content. Called for each request, as the text may change with the dataset. */
  content(): string | Buffer | Promise<string>;
}

const formOf = (contentType: string, content: Form["content"]): Form => ({
  accept: contentType.split(";")[0]!,
  contentType,
  content,
});

interface Serving {
  cacheControl: string;
  methods: readonly string[];
}

const changing: Serving = {
  cacheControl: "public, max-age=300",
  methods: readMethods,
};

/** Serving of documents whose path contains the hash of their content. */
const immutable: Serving = {
  cacheControl: "public, max-age=31536000, immutable",
  methods: ["GET", "HEAD"],
};

interface Document {
  /** Forms; the first is for clients without a preference. */
  forms: readonly Form[];
  serving?: Serving;
}

/** @param documents by path. */
const documentRoutes = (
  http: HttpDependencies,
  documents: ReadonlyMap<string, Document>,
): Route[] =>
  Array.from(documents, ([path, { forms, serving = changing }]) => ({
    path,
    methods: serving.methods,
    who: "public",
    name: otherPaths,
    handle: documentHandler(http, forms, serving),
  }));

function documentHandler(
  http: HttpDependencies,
  forms: readonly Form[],
  { cacheControl }: Serving,
): Route["handle"] {
  const fixed = headerLines({ "cache-control": cacheControl }) + pageHeaders;
  const written = new Map<Form, Written>();
  return async (exchange) => {
    const form = formFor(exchange, forms);
    const content = await form.content();
    let known = written.get(form);
    if (known?.content !== content) written.set(form, (known = write(content)));
    const { etag } = known;
    const headers = fixed + headerLines({ "content-type": form.contentType, etag });
    const isKnown = matchesTag(exchange.request.headers["if-none-match"], etag);
    const answer = isKnown
      ? { status: 304, headers, body: null }
      : await encodedAnswer(exchange, headers, known);
    sendAnswer(http, exchange, answer);
  };
}

/** A form as it was last served. Most never change. */
interface Written {
  content: string | Buffer;
  body: Buffer;
  etag: string;
  encoded: Map<Encoding, Promise<Buffer>>;
}

function write(content: string | Buffer): Written {
  const body = Buffer.from(content as string);
  return { content, body, etag: contentTag(body), encoded: new Map() };
}

function formFor({ request }: Exchange, forms: readonly Form[]): Form {
  const available = forms.map(({ accept }) => accept);
  // HTML is first, for clients that name nothing. A client that also names another form can read that one.
  const type = preferredType(request.headers.accept, available, available.toReversed());
  const form = forms.find(({ accept }) => accept === type);
  if (form === undefined) throw notAcceptable(available);
  return form;
}

async function encodedAnswer(
  exchange: Exchange,
  headers: HeaderLines,
  { body, encoded }: Written,
): Promise<HttpAnswer> {
  const encoding = preferredEncoding(acceptedEncodings(exchange));
  if (encoding === null || body.length <= encodedBytesMin) return { status: 200, headers, body };
  const compressed = encoded.getOrInsertComputed(encoding, () => {
    const made = compress(body, encoding, brotliQualityMax);
    made.catch(() => encoded.delete(encoding));
    return made;
  });
  return {
    status: 200,
    headers: headers + headerLines({ "content-encoding": encoding }),
    body: await compressed,
  };
}
