/** What the HTTP thread and the accountWorker say to each other. */
import { type Config, localUrl } from "#config.ts";
import type { LoadOrder } from "#datasets/load-worker.ts";
import type { QuotaStatus } from "#limits/counters.ts";
import type { Quotas } from "#limits/policy.ts";
import type { Operation } from "#operations/operation.ts";

/** The one type of a body that is read. */
export const formType = "application/x-www-form-urlencoded";

/** A request to `/account` or below it. */
export interface PageRequest {
  method: "GET" | "HEAD" | "POST";
  /** Without the query. */
  path: string;
  /** Without the `?`. */
  query: string;
  /** What was sent in a form; empty without one. */
  form: string;
  /** Lower-case names; of each the one value that was sent. */
  headers: Readonly<Partial<Record<PageHeader, string>>>;
  /** Of the client. */
  address: string;
  /** Milliseconds since 1970. */
  now: number;
  /** The same moment on the clock that never steps. */
  monotonicMicroseconds: number;
}

/** The only headers the accountWorker looks at. */
export const pageRequestHeaders = [
  "content-type",
  "cookie",
  "host",
  "origin",
  "sec-fetch-site",
  "user-agent",
] as const;
export type PageHeader = (typeof pageRequestHeaders)[number];

export interface PageAnswer {
  status: number;
  /** Pairs, as a name may stand twice (`set-cookie`); what every page has is added by the HTTP thread. */
  headers: readonly (readonly [string, string])[];
  body: string;
}

/** A call of the API that somebody makes in the explorer, for an account that is not suspended. */
export interface ExplorerCall {
  /** Its number. */
  account: number;
  quotas: Quotas;
  operation: Operation["name"];
  /** Without the `?`. */
  query: string;
}

export interface ApiAnswer {
  status: number;
  /** Those that differ from answer to answer; lower-case names. */
  headers: Readonly<Record<string, string>>;
  /** JSON: the records, or a problem. */
  body: Uint8Array<ArrayBuffer>;
}

/** What only the HTTP thread can do, for the accountWorker to ask for. */
export interface QuotaRpc {
  /** Counts, answers and records the call like any request of the API. */
  call(call: ExplorerCall): Promise<ApiAnswer>;
  /** Where the account stands now; counts nothing. */
  look(account: number, quotas: Quotas): Promise<QuotaStatus>;
}

export type QuotaRpcReply = Awaited<ReturnType<QuotaRpc[keyof QuotaRpc]>>;
export type QuotaRpcCall = {
  [K in keyof QuotaRpc]: { ask: K; with: Parameters<QuotaRpc[K]> };
}[keyof QuotaRpc];

/** From the HTTP thread. */
export type ToAccountWorker =
  | { number: number; request: PageRequest }
  | { number: number; reply: QuotaRpcReply }
  | { dataset: LoadOrder | null }
  | { isLast: true };

/** From the accountWorker. */
export type FromAccountWorker =
  | { number: number; answer: PageAnswer }
  | { number: number; question: QuotaRpcCall }
  /** Something for the operator's log. */
  | { error: string };

/** Settings of the accountWorker, which is a thread and gets a copy of them. */
export interface AccountWorkerSettings {
  dataDir: string;
  /** Origin (and path) the public reaches the service under; null where the connection alone tells. */
  publicUrl: string | null;
  /** What stands before `/account` in mailed links: never what a request says of itself. */
  linkBase: string;
  signUp: "closed" | "invite" | "open";
  /** Links are shown on the page itself: on this machine alone, and nobody's mail is read. */
  isDemo: boolean;
  smtpUrl: string | null;
  mailFrom: string;
  usageLogDays: number;
  auditDays: number;
  pageSizeMax: number;
}

/** @param port the service listens on. */
export const accountWorkerSettings = (config: Config, port: number): AccountWorkerSettings => ({
  dataDir: config.dataDir,
  publicUrl: config.publicUrl,
  linkBase: config.publicUrl ?? localUrl(config.host, port),
  signUp: config.signUp,
  isDemo: config.isDemo,
  smtpUrl: config.smtpUrl,
  mailFrom: config.mailFrom,
  usageLogDays: config.usageLogDays,
  auditDays: config.auditDays,
  pageSizeMax: config.pageSizeMax,
});
