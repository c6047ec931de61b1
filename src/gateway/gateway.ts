/**
 * The gateway takes a question from its key to finished bytes. It is the only way to the records, for every transport.
 *
 * It holds the answer cache and the parsed queries. Counters hold the counts; datasets hold the records.
 *
 * A question passes these stages in the order of the contract. Each may refuse it:
 * 1. `identify` looks up the key. It refuses nothing yet: paths and methods are refused first.
 * 2. `counted` authorizes the caller, or refuses it: a 401, a 403, or a 429 for too many wrong keys.
 * 3. It takes the quota: one request, or the `cost`. A refusal spends nothing.
 * 4. `find` chooses the format, reads the parameters, takes one dataset, and compares entity tags.
 * 5. `finish` encodes the body and adds the headers.
 *
 * All stages are synchronous while counts and keys are in memory, so one turn of the event loop answers. With shared
 * counts stage 3 waits for PostgreSQL or Valkey. Stage 5 waits for a compressor. Each question takes one reference to the
 * dataset, so no answer mixes two.
 *
 * An answer may be sent only after `Counters.commit`: the transport has that barrier. If counts cannot be taken, the
 * question gets a 503. When a dataset is replaced, `AnswerCache.clear` empties the cache. An internal error is an outcome like
 * any refusal, with its cause for the log, so it still carries the quota status.
 */
import type { LiveKey } from "#keys/key-verifier.ts";
import type { Counters, QuotaStatus } from "#limits/counters.ts";
import { clientNetwork } from "#limits/client-network.ts";
import { failedKeys, type KeyedLimit } from "#limits/keyed-limit.ts";
import { defaultQuotas, type Quotas } from "#limits/policy.ts";
import { limitProblem, notCountedProblem, quotaProblem } from "#limits/quota-problem.ts";
import { internalError, Problem } from "#problems.ts";

/** Account whose quota a question counts against, and the key it is recorded under. */
export type Asker = Pick<LiveKey, "id" | "accountNumber" | "quotas">;

/** Facts about a client, besides its key. Each is computed only when it matters. */
export interface Client {
  address(): string;
  /** Reports whether the question came through a proxy. */
  isForwarded(): boolean;
  /** Returns where else a text that looks like a key was sent, such as "the query string". */
  misplacedKey(): string | undefined;
}

/** A client and the key it presented: valid, refused for a reason, or missing. */
export interface Caller {
  readonly key: LiveKey | Problem | null;
  readonly client: Client;
}

/** The result of a question. @typeParam A the answer to send if nothing refuses it. */
export interface Outcome<A> {
  /** Account and key that the question was counted for; null if the caller was refused. */
  asker: Asker | null;
  /** Quotas of the account, and its quota status after this question. */
  counted: { quotas: Quotas; status: QuotaStatus } | null;
  result: Found<A> | Refusal;
}

/** The requested answer, or the news that the client already has it. */
export type Found<A> =
  | { kind: "answer"; answer: A }
  | { kind: "unchanged"; tag: string; datasetVersion: string };

/** A problem. After an internal error `cause` is the error, for the log. */
export interface Refusal {
  kind: "problem";
  problem: Problem;
  cause?: unknown;
}

export interface GatewayDependencies {
  verifyKey(presented: string): LiveKey | Promise<LiveKey>;
  /** @param addressOf returns the client's address; called only now and then. */
  noteKeyUse(key: LiveKey, addressOf: () => string): void;
  /** Wrong keys by client network, so that nobody can guess keys by the thousand. */
  failedKeys: KeyedLimit<string>;
  /** Address of the page that creates keys; null if there are no account pages. */
  accountUrl: string | null;
  counters: Pick<Counters, "take" | "look">;
}

export interface Gateway {
  /**
   * Looks up the key that a client presented.
   * @param presented undefined or empty if none was sent.
   */
  identify(presented: string | undefined, client: Client): Caller | Promise<Caller>;
  /**
   * Checks the key, takes the quota, and leaves the rest to `find`. A Problem that `find` throws becomes the result. Throws nothing.
   * @param cost returns how many requests the question counts, at most `greatestRequest`. Returns a Problem if the key may
   *   not ask it; that counts none. Called once the key is accepted; 1 if left out.
   */
  counted<Q extends { caller: Caller }, A>(
    question: Q,
    find: (question: Q) => Found<A>,
    cost?: (question: Q, quotas: Quotas) => number | Problem,
  ): Outcome<A> | Promise<Outcome<A>>;
  /** Checks the key as `counted` does and returns the account's quota status, but counts nothing. */
  look(caller: Caller): Outcome<null> | Promise<Outcome<null>>;
}

export function openGateway(dependencies: GatewayDependencies): Gateway {
  const { counters } = dependencies;
  const look = <A>(asker: Asker, quotas: Quotas, result: Outcome<A>["result"]) =>
    whenCounted(counters.look(asker.accountNumber, quotas), asker, (status) => ({
      asker,
      counted: { quotas, status },
      result,
    }));
  return {
    identify: (presented, client) => identify(dependencies, presented, client),
    counted(question, find, cost = one) {
      const asker = authorize(dependencies, question.caller);
      if (asker instanceof Problem) return unasked(asker);
      const quotas = wholeQuotas(asker.quotas);
      const requests = cost(question, quotas);
      if (requests instanceof Problem) return look(asker, quotas, refused(requests));
      const settle = (status: QuotaStatus) => ({
        asker,
        counted: { quotas, status },
        result: status.admitted ? attempt(question, find) : refused(quotaProblem(status, requests)),
      });
      return whenCounted(counters.take(asker.accountNumber, quotas, requests), asker, settle);
    },
    look(caller) {
      const asker = authorize(dependencies, caller);
      if (asker instanceof Problem) return unasked(asker);
      return look(asker, wholeQuotas(asker.quotas), { kind: "answer", answer: null });
    },
  };
}

const one = () => 1;

const refused = (problem: Problem): Refusal => ({ kind: "problem", problem });

const unasked = (problem: Problem) => ({ asker: null, counted: null, result: refused(problem) });

/** Settles at once if counts are in memory. Refuses a question that cannot be counted. */
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

/** Completed quotas, one object for the same quotas, so that values derived from it can be cached. */
const completed = new WeakMap<Asker["quotas"], Quotas>();

const wholeQuotas = (own: Asker["quotas"]): Quotas =>
  completed.getOrInsertComputed(own, ({ minute, hour, day }) => ({
    minute: minute ?? defaultQuotas.minute,
    hour: hour ?? defaultQuotas.hour,
    day: day ?? defaultQuotas.day,
  }));

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
 * Returns the account and key that a question counts for. Returns a Problem if the caller is refused: 401 for a missing or
 * refused key, 403 for a suspended account. Once the address has sent too many wrong keys, a 401 becomes a 429. A valid key
 * is never refused for those.
 */
function authorize(checks: GatewayDependencies, { key, client }: Caller): Asker | Problem {
  if (key === null) return missingKey(checks, client);
  if (key instanceof Problem) return countFailure(checks, key, client);
  // The demo's key is printed on a screen, so it is for this machine only.
  if (key.isDemo && client.isForwarded()) return countFailure(checks, demoKeyForwarded(), client);
  checks.noteKeyUse(key, () => client.address());
  return key;
}

/** Counts a failed guess: a 401, but not a valid key of a suspended account. */
function countFailure(checks: GatewayDependencies, problem: Problem, client: Client): Problem {
  if (problem.status !== 401) return problem;
  const status = checks.failedKeys.take(clientNetwork(client.address()));
  if (status.admitted) return problem;
  return limitProblem(failedKeys, "wrong keys came from your address", status);
}

const demoKeyForwarded = () =>
  new Problem(
    "api-key-invalid",
    "The demo key is only for requests from this machine, without a proxy.",
    { reason: "unknown" },
  );

/** Returns the problem of a missing key. It names the place where a key was sent instead, never the key. */
function missingKey({ accountUrl }: GatewayDependencies, client: Client): Problem {
  const misplaced = client.misplacedKey();
  const detail =
    misplaced === undefined
      ? ""
      : ` There is a text that looks like a key in ${misplaced}, where keys are not read.`;
  return new Problem("api-key-missing", `Send your API key in the header x-api-key.${detail}`, {
    header: "x-api-key",
    account_url: accountUrl,
  });
}
