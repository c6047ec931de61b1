/** `gp-records serve`: runs the service until it is signalled to stop. */
import { setFlagsFromString } from "node:v8";
import type { Logger } from "pino";
import { type Config, missedLinks, readConfig } from "#config.ts";
import type { Load } from "#datasets/start-load.ts";
import { ListenFault, type PassedSockets, PassedSocketFault } from "#http/listen.ts";
import type { Service } from "#service.ts";
import { type CliContext, command, flag } from "./command.ts";
import { CommandFault, exitCodes } from "./command-fault.ts";
import { dataFolderFault, openDatasets } from "./datasets-folder.ts";
import type { ServerLog } from "./log.ts";
import { programVersion } from "./program.ts";

/**
 * Flags of V8 for a server (docs/decisions/0035-where-v8-allocates.md). Without the first, two processes of three allocate
 * every request in the old space, for a quarter more processor time. Without the second, a process whose first garbage
 * collections were slow lets its heap grow so little that each 30 MB of answers cost it a full collection.
 */
const v8Flags = ["--no-allocation-site-pretenuring", "--heap-growing-percent=300"] as const;

export const serveCommand = command({
  name: "serve",
  description: "answer requests until SIGTERM or SIGINT; a second one ends at once",
  options: {
    isDemo: flag(
      "--demo",
      "invent 65,000 records if there are none, and print a key that works for a day, over restarts too",
    ),
  },
  example: "serve --demo",
  run: async ({ isDemo }, context) => {
    for (const one of v8Flags) setFlagsFromString(one);
    const given = readConfig(context.environment);
    const demo = isDemo ? await import("./demo.ts") : null;
    const config = demo?.demoConfig(given, context.environment) ?? given;
    const passed = passedSockets(context.environment, process.pid);
    const catalogue = openDatasets(config.dataDir);
    // Loaded here, so that no other command waits for it; a worker reads the dataset meanwhile.
    const { loadAhead } = await import("#datasets/start-load.ts");
    const ahead = loadAhead(catalogue);
    const { openLog } = await import("./log.ts");
    const log = openLog(config.logLevel);
    const links = missedLinks(config);
    if (links !== null) log.logger.warn(`${links.found}. ${links.mend}.`);
    const service = await open(config, log.logger, ahead, passed);
    try {
      if (demo === null)
        await serve(service, config, (address) =>
          context.print(`gp-records answers at ${address}`),
        );
      else await serveDemo(service, config, demo, log, context);
    } finally {
      await service.stop();
      await log.close();
    }
  },
});

/** Listens first: a port in use should be reported before records are invented or a key is made. */
async function serveDemo(
  service: Service,
  config: Config,
  demo: typeof import("./demo.ts"),
  log: ServerLog,
  context: CliContext,
): Promise<void> {
  await service.listen().catch((error: unknown) => {
    throw listenFault(error, config);
  });
  const prepared = await demo.prepareDemo(config, context.now());
  // Through the log, which is buffered: printed directly, the text would overtake log lines of the start.
  await serve(service, config, (address) => log.print(demo.demoText(address, prepared)));
}

async function open(
  config: Config,
  logger: Logger,
  ahead: Load | null,
  passed: PassedSockets,
): Promise<Service> {
  const { openService } = await import("#service.ts");
  try {
    return await openService(config, logger, undefined, ahead, passed, programVersion());
  } catch (error) {
    ahead?.stop();
    throw dataFolderFault(error, config.dataDir);
  }
}

/** Resolves at a signal, also while the dataset is still being loaded. */
async function serve(
  service: Service,
  config: Config,
  onStarted: (address: string) => void,
): Promise<void> {
  const { signalled, forget } = listenForSignals();
  const started = service.start().catch((error: unknown) => {
    throw listenFault(error, config);
  });
  try {
    const address = await Promise.race([started, signalled]);
    if (address !== null) onStarted(address);
  } catch (error) {
    forget();
    throw error;
  }
  await signalled;
}

const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
/** Time in which a signal counts once: a process group and the launcher in it pass on the same one within milliseconds. */
const repeatMilliseconds = 1000;

/**
 * Resolves `signalled` at the first signal, and ends the process at once at a second one.
 * @returns `forget`, after which every signal ends the process at once.
 */
function listenForSignals() {
  const { promise: signalled, resolve } = Promise.withResolvers<null>();
  let first: { signal: NodeJS.Signals; at: number } | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    const now = performance.now();
    first ??= { signal, at: now };
    if (signal === first.signal && now - first.at < repeatMilliseconds) return resolve(null);
    forget();
    process.kill(process.pid, signal);
  };
  const forget = () => {
    for (const signal of signals) process.off(signal, onSignal);
  };
  for (const signal of signals) process.on(signal, onSignal);
  return { signalled, forget };
}

const firstPassed = 3;
/** Name of the socket in place of ADMIN_ADDRESS: FileDescriptorName= of its unit. */
const adminName = "admin";

/**
 * Returns the sockets that the parent process has opened for this one, as sd_listen_fds(3) defines.
 * @throws CommandFault if there are more than are served.
 */
export function passedSockets(
  environment: Readonly<Record<string, string | undefined>>,
  pid: number,
): PassedSockets {
  // Meant for another process, which left its environment to this one.
  if (environment["LISTEN_PID"] !== String(pid)) return { main: null, admin: null };
  const names = environment["LISTEN_FDNAMES"]?.split(":") ?? [];
  const sockets = Array.from({ length: Number(environment["LISTEN_FDS"]) || 0 }, (_, i) => ({
    fd: firstPassed + i,
    isAdmin: names[i] === adminName,
  }));
  const only = (isWanted: boolean): number | null => {
    const [first, ...others] = sockets.filter(({ isAdmin }) => isAdmin === isWanted);
    if (others.length === 0) return first?.fd ?? null;
    throw new CommandFault(
      exitCodes.usage,
      `LISTEN_FDS announces ${others.length + 1} sockets ${isWanted ? `named ${adminName}` : `that are not named ${adminName}`}, but one is served. Keep one ListenStream= for it; for the metrics, one in a .socket unit with FileDescriptorName=${adminName}.`,
    );
  };
  return { main: only(false), admin: only(true) };
}

function listenFault(error: unknown, { host, port }: Config): unknown {
  if (error instanceof PassedSocketFault) return new CommandFault(exitCodes.usage, error.message);
  if (error instanceof ListenFault)
    return placeFault(error.cause, error.place, error.setting, error.setting);
  return placeFault(error, { host, port }, "HOST", "PORT");
}

function placeFault(
  error: unknown,
  { host, port }: { host: string; port: number },
  hostSetting: string,
  portSetting: string,
): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException;
  const place = `${host.includes(":") ? `[${host}]` : host}:${port}`;
  if (code === "EADDRINUSE")
    return new CommandFault(
      exitCodes.busy,
      `${place} is in use by another program. Stop that one, or set ${portSetting} to another port.`,
    );
  if (code === "EACCES")
    return new CommandFault(
      exitCodes.usage,
      `This user may not listen on ${place}. Set ${portSetting} to a port above 1023.`,
    );
  if (syscall === undefined) return error;
  return new CommandFault(
    exitCodes.usage,
    `Nobody can listen on ${place} (${code}). Set ${hostSetting} to an address of this machine.`,
  );
}
