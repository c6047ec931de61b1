/** Passes every request to `/account` on to the account worker, and sends what it returns. */
import type { FastifyInstance, FastifyRequest } from "fastify";
import { type PageHeader, pageRequestHeaders } from "#account/messages.ts";
import { bodyBytesMax } from "./check-request.ts";
import { clientAddress } from "./client-address.ts";
import { headerLines, pageHeaders } from "./common-headers.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { routeConfig } from "./routes.ts";
import { sendAnswer } from "./send-answer.ts";

/** Account pages are never stored, never framed, and never named in a `Referer`. */
const accountHeaders =
  pageHeaders +
  headerLines({
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  });

/** Two years, the least that preload lists accept (RFC 6797). */
const secureTransport = headerLines({ "strict-transport-security": "max-age=63072000" });

export function mountAccount(app: FastifyInstance, http: HttpDependencies): void {
  const { publicUrl, trustedProxies } = http.config;
  const headers = accountHeaders + (publicUrl?.startsWith("https:") ? secureTransport : "");
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    const parsing = { parseAs: "string", bodyLimit: bodyBytesMax } as const;
    scope.addContentTypeParser("*", parsing, (_request, body, done) => done(null, body));
    for (const url of ["/account", "/account/*"])
      scope.route({
        method: ["GET", "HEAD", "POST", "OPTIONS"],
        url,
        config: routeConfig({ methods: ["GET", "HEAD", "POST"], isPrivate: true }),
        async handler(request, reply) {
          const answer = await http.accountWorker({
            ...targetOf(request),
            method: request.method as "GET" | "HEAD" | "POST",
            form: typeof request.body === "string" ? request.body : "",
            headers: headersOf(request),
            address: clientAddress(request.raw, trustedProxies),
            now: http.now(),
            monotonicMicroseconds: http.clock.monotonicMicroseconds(),
          });
          // Never compressed: the length would leak the secrets in it (BREACH; docs/running.md).
          sendAnswer(http, request, reply, {
            status: answer.status,
            headers: headers + headerLines(answer.headers),
            body: Buffer.from(answer.body),
          });
        },
      });
  });
}

function targetOf({ originalUrl }: FastifyRequest) {
  const mark = originalUrl.indexOf("?");
  return mark === -1
    ? { path: originalUrl, query: "" }
    : { path: originalUrl.slice(0, mark), query: originalUrl.slice(mark + 1) };
}

/** A header that was sent twice is ambiguous, so it is left out; Node joins only cookies. */
function headersOf({ headers }: FastifyRequest): Partial<Record<PageHeader, string>> {
  const found: Partial<Record<PageHeader, string>> = {};
  for (const name of pageRequestHeaders) {
    const value = headers[name];
    if (typeof value === "string") found[name] = value;
  }
  return found;
}
