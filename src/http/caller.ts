/** Who sends a request, as far as its key tells; nothing is refused here. */
import type { IncomingMessage } from "node:http";
import type { LiveKey } from "#keys/live-key.ts";
import { Problem } from "#problems.ts";
import { clientAddress } from "./client-address.ts";
import type { FrontDoor } from "./front-door.ts";

/** A valid key, what is wrong with the one that was sent, or null where none was. */
export type Caller = LiveKey | Problem | null;

export function callerOf(door: FrontDoor, { headers }: IncomingMessage): Caller {
  const presented = headers["x-api-key"];
  if (presented === undefined || presented === "") return null;
  try {
    return door.verifyKey(String(presented));
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** Whom a request shares its turns with: its account, or whoever sends from its address without a valid key. */
export const clientOf = (door: FrontDoor, request: IncomingMessage, caller: Caller) =>
  caller === null || caller instanceof Problem
    ? clientAddress(request, door.config.trustedProxies)
    : caller.accountNumber;
