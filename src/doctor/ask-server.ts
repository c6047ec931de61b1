/** Asks who answers at an address whether it is a gp-records, and ready. */
import { get, type IncomingMessage } from "node:http";
import type { Place } from "./listen.ts";

const patienceMilliseconds = 2000;

/** What came back from an address. */
export type Reply =
  | { kind: "nobody" }
  | { kind: "stranger"; why: string }
  | { kind: "gp-records"; isReady: boolean; reason: string };

/** Wildcards are addresses to listen on, not to ask. */
const askedHost: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

export function askServer({ host, port }: Place): Promise<Reply> {
  const asked = get({
    host: askedHost[host] ?? host,
    port,
    path: "/ready",
    agent: false,
    signal: AbortSignal.timeout(patienceMilliseconds),
  });
  return new Promise((resolve) => {
    asked.on("response", (answer) => resolve(readReply(answer)));
    asked.on("error", (error) => resolve(faultReply(error)));
  });
}

function faultReply({ code, message }: NodeJS.ErrnoException): Reply {
  if (code === "ECONNREFUSED") return { kind: "nobody" };
  return { kind: "stranger", why: code === "ABORT_ERR" ? "it does not answer" : (code ?? message) };
}

async function readReply(answer: IncomingMessage): Promise<Reply> {
  if (answer.headers["api-version"] === undefined) {
    answer.destroy();
    return { kind: "stranger", why: `it answers with status ${answer.statusCode}` };
  }
  const isReady = answer.statusCode === 200;
  const text = Buffer.concat(await Array.fromAsync(answer)).toString();
  return { kind: "gp-records", isReady, reason: isReady ? "" : reasonIn(text) };
}

function reasonIn(text: string): string {
  try {
    return String((JSON.parse(text) as { reason?: unknown }).reason);
  } catch {
    return "it does not say why";
  }
}
