/** A private folder that exists while a backup is made or read. */
import { mkdtempSync, rmSync } from "node:fs";

const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/**
 * Runs `work` with a private folder that is removed however the work ends, except by `kill -9`.
 * @param path prefix of the folder, followed by `.tmp-` and six characters; only its owner may enter it.
 * @param work must yield to the event loop now and then, or no signal is handled.
 */
export async function withTemporaryFolder<R>(
  path: string,
  work: (folder: string) => Promise<R>,
): Promise<R> {
  const folder = mkdtempSync(`${path}.tmp-`);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const onSignal = (signal: NodeJS.Signals) => {
    remove();
    stopListening();
    // Without a listener the signal has its usual effect again.
    process.kill(process.pid, signal);
  };
  const stopListening = () => {
    for (const signal of signals) process.off(signal, onSignal);
  };
  for (const signal of signals) process.on(signal, onSignal);
  try {
    return await work(folder);
  } finally {
    stopListening();
    remove();
  }
}
