/** Can the server listen where the settings say, or does the server of this folder do so already? */
import type { Config } from "#config.ts";
import { adminFinding } from "./admin-address.ts";
import { askServer, type Reply } from "./ask-server.ts";
import { barred, mayBeHeld, sameSettings } from "./barred-place.ts";
import { type Check, fail, type Finding, ok, warn } from "./check.ts";
import { placeText, whyNotListen } from "./listen.ts";
import { serverLock } from "./locks.ts";

export const port: Check = {
  name: "port",
  async look({ config, dataDir }) {
    if (config === null) return [ok("is not looked at while a setting is wrong")];
    const server = serverLock(dataDir)?.text;
    const { adminAddress } = config;
    return [
      await portFinding(config, server),
      ...(adminAddress === null ? [] : [await adminFinding(adminAddress, server)]),
    ];
  },
};

const settings = { host: "HOST", port: "PORT" };

async function portFinding(config: Config, server: string | undefined): Promise<Finding> {
  const why = await whyNotListen(config);
  if (why === null && config.port === 0) return ok("PORT is 0: each start takes a free one");
  if (why === null) return judgePort(placeText(config), { kind: "nobody" }, server);
  if (!mayBeHeld(why)) return barred(config, why, settings);
  const reply = await askServer(config);
  if (reply.kind !== "nobody") return judgePort(placeText(config), reply, server);
  return why === "EADDRINUSE"
    ? judgePort(placeText(config), { kind: "stranger", why }, server)
    : barred(config, why, settings);
}

/** @param server what holds the lock of the folder; undefined where no server runs. */
export function judgePort(place: string, reply: Reply, server: string | undefined): Finding {
  const elsewhere = "Stop that program, or set PORT to another port.";
  switch (reply.kind) {
    case "nobody":
      return server === undefined
        ? ok(`${place} is free`)
        : warn(`the server, ${server}, does not answer at ${place}`, sameSettings);
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
