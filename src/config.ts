/** Reads the settings from the environment once and names every fault at once. */
import { BlockList, isIP } from "node:net";

export interface Config {
  host: string;
  port: number;
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
  isProduction: boolean;
}

const logLevels = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

/** Every setting, for the reader below and for docs/settings.md, which a test holds to this list. */
export const settings = [
  { name: "HOST", byDefault: "127.0.0.1", help: "Address to listen on." },
  { name: "PORT", byDefault: "8080", help: "Port to listen on; 0 takes a free one." },
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
    dataDir: textOf("DATA_DIR"),
    publicUrl: read("PUBLIC_URL", parsePublicUrl),
    trustedProxies: read("TRUSTED_PROXIES", parseRanges),
    corsOrigins: read("CORS_ORIGINS", parseOrigins),
    pageSizeMax: read("PAGE_SIZE_MAX", wholeNumber(100, 1000)),
    logLevel: read("LOG_LEVEL", parseLogLevel),
    answerCacheBytes: read("ANSWER_CACHE_BYTES", wholeNumber(0, 2 ** 40)),
    isProduction: textOf("NODE_ENV") === "production",
  };
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
