/** Starts the proxies as deploy/ configures them, on a port of their own and with a certificate that nobody trusts. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeCertificate } from "./machine.ts";
import { freePort } from "./ports.ts";

export const proxyNames = ["nginx", "caddy"] as const;
export type ProxyName = (typeof proxyNames)[number];

export interface Proxy {
  child: ChildProcess;
  port: number;
}

export const nginxSite = readFileSync("deploy/nginx.conf", "utf8");

/**
 * @param instances the ports of one instance or two.
 * @param site of nginx.
 */
export async function startProxy(
  name: ProxyName,
  folder: string,
  instances: readonly number[],
  site = nginxSite,
): Promise<Proxy> {
  const port = await freePort();
  const child =
    name === "nginx" ? nginx(folder, port, instances, site) : caddy(folder, port, instances);
  return { child, port };
}

/** Writes a whole configuration of nginx around `site`, and returns its path. */
export function nginxConfiguration(folder: string, site: string): string {
  const { certificate, key } = makeCertificate(folder);
  const withCertificate = site
    .replace("/etc/letsencrypt/live/records.example/fullchain.pem", certificate)
    .replace("/etc/letsencrypt/live/records.example/privkey.pem", key);
  const whole = join(folder, "nginx.conf");
  const around = `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr; events { worker_connections 4096; }`;
  writeFileSync(whole, `${around}\nhttp {\n${withCertificate}\n}\n`);
  return whole;
}

function nginx(
  folder: string,
  port: number,
  [first, second]: readonly number[],
  shipped: string,
): ChildProcess {
  const site = shipped
    .replace(/^server \{\n {4}listen 80;.*?^\}\n/ms, "")
    .replace("listen [::]:443 ssl http2;", "")
    .replace("listen 443 ", `listen 127.0.0.1:${port} `)
    .replace("127.0.0.1:8080", `127.0.0.1:${first}`)
    .replace("# server 127.0.0.1:8081", second === undefined ? "#" : `server 127.0.0.1:${second}`);
  const configuration = nginxConfiguration(folder, site);
  return spawn("nginx", ["-e", "stderr", "-c", configuration], { stdio: "ignore" });
}

function caddy(folder: string, port: number, instances: readonly number[]): ChildProcess {
  const { certificate, key } = makeCertificate(folder);
  const configuration = join(folder, "Caddyfile");
  const local = `https://localhost:${port} {\n\tbind 127.0.0.1\n\ttls ${certificate} ${key}\n`;
  const site = readFileSync("deploy/Caddyfile", "utf8")
    .replace("{\n", "{\n\tadmin off\n\tauto_https disable_redirects\n")
    .replace("{$SITE:records.example} {\n", () => local);
  writeFileSync(configuration, site);
  return spawn("caddy", ["run", "--adapter", "caddyfile", "--config", configuration], {
    stdio: "ignore",
    env: {
      ...process.env,
      INSTANCES: instances.map((one) => `127.0.0.1:${one}`).join(" "),
      HOME: folder,
      XDG_DATA_HOME: folder,
      XDG_CONFIG_HOME: folder,
    },
  });
}
