/** Checks the settings and what they name: database, counting server and ports. */
import { once } from "node:events";
import { createServer } from "node:net";
import { type Config, localUrl, missedLinks } from "#config.ts";
import type { EnvironmentFile } from "#config/environment-file.ts";
import { type Engine, probe, sentenceOf, within } from "#limits/shared-counters.ts";
import { DomainError } from "#store/store-fault.ts";
import { type Check, fail, faultsOr, type Finding, ok, warn } from "./check.ts";

export const settings: Check = {
  name: "settings",
  look({ config, configFaults, environment, environmentFile, dataDir }) {
    const isDefault = (environment["DATA_DIR"]?.trim() ?? "") === "";
    const place =
      environmentFile?.ignored === null
        ? `the environment or in ${environmentFile.path}`
        : "the environment";
    const links = config === null ? null : missedLinks(config);
    return [
      ...faultsOr(
        configFaults.map((fault) =>
          fail(fault, `Correct the setting in ${place}; docs/settings.md says what each takes.`),
        ),
        `all settings are valid; DATA_DIR is ${isDefault ? "not set, so it is " : ""}${dataDir}`,
      ),
      ...(links === null ? [] : [warn(links.found, `${links.mend}.`)]),
      ...(environmentFile === null ? [] : [judgeFile(environmentFile)]),
    ];
  },
};

function judgeFile({ path, used, unknown, ignored }: EnvironmentFile): Finding {
  if (ignored !== null) return warn(`${path} is ignored: it ${ignored.found}`, ignored.mend);
  const settings = used.length === 0 ? "no setting beyond those already set" : used.join(", ");
  if (unknown.length === 0) return ok(`${path} sets ${settings}`);
  // A file meant for another program may contain any names, of any length.
  const shown = unknown.filter((name) => /^\w{1,40}$/.test(name)).slice(0, 5);
  const rest = unknown.length - shown.length;
  const others = [...shown, ...(rest > 0 ? [`${rest} more`] : [])].join(", ");
  return ok(
    `${path} sets ${settings}; other names in it are not settings and are ignored: ${others}`,
  );
}

/** Longest wait for an answer, in ms. The counters' own time-outs are shorter. */
const answerMilliseconds = 2000;

export const database: Check = {
  name: "postgresql",
  async look({ config }) {
    const url = config?.databaseUrl ?? null;
    if (url === null) return [];
    const { placeName, withSession } = await import("#store/postgres.ts");
    const { refuseUnfit, refuseUnready } = await import("#store/postgres-schema.ts");
    const place = placeName(url);
    try {
      return await withSession(url, async (session) => {
        const version = await refuseUnfit(session, url);
        await refuseUnready(session, url);
        return [ok(`${place} has the current schema; its server is version ${version}`)];
      });
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return [fail(error.message, "Do what the message says, then run doctor again.")];
    }
  },
};

export const counters: Check = {
  name: "counters",
  async look({ config }) {
    if (config === null || config.databaseUrl === null) return [];
    const { countersUrl, databaseUrl: url } = config;
    // The check of the database may just have failed, which closes the gate to new connections. This opens it again.
    (await import("#store/postgres.ts")).gateOf(url).tried(true);
    const engine: Engine = await (countersUrl === null
      ? (await import("#limits/postgres-engine.ts")).openPostgresEngine(url)
      : (await import("#limits/valkey-engine.ts")).openValkeyEngine(countersUrl));
    try {
      const answer = engine.connect(() => {}).then(() => engine.decide(probe));
      await within(answerMilliseconds, answer);
      return [ok(`${engine.place} counts for all instances`)];
    } catch (error) {
      const found = sentenceOf(error as Error, engine.place).replace(/\.$/, "");
      return [fail(found, "Start the server or correct what is named, then run doctor again.")];
    } finally {
      engine.disconnect();
    }
  },
};

export const port: Check = {
  name: "port",
  async look({ config }) {
    if (config === null) return [ok("no port is checked while a setting is wrong")];
    const { adminAddress } = config;
    return [
      await findingOf(config, "HOST", "PORT"),
      ...(adminAddress === null
        ? []
        : [await findingOf(adminAddress, "ADMIN_ADDRESS", "ADMIN_ADDRESS")]),
    ];
  },
};

type Place = Pick<Config, "host" | "port">;

/** Checks one address. @param hostSetting,portSetting names of the settings that define it. */
async function findingOf(place: Place, hostSetting: string, portSetting: string): Promise<Finding> {
  const { host, port: number } = place;
  const text = `${host.includes(":") ? `[${host}]` : host}:${number}`;
  const why = await whyNotListen(place);
  if (why === null) return ok(number === 0 ? `${text} takes a free port` : `${text} is free`);
  if (why === "EACCES")
    return fail(
      `this user may not listen on ${text} (${why})`,
      `Choose a port above 1023 in ${portSetting}.`,
    );
  if (why !== "EADDRINUSE")
    return fail(
      `cannot listen on ${text} (${why})`,
      `Choose an address of this machine in ${hostSetting}.`,
    );
  return (await isOurs(place))
    ? ok(`${text} is held by a running gp-records`)
    : fail(
        `${text} is held by another program`,
        `Stop that program, or choose another port in ${portSetting}.`,
      );
}

/** Tries to listen on an address. Returns null if that works, or the system's error code, such as EADDRINUSE. */
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

async function isOurs({ host, port: number }: Place): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(answerMilliseconds);
    const answer = await fetch(`${localUrl(host, number)}/health`, { signal });
    return (await answer.text()) === '{"status":"ok"}';
  } catch {
    return false;
  }
}
