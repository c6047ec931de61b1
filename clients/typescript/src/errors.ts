/** What goes wrong, in four kinds; each says the id of its request, and none holds the key. */
import type { Problem } from "./types.ts";

export class GpRecordsError extends Error {
  /** Id of the request, as the service logs it: give it to the operator when you ask. */
  readonly requestId: string;

  constructor(message: string, requestId: string, options?: ErrorOptions) {
    super(`${message} (request ${requestId})`, options);
    this.name = new.target.name;
    this.requestId = requestId;
  }
}

/** An error answer of the service. `problem` has the members that belong to its code. */
export class ProblemError extends GpRecordsError {
  readonly problem: Problem;

  constructor(problem: Problem, requestId: string) {
    super(`${problem.code}: ${problem.detail}`, requestId);
    this.problem = problem;
  }

  /** A code newer than this client is possible: leave a default branch. */
  get code(): Problem["code"] {
    return this.problem.code;
  }

  get status(): number {
    return this.problem.status;
  }
}

/** No answer, or not the whole of one, although it was asked again: no connection, time-out, connection lost. */
export class NetworkError extends GpRecordsError {}

/** An answer that is none of the service's: what stands at the address, or before it, is something else. */
export class UnexpectedAnswerError extends GpRecordsError {
  /** HTTP status; 0 where a browser hides it. */
  readonly status: number;

  constructor(message: string, requestId: string, status: number) {
    super(message, requestId);
    this.status = status;
  }
}

/** The dataset changed between two pages, so that together they are no list. */
export class VersionChangedError extends GpRecordsError {
  readonly from: string;
  readonly to: string;

  constructor(message: string, requestId: string, versions: { from: string; to: string }) {
    super(message, requestId);
    this.from = versions.from;
    this.to = versions.to;
  }
}

/** Reports whether it is the answer with this code. */
export const isProblem = (error: unknown, code: Problem["code"]): error is ProblemError =>
  error instanceof ProblemError && error.code === code;
