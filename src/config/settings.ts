/** Every setting, with its default. */

export const signUps = ["closed", "invite", "open"] as const;
/** What an instance does while the counters it shares are away. */
export const outageModes = ["local", "deny"] as const;
export const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

/** For the reader in config.ts and for docs/settings.md, which a test holds to this list. */
export const settings = [
  { name: "HOST", byDefault: "127.0.0.1", help: "Address to listen on." },
  { name: "PORT", byDefault: "8080", help: "Port to listen on; 0 takes a free one." },
  {
    name: "ADMIN_ADDRESS",
    byDefault: "",
    help: "Address and port of the metrics, such as 127.0.0.1:9464; empty for none.",
  },
  { name: "DATA_DIR", byDefault: "./data", help: "Folder of datasets, keys, counts and usage." },
  {
    name: "DATABASE_URL",
    byDefault: "",
    isSecret: true,
    help: "PostgreSQL with accounts and keys, such as postgres://user:password@db.example/records; empty for a file in DATA_DIR.",
  },
  {
    name: "COUNTERS_URL",
    byDefault: "",
    isSecret: true,
    help: "Valkey or Redis that counts for several instances, such as valkeys://user:password@counts.example; needs DATABASE_URL, whose PostgreSQL counts where this is empty.",
  },
  {
    name: "COUNTERS_OUTAGE",
    byDefault: "local",
    help: "While shared counters are away: `local` lets each instance count by itself, `deny` refuses requests.",
  },
  {
    name: "COUNTERS_PATIENCE_MS",
    byDefault: "250",
    help: "Time in ms that shared counters have for an answer before they count as away.",
  },
  { name: "PUBLIC_URL", byDefault: "", help: "URL the public reaches the service under." },
  {
    name: "TRUSTED_PROXIES",
    byDefault: "",
    help: "Addresses or CIDR ranges of the proxies in front, separated by commas.",
  },
  {
    name: "CORS_ORIGINS",
    byDefault: "*",
    help: "Origins a browser may call from, separated by commas; `*` for all, `off` for none.",
  },
  {
    name: "PAGE_SIZE_MAX",
    byDefault: "100",
    help: "Largest `limit` a request may ask for, 100 to 1000.",
  },
  { name: "LOG_LEVEL", byDefault: "info", help: `One of ${logLevels.join(", ")}.` },
  {
    name: "ANSWER_CACHE_BYTES",
    byDefault: "67108864",
    help: "Memory for finished answers, in bytes; 0 switches the cache off.",
  },
  {
    name: "CONNECTIONS_MAX",
    byDefault: "",
    help: "Connections open at a time; empty for what the limit of open files allows.",
  },
  {
    name: "CONNECTIONS_PER_CLIENT_MAX",
    byDefault: "256",
    help: "The same of one client network.",
  },
  {
    name: "EVENT_LOOP_DELAY_MAX_MS",
    byDefault: "1000",
    help: "Requests are refused while every turn takes longer than this; 0 for never.",
  },
  {
    name: "MEMORY_MAX_BYTES",
    byDefault: "",
    help: "Requests are refused while the process takes more; 0 for never, empty for nine tenths of what it may have.",
  },
  {
    name: "USAGE_LOG_DAYS",
    byDefault: "14",
    help: "Days for which each request is kept by itself; 0 keeps only hourly totals.",
  },
  {
    name: "USAGE_LOG_ROWS",
    byDefault: "2000000",
    help: "Requests that are kept at most; the oldest go first.",
  },
  {
    name: "USAGE_LOG_PARAMETERS",
    byDefault: "off",
    help: "`on` keeps the query strings of requests too.",
  },
  {
    name: "AUDIT_DAYS",
    byDefault: "0",
    help: "Days for which entries of the audit log are kept; 0 keeps them for good.",
  },
  {
    name: "DATASETS_KEEP",
    byDefault: "10",
    help: "Published datasets that are kept, the newest; older ones go after each publication; 0 keeps all.",
  },
  {
    name: "EXPORTS",
    byDefault: "off",
    help: "`on` lets every key download whole datasets, for one request a file.",
  },
  {
    name: "DATA_LICENCE",
    byDefault: "",
    help: "Licence of the records, as text or URL, for workbooks that are exported; empty: not stated.",
  },
  {
    name: "CHANGES_DAYS",
    byDefault: "400",
    help: "Days for which it is kept what each publication changed; 0 keeps nothing, and nothing is written.",
  },
  {
    name: "SIGN_UP",
    byDefault: "closed",
    help: "Who may make an account on the account pages: `closed`, `invite` or `open`.",
  },
  {
    name: "SMTP_URL",
    byDefault: "",
    isSecret: true,
    help: "Mail server, such as smtps://user:password@mail.example; empty for none.",
  },
  {
    name: "MAIL_FROM",
    byDefault: "gp-records@localhost",
    help: "Sender of mail, an address or `Name <address>`.",
  },
  {
    name: "NODE_ENV",
    byDefault: "",
    help: "`production` refuses the demo; nothing else depends on it.",
  },
] as const;

export type SettingName = (typeof settings)[number]["name"];

/** The setting that names a file with this secret in it; null for a setting that is no secret. */
export const fileSettingOf = (name: SettingName): string | null =>
  settings.some((setting) => setting.name === name && "isSecret" in setting)
    ? `${name}_FILE`
    : null;

/** Every name that is read from the environment: each setting, and for a secret also the one that names its file. */
export const settingNames: readonly string[] = settings.flatMap(({ name }) =>
  [name, fileSettingOf(name)].filter((one) => one !== null),
);
