export { createClient, type Client, type Listing, type ListOptions } from "./client.ts";
export {
  GpRecordsError,
  isProblem,
  NetworkError,
  ProblemError,
  UnexpectedAnswerError,
  VersionChangedError,
} from "./errors.ts";
export type {
  Kind,
  Mirror,
  MirroredRecords,
  MirrorUpdate,
  Proof,
  UpdateOptions,
} from "./mirror.ts";
export type {
  AnswerCache,
  CachedAnswer,
  ClientOptions,
  Received,
  RequestOptions,
  Wait,
} from "./transport.ts";
export type * from "./types.ts";
