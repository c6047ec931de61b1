/**
 * Serves `/mcp`: checks origin, key and body, and hands the message to the module `mcp`. Loads that module with the
 * first message that needs it.
 */
import type { IncomingMessage } from "node:http";
import { ownOrigin } from "#config.ts";
import { negotiateBody } from "#gateway/answer-cache.ts";
import { quotaHeaders, headerLines } from "#gateway/headers.ts";
import { mcpMessages, openKeyedLimit } from "#limits/keyed-limit.ts";
import { limitProblem } from "#limits/quota-problem.ts";
import type { Mcp, McpReply } from "#mcp/answer-message.ts";
import { malformed, maskKeys, Problem } from "#problems.ts";
import { mcpHeaders } from "./check-request.ts";
import type { HttpDependencies } from "./dependencies.ts";
import { once } from "./public-routes.ts";
import { hasTwoKeys, type Exchange, type Route, sentOnce } from "./routes.ts";
import { answerWithProblem, reportProblem, sendAnswer } from "./send-answer.ts";

const messageType = "application/json";

export const mcpRoute = (http: HttpDependencies): Route => ({
  path: "/mcp",
  methods: ["POST", "OPTIONS"],
  who: "key",
  name: "mcp",
  takesBearer: true,
  handle: openMessages(http),
});

function openMessages(http: HttpDependencies) {
  const mcp = once(() => loadMcp(http));
  const uncounted = openKeyedLimit<number>([mcpMessages], http.clock);

  /**
   * Checks the key, and counts a message that uses no quota.
   * @throws Problem if the key is refused, if its quota cannot be read, or if its account sent too many such messages.
   */
  async function admitUncounted(exchange: Exchange): Promise<void> {
    const { asker, counted, result } = await http.gateway.look(exchange.caller!);
    if (result.kind === "problem") throw result.problem;
    exchange.quotaHeaders = quotaHeaders(counted!);
    const status = uncounted.take(asker!.accountNumber);
    if (!status.admitted)
      throw limitProblem("messages that call no tool were sent with your account's keys", status);
  }

  return async function serve(exchange: Exchange): Promise<void> {
    const { request } = exchange;
    const body = await exchange.body;
    refuseForeignOrigin(http, exchange);
    if (hasTwoKeys(request))
      throw malformed(
        "The headers x-api-key and Authorization carry two different keys. Send only one key.",
      );
    const message = readMessage(request, body);
    const { key } = exchange.caller!;
    // A call without a valid key is refused here, too, so that a stranger never causes `mcp` to be loaded.
    if (!isCall(message) || key === null || key instanceof Problem) await admitUncounted(exchange);
    if (message instanceof Problem) throw message;
    const { answer } = await mcp();
    const answered = await answer({
      message,
      caller: exchange.caller!,
      headers: sentOnce(request, mcpHeaders),
      requestId: exchange.id,
    });
    if (answered.called !== null) {
      const refusal = noteCall(http, exchange, answered.called);
      if (refusal !== null) return answerWithProblem(http, exchange, refusal);
    } else if (isCall(message)) await admitUncounted(exchange);
    await send(http, exchange, answered);
  };
}

const loadMcp = async (http: HttpDependencies): Promise<Mcp> => {
  const { openMcp } = await import("#mcp/answer-message.ts");
  return openMcp({ ...http, pageSizeMax: http.config.pageSizeMax });
};

/**
 * Refuses requests from pages of other origins, except origins that CORS_ORIGINS lists by name (MCP, "Security Warning"
 * of the Streamable HTTP transport). Programs send no `Origin`.
 */
function refuseForeignOrigin({ config }: HttpDependencies, { request }: Exchange): void {
  const { origin, host } = request.headers;
  if (origin === undefined) return;
  const { corsOrigins } = config;
  if (corsOrigins !== "*" && corsOrigins.includes(origin)) return;
  if (ownOrigin(config.publicUrl, host)?.origin === origin) return;
  throw new Problem(
    "access-denied",
    "Pages from this origin may not call /mcp. The operator can allow them by listing the origin by name in CORS_ORIGINS, in place of `*` or `off`; a program that is not a web page should leave out the Origin header.",
    { reason: "origin" },
  );
}

/** Maximum nesting of a message, in levels: more than messages need, and few enough for recursive code. */
const depthMax = 32;
/** Longest message id as JSON, in characters. The answer repeats the id. */
const idLengthMax = 128;

/** Decoder that refuses invalid UTF-8, because a search for a replacement character would find nothing. */
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** Returns the message. Returns a Problem if the body cannot be used; the caller throws it once the key is accepted. */
function readMessage({ headers }: IncomingMessage, body: Buffer): unknown {
  const { "content-type": type = "", "content-encoding": encoding = "identity" } = headers;
  const unsupported = (detail: string) =>
    new Problem("unsupported-media-type", detail, { available: [messageType] });
  if (type.split(";")[0]!.trim().toLowerCase() !== messageType)
    return unsupported(`Send the body as JSON, with the header Content-Type: ${messageType}.`);
  if (encoding.toLowerCase() !== "identity")
    return unsupported("Send the body uncompressed, without the header Content-Encoding.");
  let message: unknown;
  try {
    message = JSON.parse(utf8.decode(body));
  } catch {
    return malformed("The body is not valid JSON in UTF-8. Send one JSON-RPC message.");
  }
  if (Array.isArray(message))
    return malformed("The body is an array. Send one JSON-RPC message in each request.");
  if (isDeeper(message, depthMax))
    return malformed(`The body is nested more than ${depthMax} levels deep. Send fewer levels.`);
  const { id = null } = (message ?? {}) as { id?: unknown };
  if (typeof id === "number" && !Number.isSafeInteger(id))
    return malformed(
      `The id of the message must be a string, or a whole number from -${Number.MAX_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}. Send another id.`,
    );
  const idText = JSON.stringify(id);
  if (idText.length > idLengthMax)
    return malformed(`The id of the message may have at most ${idLengthMax} characters as JSON.`);
  if (maskKeys(idText) !== idText)
    return malformed(
      "The id of the message contains what looks like an API key, and keys are never sent back. Send another id.",
    );
  return message;
}

const isDeeper = (value: unknown, levels: number): boolean =>
  typeof value === "object" &&
  value !== null &&
  (levels === 0 || Object.values(value).some((one) => isDeeper(one, levels - 1)));

const isCall = (message: unknown): boolean =>
  typeof message === "object" &&
  message !== null &&
  (message as { method?: unknown }).method === "tools/call";

/**
 * Records a tool call in the exchange. Returns the problem if the caller is refused, otherwise null. Reports any other
 * problem to the metrics and the log; the reply already tells the model about it.
 */
function noteCall(
  http: HttpDependencies,
  exchange: Exchange,
  { asker, counted, result }: NonNullable<McpReply["called"]>,
): Problem | null {
  exchange.asker = asker;
  if (counted !== null) exchange.quotaHeaders = quotaHeaders(counted);
  if (result.kind === "answer") {
    exchange.datasetVersion = result.answer.datasetVersion;
    return null;
  }
  if (asker === null) return result.problem;
  exchange.problemCode = result.problem.code;
  reportProblem(http, result.problem, exchange.id, result.cause);
  return null;
}

async function send(
  http: HttpDependencies,
  exchange: Exchange,
  { status, content }: McpReply,
): Promise<void> {
  const { body, headers } = await negotiateBody(
    exchange.request.headers["accept-encoding"],
    Buffer.from(content?.text ?? ""),
  );
  sendAnswer(http, exchange, {
    status,
    headers:
      headers +
      headerLines({
        "cache-control": "no-store",
        ...(content !== null && { "content-type": content.type }),
      }),
    body,
  });
}
