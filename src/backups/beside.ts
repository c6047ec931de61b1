/** A private folder beside a file in the making, which goes whatever ends the work, except for `kill -9`. */
import { mkdtempSync, rmSync } from "node:fs";

const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;

/**
 * @param path the folder is called after it, with `.tmp-` and six characters behind; only its owner may enter it.
 * @param work must let the event loop turn now and then, or no signal is heard.
 */
export async function withFolderBeside<R>(
  path: string,
  work: (folder: string) => Promise<R>,
): Promise<R> {
  const folder = mkdtempSync(`${path}.tmp-`);
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const end = (signal: NodeJS.Signals) => {
    remove();
    forget();
    // Without a listener it has its ordinary meaning again.
    process.kill(process.pid, signal);
  };
  const forget = () => {
    for (const signal of signals) process.off(signal, end);
  };
  for (const signal of signals) process.on(signal, end);
  try {
    return await work(folder);
  } finally {
    forget();
    remove();
  }
}
