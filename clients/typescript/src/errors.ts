/** Errors of the client, in four kinds. Each gives the id of its request, and none holds the key. */
import type { Problem } from "./types.ts";

export class GpRecordsError extends Error {
  /** Id of the request in the service's log. Give it to the operator when you ask about the error. */
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

  /** Code of the problem. It may be newer than this client: keep a default branch. */
  get code(): Problem["code"] {
    return this.problem.code;
  }

  get status(): number {
    return this.problem.status;
  }
}

/** No complete answer after the last retry: no connection, a timeout, or a lost connection. */
export class NetworkError extends GpRecordsError {}

/** An answer that gp-records does not give, such as a proxy's, or a file that changed while it was read. */
export class UnexpectedAnswerError extends GpRecordsError {
  /** HTTP status; 0 if a browser hides it. */
  readonly status: number;

  constructor(message: string, requestId: string, status: number) {
    super(message, requestId);
    this.status = status;
  }
}

/** Error for two pages from different datasets, which therefore do not form one list. */
export class VersionChangedError extends GpRecordsError {
  readonly from: string;
  readonly to: string;

  constructor(message: string, requestId: string, versions: { from: string; to: string }) {
    super(message, requestId);
    this.from = versions.from;
    this.to = versions.to;
  }
}

/** Reports whether an error is the problem with this code. */
export const isProblem = (error: unknown, code: Problem["code"]): error is ProblemError =>
  error instanceof ProblemError && error.code === code;
