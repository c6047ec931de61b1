/** The messages between the HTTP thread and the account worker. */
import { endedLinkDays, knownBrowserDays, sessionDays } from "#accounts/kept-days.ts";
import { accountUrl, type Config } from "#config.ts";
import type { LoadOrder } from "#datasets/load-worker.ts";
import type { QuotaStatus } from "#limits/counters.ts";
import type { Quotas } from "#limits/policy.ts";
import type { Site } from "#pages/layout.ts";
import type { Explained } from "#records/explanation.ts";

/** Media type of the forms of account pages, except the form that sends a file. */
export const formType = "application/x-www-form-urlencoded";
export const uploadType = "multipart/form-data";
/** The only path that takes a form with a file. */
export const uploadPath = "/browse/match";
export const fileBytesMax = 1024 * 1024;
/** Maximum size of a form that may send a file, in bytes: 1 MiB for the file and 128 KiB for the other fields. */
export const uploadBytesMax = fileBytesMax + 128 * 1024;

export interface PageRequest {
  method: string;
  path: string;
  /** Query without the `?`. */
  query: string;
  /** Body of a POST; empty if there is none. */
  body: Uint8Array;
  /** Media type of the bodies that the path takes. */
  bodyType: typeof formType | typeof uploadType;
  /** Headers by lower-case name. */
  headers: Readonly<Partial<Record<(typeof pageRequestHeaders)[number], string>>>;
  /** IP address of the client. */
  address: string;
  /** Time of the request, in ms since 1970. */
  now: number;
  /** Time of the request on the monotonic clock, in µs. */
  monotonicMicroseconds: number;
}

/** The only headers the account worker reads. */
export const pageRequestHeaders = [
  "content-type",
  "cookie",
  "host",
  "origin",
  "sec-fetch-site",
  "user-agent",
] as const;

export interface PageAnswer {
  status: number;
  /** Headers as pairs, because `set-cookie` may occur twice. The HTTP thread adds those that all pages have. */
  headers: readonly (readonly [string, string])[];
  body: string | Uint8Array;
}

/** Asks the HTTP thread for an account's quota status, without counting a request. */
export type LookAtQuota = (account: number, quotas: Quotas) => Promise<QuotaStatus>;

/** Asks the HTTP thread to count requests against an account's quotas. Returns null if they cannot be counted. */
export type TakeQuota = (
  account: number,
  quotas: Quotas,
  requests: number,
) => Promise<QuotaStatus | null>;

/** Request to the account worker: for a page, or for the explanation of a record, by the record's id. */
export type WorkerTask = { request: PageRequest } | { explain: string };

export type ToAccountWorker =
  | ({ number: number } & WorkerTask)
  | { number: number; status: QuotaStatus | null }
  /** Dataset to show, and who may see its records. */
  | { dataset: LoadOrder; browse: Config["browse"] }
  | { isLast: true };

export type FromAccountWorker =
  | { number: number; answer: PageAnswer | Explained }
  | { number: number; look: Parameters<LookAtQuota> }
  | { number: number; take: Parameters<TakeQuota> }
  /** Error for the operator's log. */
  | { error: string };

export interface AccountWorkerSettings extends Config {
  /** Origin (and path) before `/account` in mailed links; never taken from a request. */
  linkBase: string;
}

/** Numbers of days for which data about sign-ins is kept, for `/privacy`. */
export const signInDays = { sessionDays, knownBrowserDays, endedLinkDays };

/** Returns the facts about this service that every page shows. */
export const siteOf = (
  { config, browse }: { config: Config; browse(): Config["browse"] },
  hasAccounts = accountUrl(config) !== null,
): Site => ({ name: config.serviceName, contact: config.contact, browse: browse(), hasAccounts });
