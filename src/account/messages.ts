/** What the HTTP thread and the office say to each other. */
import { type Config, localUrl } from "#config.ts";
import type { LoadOrder } from "#datasets/load-worker.ts";
import type { Standing } from "#limits/counters.ts";
import type { Quotas } from "#limits/policy.ts";
import type { Operation } from "#operations/operation.ts";

/** The one type of a body that is read. */
export const formType = "application/x-www-form-urlencoded";

/** A request to `/account` or below it. */
export interface OfficeRequest {
  method: "GET" | "HEAD" | "POST";
  /** Without the query. */
  path: string;
  /** Without the `?`. */
  query: string;
  /** What was sent in a form; empty without one. */
  form: string;
  /** Lower-case names; of each the one value that was sent. */
  headers: Readonly<Partial<Record<OfficeHeader, string>>>;
  /** Of the client. */
  address: string;
  /** Milliseconds since 1970. */
  now: number;
  /** The same moment on the clock that never steps. */
  monotonicMicroseconds: number;
}

/** The only headers the office looks at. */
export const officeHeaders = [
  "content-type",
  "cookie",
  "host",
  "origin",
  "sec-fetch-site",
  "user-agent",
] as const;
export type OfficeHeader = (typeof officeHeaders)[number];

export interface OfficeAnswer {
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

/** What only the HTTP thread can do, for the office to ask for. */
export interface Desk {
  /** Counts, answers and records the call like any request of the API. */
  call(call: ExplorerCall): Promise<ApiAnswer>;
  /** Where the account stands now; counts nothing. */
  look(account: number, quotas: Quotas): Promise<Standing>;
}

export type DeskReply = Awaited<ReturnType<Desk[keyof Desk]>>;
export type DeskQuestion = { [K in keyof Desk]: { ask: K; with: Parameters<Desk[K]> } }[keyof Desk];

/** From the HTTP thread. */
export type ToOffice =
  | { number: number; request: OfficeRequest }
  | { number: number; reply: DeskReply }
  | { dataset: LoadOrder | null }
  | { isLast: true };

/** From the office. */
export type FromOffice =
  | { number: number; answer: OfficeAnswer }
  | { number: number; question: DeskQuestion }
  /** Something for the operator's log. */
  | { complaint: string };

/** Settings of the office, which is a thread and gets a copy of them. */
export interface OfficeSettings {
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
export const officeSettings = (config: Config, port: number): OfficeSettings => ({
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
