/** Serves public documents, which rarely change: pages, assets, the OpenAPI description. */
import {
  brotliQualityMax,
  compress,
  encodedBytesMin,
  type Encoding,
} from "#gateway/answer-cache.ts";
import { notAcceptable } from "#gateway/reads.ts";
import { contentTag, matchesTag } from "#gateway/headers.ts";
import { headerLines, type HeaderLines } from "#gateway/headers.ts";
import { pageHeaders } from "./common-headers.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { preferredEncoding, preferredType } from "#gateway/negotiate.ts";
import { otherPaths } from "./record-requests.ts";
import { acceptedEncodings, type Exchange, readMethods, type Route } from "./routes.ts";
import { type HttpAnswer, sendAnswer } from "./send-answer.ts";

/** A representation of a document, chosen by the media type that the client accepts. */
interface Form {
  accept: string;
  contentType: string;
  /** Returns the content. Called for each request, as the text may change with the dataset. */
  content(): string | Buffer | Promise<string>;
}

interface Serving {
  cacheControl: string;
  methods: readonly string[];
}

const changing: Serving = {
  cacheControl: "public, max-age=300",
  methods: readMethods,
};

/** Serving of documents whose path contains the hash of their content. */
export const immutable: Serving = {
  cacheControl: "public, max-age=31536000, immutable",
  methods: ["GET", "HEAD"],
};

export interface Document {
  /** Forms; the first is for clients without a preference. */
  forms: readonly Form[];
  serving?: Serving;
}

/** @param documents by path. */
export const documentRoutes = (
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
  const encoded = new Map<string, Promise<Buffer>>();
  const written = new Map<Form, Written>();
  return async (exchange) => {
    const form = formFor(exchange, forms);
    const content = await form.content();
    let known = written.get(form);
    if (known?.content !== content) written.set(form, (known = write(content)));
    const { body, etag } = known;
    const headers = fixed + headerLines({ "content-type": form.contentType, etag });
    const isKnown = matchesTag(exchange.request.headers["if-none-match"], etag);
    const answer = isKnown
      ? { status: 304, headers, body: null }
      : await encodedAnswer(exchange, headers, body, etag, encoded);
    sendAnswer(http, exchange, answer);
  };
}

/** A form as it was last served. Most never change. */
interface Written {
  content: string | Buffer;
  body: Buffer;
  etag: string;
}

function write(content: string | Buffer): Written {
  const body = Buffer.from(content as string);
  return { content, body, etag: contentTag(body) };
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
  body: Buffer,
  etag: string,
  encoded: Map<string, Promise<Buffer>>,
): Promise<HttpAnswer> {
  const encoding: Encoding | null = preferredEncoding(acceptedEncodings(exchange));
  if (encoding === null || body.length <= encodedBytesMin) return { status: 200, headers, body };
  const key = `${encoding} ${etag}`;
  let known = encoded.get(key);
  if (known === undefined) {
    // Limits the versions of a document that changes with the dataset.
    if (encoded.size >= 8) encoded.clear();
    known = compress(body, encoding, brotliQualityMax);
    encoded.set(key, known);
    known.catch(() => encoded.delete(key));
  }
  return {
    status: 200,
    headers: headers + headerLines({ "content-encoding": encoding }),
    body: await known,
  };
}
