/** Can the server listen where the settings say, or does the server of this folder do so already? */
import type { Config } from "#config.ts";
import { adminFinding } from "./admin-address.ts";
import { askServer, type Reply } from "./ask-server.ts";
import { barred, mayBeHeld, sameSettings } from "./barred-place.ts";
import { type Check, fail, type Finding, ok, warn } from "./check.ts";
import { catalogueIn, currentVersion } from "./dataset-files.ts";
import { placeText, whyNotListen } from "./listen.ts";
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

const settings = { host: "HOST", port: "PORT" };

async function portFinding(
  config: Config,
  server: string | undefined,
  named: string | null,
): Promise<Finding> {
  const why = await whyNotListen(config);
  if (why === null && config.port === 0) return ok("PORT is 0: each start takes a free one");
  const judge = (reply: Reply) => judgePort(placeText(config), reply, server, named);
  if (why === null) return judge({ kind: "nobody" });
  if (!mayBeHeld(why)) return barred(config, why, settings);
  const reply = await askServer(config);
  if (reply.kind !== "nobody") return judge(reply);
  return why === "EADDRINUSE" ? judge({ kind: "stranger", why }) : barred(config, why, settings);
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
  // Clients read that nothing was published, which is not so: this cannot wait.
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
