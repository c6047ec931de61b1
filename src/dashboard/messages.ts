/** The messages between the HTTP thread and the account worker. */
import { type Config, isLoopback, localUrl } from "#config.ts";
import type { LoadOrder } from "#datasets/load-worker.ts";
import type { QuotaStatus } from "#limits/counters.ts";
import type { Quotas } from "#limits/policy.ts";
import type { GateMemory } from "#store/postgres.ts";

/** The only media type of a request body that is read. */
export const formType = "application/x-www-form-urlencoded";

/** A request to `/account` or below it. */
export interface PageRequest {
  method: "GET" | "HEAD" | "POST";
  /** Path without the query. */
  path: string;
  /** Query without the `?`. */
  query: string;
  /** Body of a form; empty without one. */
  form: string;
  /** By lower-case name. */
  headers: Readonly<Partial<Record<PageHeader, string>>>;
  /** Address of the client. */
  address: string;
  /** Milliseconds since 1970. */
  now: number;
  /** The same moment on the clock that never steps. */
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
type PageHeader = (typeof pageRequestHeaders)[number];

export interface PageAnswer {
  status: number;
  /** Pairs, because a name may occur twice (`set-cookie`); the HTTP thread adds the headers of every page. */
  headers: readonly (readonly [string, string])[];
  body: string;
}

/** Jobs that one of several instances does for all, with the numbers of their locks, which are never changed. */
export const jobs = { notices: 1, audit: 2, sessions: 3 } as const;
export type Job = keyof typeof jobs;
/** Jobs that an instance can do: does it do each? */
export type JobsDone = Readonly<Partial<Record<Job, boolean>>>;

/** Returns the quota status of an account as the HTTP thread knows it, and counts nothing. */
export type LookAtQuota = (account: number, quotas: Quotas) => Promise<QuotaStatus>;

/** From the HTTP thread. */
export type ToAccountWorker =
  | { number: number; request: PageRequest }
  | { number: number; status: QuotaStatus }
  | { dataset: LoadOrder | null }
  | { isLast: true };

/** From the account worker. */
export type FromAccountWorker =
  | { number: number; answer: PageAnswer }
  | { number: number; look: { account: number; quotas: Quotas } }
  /** Jobs that this instance does for all. */
  | { jobs: JobsDone }
  /** For the operator's log. */
  | { error: string };

const copied = [
  "dataDir",
  "publicUrl",
  "signUp",
  "isDemo",
  "smtpUrl",
  "mailFrom",
  "usageLogDays",
  "auditDays",
] as const satisfies (keyof Config)[];

/** Settings of the account worker, copied to its thread. */
export interface AccountWorkerSettings extends Pick<Config, (typeof copied)[number]> {
  /** The PostgreSQL with the accounts, and how this process takes turns at connecting; null for a file in `dataDir`. */
  database: { url: string; gateMemory: GateMemory } | null;
  /** Precedes `/account` in mailed links; never taken from a request. */
  linkBase: string;
}

/** Returns the settings of the thread. @param port port of the service. @param database as in the settings, if there is one. */
export const accountWorkerSettings = (
  config: Config,
  port: number,
  database: AccountWorkerSettings["database"],
): AccountWorkerSettings => ({
  ...(Object.fromEntries(copied.map((name) => [name, config[name]])) as Pick<
    Config,
    (typeof copied)[number]
  >),
  database,
  linkBase: config.publicUrl ?? localUrl(config.host, port),
});

/** The scheme and host under which the browser sees these pages. */
export interface OwnOrigin {
  /** Without a slash at the end. */
  origin: string;
  /** Precedes a path in links and samples shown on the page itself, never in anything that is mailed. */
  base: string;
  isSecure: boolean;
}

/**
 * Returns the origin from `PUBLIC_URL`, else from the `Host` header if that names this machine: any other name may be made up
 * by the client. Returns null if it is unknown; then no page is served.
 */
export function ownOrigin(
  { publicUrl }: Pick<AccountWorkerSettings, "publicUrl">,
  { headers }: Pick<PageRequest, "headers">,
): OwnOrigin | null {
  if (publicUrl !== null) {
    const { origin, protocol, hostname } = new URL(publicUrl);
    const isSecure = protocol === "https:";
    return isSecure || isLoopback(hostname) ? { origin, base: publicUrl, isSecure } : null;
  }
  const { host = "" } = headers;
  const [, name = ""] = /^([^:]+|\[[^\]]*\])(?::\d{1,5})?$/.exec(host) ?? [];
  if (!isLoopback(name)) return null;
  return { origin: `http://${host}`, base: `http://${host}`, isSecure: false };
}
