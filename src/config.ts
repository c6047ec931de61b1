/** Reads the settings from the environment once and names every fault at once. */
import type { BlockList } from "node:net";
import {
  Fault,
  oneOf,
  onOrOff,
  orUnset,
  parseAddress,
  parseHost,
  parseMailFrom,
  parseOrigins,
  parsePublicUrl,
  parseRanges,
  parseSmtpUrl,
  wholeNumber,
} from "./config/parsers.ts";

export interface Config {
  host: string;
  port: number;
  /** Where metrics are served; null for nowhere. */
  adminAddress: { host: string; port: number } | null;
  dataDir: string;
  /** Origin (and path) the public reaches the service under, without a slash at the end; null where unknown. */
  publicUrl: string | null;
  /** Proxies whose `X-Forwarded-For` is believed; null where there is none. */
  trustedProxies: BlockList | null;
  /** `"*"`, a list of origins, or none. */
  corsOrigins: "*" | readonly string[];
  pageSizeMax: number;
  logLevel: (typeof logLevels)[number];
  answerCacheBytes: number;
  /** Open at a time; null for what the limit of open files allows. */
  connectionsMax: number | null;
  /** 0 for no limit. */
  eventLoopDelayMaxMilliseconds: number;
  /** 0 for no limit, null for most of what the process may have. */
  memoryMaxBytes: number | null;
  /** How long each request is kept by itself; 0 for not at all. */
  usageLogDays: number;
  /** How many of them at most. */
  usageLogRows: number;
  /** Are their query strings kept too? */
  usageLogParameters: boolean;
  /** Who may make an account on the account pages: nobody, whoever is invited, or everyone. */
  signUp: (typeof signUps)[number];
  /** Where mail is handed over; null for none. It holds a password. */
  smtpUrl: string | null;
  /** The sender of mail, as in its `From`. */
  mailFrom: string;
  /** Set by `serve --demo` alone: for this machine, and no secret is one. */
  isDemo: boolean;
  isProduction: boolean;
}

const signUps = ["closed", "invite", "open"] as const;
const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

/** Every setting, for the reader below and for docs/settings.md, which a test holds to this list. */
export const settings = [
  { name: "HOST", byDefault: "127.0.0.1", help: "Address to listen on." },
  { name: "PORT", byDefault: "8080", help: "Port to listen on; 0 takes a free one." },
  {
    name: "ADMIN_ADDRESS",
    byDefault: "",
    help: "Address and port of the metrics, such as 127.0.0.1:9464; empty for none.",
  },
  { name: "DATA_DIR", byDefault: "./data", help: "Folder of datasets, keys, counts and usage." },
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

type SettingName = (typeof settings)[number]["name"];

const isSecret = (name: SettingName): boolean =>
  settings.some((setting) => setting.name === name && "isSecret" in setting);

/** Settings that cannot be used; `faults` has one sentence for each. */
export class ConfigFault extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join("\n"));
    this.name = "ConfigFault";
    this.faults = faults;
  }
}

/**
 * The settings of one process, frozen.
 * @throws ConfigFault naming every setting that is wrong and what it takes.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const faults: string[] = [];
  const textOf = (name: SettingName) => {
    const given = environment[name]?.trim();
    return given === undefined || given === ""
      ? settings.find((setting) => setting.name === name)!.byDefault
      : given;
  };
  const read = <T>(name: SettingName, parse: (text: string) => T | Fault): T => {
    const text = textOf(name);
    const value = parse(text);
    if (!(value instanceof Fault)) return value;
    faults.push(
      `${name} ${value.sentence}${isSecret(name) ? "" : `, but is '${text.slice(0, 100)}'`}.`,
    );
    return undefined as T;
  };
  const config: Config = {
    host: read("HOST", parseHost),
    port: read("PORT", wholeNumber(0, 65_535)),
    adminAddress: read("ADMIN_ADDRESS", parseAddress),
    dataDir: textOf("DATA_DIR"),
    publicUrl: read("PUBLIC_URL", parsePublicUrl),
    trustedProxies: read("TRUSTED_PROXIES", parseRanges),
    corsOrigins: read("CORS_ORIGINS", parseOrigins),
    pageSizeMax: read("PAGE_SIZE_MAX", wholeNumber(100, 1000)),
    logLevel: read("LOG_LEVEL", oneOf(logLevels)),
    answerCacheBytes: read("ANSWER_CACHE_BYTES", wholeNumber(0, 2 ** 40)),
    connectionsMax: read("CONNECTIONS_MAX", orUnset(wholeNumber(1, 1_000_000))),
    eventLoopDelayMaxMilliseconds: read("EVENT_LOOP_DELAY_MAX_MS", wholeNumber(0, 60_000)),
    memoryMaxBytes: read("MEMORY_MAX_BYTES", orUnset(wholeNumber(0, 2 ** 48))),
    usageLogDays: read("USAGE_LOG_DAYS", wholeNumber(0, 3650)),
    usageLogRows: read("USAGE_LOG_ROWS", wholeNumber(1, 1_000_000_000)),
    usageLogParameters: read("USAGE_LOG_PARAMETERS", onOrOff),
    signUp: read("SIGN_UP", oneOf(signUps)),
    smtpUrl: read("SMTP_URL", parseSmtpUrl),
    mailFrom: read("MAIL_FROM", parseMailFrom),
    isDemo: false,
    isProduction: textOf("NODE_ENV") === "production",
  };
  const { host, port, adminAddress } = config;
  if (
    faults.length === 0 &&
    adminAddress?.port === port &&
    port !== 0 &&
    adminAddress.host === host
  )
    faults.push("ADMIN_ADDRESS must be another address than that of HOST and PORT.");
  if (faults.length > 0) throw new ConfigFault(faults);
  return Object.freeze(config);
}

/** Where people manage their keys; null where the account pages are not served: over plain http from elsewhere. */
export function accountUrl({ publicUrl, host }: Pick<Config, "publicUrl" | "host">): string | null {
  if (publicUrl === null) return isLoopback(host) ? "/account" : null;
  const { protocol, hostname } = new URL(publicUrl);
  const isServed = protocol === "https:" || isLoopback(hostname);
  return isServed ? `${publicUrl}/account` : null;
}

/** Is only this machine able to reach what listens on this address? */
export function isLoopback(host: string): boolean {
  return ["localhost", "::1", "[::1]"].includes(host) || /^127\.\d+\.\d+\.\d+$/.test(host);
}
