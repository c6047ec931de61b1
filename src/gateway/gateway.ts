/**
 * Takes a question from its key to finished bytes. Every read that needs a key comes here, over HTTP and MCP alike. A
 * question passes these stages in the order of the contract. Stages 2 to 4 may refuse it:
 * 1. `identify` looks up the key. It refuses nothing yet: unknown paths and methods are refused first.
 * 2. `counted` authorizes the caller, or refuses it: 401, 403, 429 after too many wrong keys, 503 if the lookup fails.
 * 3. `counted` charges the quota with one request, or with the `cost`, which may do the checks of stage 4 first. A
 *    request refused here uses no quota.
 * 4. `find` chooses the format, reads the parameters, takes one dataset, and compares entity tags.
 * 5. `finish` encodes the body and adds the headers.
 *
 * Stages 1 to 3 are synchronous while counts and keys are in memory. With a shared store, stage 1 may wait for
 * PostgreSQL, and stage 3 waits for PostgreSQL or Valkey. Stage 4 may wait for values that a list reads in steps, or
 * for evidence that another thread reads; stage 5 for compression, or for the file of an export. Each question takes
 * one reference to the dataset, so no answer mixes two datasets.
 *
 * An answer may be sent only after `Counters.commit`; the transport ensures that. A question that cannot be counted
 * gets a 503. An internal error in `find` is an outcome like any refusal, so it still carries the quota status.
 */
import type { LiveKey } from "#keys/key-verifier.ts";
import type { Counters, QuotaStatus } from "#limits/counters.ts";
import { clientNetwork } from "#limits/client-network.ts";
import type { KeyedLimit } from "#limits/keyed-limit.ts";
import { type Quotas, withDefaults } from "#limits/policy.ts";
import { limitProblem, notCountedProblem, quotaProblem } from "#limits/quota-problem.ts";
import { internalError, Problem } from "#problems.ts";

/** Account whose quota a question counts against, and the key under which the question is recorded. */
export type Asker = Pick<LiveKey, "id" | "accountNumber" | "quotas">;

/** Facts about a client apart from its key, each computed only when needed. */
export interface Client {
  address(): string;
  /** Reports whether the question came through a proxy. */
  isForwarded(): boolean;
  /** Returns the wrong place where a likely key was sent, such as "the query string"; undefined if there is none. */
  misplacedKey(): string | undefined;
}

/** A client and the key it presented: valid, refused for a reason, or missing. */
export interface Caller {
  readonly key: LiveKey | Problem | null;
  readonly client: Client;
}

/** Result of a question. @typeParam A type of the answer. */
export interface Outcome<A> {
  /** Account and key of the caller; null if the caller was refused. */
  asker: Asker | null;
  /** The account's quotas, and its quota status after this question; null if the status is unknown. */
  counted: { quotas: Quotas; status: QuotaStatus } | null;
  result: Found<A> | Refusal;
}

/** The requested answer, or its tag if the client already has it. */
export type Found<A> =
  | { kind: "answer"; answer: A }
  | { kind: "unchanged"; tag: string; datasetVersion: string };

/** A problem to send. `cause` is the error behind it, for the log; omitted if the problem needs no log entry. */
export interface Refusal {
  kind: "problem";
  problem: Problem;
  cause?: unknown;
}

export interface GatewayDependencies {
  verifyKey(presented: string): LiveKey | Promise<LiveKey>;
  /** Notes that a key was used. @param addressOf returns the client's address; not called for every use. */
  noteKeyUse(key: LiveKey, addressOf: () => string): void;
  /** Limit on wrong keys from each client network, against guessing. */
  failedKeys: KeyedLimit<string>;
  /** URL of the account pages, where keys are created; null if there are none. */
  accountUrl: string | null;
  /** True if everyone may sign up on the account pages. */
  isSignUpOpen: boolean;
  counters: Pick<Counters, "take" | "look">;
}

export type Gateway = ReturnType<typeof openGateway>;

export function openGateway(dependencies: GatewayDependencies) {
  const { counters } = dependencies;
  const look = <A>(asker: Asker, quotas: Quotas, result: Outcome<A>["result"]) =>
    whenCounted(counters.look(asker.accountNumber, quotas), asker, (status) => ({
      asker,
      counted: { quotas, status },
      result,
    }));
  return {
    /** Looks up the key that a client presented. @param presented undefined or empty if none was sent. */
    identify(presented: string | undefined, client: Client): Caller | Promise<Caller> {
      if (presented === undefined || presented === "") return { key: null, client };
      const refuse = (error: unknown): Caller => {
        if (error instanceof Problem) return { key: error, client };
        throw error;
      };
      try {
        const key = dependencies.verifyKey(presented);
        if (!(key instanceof Promise)) return { key, client };
        return key.then((found) => ({ key: found, client }), refuse);
      } catch (error) {
        return refuse(error);
      }
    },
    /**
     * Checks the key and charges the quota. Calls `find` if the question is admitted. An error that `find` throws
     * becomes the result.
     * @param cost returns the number of requests that the question counts as, at most `greatestRequest`; 1 if omitted.
     *   Returns a Problem, and nothing is counted, if the key may not ask the question. Called only for accepted keys.
     *   If `cost` throws an error, the error becomes the result, and the question counts as one request.
     */
    counted<Q extends { caller: Caller }, A>(
      question: Q,
      find: (question: Q) => Found<A> | Promise<Found<A>>,
      cost: (question: Q, quotas: Quotas) => number | Problem = one,
    ): Outcome<A> | Promise<Outcome<A>> {
      const asker = authorize(dependencies, question.caller);
      if (asker instanceof Problem) return unasked(asker);
      const quotas = wholeQuotas(asker.quotas);
      let requests: number | Problem = 1;
      let fault: Refusal | null = null;
      try {
        requests = cost(question, quotas);
      } catch (error) {
        fault = refusalOf(error);
      }
      if (requests instanceof Problem) return look(asker, quotas, refused(requests));
      const settle = (status: QuotaStatus) => {
        const counted = { quotas, status };
        const refusal = status.admitted ? fault : refused(quotaProblem(status, requests));
        const found = refusal ?? attempt(question, find);
        if (!(found instanceof Promise)) return { asker, counted, result: found };
        return found.then((result) => ({ asker, counted, result }));
      };
      return whenCounted(counters.take(asker.accountNumber, quotas, requests), asker, settle);
    },
    /**
     * Charges an account for up to `greatestRequest` requests without a key, as for a download from a page. The caller
     * must have checked who asks. Resolves to null if the requests cannot be counted. A question that cannot be counted
     * must be refused.
     */
    charge: (account: number, quotas: Quotas, requests: number): Promise<QuotaStatus | null> =>
      Promise.try(() => counters.take(account, quotas, requests)).catch(() => null),
    /** Checks the key as `counted` does and returns the account's quota status, but counts no request. */
    look(caller: Caller): Outcome<null> | Promise<Outcome<null>> {
      const asker = authorize(dependencies, caller);
      if (asker instanceof Problem) return unasked(asker);
      return look(asker, wholeQuotas(asker.quotas), { kind: "answer", answer: null });
    },
  };
}

const one = () => 1;

const refused = (problem: Problem): Refusal => ({ kind: "problem", problem });

const unasked = (problem: Problem) => ({ asker: null, counted: null, result: refused(problem) });

/** Calls `settle` with the status, at once if it is known already. Refuses a question that cannot be counted. */
function whenCounted<A>(
  status: QuotaStatus | Promise<QuotaStatus>,
  asker: Asker,
  settle: (status: QuotaStatus) => Outcome<A> | Promise<Outcome<A>>,
): Outcome<A> | Promise<Outcome<A>> {
  if (!(status instanceof Promise)) return settle(status);
  return status.then(settle, () => ({
    asker,
    counted: null,
    result: refused(notCountedProblem()),
  }));
}

function attempt<Q, A>(question: Q, find: (question: Q) => Found<A> | Promise<Found<A>>) {
  try {
    const found = find(question);
    return found instanceof Promise ? found.catch(refusalOf) : found;
  } catch (error) {
    return refusalOf(error);
  }
}

/** Returns the refusal for an error. An error that is not a Problem becomes an internal error. */
export const refusalOf = (error: unknown): Refusal =>
  error instanceof Problem
    ? refused(error)
    : { kind: "problem", problem: internalError(), cause: error };

/** Quotas with the defaults filled in, by a key's `quotas`. Reusing the objects lets derived values be cached. */
const completed = new WeakMap<Asker["quotas"], Quotas>();

const wholeQuotas = (own: Asker["quotas"]): Quotas =>
  completed.getOrInsertComputed(own, withDefaults);

/**
 * Returns the account and key that a question counts for. Returns a Problem if the caller is refused: 401 for a missing
 * or refused key, 403 for a suspended account, 503 if the key cannot be looked up. The 401 for a wrong key becomes a
 * 429 once the client's network has sent too many of them. Wrong keys never affect a valid one.
 */
function authorize(checks: GatewayDependencies, { key, client }: Caller): Asker | Problem {
  if (key === null) return missingKey(checks, client);
  if (key instanceof Problem) return countFailure(checks, key, client);
  // The demo's key is printed on a screen, so it works only on this machine.
  if (key.isDemo && client.isForwarded()) return countFailure(checks, demoKeyForwarded(), client);
  checks.noteKeyUse(key, () => client.address());
  return key;
}

/** Counts a 401 as a wrong key, but no other problem. Returns the problem, or a 429 beyond the limit. */
function countFailure(checks: GatewayDependencies, problem: Problem, client: Client): Problem {
  if (problem.status !== 401) return problem;
  const status = checks.failedKeys.take(clientNetwork(client.address()));
  if (status.admitted) return problem;
  return limitProblem("wrong keys came from your address", status);
}

const demoKeyForwarded = () =>
  new Problem(
    "api-key-invalid",
    "The demo key works only on the machine that runs the demo, and not through a proxy. Send the request directly from that machine.",
    { reason: "unknown" },
  );

/** Returns a sentence that says how a client without a key gets one. */
function wayToKey({ accountUrl, isSignUpOpen }: GatewayDependencies): string {
  if (accountUrl === null) return "If you have no key, ask the operator of this service for one.";
  return isSignUpOpen
    ? `If you have no key, sign up at ${accountUrl}/sign-up and create one.`
    : `If you have no key, sign in at ${accountUrl} and create one; if you have no account, ask the operator of this service for one.`;
}

/** Returns the problem for a missing key. The detail names any wrong place where one was sent, but not the key. */
function missingKey(service: GatewayDependencies, client: Client): Problem {
  const misplaced = client.misplacedKey();
  const detail =
    misplaced === undefined
      ? ""
      : ` Something that looks like a key was sent in ${misplaced}, where it was not read.`;
  return new Problem(
    "api-key-missing",
    `Send your API key in the header x-api-key. ${wayToKey(service)}${detail}`,
    { header: "x-api-key", account_url: service.accountUrl },
  );
}
