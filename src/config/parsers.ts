/** Parsers of settings: each turns a text into a value or a fault. */
import { BlockList, isIP } from "node:net";

/** Result of a parser for an unusable text: the end of a sentence that begins with the setting's name. */
export class Fault {
  readonly sentence: string;
  constructor(sentence: string) {
    this.sentence = sentence;
  }
}

export const wholeNumber = (minimum: number, maximum: number) => (text: string) => {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  return value >= minimum && value <= maximum
    ? value
    : new Fault(`must be a whole number from ${minimum} to ${maximum}`);
};

export const orUnset =
  (parse: (text: string) => number | Fault) =>
  (text: string): number | null | Fault =>
    text === "" ? null : parse(text);

export function parseAddress(text: string): { host: string; port: number } | null | Fault {
  if (text === "") return null;
  const [, bracketed, plain = "", digits = ""] =
    /^(?:\[([\da-f:.]+)\]|([^:[\]]+)):(\d+)$/i.exec(text) ?? [];
  const host = parseHost(bracketed ?? plain);
  const port = wholeNumber(0, 65_535)(digits);
  return host instanceof Fault || port instanceof Fault
    ? new Fault("must be an address and a port, such as 127.0.0.1:9464 or [::1]:9464")
    : { host, port };
}

export function parseHost(text: string): string | Fault {
  // The name stands for two addresses, and the server listens on one.
  if (text === "localhost") return "127.0.0.1";
  return isIP(text) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(text)
    ? text
    : new Fault("must be an IP address or a host name");
}

export function parsePublicUrl(text: string): string | null | Fault {
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

/** Returns the text. Returns a fault if user or password are percent-encoded wrongly. */
function decodable({ username, password }: URL, text: string): string | Fault {
  try {
    decodeURIComponent(username + password);
    return text;
  } catch {
    return new Fault("must have a % in its user or password as %25");
  }
}

export function parseSmtpUrl(text: string): string | null | Fault {
  if (text === "") return null;
  const url = URL.parse(text);
  return url !== null && /^smtps?:$/.test(url.protocol) && url.hostname !== ""
    ? decodable(url, text)
    : new Fault("must be a URL such as smtps://user:password@mail.example:465");
}

/** Reports whether only this machine can reach a listener on this address. */
export function isLoopback(host: string): boolean {
  return ["localhost", "::1", "[::1]"].includes(host) || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** Parameters that `DATABASE_URL` may have. Any other would be a time-out or the like, which nobody expects there. */
const databaseParameters = {
  host: /^/,
  sslmode: /^(?:disable|require|verify-ca|verify-full)$/,
  sslrootcert: /^\//,
  sslcert: /^\//,
  sslkey: /^\//,
  options: /^/,
  application_name: /^/,
} as const;

/** Checks a URL of PostgreSQL. No fault quotes it, because it may contain a password. */
export function parseDatabaseUrl(text: string): string | null | Fault {
  if (text === "") return null;
  const url = URL.parse(text);
  if (
    url === null ||
    !/^postgres(?:ql)?:$/.test(url.protocol) ||
    url.hostname === "" ||
    url.username === "" ||
    !/^\/[^/]+$/.test(url.pathname)
  )
    return new Fault("must be a URL such as postgres://user:password@db.example:5432/records");
  for (const [name, value] of url.searchParams)
    if (!(databaseParameters as Partial<Record<string, RegExp>>)[name]?.test(value))
      return new Fault(
        `must have no parameters except ${Object.keys(databaseParameters).join(", ")}; sslmode is disable, require, verify-ca or verify-full, and files are absolute paths`,
      );
  if (url.searchParams.get("sslmode") === "verify-ca" && !url.searchParams.has("sslrootcert"))
    return new Fault("must name the authority with sslrootcert if sslmode is verify-ca");
  return decodable(url, text);
}

/** Checks a URL of Valkey or Redis. No fault quotes it, because it may contain a password. */
export function parseCountersUrl(text: string): string | null | Fault {
  if (text === "") return null;
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
        "must be a URL such as valkeys://user:password@counts.example:6379/0, without parameters; its scheme is valkey or redis, with TLS valkeys or rediss",
      );
}

const mailAddress = "[^\\s<>@,;]+@[^\\s<>@,;]+";
const mailFrom = new RegExp(`^(?:${mailAddress}|(?:[^<>,;\\r\\n]+ )?<${mailAddress}>)$`);

export const parseMailFrom = (text: string): string | Fault =>
  mailFrom.test(text)
    ? text
    : new Fault(
        "must be an address, or a name and an address such as Records <records@example.org>",
      );

export function parseRanges(text: string): BlockList | null | Fault {
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

export function parseOrigins(text: string): "*" | readonly string[] | Fault {
  if (text === "*") return "*";
  if (text === "off") return [];
  const origins = commaSeparated(text);
  return origins.every((origin) => URL.parse(origin)?.origin === origin)
    ? origins
    : new Fault("must be `*`, `off`, or origins such as https://app.example, separated by commas");
}

export const oneOf =
  <const Word extends string>(words: readonly Word[]) =>
  (text: string): Word | Fault =>
    words.find((word) => word === text) ?? new Fault(`must be one of ${words.join(", ")}`);

export function onOrOff(text: string): boolean | Fault {
  const word = oneOf(["on", "off"])(text);
  return word instanceof Fault ? new Fault("must be on or off") : word === "on";
}

const commaSeparated = (text: string) => text.split(",").map((part) => part.trim());
