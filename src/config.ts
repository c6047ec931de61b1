/** Reads the settings from the environment once and names every fault at once. */
import { BlockList, isIP } from "node:net";

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
  isProduction: boolean;
}

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
    name: "NODE_ENV",
    byDefault: "",
    help: "`production` refuses the demo; nothing else depends on it.",
  },
] as const;

type SettingName = (typeof settings)[number]["name"];

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
    faults.push(`${name} ${value.sentence}, but is '${text.slice(0, 100)}'.`);
    return undefined as T;
  };
  const config: Config = {
    host: read("HOST", parseHost),
    port: read("PORT", wholeNumber(0, 65_535)),
    adminAddress: read("ADMIN_ADDRESS", parseAdminAddress),
    dataDir: textOf("DATA_DIR"),
    publicUrl: read("PUBLIC_URL", parsePublicUrl),
    trustedProxies: read("TRUSTED_PROXIES", parseRanges),
    corsOrigins: read("CORS_ORIGINS", parseOrigins),
    pageSizeMax: read("PAGE_SIZE_MAX", wholeNumber(100, 1000)),
    logLevel: read("LOG_LEVEL", parseLogLevel),
    answerCacheBytes: read("ANSWER_CACHE_BYTES", wholeNumber(0, 2 ** 40)),
    connectionsMax: read("CONNECTIONS_MAX", orUnset(wholeNumber(1, 1_000_000))),
    eventLoopDelayMaxMilliseconds: read("EVENT_LOOP_DELAY_MAX_MS", wholeNumber(0, 60_000)),
    memoryMaxBytes: read("MEMORY_MAX_BYTES", orUnset(wholeNumber(0, 2 ** 48))),
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

/** Is only this machine able to reach what listens on this address? */
export function isLoopback(host: string): boolean {
  return host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** What a parser returns for a text it cannot use: the end of a sentence that begins with the setting's name. */
class Fault {
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
  (parse: (text: string) => number | Fault) =>
  (text: string): number | null | Fault =>
    text === "" ? null : parse(text);

function parseAdminAddress(text: string): Config["adminAddress"] | Fault {
  if (text === "") return null;
  const [, bracketed, plain = "", digits = ""] =
    /^(?:\[([\da-f:.]+)\]|([^:[\]]+)):(\d+)$/i.exec(text) ?? [];
  const host = parseHost(bracketed ?? plain);
  const port = wholeNumber(0, 65_535)(digits);
  return host instanceof Fault || port instanceof Fault
    ? new Fault("must be an address and a port, such as 127.0.0.1:9464 or [::1]:9464")
    : { host, port };
}

function parseHost(text: string): string | Fault {
  // The name stands for two addresses; one server listens on one, and a stop has one server to end.
  if (text === "localhost") return "127.0.0.1";
  return isIP(text) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text)
    ? text
    : new Fault("must be an IP address or a host name");
}

function parsePublicUrl(text: string): string | null | Fault {
  if (text === "") return null;
  const url = URL.parse(text);
  const usable =
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.search === "" &&
    url.hash === "" &&
    url.username === "";
  return usable
    ? url.href.replace(/\/+$/, "")
    : new Fault("must be an http or https URL without query, such as https://records.example");
}

function parseRanges(text: string): BlockList | null | Fault {
  if (text === "") return null;
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
    : new Fault("must be `*`, `off`, or origins such as https://app.example, separated by commas");
}

function parseLogLevel(text: string): Config["logLevel"] | Fault {
  return (
    logLevels.find((level) => level === text) ?? new Fault(`must be one of ${logLevels.join(", ")}`)
  );
}

const commaSeparated = (text: string) => text.split(",").map((part) => part.trim());
