export {
  createClient,
  type Client,
  type Listing,
  type ListOptions,
  type Step,
  type StepHead,
} from "./client.ts";
export {
  GpRecordsError,
  isProblem,
  NetworkError,
  ProblemError,
  UnexpectedAnswerError,
  VersionChangedError,
} from "./errors.ts";
export type {
  AnswerCache,
  CachedAnswer,
  ClientOptions,
  Received,
  RequestOptions,
  Wait,
} from "./transport.ts";
export type * from "./types.ts";
