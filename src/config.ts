/** Reads the settings from the environment once, and reports every fault at once. */
import { readFileSync, statSync } from "node:fs";
import type { BlockList } from "node:net";
import {
  Fault,
  isLoopback,
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
} from "./config/parsers.ts";
import {
  fileSettingOf,
  logLevels,
  outageModes,
  type SettingName,
  settings,
  signUps,
} from "./config/settings.ts";

export { isLoopback };

export interface Config {
  host: string;
  port: number;
  /** Where metrics are served; null for none. */
  adminAddress: { host: string; port: number } | null;
  dataDir: string;
  /** The PostgreSQL with accounts and keys; null for a file in `dataDir`. The URL may contain a password. */
  databaseUrl: string | null;
  /** The Valkey or Redis that counts, only where `databaseUrl` is set; null for that PostgreSQL, or without it for this process. May contain a password. */
  countersUrl: string | null;
  countersOutage: (typeof outageModes)[number];
  /** How long they may take for an answer. */
  countersPatienceMilliseconds: number;
  /** Origin (and path) at which the public reaches the service, without a trailing slash; null where unknown. */
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
  /** Of one client network. */
  connectionsPerClientMax: number;
  /** 0 for no limit. */
  eventLoopDelayMaxMilliseconds: number;
  /** 0 for no limit, null for most of what the process may have. */
  memoryMaxBytes: number | null;
  /** How long each request is kept by itself; 0 for not at all. */
  usageLogDays: number;
  /** How many of them at most. */
  usageLogRows: number;
  /** Whether their query strings are kept too. */
  usageLogParameters: boolean;
  /** How long entries of the audit log are kept; 0 for good. */
  auditDays: number;
  /** How many published datasets stay after a publication, the newest; 0 for all. */
  datasetsKeep: number;
  /** Whether every key may download whole datasets. */
  exports: boolean;
  /** Licence of the records, a text or a URL; null where the operator does not state it. */
  licence: string | null;
  /** How long it is kept what publications changed; 0 for not at all. */
  changesDays: number;
  /** Who may make an account on the account pages: nobody, whoever is invited, or everyone. */
  signUp: (typeof signUps)[number];
  /** The mail server; null for none. The URL may contain a password. */
  smtpUrl: string | null;
  /** The sender of mail, as in its `From`. */
  mailFrom: string;
  /** Set only by `serve --demo`, which serves this machine alone and has no secrets. */
  isDemo: boolean;
  isProduction: boolean;
}

/** Settings that cannot be used, with a sentence for each. */
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
  const given = (name: string) => environment[name]?.trim() ?? "";
  const textOf = (name: SettingName) =>
    given(name) || settings.find((setting) => setting.name === name)!.byDefault;
  const refuse = (sentence: string) => {
    faults.push(`${sentence}.`);
    return undefined as never;
  };
  const read = <T>(name: SettingName, parse: (text: string) => T | Fault): T => {
    const fileSetting = fileSettingOf(name);
    const path = fileSetting === null ? "" : given(fileSetting);
    if (path !== "") return readFromFile(name, fileSetting!, path, parse);
    const text = textOf(name);
    const value = parse(text);
    if (!(value instanceof Fault)) return value;
    const shown = fileSetting === null ? `, but is '${text.slice(0, 100)}'` : "";
    return refuse(`${name} ${value.sentence}${shown}`);
  };
  const readFromFile = <T>(
    name: SettingName,
    fileSetting: string,
    path: string,
    parse: (text: string) => T | Fault,
  ): T => {
    if (given(name) !== "") return refuse(`${name} and ${fileSetting} must not both be set`);
    const secret = readSecret(path);
    if (secret instanceof Fault) return refuse(`${fileSetting} names ${path}, ${secret.sentence}`);
    const value = parse(secret);
    if (!(value instanceof Fault)) return value;
    return refuse(`${name}, read from ${path} as ${fileSetting} says, ${value.sentence}`);
  };
  const config: Config = {
    host: read("HOST", parseHost),
    port: read("PORT", wholeNumber(0, 65_535)),
    adminAddress: read("ADMIN_ADDRESS", parseAddress),
    dataDir: textOf("DATA_DIR"),
    databaseUrl: read("DATABASE_URL", parseDatabaseUrl),
    countersUrl: read("COUNTERS_URL", parseCountersUrl),
    countersOutage: read("COUNTERS_OUTAGE", oneOf(outageModes)),
    countersPatienceMilliseconds: read("COUNTERS_PATIENCE_MS", wholeNumber(10, 1000)),
    publicUrl: read("PUBLIC_URL", parsePublicUrl),
    trustedProxies: read("TRUSTED_PROXIES", parseRanges),
    corsOrigins: read("CORS_ORIGINS", parseOrigins),
    pageSizeMax: read("PAGE_SIZE_MAX", wholeNumber(100, 1000)),
    logLevel: read("LOG_LEVEL", oneOf(logLevels)),
    answerCacheBytes: read("ANSWER_CACHE_BYTES", wholeNumber(0, 2 ** 40)),
    connectionsMax: read("CONNECTIONS_MAX", orUnset(wholeNumber(1, 1_000_000))),
    connectionsPerClientMax: read("CONNECTIONS_PER_CLIENT_MAX", wholeNumber(1, 1_000_000)),
    eventLoopDelayMaxMilliseconds: read("EVENT_LOOP_DELAY_MAX_MS", wholeNumber(0, 60_000)),
    memoryMaxBytes: read("MEMORY_MAX_BYTES", orUnset(wholeNumber(0, 2 ** 48))),
    usageLogDays: read("USAGE_LOG_DAYS", wholeNumber(0, 3650)),
    usageLogRows: read("USAGE_LOG_ROWS", wholeNumber(1, 1_000_000_000)),
    usageLogParameters: read("USAGE_LOG_PARAMETERS", onOrOff),
    auditDays: read("AUDIT_DAYS", wholeNumber(0, 36_500)),
    datasetsKeep: read("DATASETS_KEEP", wholeNumber(0, 100_000)),
    exports: read("EXPORTS", onOrOff),
    licence: textOf("DATA_LICENCE") || null,
    changesDays: read("CHANGES_DAYS", wholeNumber(0, 3650)),
    signUp: read("SIGN_UP", oneOf(signUps)),
    smtpUrl: read("SMTP_URL", parseSmtpUrl),
    mailFrom: read("MAIL_FROM", parseMailFrom),
    isDemo: false,
    isProduction: textOf("NODE_ENV") === "production",
  };
  if (faults.length === 0) faults.push(...faultsTogether(config));
  if (faults.length > 0) throw new ConfigFault(faults);
  return Object.freeze(config);
}

const secretBytesMax = 65_536;

/** The text of a file with one secret in it, or what is wrong with the file, which never quotes the text. */
function readSecret(path: string): string | Fault {
  try {
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > secretBytesMax)
      return new Fault(`which is no regular file of at most ${secretBytesMax / 1024} KiB`);
    return readFileSync(path, "utf8").trim() || new Fault("which is empty");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return new Fault(`which cannot be read (${code})`);
  }
}

/** What is wrong with settings that are each valid but do not fit together. */
function faultsTogether(config: Config): string[] {
  const { host, port, adminAddress, databaseUrl, countersUrl, smtpUrl, publicUrl } = config;
  const faults: string[] = [];
  if (countersUrl !== null && databaseUrl === null)
    faults.push(
      "DATABASE_URL must be set where COUNTERS_URL is: accounts are counted by their numbers, which mean others in each DATA_DIR. Set it, or leave COUNTERS_URL away.",
    );
  if (adminAddress?.port === port && port !== 0 && adminAddress.host === host)
    faults.push("ADMIN_ADDRESS must be another address than that of HOST and PORT.");
  if (smtpUrl !== null && publicUrl === null && !isLoopback(host))
    faults.push(
      `PUBLIC_URL must be set where SMTP_URL is, unless HOST is a loopback address, but is '${host}': the links in mail lead there.`,
    );
  return faults;
}

/** Where people manage their keys; null where the account pages are not served: over plain http from elsewhere. */
export function accountUrl({ publicUrl, host }: Pick<Config, "publicUrl" | "host">): string | null {
  if (publicUrl === null) return isLoopback(host) ? "/account" : null;
  const { protocol, hostname } = new URL(publicUrl);
  const isServed = protocol === "https:" || isLoopback(hostname);
  return isServed ? `${publicUrl}/account` : null;
}

/**
 * What people at other machines miss for want of `PUBLIC_URL`, and what to do, each without a full stop; null where
 * nothing is missed. Behind a proxy on this machine it may be missed all the same, which nothing here tells.
 */
export function missedLinks(
  config: Pick<Config, "host" | "port" | "publicUrl" | "smtpUrl">,
): { found: string; mend: string } | null {
  const { host, port, publicUrl, smtpUrl } = config;
  if (publicUrl !== null) return null;
  if (!isLoopback(host))
    return {
      found: `HOST is '${host}' and PUBLIC_URL is not set: other machines are served no account page, and no link, sample or feed names the host of the service`,
      mend: "Set PUBLIC_URL to the https address under which people reach the service",
    };
  if (smtpUrl === null) return null;
  const where = port === 0 ? "the port of each start" : localUrl(host, port);
  return {
    found: `SMTP_URL is set and PUBLIC_URL is not: links that are mailed lead to ${where}, which only this machine reaches`,
    mend: "Set PUBLIC_URL to the https address of the service, unless mail goes to people at this machine alone",
  };
}

/** The URL at which this machine reaches what listens on an address, which may be a wildcard; without a trailing slash. */
export function localUrl(host: string, port: number): string {
  const { hostname = host } = URL.parse(`http://${host.includes(":") ? `[${host}]` : host}`) ?? {};
  const reached = { "0.0.0.0": "127.0.0.1", "[::]": "[::1]" }[hostname] ?? hostname;
  return `http://${reached}:${port}`;
}
