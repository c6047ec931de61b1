/** Counts what came back, for the progress line, the report, and to see that the fuzz still reaches everything. */
import type { Exchange } from "./converse.ts";
import type { Conversation } from "./make-conversation.ts";
import { readProblem } from "./judge-problem.ts";
import { faultCodes, promisedProblems, promisedSuccesses } from "./promised.ts";

export interface Tally {
  conversations: number;
  requests: number;
  answers: number;
  byManner: Map<string, number>;
  byEnding: Map<string, number>;
  byStatus: Map<number, number>;
  /** Codes of problems, and of the faults in them. */
  byCode: Map<string, number>;
  byFault: Map<string, number>;
}

export const openTally = (): Tally => ({
  conversations: 0,
  requests: 0,
  answers: 0,
  byManner: new Map(),
  byEnding: new Map(),
  byStatus: new Map(),
  byCode: new Map(),
  byFault: new Map(),
});

export function count(tally: Tally, { requests, manner }: Conversation, exchange: Exchange): void {
  tally.conversations++;
  tally.requests += requests.length;
  tally.answers += exchange.answers.length;
  increase(tally.byManner, manner);
  increase(tally.byEnding, exchange.ending);
  for (const { status, body } of exchange.answers) {
    increase(tally.byStatus, status);
    const problem = status >= 400 && body.length > 0 ? readProblem(body.toString()) : null;
    // An error of JSON-RPC has its code elsewhere.
    if (problem === null || problem.body["code"] === undefined) continue;
    increase(tally.byCode, problem.code);
    for (const fault of problem.faults) increase(tally.byFault, fault.split(" ").at(-1)!);
  }
}

const increase = <K>(counts: Map<K, number>, key: K) =>
  void counts.set(key, (counts.get(key) ?? 0) + 1);

/** Never seen while all is well, or not within the time of a run. */
const unreachable = new Set(["version-retired", "unavailable", "request-timeout"]);
/** So many requests meet every outcome many times over. */
const requestsToMeetAll = 20_000;

/** What a run of this length ought to have met and has not. */
export function unmet({ requests, byStatus, byCode, byFault }: Tally): string[] {
  if (requests < requestsToMeetAll) return [];
  const codes = Object.keys(promisedProblems).filter((code) => !unreachable.has(code));
  return [
    ...promisedSuccesses.filter((status) => !byStatus.has(status)).map(String),
    ...codes.filter((code) => !byCode.has(code)),
    ...faultCodes.filter((code) => !byFault.has(code)),
  ];
}
