/** Every setting: the member of a `Config` that it becomes, its name, its default and its parser. docs/settings.md, which a test holds to this table, explains each. */
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
  /** As it would stand in the environment. */
  byDefault: string;
  parse(text: string): Value | Fault;
  /** Whether it may hold a password, and so be read from a file, too. */
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
  /** Where metrics are served; null for none. */
  adminAddress: setting("ADMIN_ADDRESS", "", parseAddress),
  dataDir: setting("DATA_DIR", "./data", (text) => text),
  /** The PostgreSQL with accounts and keys; null for a file in `dataDir`. The URL may contain a password. */
  databaseUrl: secret("DATABASE_URL", "", parseDatabaseUrl),
  /** The Valkey or Redis that counts, only where `databaseUrl` is set; null for that PostgreSQL, or without it for this process. May contain a password. */
  countersUrl: secret("COUNTERS_URL", "", parseCountersUrl),
  /** What an instance does while the counters it shares are away. */
  countersOutage: setting("COUNTERS_OUTAGE", "local", oneOf(["local", "deny"])),
  /** How long they may take for an answer. */
  countersPatienceMilliseconds: setting("COUNTERS_PATIENCE_MS", "250", wholeNumber(10, 1000)),
  /** Origin (and path) at which the public reaches the service, without a trailing slash; null where unknown. */
  publicUrl: setting("PUBLIC_URL", "", parsePublicUrl),
  /** Proxies whose `X-Forwarded-For` is believed; null where there is none. */
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
  /** Open at a time; null for what the limit of open files allows. */
  connectionsMax: setting("CONNECTIONS_MAX", "", orUnset(wholeNumber(1, 1_000_000))),
  /** Of one client network. */
  connectionsPerClientMax: setting("CONNECTIONS_PER_CLIENT_MAX", "256", wholeNumber(1, 1_000_000)),
  /** 0 for no limit. */
  eventLoopDelayMaxMilliseconds: setting("EVENT_LOOP_DELAY_MAX_MS", "1000", wholeNumber(0, 60_000)),
  /** 0 for no limit, null for most of what the process may have. */
  memoryMaxBytes: setting("MEMORY_MAX_BYTES", "", orUnset(wholeNumber(0, 2 ** 48))),
  /** How long each request is kept by itself; 0 for not at all. */
  usageLogDays: setting("USAGE_LOG_DAYS", "14", wholeNumber(0, 3650)),
  /** How many of them at most. */
  usageLogRows: setting("USAGE_LOG_ROWS", "2000000", wholeNumber(1, 1_000_000_000)),
  /** Whether their query strings are kept too. */
  usageLogParameters: setting("USAGE_LOG_PARAMETERS", "off", onOrOff),
  /** How long entries of the audit log are kept; 0 for good. */
  auditDays: setting("AUDIT_DAYS", "0", wholeNumber(0, 36_500)),
  /** How many published datasets stay after a publication, the newest; 0 for all. */
  datasetsKeep: setting("DATASETS_KEEP", "10", wholeNumber(0, 100_000)),
  /** Whether every key may download whole datasets. */
  exports: setting("EXPORTS", "off", onOrOff),
  /** Licence of the records, a text or a URL; null where the operator does not state it. */
  licence: setting("DATA_LICENCE", "", (text) => text || null),
  /** How long it is kept what publications changed; 0 for not at all. */
  changesDays: setting("CHANGES_DAYS", "400", wholeNumber(0, 3650)),
  /** Who may make an account on the account pages: nobody, whoever is invited, or everyone. */
  signUp: setting("SIGN_UP", "closed", oneOf(["closed", "invite", "open"])),
  /** The mail server; null for none. The URL may contain a password. */
  smtpUrl: secret("SMTP_URL", "", parseSmtpUrl),
  /** The sender of mail, as in its `From`. */
  mailFrom: setting("MAIL_FROM", "gp-records@localhost", parseMailFrom),
  /** Where it is so no demo is served; nothing else depends on it. */
  isProduction: setting("NODE_ENV", "", (text) => text === "production"),
};

/** Values of all settings. */
export type Settings = {
  [Member in keyof typeof settingOf]: (typeof settingOf)[Member] extends Setting<infer Value>
    ? Value
    : never;
};

export const settings: readonly Setting<unknown>[] = Object.values(settingOf);

/** The setting that names a file with this secret in it. */
export const fileSettingOf = (name: string): string => `${name}_FILE`;

/** Every name that is read from the environment: each setting, and for a secret also the one that names its file. */
export const settingNames: readonly string[] = settings.flatMap(({ name, isSecret }) =>
  isSecret ? [name, fileSettingOf(name)] : [name],
);
