/** Is the port free, or held by the server of this folder? */
import { get, type IncomingMessage } from "node:http";
import type { Config } from "#config.ts";
import { type Check, fail, type Finding, ok, warn } from "./check.ts";
import { serverLock } from "./locks.ts";

const patienceMilliseconds = 2000;

export const port: Check = {
  name: "port",
  async look({ config, dataDir }) {
    if (config === null) return [ok("is not looked at while a setting is wrong")];
    if (config.port === 0) return [ok("PORT is 0: each start takes a free one")];
    const server = serverLock(dataDir)?.text;
    return [judgePort(placeText(config), await ask(config), server)];
  },
};

/** What came back from an address. */
export type Reply =
  | { kind: "nobody" }
  | { kind: "stranger"; why: string }
  | { kind: "gp-records"; isReady: boolean; reason: string };

/** @param server what holds the lock of the folder; undefined where no server runs. */
export function judgePort(place: string, reply: Reply, server: string | undefined): Finding {
  const elsewhere = "Stop that program, or set PORT to another port.";
  switch (reply.kind) {
    case "nobody":
      return server === undefined
        ? ok(`${place} is free`)
        : warn(
            `the server, ${server}, does not answer at ${place}`,
            "Give doctor the settings of the server; if they are the same, restart it.",
          );
    case "stranger":
      return fail(`${place} is held by another program (${reply.why})`, elsewhere);
    default:
      if (server === undefined)
        return fail(`${place} is held by a gp-records of another data folder`, elsewhere);
      return reply.isReady
        ? ok(`${place} is held by the server, ${server}, which is ready`)
        : warn(
            `the server, ${server}, answers at ${place}, but is not ready: ${reply.reason}`,
            "Mend what the other lines name; docs/running.md says what clients see meanwhile.",
          );
  }
}

const placeText = ({ host, port: number }: Config) =>
  `${host.includes(":") ? `[${host}]` : host}:${number}`;

/** Wildcards are addresses to listen on, not to ask. */
const askedHost: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

function ask({ host, port: number }: Config): Promise<Reply> {
  const asked = get({
    host: askedHost[host] ?? host,
    port: number,
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
