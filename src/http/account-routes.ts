/** Passes every request to `/account` on to the account worker, and sends its answer. */
import { formType, type PageHeader, pageRequestHeaders } from "#account/messages.ts";
import { headerLines } from "#gateway/headers.ts";
import { bodyBytesMax, otherType, sentType } from "./bodies.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { otherPaths } from "./record-requests.ts";
import { clientAddress, type Exchange, queryText, type Route, sentPath } from "./routes.ts";
import { pageHeaders, sendAnswer } from "./send-answer.ts";

/** Headers of account pages, which are never stored, never framed, and never named in a `Referer`. */
const accountHeaders =
  pageHeaders +
  headerLines({
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  });

/** HSTS for two years, the least that preload lists accept (RFC 6797). */
const secureTransport = headerLines({ "strict-transport-security": "max-age=63072000" });

/** Form of a media type (RFC 9110 §8.3.1). */
const mediaType = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+$/;

export function accountRoutes(http: HttpDependencies): Route[] {
  const { publicUrl, trustedProxies } = http.config;
  const headers = accountHeaders + (publicUrl?.startsWith("https:") ? secureTransport : "");
  const route = (path: string): Route => ({
    path,
    methods: ["GET", "HEAD", "POST"],
    who: "person",
    name: otherPaths,
    body: { type: formType, bytesMax: bodyBytesMax },
    async handle(exchange) {
      const { request, target, body } = exchange;
      // The worker checks the origin of a form before its type. Content without a media type is no form.
      const hasType = request.method === "POST" && request.headers["content-type"] !== undefined;
      if (hasType && !mediaType.test(sentType(exchange))) throw otherType(exchange);
      const answer = await http.accountWorker({
        path: sentPath(target),
        query: queryText(exchange),
        method: request.method as "GET" | "HEAD" | "POST",
        form: body.toString(),
        headers: headersOf(exchange),
        address: clientAddress(request, trustedProxies),
        now: http.now(),
        monotonicMicroseconds: http.clock.monotonicMicroseconds(),
      });
      // Never compressed: its length would leak the secrets in it (BREACH; docs/running.md).
      sendAnswer(http, exchange, {
        status: answer.status,
        headers: headers + headerLines(answer.headers),
        body: Buffer.from(answer.body),
      });
    },
  });
  return [route("/account"), route("/account/*")];
}

/** Returns the headers for the page. One that was sent twice is ambiguous and left out; Node joins only cookies. */
function headersOf({ request }: Exchange): Partial<Record<PageHeader, string>> {
  const found: Partial<Record<PageHeader, string>> = {};
  for (const name of pageRequestHeaders) {
    const value = request.headers[name];
    if (typeof value === "string") found[name] = value;
  }
  return found;
}
