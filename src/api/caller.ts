/** Identifies the caller by its key, and decides whether it is accepted. */
import type { LiveKey } from "#keys/live-key.ts";
import { failedKeysProblem } from "#limits/quota-problem.ts";
import type { FailedKeys } from "#limits/failed-keys.ts";
import { Problem } from "#problems.ts";

/** Whose quota a question counts against, and what it is recorded under. */
export type Asker = Pick<LiveKey, "id" | "accountNumber" | "quotas">;

/** What else may matter about a client; computed only where it does. */
export interface Client {
  address(): string;
  /** Did the question come through a proxy? */
  isForwarded(): boolean;
  /** Where else a text that looks like a key was sent, such as "the query string". */
  misplacedKey(): string | undefined;
}

/** A client with the key it presented: valid, refused for a reason, or missing. */
export interface KeyHolder {
  readonly key: LiveKey | Problem | null;
  readonly client: Client;
}

/** A client with a key, or the account pages on behalf of an account whose member is signed in. */
export type Caller = KeyHolder | { readonly account: Asker };

export interface CallerChecks {
  verifyKey(presented: string): LiveKey | Promise<LiveKey>;
  /** @param addressOf the client's address; called only now and then. */
  noteKeyUse(key: LiveKey, addressOf: () => string): void;
  failedKeys: FailedKeys;
  /** Where keys are created; null where there are no account pages. */
  accountUrl: string | null;
}

/**
 * Looks up a presented key. Refuses and counts nothing: paths and methods are refused first.
 * @param presented the value of `x-api-key`; undefined or empty where none was sent.
 */
export function identify(
  { verifyKey }: Pick<CallerChecks, "verifyKey">,
  presented: string | undefined,
  client: Client,
): KeyHolder | Promise<KeyHolder> {
  if (presented === undefined || presented === "") return { key: null, client };
  const refused = (error: unknown): KeyHolder => {
    if (error instanceof Problem) return { key: error, client };
    throw error;
  };
  try {
    const key = verifyKey(presented);
    return key instanceof Promise
      ? key.then((found) => ({ key: found, client }), refused)
      : { key, client };
  } catch (error) {
    return refused(error);
  }
}

/**
 * @returns the problem where the caller is refused: 401 for a missing or refused key, 403 for a suspended account, and
 *   429 instead of a 401 once the address has sent too many wrong keys. A valid key is never refused for those.
 */
export function admit(checks: CallerChecks, caller: Caller): Asker | Problem {
  if ("account" in caller) return caller.account;
  const { key, client } = caller;
  if (key === null) return missingKey(checks, client);
  if (key instanceof Problem) return countFailure(checks, key, client);
  // The demo's key is printed on a screen; it is for this machine alone.
  if (key.isDemo && client.isForwarded()) return countFailure(checks, demoKeyForwarded(), client);
  checks.noteKeyUse(key, () => client.address());
  return key;
}

/** Only a 401 counts as a failed guess; a valid key of a suspended account does not. */
function countFailure({ failedKeys }: CallerChecks, problem: Problem, client: Client): Problem {
  if (problem.status !== 401) return problem;
  const status = failedKeys.take(client.address());
  return status.admitted ? problem : failedKeysProblem(status);
}

const demoKeyForwarded = () =>
  new Problem(
    "api-key-invalid",
    "The demo key is only for requests from this machine, without a proxy.",
    { reason: "unknown" },
  );

/** Names the place where a key was sent instead, never the key. */
function missingKey({ accountUrl }: CallerChecks, client: Client): Problem {
  const misplaced = client.misplacedKey();
  const detail =
    misplaced === undefined
      ? ""
      : ` What looks like a key stands in ${misplaced}, where it is not read.`;
  return new Problem("api-key-missing", `Send your API key in the header x-api-key.${detail}`, {
    header: "x-api-key",
    account_url: accountUrl,
  });
}
