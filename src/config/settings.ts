/** All settings: member of `Config`, name, default and parser. docs/settings.md explains them; a test compares. */
import {
  type Fault,
  oneOf,
  onOrOff,
  orUnset,
  parseAddress,
  parseCountersUrl,
  parseDatabaseUrl,
  parseHost,
  parseMailFrom,
  parseOrigins,
  parsePublicUrl,
  parseRanges,
  parseSmtpUrl,
  wholeNumber,
} from "./parsers.ts";

export interface Setting<Value> {
  name: string;
  /** Default, as text in the environment. */
  byDefault: string;
  parse(text: string): Value | Fault;
  /** May it contain a password, and so also be read from a file? */
  isSecret: boolean;
}

const setting = <Value>(
  name: string,
  byDefault: string,
  parse: Setting<Value>["parse"],
): Setting<Value> => ({ name, byDefault, parse, isSecret: false });

const secret: typeof setting = (...given) => ({ ...setting(...given), isSecret: true });

export const settingOf = {
  host: setting("HOST", "127.0.0.1", parseHost),
  port: setting("PORT", "8080", wholeNumber(0, 65_535)),
  /** Address that serves metrics; null for none. */
  adminAddress: setting("ADMIN_ADDRESS", "", parseAddress),
  dataDir: setting("DATA_DIR", "./data", (text) => text),
  /** URL of the PostgreSQL with accounts and keys; null for a file in `dataDir`. May contain a password. */
  databaseUrl: secret("DATABASE_URL", "", parseDatabaseUrl),
  /**
   * URL of the Valkey or Redis that counts, only with `databaseUrl`. May contain a password. With null that PostgreSQL counts,
   * and without `databaseUrl` this process.
   */
  countersUrl: secret("COUNTERS_URL", "", parseCountersUrl),
  /** Way in which an instance counts while the shared counters are away. */
  countersOutage: setting("COUNTERS_OUTAGE", "local", oneOf(["local", "deny"])),
  /** Longest wait for an answer of the shared counters. */
  countersPatienceMilliseconds: setting("COUNTERS_PATIENCE_MS", "250", wholeNumber(10, 1000)),
  /** Origin, and path if any, where the public reaches the service, without a trailing slash; null if unknown. */
  publicUrl: setting("PUBLIC_URL", "", parsePublicUrl),
  /** Proxies whose `X-Forwarded-For` is believed; null for none. */
  trustedProxies: setting("TRUSTED_PROXIES", "", parseRanges),
  /** `"*"`, a list of origins, or none. */
  corsOrigins: setting("CORS_ORIGINS", "*", parseOrigins),
  pageSizeMax: setting("PAGE_SIZE_MAX", "100", wholeNumber(100, 1000)),
  logLevel: setting(
    "LOG_LEVEL",
    "info",
    oneOf(["fatal", "error", "warn", "info", "debug", "trace", "silent"]),
  ),
  answerCacheBytes: setting("ANSWER_CACHE_BYTES", "67108864", wholeNumber(0, 2 ** 40)),
  /** Most connections open at a time; null for as many as the limit on open files allows. */
  connectionsMax: setting("CONNECTIONS_MAX", "", orUnset(wholeNumber(1, 1_000_000))),
  /** Most connections open at a time from one client network. */
  connectionsPerClientMax: setting("CONNECTIONS_PER_CLIENT_MAX", "256", wholeNumber(1, 1_000_000)),
  /** Longest event loop delay before requests are refused; 0 for no limit. */
  eventLoopDelayMaxMilliseconds: setting("EVENT_LOOP_DELAY_MAX_MS", "1000", wholeNumber(0, 60_000)),
  /** Most memory before requests are refused; 0 for no limit, null for most of what the process may have. */
  memoryMaxBytes: setting("MEMORY_MAX_BYTES", "", orUnset(wholeNumber(0, 2 ** 48))),
  /** Time for which the request log keeps a request; 0 for no log. */
  usageLogDays: setting("USAGE_LOG_DAYS", "14", wholeNumber(0, 3650)),
  /** Most requests in the request log. */
  usageLogRows: setting("USAGE_LOG_ROWS", "2000000", wholeNumber(1, 1_000_000_000)),
  /** Does the request log keep query strings, too? */
  usageLogParameters: setting("USAGE_LOG_PARAMETERS", "off", onOrOff),
  /** Time for which entries of the audit log are kept; 0 for ever. */
  auditDays: setting("AUDIT_DAYS", "0", wholeNumber(0, 36_500)),
  /** Number of newest published datasets that a publication keeps; 0 for all. */
  datasetsKeep: setting("DATASETS_KEEP", "10", wholeNumber(0, 100_000)),
  /** May every key download whole datasets? */
  exports: setting("EXPORTS", "off", onOrOff),
  /** Licence of the records, a text or a URL; null if the operator states none. */
  licence: setting("DATA_LICENCE", "", (text) => text || null),
  /** Time for which the changes of publications are kept; 0 to keep none. */
  changesDays: setting("CHANGES_DAYS", "400", wholeNumber(0, 3650)),
  /** People who may sign up on the account pages: nobody, those invited, or everyone. */
  signUp: setting("SIGN_UP", "closed", oneOf(["closed", "invite", "open"])),
  /** URL of the mail server; null for none. May contain a password. */
  smtpUrl: secret("SMTP_URL", "", parseSmtpUrl),
  /** Sender of mail, as in its `From`. */
  mailFrom: setting("MAIL_FROM", "gp-records@localhost", parseMailFrom),
  /** Is this production? It then serves no demo; nothing else depends on this. */
  isProduction: setting("NODE_ENV", "", (text) => text === "production"),
};

/** Values of all settings. */
export type Settings = {
  [Member in keyof typeof settingOf]: (typeof settingOf)[Member] extends Setting<infer Value>
    ? Value
    : never;
};

export const settings: readonly Setting<unknown>[] = Object.values(settingOf);

/** Returns the name of the setting that names a file with this secret. */
export const fileSettingOf = (name: string): string => `${name}_FILE`;

/** Names read from the environment: all settings, and for each secret the setting that names its file. */
export const settingNames: readonly string[] = settings.flatMap(({ name, isSecret }) =>
  isSecret ? [name, fileSettingOf(name)] : [name],
);
