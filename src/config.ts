/** Reads the settings from the environment once, and reports every fault at once. */
import { readFileSync, statSync } from "node:fs";
import { Fault, isLoopback } from "./config/parsers.ts";
import { fileSettingOf, type Setting, settingOf, type Settings } from "./config/settings.ts";

export { isLoopback };

export interface Config extends Settings {
  /** Set only by `serve --demo`, which serves this machine alone and has no secrets. */
  isDemo: boolean;
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
  const refuse = (sentence: string) => void faults.push(`${sentence}.`);
  const read = ({ name, byDefault, isSecret, parse }: Setting<unknown>): unknown => {
    const path = isSecret ? given(fileSettingOf(name)) : "";
    if (path !== "") return readFromFile(name, path, parse);
    const text = given(name) || byDefault;
    const value = parse(text);
    if (!(value instanceof Fault)) return value;
    const shown = isSecret ? "" : `, but is '${text.slice(0, 100)}'`;
    return refuse(`${name} ${value.sentence}${shown}`);
  };
  const readFromFile = (name: string, path: string, parse: Setting<unknown>["parse"]): unknown => {
    const fileSetting = fileSettingOf(name);
    if (given(name) !== "") return refuse(`${name} and ${fileSetting} must not both be set`);
    const secret = readSecret(path);
    if (secret instanceof Fault) return refuse(`${fileSetting} names ${path}, ${secret.sentence}`);
    const value = parse(secret);
    if (!(value instanceof Fault)) return value;
    return refuse(`${name}, read from ${path} as ${fileSetting} says, ${value.sentence}`);
  };
  const values = Object.entries(settingOf).map(([member, setting]) => [member, read(setting)]);
  const config: Config = { ...(Object.fromEntries(values) as Settings), isDemo: false };
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
