/** The log of the server: one JSON object a line on standard output, whose reader may be slow, stuck or gone. */
import { setTimeout } from "node:timers/promises";
import { destination as openDestination, pino, stdTimeFunctions, type Logger } from "pino";
import { harmless } from "./output.ts";

export interface ServerLog {
  logger: Logger;
  /** One or more whole lines for people, below all that was logged before, without the last line break. */
  print(text: string): void;
  /** Gives the reader a moment for what is not written yet; nothing is logged afterwards. */
  close(): Promise<void>;
}

/** What waits for a slow reader at most; further lines are dropped. */
const waitingBytesMax = 4 * 1024 * 1024;
const patienceMilliseconds = 500;

export function openLog(level: string): ServerLog {
  const destination = openDestination({ fd: 1, sync: false, maxLength: waitingBytesMax });
  destination.on("error", () => {});
  const timestamp = stdTimeFunctions.isoTime;
  // What JSON leaves as it is, a terminal may still obey; the line of a request holds none of it.
  const hooks = { streamWrite: harmless };
  const logger = pino({ level, base: null, timestamp, hooks }, destination);
  return {
    logger,
    print: (text) => void destination.write(`${harmless(text)}\n`),
    async close() {
      logger.level = "silent";
      const closed = new Promise((resolve) => destination.once("close", resolve));
      destination.end();
      await Promise.race([closed, setTimeout(patienceMilliseconds)]);
      // What is open at the exit of the process is written there without end, also where nobody reads.
      destination.destroy();
    },
  };
}
