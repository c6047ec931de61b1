/** `gp-records serve`: runs the service until it is signalled to stop. */
import { setTimeout as wait } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { missedLinks, readConfig } from "#config.ts";
import { ListenFault, type PassedSockets } from "#http/listen.ts";
import type { LogStream } from "#http/record-requests.ts";
import type { Service } from "#service.ts";
import { command, flag } from "./command.ts";
import { CommandFault, exitCodes, usageFault } from "./command-fault.ts";
import { dataFolderFault, openDatasets } from "./datasets-folder.ts";
import { harmless } from "./output.ts";
import { programVersion } from "./program.ts";

/**
 * V8 flags for a server (docs/decisions/0035-where-v8-allocates.md). Without the first, some processes allocate
 * requests in the old space, which takes a quarter more processor time. Without the second, a process whose first
 * garbage collections were slow lets its heap grow so little that 1,200 uncached answers cost a full collection.
 */
const v8Flags = ["--no-allocation-site-pretenuring", "--heap-growing-percent=300"] as const;

export const serveCommand = command({
  name: "serve",
  description: "answer requests until SIGTERM or SIGINT; a second signal stops the server at once",
  options: {
    isDemo: flag(
      "--demo",
      "invent 65,000 records if there are none, and print a key that works for a day, even after restarts",
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
    // The service is loaded only below: `--help` does not need it, and a worker reads the dataset meanwhile.
    const { loadAhead } = await import("#datasets/start-load.ts");
    const ahead = loadAhead(catalogue);
    const log = await openLog(config.logLevel);
    const links = missedLinks(config);
    if (links !== null) log.logger.warn(`${links.found}. ${links.mend}.`);
    const { openService } = await import("#service.ts");
    const opening = openService(config, log.logger, { ahead, passed, program: programVersion() });
    const service = await opening.catch((error: unknown) => {
      ahead?.stop();
      throw dataFolderFault(error, config.dataDir);
    });
    try {
      if (demo === null)
        await serve(service, (address) => context.print(`gp-records answers at ${address}`));
      else {
        // Listens first, so that a port in use is reported before records are invented or a key is made.
        await service.listen();
        const prepared = await demo.prepareDemo(context);
        // Through the log, which is buffered. Printed directly, the text would overtake lines logged before it.
        await serve(service, (address) => {
          log.print(demo.demoText(address, prepared));
          demo.startSecond(context, ({ message }) =>
            log.logger.error(`The demo lacks its second dataset until the next start: ${message}`),
          );
        });
      }
    } catch (error) {
      if (!(error instanceof ListenFault)) throw error;
      throw new CommandFault(error.isBusy ? exitCodes.busy : exitCodes.usage, error.message);
    } finally {
      await service.stop();
      await log.close();
    }
  },
});

/** Serves until a signal arrives. A signal is obeyed even while the dataset is still being loaded. */
async function serve(service: Service, onStarted: (address: string) => void): Promise<void> {
  const { signalled, forget } = listenForSignals();
  try {
    const address = await Promise.race([service.start(), signalled]);
    if (address !== null) onStarted(address);
  } catch (error) {
    forget();
    throw error;
  }
  await signalled;
}

const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
/** Time within which a repeated signal counts once, in ms. The process group and a launcher may both deliver it. */
const repeatMilliseconds = 1000;

/**
 * Listens for signals. The first one resolves `signalled`. Another one ends the process at once, unless it repeats the
 * first within `repeatMilliseconds`. After `forget`, every signal ends the process at once.
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
/** Name of the socket that replaces ADMIN_ADDRESS, set by FileDescriptorName= in its unit. */
const adminName = "admin";

/**
 * Returns the sockets that the parent process has opened for this one, as sd_listen_fds(3) defines. A member is null if
 * no such socket was passed.
 * @throws CommandFault if there are more sockets than the server uses.
 */
export function passedSockets(
  environment: Readonly<Record<string, string | undefined>>,
  pid: number,
): PassedSockets {
  // Either no sockets are passed, or they are meant for another process, whose environment this one inherited.
  if (environment["LISTEN_PID"] !== String(pid)) return { main: null, admin: null };
  const names = environment["LISTEN_FDNAMES"]?.split(":") ?? [];
  const sockets = Array.from({ length: Number(environment["LISTEN_FDS"]) || 0 }, (_, i) => ({
    fd: firstPassed + i,
    isAdmin: names[i] === adminName,
  }));
  const only = (isWanted: boolean): number | null => {
    const [first, ...others] = sockets.filter(({ isAdmin }) => isAdmin === isWanted);
    if (others.length === 0) return first?.fd ?? null;
    throw usageFault(
      isWanted
        ? `LISTEN_FDS announces ${others.length + 1} sockets named ${adminName}, but the metrics are served on only one. Keep one ListenStream= in the .socket unit with FileDescriptorName=${adminName}.`
        : `LISTEN_FDS announces ${others.length + 1} sockets that are not named ${adminName}, but the API is served on only one. Keep one ListenStream= for the API. If the other socket is for the metrics, put it in a .socket unit of its own with FileDescriptorName=${adminName}.`,
    );
  };
  return { main: only(false), admin: only(true) };
}

/** Maximum number of bytes buffered for a slow reader; further lines are dropped. */
const waitingBytesMax = 4 * 1024 * 1024;
const closeMilliseconds = 500;
/**
 * Time for which lines are gathered, in ms. Each write needs a thread and a turn of the event loop, which together cost
 * a tenth of the work for a request.
 */
const gatherMilliseconds = 20;

/** Opens the server's log: one JSON object per line on standard output, whose reader may be slow, stuck or gone. */
export async function openLog(level: string) {
  // Loaded here, so that a dataset is being read meanwhile.
  const { destination: openDestination, pino, stdTimeFunctions } = await import("pino");
  const destination = openDestination({ fd: 1, sync: false, maxLength: waitingBytesMax });
  destination.on("error", () => {});
  const timestamp = stdTimeFunctions.isoTime;
  // JSON does not escape everything that a terminal obeys.
  const hooks = { streamWrite: harmless };
  const stream = gatherLines((lines) => void destination.write(lines));
  const logger = pino({ level, base: null, timestamp, hooks }, stream);
  return {
    logger,
    /** Prints whole lines for people after everything logged before. @param text without the last line break. */
    print: (text: string) => stream.write(`${harmless(text)}\n`),
    /** Closes the log, after giving the reader up to 500 ms to take the last lines. */
    async close() {
      logger.level = "silent";
      stream.flush();
      const closed = new Promise((resolve) => destination.once("close", resolve));
      destination.end();
      await Promise.race([closed, wait(closeMilliseconds)]);
      // An open destination would keep trying to write at exit, even if nobody reads.
      destination.destroy();
    },
  };
}

/**
 * Gathers lines and keeps their order: lines that are written directly come after those gathered so far.
 * @param write takes one or more whole lines at a time.
 */
export function gatherLines(
  write: (lines: string) => void,
): Required<LogStream> & { flush(): void } {
  let gathered = "";
  const flush = () => {
    if (gathered === "") return;
    write(gathered);
    gathered = "";
  };
  return {
    write(lines) {
      flush();
      write(lines);
    },
    gather(line) {
      if (gathered === "") setTimeout(flush, gatherMilliseconds);
      gathered += line;
    },
    flush,
  };
}
