/** The key of a request: in `x-api-key`, once, and nowhere else. */
import type { IncomingMessage } from "node:http";
import { accountUrl } from "#config.ts";
import { keyPattern } from "#keys/api-key.ts";
import type { LiveKey } from "#keys/live-key.ts";
import { failedKeysProblem } from "#limits/quota-problem.ts";
import { Problem } from "#problems.ts";
import type { Caller } from "./caller.ts";
import { clientAddress, isForwarded } from "./client-address.ts";
import type { FrontDoor } from "./front-door.ts";

/**
 * @throws Problem 401 for a missing or refused key, 403 for a suspended account, and 429 instead of a 401 once
 *   the address has sent too many wrong keys; a valid key is never refused for those.
 */
export function requireKey(door: FrontDoor, request: IncomingMessage, caller: Caller): LiveKey {
  if (caller === null) throw missingKey(door, request);
  if (caller instanceof Problem) throw countFailure(door, request, caller);
  // The demo's key is printed on a screen; it is for this machine alone.
  if (caller.isDemo && isForwarded(request)) throw countFailure(door, request, demoKeyForwarded());
  door.noteKeyUse(caller, () => clientAddress(request, door.config.trustedProxies));
  return caller;
}

/** What to answer: a valid key of a suspended account is no guess, all else is. */
function countFailure(door: FrontDoor, request: IncomingMessage, problem: Problem): Problem {
  if (problem.status !== 401) return problem;
  const standing = door.failedKeys.take(clientAddress(request, door.config.trustedProxies));
  return standing.admitted ? problem : failedKeysProblem(standing);
}

const demoKeyForwarded = () =>
  new Problem(
    "api-key-invalid",
    "The demo key is only for requests from this machine, without a proxy.",
    {
      reason: "unknown",
    },
  );

/** Names the place where a key was put instead, never the key. */
function missingKey({ config }: FrontDoor, { url = "", headers }: IncomingMessage): Problem {
  const query = url.slice(url.indexOf("?") + 1);
  const misplaced = keyPattern.test(query)
    ? "the query string"
    : keyPattern.test(headers.authorization ?? "")
      ? "the header Authorization"
      : keyPattern.test(headers.cookie ?? "")
        ? "a cookie"
        : undefined;
  const detail =
    misplaced === undefined
      ? ""
      : ` What looks like a key stands in ${misplaced}, where it is not read.`;
  return new Problem("api-key-missing", `Send your API key in the header x-api-key.${detail}`, {
    header: "x-api-key",
    account_url: accountUrl(config),
  });
}
