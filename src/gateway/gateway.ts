/**
 * The gateway: from a key to finished bytes, the only way to the records, whatever the transport.
 *
 * It holds the answer cache and the parsed queries; the counts are the counters', the records the dataset's.
 *
 * A question passes these stages, in the order of the contract, and each may refuse it:
 * 1. `identify` looks up the key. Nothing is refused yet: paths and methods are refused first.
 * 2. `counted` admits the caller, or refuses it with a 401, a 403, or a 429 for too many wrong keys.
 * 3. It takes the quota: one request, or what `cost` says. A refusal spends nothing.
 * 4. `find` chooses the format, reads the parameters, takes one dataset, and compares entity tags.
 * 5. `finish` encodes the body and adds the headers.
 *
 * All of it is synchronous where counts and keys are in memory, so that one turn of the event loop answers. With shared
 * counts stage 3 waits for PostgreSQL or Valkey, and stage 5 for a compressor. One reference to the dataset is taken for
 * each question, so that no answer mixes two.
 *
 * What is found may be sent only after `Counters.commit`: the transport has the barrier. When counts cannot be taken the
 * question is a 503. When a dataset is replaced, `forgetAnswers` empties the cache. A fault of ours is an outcome like any
 * refusal, with its cause for the log, so that it still carries the quota status.
 */
import type { LiveKey } from "#keys/live-key.ts";
import type { Counters, QuotaStatus } from "#limits/counters.ts";
import type { FailedKeys } from "#limits/failed-keys.ts";
import { defaultQuotas, type Quotas } from "#limits/policy.ts";
import { failedKeysProblem, notCountedProblem, quotaProblem } from "#limits/quota-problem.ts";
import { internalError, Problem } from "#problems.ts";

/** The account whose quota a question counts against, and the key it is recorded under. */
export type Asker = Pick<LiveKey, "id" | "accountNumber" | "quotas">;

/** A client without its key; each fact is computed only where it matters. */
export interface Client {
  address(): string;
  /** Did the question come through a proxy? */
  isForwarded(): boolean;
  /** Where else a text that looks like a key was sent, such as "the query string". */
  misplacedKey(): string | undefined;
}

/** A client with the key it presented: valid, refused for a reason, or missing. */
export interface Caller {
  readonly key: LiveKey | Problem | null;
  readonly client: Client;
}

/** @typeParam A what is sent where nothing stands against it. */
export interface Outcome<A> {
  /** For whom the question was counted; null where the caller was refused. */
  asker: Asker | null;
  /** The account's quotas, and its quota status after this question. */
  counted: { quotas: Quotas; status: QuotaStatus } | null;
  result: Found<A> | Refusal;
}

/** What was asked for, or the word that the client has it already. */
export type Found<A> =
  | { kind: "answer"; answer: A }
  | { kind: "unchanged"; tag: string; datasetVersion: string };

/** A problem; with what was thrown where the fault is ours, for the log. */
export interface Refusal {
  kind: "problem";
  problem: Problem;
  cause?: unknown;
}

export interface GatewayDependencies {
  verifyKey(presented: string): LiveKey | Promise<LiveKey>;
  /** @param addressOf the client's address; called only now and then. */
  noteKeyUse(key: LiveKey, addressOf: () => string): void;
  failedKeys: FailedKeys;
  /** Where keys are created; null where there are no account pages. */
  accountUrl: string | null;
  counters: Pick<Counters, "take" | "look">;
}

export interface Gateway {
  /**
   * Looks up the key that a client presented.
   * @param presented undefined or empty where none was sent.
   */
  identify(presented: string | undefined, client: Client): Caller | Promise<Caller>;
  /**
   * Checks the key, takes the quota, and leaves the rest to `find`; a Problem that it throws is the result. Nothing is thrown.
   * @param cost how many requests the question counts, at most `greatestRequest`, or why the key may not ask it, which
   *   counts none; 1 if left out. Called once the key was accepted.
   */
  counted<Q extends { caller: Caller }, A>(
    question: Q,
    find: (question: Q) => Found<A>,
    cost?: (question: Q, quotas: Quotas) => number | Problem,
  ): Outcome<A> | Promise<Outcome<A>>;
  /** Checks the key as `counted` does and tells the account's quota status, but counts nothing. */
  look(caller: Caller): Outcome<null> | Promise<Outcome<null>>;
}

export function openGateway(dependencies: GatewayDependencies): Gateway {
  const { counters } = dependencies;
  return {
    identify: (presented, client) => identify(dependencies, presented, client),
    counted(question, find, cost = one) {
      const asker = admit(dependencies, question.caller);
      if (asker instanceof Problem) return unasked(asker);
      const quotas = wholeQuotas(asker.quotas);
      const requests = cost(question, quotas);
      if (requests instanceof Problem)
        return whenCounted(counters.look(asker.accountNumber, quotas), asker, (status) => ({
          asker,
          counted: { quotas, status },
          result: refused(requests),
        }));
      const settle = (status: QuotaStatus) => ({
        asker,
        counted: { quotas, status },
        result: status.admitted ? attempt(question, find) : refused(quotaProblem(status, requests)),
      });
      return whenCounted(counters.take(asker.accountNumber, quotas, requests), asker, settle);
    },
    look(caller) {
      const asker = admit(dependencies, caller);
      if (asker instanceof Problem) return unasked(asker);
      const quotas = wholeQuotas(asker.quotas);
      return whenCounted(counters.look(asker.accountNumber, quotas), asker, (status) => ({
        asker,
        counted: { quotas, status },
        result: { kind: "answer", answer: null },
      }));
    },
  };
}

const one = () => 1;

const refused = (problem: Problem): Refusal => ({ kind: "problem", problem });

const unasked = (problem: Problem) => ({ asker: null, counted: null, result: refused(problem) });

/** Settles at once where counts are in memory; a question that cannot be counted is refused. */
function whenCounted<A>(
  status: QuotaStatus | Promise<QuotaStatus>,
  asker: Asker,
  settle: (status: QuotaStatus) => Outcome<A>,
): Outcome<A> | Promise<Outcome<A>> {
  if (!(status instanceof Promise)) return settle(status);
  return status.then(settle, () => ({
    asker,
    counted: null,
    result: refused(notCountedProblem()),
  }));
}

function attempt<Q, A>(question: Q, find: (question: Q) => Found<A>): Found<A> | Refusal {
  try {
    return find(question);
  } catch (error) {
    if (error instanceof Problem) return refused(error);
    return { kind: "problem", problem: internalError(), cause: error };
  }
}

/** The same object for the same quotas, so that what is derived from it can be cached. */
const completed = new WeakMap<Asker["quotas"], Quotas>();

function wholeQuotas(own: Asker["quotas"]): Quotas {
  let whole = completed.get(own);
  if (whole === undefined) {
    whole = {
      minute: own.minute ?? defaultQuotas.minute,
      hour: own.hour ?? defaultQuotas.hour,
      day: own.day ?? defaultQuotas.day,
    };
    completed.set(own, whole);
  }
  return whole;
}

function identify(
  { verifyKey }: Pick<GatewayDependencies, "verifyKey">,
  presented: string | undefined,
  client: Client,
): Caller | Promise<Caller> {
  if (presented === undefined || presented === "") return { key: null, client };
  const refused = (error: unknown): Caller => {
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
 * Returns whom a question counts for, or why the caller is refused: 401 for a missing or refused key, 403 for a suspended account, and
 *   429 instead of a 401 once the address has sent too many wrong keys. A valid key is never refused for those.
 */
function admit(checks: GatewayDependencies, { key, client }: Caller): Asker | Problem {
  if (key === null) return missingKey(checks, client);
  if (key instanceof Problem) return countFailure(checks, key, client);
  // The demo's key is printed on a screen; it is for this machine alone.
  if (key.isDemo && client.isForwarded()) return countFailure(checks, demoKeyForwarded(), client);
  checks.noteKeyUse(key, () => client.address());
  return key;
}

/** Only a 401 counts as a failed guess; a valid key of a suspended account does not. */
function countFailure(
  { failedKeys }: GatewayDependencies,
  problem: Problem,
  client: Client,
): Problem {
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
function missingKey({ accountUrl }: GatewayDependencies, client: Client): Problem {
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
