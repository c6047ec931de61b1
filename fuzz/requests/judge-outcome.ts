/** Compares an answer with the outcomes that were foreseen. */
import { anyName } from "./predict-query.ts";
import type { Outcome } from "./stages.ts";
import type { ProblemRead } from "./judge-problem.ts";
import type { Answer } from "./read-answers.ts";

/** Null where one of the outcomes has come. */
export function outcomeFault(
  outcomes: readonly Outcome[],
  answer: Answer,
  problem: ProblemRead | null,
): string | null {
  const { status } = answer;
  // Under load it may say so at any time.
  if (status === 503 && problem?.code === "unavailable") return null;
  const isLikely = (outcome: Outcome) =>
    outcome.status === status &&
    (problem === null || outcome.code === undefined || outcome.code === problem.code);
  const likely = outcomes.filter(isLikely);
  if (likely.length === 0)
    return `${status} ${problem?.code ?? ""}; foreseen ${wordsFor(outcomes)}`;
  if (problem === null) return null;
  const found = problem.faults.filter(isFirst);
  const isRight = (outcome: Outcome) =>
    outcome.faults === undefined || isSameList(outcome.faults.filter(isFirst), found);
  if (likely.some(isRight)) return null;
  return `faults ${JSON.stringify(found)}; foreseen ${JSON.stringify(likely.map(({ faults }) => faults))}`;
}

/** The same fault of the same name said twice says no more than once. */
const isFirst = (one: string, at: number, all: readonly string[]) => all.indexOf(one) === at;

function isSameList(foreseen: readonly string[], found: readonly string[]): boolean {
  const wanted = foreseen.map((one) => one.split(" ") as [string, string]);
  if (!wanted.some(([name]) => name === anyName)) return foreseen.join("\n") === found.join("\n");
  return foreseen.every((one) => one.startsWith(anyName) || found.includes(one));
}

const wordsFor = (outcomes: readonly Outcome[]) =>
  outcomes
    .map(({ status, code }) => (code === undefined ? `${status}` : `${status} ${code}`))
    .join(", ");
