export { createClient, type Client, type Listing, type ListOptions } from "./client.ts";
export {
  GpRecordsError,
  isProblem,
  NetworkError,
  ProblemError,
  UnexpectedAnswerError,
  VersionChangedError,
} from "./errors.ts";
export type { Mirror, MirrorUpdate } from "./mirror.ts";
export type { UpdateOptions } from "./mirror-pages.ts";
export type { Kind, MirroredRecords, Proof } from "./mirror-records.ts";
export type {
  AnswerCache,
  CachedAnswer,
  ClientOptions,
  Received,
  RequestOptions,
  Wait,
} from "./transport.ts";
export type * from "./types.ts";
