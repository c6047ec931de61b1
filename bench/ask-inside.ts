/** Asks a watched server about itself. */
import { messageFrom } from "./message-from.ts";
import type { RunningServer } from "./servers.ts";

/**
 * `endDelay` gives the longest turn of its event loop, in ms; `processor` µs; `memory` bytes; `memoryParts` an
 * InsideMemory; `endCollections` a Collection[].
 */
export type InsideQuestion =
  | "beginProfile"
  | "endProfile"
  | "beginDelay"
  | "endDelay"
  | "processor"
  | "memory"
  | "memoryParts"
  | "beginCollections"
  | "endCollections";

export async function askInside<T = void>(
  { child }: RunningServer,
  question: InsideQuestion,
): Promise<T> {
  const answer = messageFrom<{ answer: T }>(child);
  child.send(question);
  return (await answer).answer;
}
