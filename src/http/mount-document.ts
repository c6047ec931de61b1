/** Serves what needs no key and changes seldom: pages, their assets, the description of the API. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Problem } from "#problems.ts";
import { compress } from "./compress.ts";
import { contentTag, isUnchanged } from "./entity-tag.ts";
import { encodedBytesMin, preferredEncoding, preferredType, type Encoding } from "./negotiate.ts";
import { anyMethod, routeConfig } from "./routes.ts";

export const html = "text/html; charset=utf-8";
export const json = "application/json; charset=utf-8";

/** One form of a document, by the media type a client may accept. */
export interface Form {
  accept: string;
  contentType: string;
  /** Called when asked for; the text may change with the dataset. */
  content(request: FastifyRequest): string | Buffer;
}

/** Nothing is loaded from elsewhere and nothing is inline (W3C Content Security Policy 3). */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

const methods = ["GET", "HEAD", "OPTIONS"] as const;

/** @param forms the first is sent to whoever has no preference. */
export function mountDocument(app: FastifyInstance, url: string, forms: readonly Form[]): void {
  const encoded = new Map<string, Buffer>();
  app.route({
    method: anyMethod(app),
    url,
    config: routeConfig({ methods }),
    async handler(request, reply) {
      const form = formFor(request, forms);
      const body = Buffer.from(form.content(request) as string);
      const etag = contentTag(body);
      reply.headers({
        "content-type": form.contentType,
        "cache-control": "public, max-age=300",
        "content-security-policy": contentSecurityPolicy,
        "referrer-policy": "no-referrer",
        etag,
      });
      if (isUnchanged(request.headers["if-none-match"], etag)) return reply.code(304).send();
      return sendCompressed(request, reply, body, etag, encoded);
    },
  });
}

function formFor({ headers }: FastifyRequest, forms: readonly Form[]): Form {
  const available = forms.map(({ accept }) => accept);
  // A page is what a browser asks for by name; whoever takes anything gets the first form.
  const type = preferredType(headers.accept, available);
  const form = forms.find(({ accept }) => accept === type);
  if (form === undefined)
    throw new Problem("not-acceptable", `This path answers in ${available.join(", ")}.`, {
      available,
    });
  return form;
}

async function sendCompressed(
  request: FastifyRequest,
  reply: FastifyReply,
  body: Buffer,
  etag: string,
  encoded: Map<string, Buffer>,
): Promise<FastifyReply> {
  const encoding: Encoding | null = preferredEncoding(
    request.headers["accept-encoding"] as string | undefined,
  );
  if (encoding === null || body.length <= encodedBytesMin) return reply.send(body);
  const key = `${encoding} ${etag}`;
  let known = encoded.get(key);
  if (known === undefined) {
    known = await compress(body, encoding);
    // A document that changes with the dataset keeps only its last forms.
    if (encoded.size >= 8) encoded.clear();
    encoded.set(key, known);
  }
  return reply.header("content-encoding", encoding).send(known);
}
