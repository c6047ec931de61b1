import assert from "node:assert/strict";
import { once } from "node:events";
import { cpSync, globSync, readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { timeouts } from "#http/build-server.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { cast } from "./support/cast.ts";
import { importRecords } from "./support/dataset.ts";
import { eventually } from "./support/eventually.ts";
import { freePort, listenFor } from "./support/ports.ts";
import { newKey, roomy } from "./support/own-process.ts";
import { askOn } from "./support/persistent-clients.ts";
import {
  nginxConfiguration,
  nginxSite,
  type ProxyName,
  proxyNames,
  startProxy,
} from "./support/proxies.ts";
import { startServer } from "./support/server-process.ts";
import { hasTool, runTool } from "./support/machine.ts";
import { startService } from "./support/service.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

test("nginx accepts deploy/nginx.conf, with one instance and with two", (t) => {
  if (!hasTool(t, "nginx") || !hasTool(t, "openssl")) return;
  for (const site of [nginxSite, nginxSite.replace("# server 127", "server 127")]) {
    const configuration = nginxConfiguration(temporaryFolder(t), site);
    const { exitCode, said } = runTool("nginx", ["-t", "-e", "stderr", "-c", configuration]);
    assert.equal(exitCode, 0, said);
    assert.doesNotMatch(said, /warn/);
  }
});

/** Starts a proxy before one instance or two, and returns its port; it ends with the test. @param site of nginx. */
async function behind(
  t: TestContext,
  name: ProxyName,
  instances: readonly number[],
  site?: string,
): Promise<number> {
  const { child, port } = await startProxy(name, temporaryFolder(t), instances, site);
  const ended = once(child, "exit");
  t.after(() => {
    child.kill("SIGTERM");
    return ended;
  });
  return port;
}

/** Runs a subtest behind each proxy that is installed here. */
async function behindEach(
  t: TestContext,
  run: (t: TestContext, name: ProxyName) => Promise<void>,
): Promise<void> {
  for (const name of proxyNames)
    await t.test(name, async (inner) => {
      if (hasTool(inner, name) && hasTool(inner, "openssl")) await run(inner, name);
    });
}

/** Asks until somebody listens: neither proxy says where that it is ready. */
async function getThrough(port: number, path: string, headers: Record<string, string>) {
  for (let attempt = 0; ; attempt++) {
    const sent = { host: `localhost:${port}`, ...headers };
    const where = { host: "127.0.0.1", port, servername: "localhost" };
    const asked = request({ ...where, path, headers: sent, rejectUnauthorized: false });
    try {
      const [answer] = await once(asked.end(), "response");
      const found = answer.headersDistinct["strict-transport-security"] as string[] | undefined;
      const body = await text(answer);
      return { status: answer.statusCode as number, body, strictTransport: found ?? [] };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ECONNREFUSED" || attempt > 5000) throw error;
    }
  }
}

test("behind nginx as shipped, answers and refusals are the service's own and clients are told apart", async (t) => {
  if (!hasTool(t, "nginx") || !hasTool(t, "openssl")) return;
  const service = await startService(t, { settings: { TRUSTED_PROXIES: "127.0.0.1" } });
  const port = await behind(t, "nginx", [service.port]);
  const path = "/fetch-gp?gp_name=northwind";
  const through = await getThrough(port, path, { "x-api-key": service.key });
  assert.equal(through.body, (await service.get(path)).text);
  const long = await getThrough(port, `/fetch-gp?gp_name=${"n".repeat(9000)}`, {});
  assert.equal(long.status, 414);
  assert.equal(JSON.parse(long.body).code, "uri-too-long");
  const forged = { "x-forwarded-for": "203.0.113.9", "x-api-key": "gpr_no" };
  for (let i = 0; i < 30; i++) await getThrough(port, "/fetch-gp", forged);
  const thirtyFirst = { ...forged, "x-forwarded-for": "203.0.113.10" };
  assert.equal((await getThrough(port, "/fetch-gp", thirtyFirst)).status, 429);
});

test("nginx as shipped counts the addresses of one IPv6 network together", async (t) => {
  if (!hasTool(t, "nginx") || !hasTool(t, "openssl")) return;
  let reached = 0;
  const instance = await listenFor(
    t,
    createServer(() => reached++),
  );
  const asIf = "limit_conn clients 1; set_real_ip_from 127.0.0.1; real_ip_header X-Forwarded-For;";
  const site = nginxSite.replace("limit_conn clients 64;", asIf);
  const port = await behind(t, "nginx", [instance], site);
  const ask = (from: string) => getThrough(port, "/", { "x-forwarded-for": from });
  const askInVain = (from: string) => void ask(from).catch(() => {});
  askInVain("2001:db8:7:a0a::1");
  await eventually(() => assert.equal(reached, 1));
  assert.equal((await ask("2001:db8:7:a0a::a0a")).status, 503);
  for (const from of ["2001:db8:7:a0b::1", "10.10.10.1", "10.10.10.2"]) askInVain(from);
  await eventually(() => assert.equal(reached, 4));
});

test("behind every proxy as shipped each answer has one Strict-Transport-Security, whoever gives it", async (t) => {
  const settings = { TRUSTED_PROXIES: "127.0.0.1", PUBLIC_URL: "https://records.example" };
  const service = await startService(t, { settings });
  const said = (await service.get("/account/sign-in")).headers.get("strict-transport-security");
  await behindEach(t, async (t, name) => {
    const port = await behind(t, name, [service.port]);
    for (const [path, status] of [
      ["/account/sign-in", 200],
      ["/docs", 200],
      ["/fetch-gp", 401],
      ["/nowhere", 404],
    ] as const) {
      const answer = await getThrough(port, path, {});
      assert.equal(answer.status, status, path);
      assert.deepEqual(answer.strictTransport, [said], path);
    }
    // Whoever else runs here could take a port on which nobody listens.
    const deaf = createServer((socket) => socket.destroy());
    const beforeNobody = await behind(t, name, [await listenFor(t, deaf)]);
    const { status, strictTransport } = await getThrough(beforeNobody, "/docs", {});
    assert.equal(status, 502);
    assert.deepEqual(strictTransport, [said]);
  });
});

test("behind every proxy as shipped, with a second instance, no request fails while one after the other is restarted under load", async (t) => {
  await behindEach(t, async (t, name) => {
    const folders = [temporaryFolder(t), join(temporaryFolder(t), "copy")] as const;
    await importRecords(openCatalogue(join(folders[0], "datasets")), cast);
    const headers = { "x-api-key": await newKey(folders[0], "roomy", roomy) };
    cpSync(folders[0], folders[1], { recursive: true });
    const ports = [await freePort(), await freePort()] as const;
    const start = (which: 0 | 1) =>
      startServer(t, { dataDir: folders[which], settings: { PORT: String(ports[which]) } });
    const instances = [await start(0), await start(1)];
    const port = await behind(t, name, ports);
    const path = "/fetch-gp?gp_name=northwind";
    assert.equal((await getThrough(port, path, headers)).status, 200);
    const asked = { port, path, headers: { ...headers, host: `localhost:${port}` } };
    const clients = askOn({ ...asked, clients: 8, isSecure: true });
    for (const which of [0, 1] as const) {
      await clients.answered(200);
      instances[which]!.signal("SIGTERM");
      assert.equal((await instances[which]!.ended).exitCode, 0);
      // The other one answers alone.
      await clients.answered(200);
      instances[which] = await start(which);
      // The proxy leaves it alone for a second, and has to have found it again before the other one stops.
      while (!/"\/fetch-gp"/.test(instances[which].out())) await clients.answered(1);
    }
    const { statuses, failures, sentAgain } = await clients.end();
    assert.deepEqual(failures, []);
    assert.deepEqual(Object.keys(statuses), ["200"]);
    assert.equal(sentAgain, 0);
  });
});

test("Caddy accepts deploy/Caddyfile, formatted as Caddy would", (t) => {
  if (!hasTool(t, "caddy")) return;
  const validated = runTool("caddy", [
    ..."validate --adapter caddyfile --config".split(" "),
    "deploy/Caddyfile",
  ]);
  assert.equal(validated.exitCode, 0, validated.said);
  const { said } = runTool("caddy", ["fmt", "deploy/Caddyfile"]);
  assert.equal(said, readFileSync("deploy/Caddyfile", "utf8"));
});

test("systemd accepts every unit in deploy/", (t) => {
  if (!hasTool(t, "systemd-analyze", "systemd")) return;
  const folder = temporaryFolder(t);
  // The program is here and not in /opt; all else is checked as it is shipped.
  const units = globSync("deploy/*.{service,socket,timer}").map((name) => {
    const unit = join(folder, name.slice("deploy/".length));
    writeFileSync(unit, readFileSync(name, "utf8").replaceAll("/opt/gp-records", resolve(".")));
    return unit;
  });
  assert.equal(units.length, 9);
  const { exitCode, said } = runTool("systemd-analyze", ["verify", "--man=no", ...units]);
  assert.equal(exitCode, 0, said);
  assert.equal(said, "");
});

test("systemd signals the launcher alone", () => {
  assert.match(readFileSync("deploy/gp-records.service", "utf8"), /^KillMode=mixed$/m);
});

test("of the backups that the timers make, the newest stay", (t) => {
  for (const [unit, below, kept] of [
    ["gp-records-backup", "", 14],
    ["gp-records-backup-control", "/control", 288],
  ] as const) {
    const folder = temporaryFolder(t);
    const [, script] = /^ExecStartPost=\/bin\/sh -c '(.+)'$/m.exec(
      readFileSync(`deploy/${unit}.service`, "utf8"),
    )!;
    const names = Array.from({ length: kept + 3 }, (_, i) => `${1000 + i}.tar`);
    for (const [i, name] of names.entries()) {
      writeFileSync(join(folder, name), "");
      utimesSync(join(folder, name), i, i);
    }
    const place = `/var/backups/gp-records${below}/*`;
    assert.ok(script!.includes(place), unit);
    const { exitCode, said } = runTool("sh", ["-c", script!.replace(place, `${folder}/*`)]);
    assert.equal(exitCode, 0, said);
    assert.deepEqual(readdirSync(folder).toSorted(), names.slice(3));
  }
});

test("no proxy compresses what the service sends as it is", () => {
  assert.match(readFileSync("deploy/nginx.conf", "utf8"), /^ {4}gzip off;$/m);
  assert.doesNotMatch(readFileSync("deploy/Caddyfile", "utf8"), /^\s*encode\b/m);
});

test("every proxy gives up an idle connection before the service does", () => {
  for (const name of ["deploy/nginx.conf", "deploy/Caddyfile"]) {
    const [, seconds] = /keepalive(?:_timeout)? (\d+)s/.exec(readFileSync(name, "utf8")) ?? [];
    assert.ok(Number(seconds) * 1000 < timeouts.keepAlive, name);
  }
});
