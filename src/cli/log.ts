/** The log of the server: one JSON object a line on standard output, whose reader may be slow, stuck or gone. */
import { setTimeout } from "node:timers/promises";
import { destination as openDestination, pino, stdTimeFunctions, type Logger } from "pino";
import { harmless } from "./output.ts";

export interface ServerLog {
  logger: Logger;
  /** Prints one or more whole lines for people after everything logged before, without the last line break. */
  print(text: string): void;
  /** Gives the reader a moment to take what is not written yet; nothing is logged afterwards. */
  close(): Promise<void>;
}

/** The most that is buffered for a slow reader; further lines are dropped. */
const waitingBytesMax = 4 * 1024 * 1024;
const closeMilliseconds = 500;

export function openLog(level: string): ServerLog {
  const destination = openDestination({ fd: 1, sync: false, maxLength: waitingBytesMax });
  destination.on("error", () => {});
  const timestamp = stdTimeFunctions.isoTime;
  // JSON does not escape everything that a terminal obeys.
  const hooks = { streamWrite: harmless };
  const logger = pino({ level, base: null, timestamp, hooks }, destination);
  return {
    logger,
    print: (text) => void destination.write(`${harmless(text)}\n`),
    async close() {
      logger.level = "silent";
      const closed = new Promise((resolve) => destination.once("close", resolve));
      destination.end();
      await Promise.race([closed, setTimeout(closeMilliseconds)]);
      // Left open, it would keep trying to write at exit, even where nobody reads.
      destination.destroy();
    },
  };
}
