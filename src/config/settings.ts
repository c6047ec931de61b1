/**
 * Table of the settings by member of `Config`: name, default and parser. A parser turns text into a value or a fault.
 * docs/settings.md explains each setting. A test compares it with this table.
 */
import { BlockList, isIP } from "node:net";

/** Parser's result for unusable text, with the end of a sentence that begins with the setting's name. */
export class Fault {
  readonly sentence: string;
  constructor(sentence: string) {
    this.sentence = sentence;
  }
}

const wholeNumber = (minimum: number, maximum: number) => (text: string) => {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  return value >= minimum && value <= maximum
    ? value
    : new Fault(`must be a whole number from ${minimum} to ${maximum}`);
};

const orUnset =
  <Value>(parse: (text: string) => Value | Fault) =>
  (text: string): Value | null | Fault =>
    text === "" ? null : parse(text);

function parseAddress(text: string): { host: string; port: number } | Fault {
  const [, bracketed, plain = "", digits = ""] =
    /^(?:\[([\da-f.]*:[\da-f:.]*)\]|([^:[\]]+)):(\d+)$/i.exec(text) ?? [];
  const host = parseHost(bracketed ?? plain);
  const port = wholeNumber(0, 65_535)(digits);
  return host instanceof Fault || port instanceof Fault
    ? new Fault("must be an address and a port, such as 127.0.0.1:9464 or [::1]:9464")
    : { host, port };
}

function parseHost(text: string): string | Fault {
  // This name stands for two addresses, but the server listens on one.
  if (text === "localhost") return "127.0.0.1";
  return isIP(text) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text)
    ? text
    : new Fault("must be an IP address or a host name");
}

function parsePublicUrl(text: string): string | Fault {
  const url = URL.parse(text);
  const usable =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    !/[?#]/.test(url.href) &&
    url.username + url.password === "";
  return usable
    ? url.href.replace(/\/+$/, "")
    : new Fault("must be an http or https URL without user or query, like https://records.example");
}

/** Returns the text. Returns a fault if the user or the password is percent-encoded incorrectly. */
function decodable({ username, password }: URL, text: string): string | Fault {
  try {
    decodeURIComponent(username + password);
    return text;
  } catch {
    return new Fault("has a % in its user or password that must be written as %25");
  }
}

function parseSmtpUrl(text: string): string | Fault {
  const url = URL.parse(text);
  return url !== null && /^smtps?:$/.test(url.protocol) && url.hostname !== ""
    ? decodable(url, text)
    : new Fault("must be an smtp or smtps URL such as smtps://user:password@mail.example:465");
}

/** Reports whether only this machine can reach a listener on this address. */
export function isLoopback(host: string): boolean {
  return ["localhost", "::1", "[::1]"].includes(host) || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Parameters allowed in `DATABASE_URL`, with the pattern of each value. */
const databaseParameters = {
  host: /^/,
  sslmode: /^(?:disable|require|verify-ca|verify-full)$/,
  sslrootcert: /^\//,
  sslcert: /^\//,
  sslkey: /^\//,
  options: /^/,
  application_name: /^/,
} as const;

/** Checks a PostgreSQL URL. Faults never quote the URL, because it may contain a password. */
export function parseDatabaseUrl(text: string): string | Fault {
  const url = URL.parse(text);
  if (
    url === null ||
    !/^postgres(?:ql)?:$/.test(url.protocol) ||
    url.hostname === "" ||
    url.username === "" ||
    !/^\/[^/]+$/.test(url.pathname)
  )
    return new Fault("must be a URL such as postgres://user:password@db.example:5432/records");
  for (const [name, value] of url.searchParams) {
    const pattern = (databaseParameters as Partial<Record<string, RegExp>>)[name];
    if (pattern === undefined)
      return new Fault(
        `must have only the parameters ${Object.keys(databaseParameters).join(", ")}`,
      );
    if (!pattern.test(value) && name === "sslmode")
      return new Fault("must have disable, require, verify-ca or verify-full as its sslmode");
    if (!pattern.test(value)) return new Fault(`must have an absolute path as its ${name}`);
  }
  if (url.searchParams.get("sslmode") === "verify-ca" && !url.searchParams.has("sslrootcert"))
    return new Fault("must name the CA's certificate with sslrootcert if sslmode is verify-ca");
  return decodable(url, text);
}

/** Checks a Valkey or Redis URL. Faults never quote the URL, because it may contain a password. */
function parseCountersUrl(text: string): string | Fault {
  const url = URL.parse(text);
  const usable =
    url !== null &&
    /^(?:valkey|redis)s?:$/.test(url.protocol) &&
    url.hostname !== "" &&
    /^(?:\/\d*)?$/.test(url.pathname) &&
    url.search === "" &&
    url.hash === "";
  return usable
    ? decodable(url, text)
    : new Fault(
        "must be a URL such as valkeys://user:password@counts.example:6379/0, without parameters; its scheme is valkey or redis, or valkeys or rediss for TLS",
      );
}

const mailAddress = "[^\\s<>@,;]+@[^\\s<>@,;]+";
const mailFrom = new RegExp(`^(?:${mailAddress}|(?:[^<>,;\\r\\n]+ )?<${mailAddress}>)$`);

const parseMailFrom = (text: string): string | Fault =>
  mailFrom.test(text)
    ? text
    : new Fault(
        "must be an e-mail address, or a name and an e-mail address such as Records <records@example.org>",
      );

const parseServiceName = (text: string): string | Fault =>
  /^[^\p{C}]{1,60}$/u.test(text) ? text : new Fault("must be 1 to 60 printable characters");

function parseContact(text: string): string | Fault {
  const isPage = text.startsWith("https://") && URL.canParse(text);
  return isPage || new RegExp(`^${mailAddress}$`).test(text)
    ? text
    : new Fault("must be an e-mail address or an https URL");
}

function parseRanges(text: string): BlockList | Fault {
  const ranges = new BlockList();
  for (const range of commaSeparated(text)) {
    const [address = "", bits, ...rest] = range.split("/");
    const family = isIP(address);
    const bitsMax = family === 4 ? 32 : 128;
    const length =
      bits === undefined ? bitsMax : Number(/^\d{1,3}$/.test(bits) ? bits : Number.NaN);
    if (family === 0 || rest.length > 0 || !(length <= bitsMax))
      return new Fault("must list IP addresses or CIDR ranges, separated by commas");
    ranges.addSubnet(address, length, family === 4 ? "ipv4" : "ipv6");
  }
  return ranges;
}

function parseOrigins(text: string): "*" | readonly string[] | Fault {
  if (text === "*") return "*";
  if (text === "off") return [];
  const origins = commaSeparated(text);
  return origins.every((origin) => URL.parse(origin)?.origin === origin)
    ? origins
    : new Fault(
        "must be `*` alone, `off` alone, or origins such as https://app.example, separated by commas, without paths or slashes at the end",
      );
}

const oneOf =
  <const Word extends string>(words: readonly Word[]) =>
  (text: string): Word | Fault =>
    words.find((word) => word === text) ?? new Fault(`must be one of ${words.join(", ")}`);

function onOrOff(text: string): boolean | Fault {
  const word = oneOf(["on", "off"])(text);
  return word instanceof Fault ? new Fault("must be on or off") : word === "on";
}

const commaSeparated = (text: string) => text.split(",").map((part) => part.trim());

export interface Setting<Value> {
  name: string;
  /** Default, written as in the environment. */
  byDefault: string;
  parse(text: string): Value | Fault;
  /** True if the value may contain a password. It can then also be read from a file. */
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
  adminAddress: setting("ADMIN_ADDRESS", "", orUnset(parseAddress)),
  dataDir: setting("DATA_DIR", "./data", (text) => text),
  /**
   * URL of the PostgreSQL database with accounts, keys, usage and datasets; null to keep them in `dataDir`. May contain
   * a password.
   */
  databaseUrl: secret("DATABASE_URL", "", orUnset(parseDatabaseUrl)),
  /**
   * URL of the Valkey or Redis server that counts requests; null to count in PostgreSQL, or in this process if
   * `databaseUrl` is null too. Requires `databaseUrl`. May contain a password.
   */
  countersUrl: secret("COUNTERS_URL", "", orUnset(parseCountersUrl)),
  /** Behaviour while the shared counters cannot be reached: count locally, or deny requests. */
  countersOutage: setting("COUNTERS_OUTAGE", "local", oneOf(["local", "deny"])),
  /** Longest wait for an answer from the shared counters, in ms. */
  countersPatienceMilliseconds: setting("COUNTERS_PATIENCE_MS", "250", wholeNumber(10, 1000)),
  /** Public URL of the service, with its path if any, without a trailing slash; null if unknown. */
  publicUrl: setting("PUBLIC_URL", "", orUnset(parsePublicUrl)),
  /** Proxies whose `X-Forwarded-For` is trusted; null for none. */
  trustedProxies: setting("TRUSTED_PROXIES", "", orUnset(parseRanges)),
  /** Origins whose pages may read answers: `"*"` for all, or a list, which may be empty. */
  corsOrigins: setting("CORS_ORIGINS", "*", parseOrigins),
  pageSizeMax: setting("PAGE_SIZE_MAX", "100", wholeNumber(100, 1000)),
  logLevel: setting(
    "LOG_LEVEL",
    "info",
    oneOf(["fatal", "error", "warn", "info", "debug", "trace", "silent"]),
  ),
  answerCacheBytes: setting("ANSWER_CACHE_BYTES", "67108864", wholeNumber(0, 2 ** 40)),
  /** Maximum number of open connections; null to derive it from the limit on open files. */
  connectionsMax: setting("CONNECTIONS_MAX", "", orUnset(wholeNumber(1, 1_000_000))),
  /** Maximum number of open connections from one client network. */
  connectionsPerClientMax: setting("CONNECTIONS_PER_CLIENT_MAX", "256", wholeNumber(1, 1_000_000)),
  /** Event-loop delay beyond which requests are refused, in ms; 0 for no limit. */
  eventLoopDelayMaxMilliseconds: setting("EVENT_LOOP_DELAY_MAX_MS", "1000", wholeNumber(0, 60_000)),
  /** Memory in bytes above which requests are refused; 0 for no limit, null for 90% of the machine's or container's. */
  memoryMaxBytes: setting("MEMORY_MAX_BYTES", "", orUnset(wholeNumber(0, 2 ** 48))),
  /** Number of days for which the request log keeps a request; 0 for no log. */
  usageLogDays: setting("USAGE_LOG_DAYS", "14", wholeNumber(0, 3650)),
  /** Maximum number of requests in the request log. */
  usageLogRows: setting("USAGE_LOG_ROWS", "2000000", wholeNumber(1, 1_000_000_000)),
  /** True if the request log also keeps query strings. */
  usageLogParameters: setting("USAGE_LOG_PARAMETERS", "off", onOrOff),
  /** Number of days for which audit log entries are kept; 0 for ever. Deletions of people are always kept. */
  auditDays: setting("AUDIT_DAYS", "0", wholeNumber(0, 36_500)),
  /** Number of newest published datasets to keep; 0 for all. The previous dataset and pinned ones are kept as well. */
  datasetsKeep: setting("DATASETS_KEEP", "10", wholeNumber(0, 100_000)),
  /** True if every key may download whole datasets. */
  exports: setting("EXPORTS", "off", onOrOff),
  /** Licence of the records, as text or a URL; null if the operator states none. */
  licence: setting("DATA_LICENCE", "", (text) => text || null),
  /** Number of days for which the changes of publications are kept; 0 to keep none. */
  changesDays: setting("CHANGES_DAYS", "400", wholeNumber(0, 3650)),
  /** People who may sign up on the account pages: nobody, invited people or everyone. */
  signUp: setting("SIGN_UP", "closed", oneOf(["closed", "invite", "open"])),
  serviceName: setting("SERVICE_NAME", "gp-records", parseServiceName),
  /** People to whom pages show records: members of accounts, or everyone, with limits for each network. */
  browse: setting("BROWSE", "members", oneOf(["members", "everyone"])),
  /** E-mail address or https URL for people who have questions about records; null for none. */
  contact: setting("CONTACT", "", orUnset(parseContact)),
  /** URL of the mail server; null for none. May contain a password. */
  smtpUrl: secret("SMTP_URL", "", orUnset(parseSmtpUrl)),
  /** Sender of mail, as written in `From`. */
  mailFrom: setting("MAIL_FROM", "gp-records@localhost", parseMailFrom),
  /** True in production, where no demo is served. Nothing else depends on it. */
  isProduction: setting("NODE_ENV", "", (text) => text === "production"),
};

export type Settings = {
  [Member in keyof typeof settingOf]: (typeof settingOf)[Member] extends Setting<infer Value>
    ? Value
    : never;
};

export const settings: readonly Setting<unknown>[] = Object.values(settingOf);

export const fileSettingOf = (name: string): string => `${name}_FILE`;

/** Names read from the environment: all settings, and for each secret the setting that names its file. */
export const settingNames: readonly string[] = settings.flatMap(({ name, isSecret }) =>
  isSecret ? [name, fileSettingOf(name)] : [name],
);
