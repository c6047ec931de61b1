/** Checks whether the server can listen where the settings say, or a gp-records does so already. */
import { once } from "node:events";
import { createServer } from "node:net";
import { localUrl } from "#config.ts";
import { type Check, fail, type Finding, ok } from "./check.ts";

export const port: Check = {
  name: "port",
  async look({ config }) {
    if (config === null) return [ok("is not checked while a setting is wrong")];
    const { adminAddress } = config;
    return [
      await findingOf(config, "HOST", "PORT"),
      ...(adminAddress === null
        ? []
        : [await findingOf(adminAddress, "ADMIN_ADDRESS", "ADMIN_ADDRESS")]),
    ];
  },
};

interface Place {
  host: string;
  port: number;
}

/** Checks one place. @param hostSetting,portSetting names of its settings. */
async function findingOf(place: Place, hostSetting: string, portSetting: string): Promise<Finding> {
  const { host, port: number } = place;
  const text = `${host.includes(":") ? `[${host}]` : host}:${number}`;
  const why = await whyNotListen(place);
  if (why === null) return ok(number === 0 ? "each start takes a free one" : `${text} is free`);
  if (why === "EACCES")
    return fail(
      `this user may not listen on ${text} (${why})`,
      `Set ${portSetting} to a port above 1023.`,
    );
  if (why !== "EADDRINUSE")
    return fail(
      `nobody can listen on ${text} (${why})`,
      `Set ${hostSetting} to an address of this machine.`,
    );
  return (await isOurs(place))
    ? ok(`${text} is held by a running gp-records`)
    : fail(
        `${text} is held by another program`,
        `Stop that program, or set ${portSetting} to another port.`,
      );
}

/** Listens on the address for a moment. Returns the system's error code, such as EADDRINUSE. Returns null if it worked. */
async function whyNotListen({ host, port: number }: Place): Promise<string | null> {
  const server = createServer((socket) => socket.destroy());
  server.listen({ host, port: number });
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

const answerMilliseconds = 2000;

async function isOurs({ host, port: number }: Place): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(answerMilliseconds);
    const answer = await fetch(`${localUrl(host, number)}/health`, { signal });
    return (await answer.text()) === '{"status":"ok"}';
  } catch {
    return false;
  }
}
