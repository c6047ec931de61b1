/** Can the server listen where the settings say, or does the server of this folder do so already? */
import { once } from "node:events";
import { get, type IncomingMessage } from "node:http";
import { createServer } from "node:net";
import type { Config } from "#config.ts";
import { type Check, fail, type Finding, ok, warn } from "./check.ts";
import { catalogueIn, currentVersion } from "./dataset-files.ts";
import { serverLock } from "./locks.ts";

export const port: Check = {
  name: "port",
  async look({ config, dataDir }) {
    if (config === null) return [ok("is not looked at while a setting is wrong")];
    const server = serverLock(dataDir)?.text;
    const { adminAddress } = config;
    return [
      await portFinding(config, server, currentVersion(catalogueIn(dataDir))),
      ...(adminAddress === null ? [] : [await adminFinding(adminAddress, server)]),
    ];
  },
};

/** The settings that name an address. */
interface AddressSettings {
  host: string;
  port: string;
}

const publicSettings: AddressSettings = { host: "HOST", port: "PORT" };
const adminSettings: AddressSettings = { host: "ADMIN_ADDRESS", port: "ADMIN_ADDRESS" };

async function portFinding(
  config: Config,
  server: string | undefined,
  named: string | null,
): Promise<Finding> {
  const why = await whyNotListen(config);
  if (why === null && config.port === 0) return ok("PORT is 0: each start takes a free one");
  const judge = (reply: Reply) => judgePort(placeText(config), reply, server, named);
  if (why === null) return judge({ kind: "nobody" });
  if (!mayBeHeld(why)) return barred(config, why, publicSettings);
  const reply = await askServer(config);
  if (reply.kind !== "nobody") return judge(reply);
  return why === "EADDRINUSE"
    ? judge({ kind: "stranger", why })
    : barred(config, why, publicSettings);
}

/**
 * @param server what holds the lock of the folder; undefined where no server runs.
 * @param named the dataset that `current` names; null where it names none.
 */
function judgePort(
  place: string,
  reply: Reply,
  server: string | undefined,
  named: string | null,
): Finding {
  switch (reply.kind) {
    case "nobody":
      return server === undefined
        ? ok(`${place} is free`)
        : warn(`the server, ${server}, does not answer at ${place}`, sameSettings);
    case "stranger":
      return fail(`${place} is held by another program (${reply.why})`, elsewhere);
    default:
      return server === undefined
        ? fail(`${place} is held by a gp-records of another data folder`, elsewhere)
        : judgeServer(`the server, ${server},`, place, reply, named);
  }
}

const elsewhere = "Stop that program, or set PORT to another port.";

function judgeServer(
  server: string,
  place: string,
  { isReady, reason }: Extract<Reply, { kind: "gp-records" }>,
  named: string | null,
): Finding {
  if (isReady) return ok(`${place} is held by ${server} which is ready`);
  // Clients are told that nothing was published, which is wrong: this cannot wait.
  if (reason === "no_dataset" && named !== null)
    return fail(
      `${server} answers at ${place}, but serves no dataset, though ${named} is the one to be served`,
      `'gp-records datasets verify' and the log of the server say what is wrong with it; once it is mended, it is served within a minute, or at once with: gp-records datasets publish ${named}`,
    );
  return warn(
    `${server} answers at ${place}, but is not ready: ${reason}`,
    "Mend what the other lines name; docs/running.md says what clients see meanwhile.",
  );
}

interface Place {
  host: string;
  port: number;
}

/** `127.0.0.1:8080`, `[::1]:8080`. */
const placeText = ({ host, port }: Place) => `${host.includes(":") ? `[${host}]` : host}:${port}`;

/** Listens on the address for a moment. @returns the system's error code, such as EADDRINUSE; null where it worked. */
async function whyNotListen({ host, port }: Place): Promise<string | null> {
  const server = createServer((socket) => socket.destroy());
  server.listen({ host, port });
  try {
    await once(server, "listening");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code ?? message;
  }
  const closed = once(server, "close");
  server.close();
  await closed;
  return null;
}

/** Another process may listen there: this user can still ask which, even without the right to listen. */
const mayBeHeld = (why: string) => why === "EADDRINUSE" || why === "EACCES";

const sameSettings = "Give doctor the settings of the server; if they are the same, restart it.";

/** @param why the system's code. */
export function barred(place: Place, why: string, settings: AddressSettings): Finding {
  return why === "EACCES"
    ? fail(
        `this user may not listen on ${placeText(place)} (${why})`,
        `Set ${settings.port} to a port above 1023.`,
      )
    : fail(
        `nobody can listen on ${placeText(place)} (${why})`,
        `Set ${settings.host} to an address of this machine.`,
      );
}

/** @param server what holds the lock of the folder; undefined where no server runs. */
async function adminFinding(place: Place, server: string | undefined): Promise<Finding> {
  const text = `${placeText(place)}, the ADMIN_ADDRESS,`;
  const why = await whyNotListen(place);
  if (why === null)
    return server === undefined || place.port === 0
      ? ok(`${text} is free`)
      : warn(`the server, ${server}, does not listen at ${text} for its metrics`, sameSettings);
  if (!mayBeHeld(why)) return barred(place, why, adminSettings);
  if (server !== undefined) return ok(`${text} is left to the server, which runs`);
  return why === "EADDRINUSE"
    ? fail(
        `${text} is held by another program`,
        "Stop that program, or set ADMIN_ADDRESS to another port.",
      )
    : barred(place, why, adminSettings);
}

const answerMilliseconds = 2000;

/** What came back from an address. */
type Reply =
  | { kind: "nobody" }
  | { kind: "stranger"; why: string }
  | { kind: "gp-records"; isReady: boolean; reason: string };

/** Wildcards are addresses to listen on, not to ask. */
const askedHost: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/** Asks whatever answers at an address whether it is a gp-records, and ready. */
function askServer({ host, port }: Place): Promise<Reply> {
  const asked = get({
    host: askedHost[host] ?? host,
    port,
    path: "/ready",
    agent: false,
    signal: AbortSignal.timeout(answerMilliseconds),
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
