/** The next message of a child process, or the news that there will be none. */
import type { ChildProcess } from "node:child_process";

/** Rejects where the child ends first, or says nothing for so long. */
export function messageFrom<T>(child: ChildProcess, secondsMax = 120): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const name = child.spawnargs.at(-1);
  const onMessage = (message: unknown) => resolve(message as T);
  const onExit = (code: number | null) =>
    reject(new Error(`${name} ended with ${code} before it had an answer.`));
  const late = setTimeout(
    () => reject(new Error(`${name} had no answer in ${secondsMax} s.`)),
    secondsMax * 1000,
  );
  child.once("error", reject);
  child.once("message", onMessage);
  child.once("exit", onExit);
  return promise.finally(() => {
    clearTimeout(late);
    child.off("error", reject);
    child.off("message", onMessage);
    child.off("exit", onExit);
  });
}
