/** Reads the settings from the environment, and checks that they fit together. */
import { readFileSync, statSync } from "node:fs";
import {
  Fault,
  fileSettingOf,
  isLoopback,
  type Setting,
  settingOf,
  type Settings,
} from "./config/settings.ts";

export { isLoopback };

export interface Config extends Settings {
  /** True only for `serve --demo`, which serves only this machine. */
  isDemo: boolean;
}

/** Error for unusable or conflicting settings, with a sentence about each fault. */
export class ConfigFault extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join("\n"));
    this.name = "ConfigFault";
    this.faults = faults;
  }
}

/**
 * Returns the settings of one process, frozen.
 * @throws ConfigFault with a sentence about each unusable setting. Conflicts between settings are reported only if each
 *   setting is usable.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const faults: string[] = [];
  const given = (name: string) => environment[name]?.trim() ?? "";
  const refuse = (sentence: string) => void faults.push(`${sentence}.`);
  const read = ({ name, byDefault, isSecret, parse }: Setting<unknown>): unknown => {
    const fileSetting = fileSettingOf(name);
    const path = isSecret ? given(fileSetting) : "";
    if (path !== "" && given(name) !== "")
      return refuse(`${name} and ${fileSetting} must not both be set; remove one`);
    const text = path === "" ? given(name) || byDefault : readSecret(path);
    if (text instanceof Fault) return refuse(`${fileSetting} names ${path}, ${text.sentence}`);
    const value = parse(text);
    if (!(value instanceof Fault)) return value;
    const source = path === "" ? "" : `, read from ${path} as ${fileSetting} says,`;
    const shown = isSecret ? "" : `, but is '${text.slice(0, 100)}'`;
    return refuse(`${name}${source} ${value.sentence}${shown}`);
  };
  const values = Object.entries(settingOf).map(([member, setting]) => [member, read(setting)]);
  const config: Config = { ...(Object.fromEntries(values) as Settings), isDemo: false };
  if (faults.length === 0) faults.push(...faultsTogether(config));
  if (faults.length > 0) throw new ConfigFault(faults);
  return Object.freeze(config);
}

const secretBytesMax = 65_536;

/** Returns a file's text, trimmed. Returns a fault if the file is unusable or empty. Faults never quote the text. */
function readSecret(path: string): string | Fault {
  try {
    const stats = statSync(path);
    if (!stats.isFile()) return new Fault("which is not a regular file");
    if (stats.size > secretBytesMax)
      return new Fault(`which is larger than ${secretBytesMax / 1024} KiB`);
    return readFileSync(path, "utf8").trim() || new Fault("which is empty");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return new Fault(`which cannot be read (${code})`);
  }
}

/** Returns a fault for each conflict between settings. */
function faultsTogether(config: Config): string[] {
  const { host, port, adminAddress, databaseUrl, countersUrl, smtpUrl, publicUrl } = config;
  const faults: string[] = [];
  if (countersUrl !== null && databaseUrl === null)
    faults.push(
      "COUNTERS_URL is set and DATABASE_URL is not. Servers that share counts must also share their accounts, which only DATABASE_URL lets them do. Set DATABASE_URL, or unset COUNTERS_URL.",
    );
  const hosts = [host, adminAddress?.host];
  const isAny = hosts.includes("::") || (hosts.includes("0.0.0.0") && !hosts.join().includes(":"));
  if (adminAddress?.port === port && port !== 0 && (isAny || host === adminAddress.host))
    faults.push("ADMIN_ADDRESS must not overlap HOST:PORT. Give ADMIN_ADDRESS another port.");
  if (smtpUrl !== null && publicUrl === null && !isLoopback(host))
    faults.push(
      `SMTP_URL is set and PUBLIC_URL is not, but links in mail must begin with it, because HOST is '${host}' and not a loopback address. Set PUBLIC_URL to the https address where people reach the service.`,
    );
  return faults;
}

/**
 * Returns why pages show records to members only, although BROWSE is `everyone`, and the remedy, without full stops.
 * Returns null if nothing is missing.
 * @param isInvented true if all records are invented.
 */
export const missedContact = (
  { browse, contact }: Pick<Config, "browse" | "contact">,
  isInvented: boolean,
): { found: string; mend: string } | null =>
  browse === "everyone" && contact === null && !isInvented
    ? {
        found:
          "BROWSE is 'everyone' and CONTACT is not set, so people in the records cannot tell whom to write to",
        mend: "Set CONTACT to an e-mail address or an https URL, or set BROWSE to members",
      }
    : null;

/**
 * Returns the URL of the account pages, relative if PUBLIC_URL is not set. Returns null if they are not served: without
 * https they are served only on a loopback host.
 */
export function accountUrl({ publicUrl, host }: Pick<Config, "publicUrl" | "host">): string | null {
  if (publicUrl === null) return isLoopback(host) ? "/account" : null;
  return ownOrigin(publicUrl) === null ? null : `${publicUrl}/account`;
}

/** The scheme and host under which a browser sees the pages for people. */
export interface OwnOrigin {
  /** Origin without a trailing slash. */
  origin: string;
  /** Address with which links and samples on a page begin: the origin and any path. Never used in mail. */
  base: string;
  isSecure: boolean;
}

/**
 * Returns the origin from `PUBLIC_URL`, or else from the `Host` header. Trusts the header only for a loopback host,
 * because a client may make up any other name. Returns null if no page may be served: without https, pages are served
 * only on a loopback host.
 */
export function ownOrigin(publicUrl: Config["publicUrl"], host = ""): OwnOrigin | null {
  if (publicUrl !== null) {
    const { origin, protocol, hostname } = new URL(publicUrl);
    const isSecure = protocol === "https:";
    return isSecure || isLoopback(hostname) ? { origin, base: publicUrl, isSecure } : null;
  }
  const [, name = ""] = /^([^:]+|\[[^\]]*\])(?::\d{1,5})?$/.exec(host) ?? [];
  if (!isLoopback(name)) return null;
  return { origin: `http://${host}`, base: `http://${host}`, isSecure: false };
}

/**
 * Returns what people on other machines lack without `PUBLIC_URL`, and the remedy, each without a full stop. Returns
 * null if they lack nothing. Cannot detect a proxy on this machine through which others may reach the service.
 */
export function missedLinks(config: Pick<Config, "host" | "port" | "publicUrl" | "smtpUrl">) {
  const { host, port, publicUrl, smtpUrl } = config;
  if (publicUrl !== null) return null;
  if (!isLoopback(host))
    return {
      found: `HOST is '${host}' and PUBLIC_URL is not set, so other machines get no account pages, and links, code samples and feeds lack the address of the service`,
      mend: "Set PUBLIC_URL to the https address where people reach the service",
    };
  if (smtpUrl === null) return null;
  const where = port === 0 ? "a local port that differs at each start" : localUrl(host, port);
  return {
    found: `SMTP_URL is set and PUBLIC_URL is not: links in mail lead to ${where}, which only this machine reaches`,
    mend: "Set PUBLIC_URL to the https address of the service, unless only people on this machine get mail",
  };
}

/**
 * Returns the URL at which this machine reaches a listener, without a trailing slash. Replaces a wildcard address with
 * a loopback one.
 */
export function localUrl(host: string, port: number): string {
  const { hostname = host } = URL.parse(`http://${host.includes(":") ? `[${host}]` : host}`) ?? {};
  const reached = { "0.0.0.0": "127.0.0.1", "[::]": "[::1]" }[hostname] ?? hostname;
  return `http://${reached}:${port}`;
}
