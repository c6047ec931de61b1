/** The server's log: one JSON object per line on standard output, whose reader may be slow, stuck or gone. */
import { setTimeout as wait } from "node:timers/promises";
import { destination as openDestination, pino, stdTimeFunctions } from "pino";
import type { LogStream } from "#http/record-requests.ts";
import { harmless } from "./output.ts";

/** Maximum number of bytes buffered for a slow reader; further lines are dropped. */
const waitingBytesMax = 4 * 1024 * 1024;
const closeMilliseconds = 500;
/**
 * Time for which lines are gathered, in ms. Each write takes a thread and an event-loop turn, a tenth of the work for a
 * request.
 */
const gatherMilliseconds = 20;

export function openLog(level: string) {
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
