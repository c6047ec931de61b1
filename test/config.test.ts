import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import {
  accountUrl,
  ConfigFault,
  isLoopback,
  localUrl,
  missedLinks,
  ownOrigin,
  readConfig,
} from "#config.ts";
import { withEnvironmentFile } from "#config/environment-file.ts";
import { settingNames, settings } from "#config/settings.ts";
import { settings as settingsCheck } from "#doctor/settings.ts";
import { mainPath, outcomeOf } from "./support/command-line.ts";
import { finding, look } from "./support/doctor.ts";
import { temporaryFolder } from "./support/temporary-folder.ts";

function faultsOf(environment: Record<string, string>): readonly string[] {
  try {
    readConfig(environment);
  } catch (error) {
    assert.ok(error instanceof ConfigFault);
    return error.faults;
  }
  return [];
}

test("every setting has the default that the list of settings says", () => {
  const defaults = Object.fromEntries(settings.map(({ name, byDefault }) => [name, byDefault]));
  assert.deepEqual(readConfig(defaults), readConfig({}));
});

/** What is taken as it is written. */
const whole: Record<string, "smtpUrl" | "countersUrl" | "databaseUrl" | "mailFrom"> = {
  SMTP_URL: "smtpUrl",
  COUNTERS_URL: "countersUrl",
  DATABASE_URL: "databaseUrl",
  MAIL_FROM: "mailFrom",
};

/** What each setting takes, and what it does not. */
const borders = [
  ["PORT", ["0", "65535"], ["65536", "80.5", "0x50"]],
  ["PAGE_SIZE_MAX", ["100", "1000"], ["99", "1001"]],
  ["ANSWER_CACHE_BYTES", ["0", "1099511627776"], ["1e6", "1099511627777"]],
  ["CONNECTIONS_MAX", ["1", "1000000", ""], ["0", "1000001"]],
  ["CONNECTIONS_PER_CLIENT_MAX", ["1", "1000000"], ["0", "1000001"]],
  ["EVENT_LOOP_DELAY_MAX_MS", ["0", "60000"], ["60001", "0.5"]],
  ["COUNTERS_PATIENCE_MS", ["10", "1000"], ["9", "1001"]],
  ["MEMORY_MAX_BYTES", ["0", "281474976710656", ""], ["281474976710657"]],
  ["USAGE_LOG_DAYS", ["0", "3650", ""], ["3651", "-1"]],
  ["USAGE_LOG_ROWS", ["1", "1000000000"], ["0", "1000000001"]],
  ["USAGE_LOG_PARAMETERS", ["on", "off", ""], ["ON", "1", "true"]],
  ["PUBLIC_URL", ["https://x.example/a"], ["https://x.example/?a=1", "https://x.example/#a"]],
  ["PUBLIC_URL", ["http://x.example"], ["https://x.example/?", "https://x.example#"]],
  ["PUBLIC_URL", [""], ["https://me@x.example/", "https://:a@x.example/", "ftp://x.example"]],
  ["TRUSTED_PROXIES", ["10.0.0.0/8"], ["1", "true", "a.example", "10.0.0.0/8/8", "10.0.0.0/"]],
  ["ADMIN_ADDRESS", ["[::1]:1"], [":9464", "::1:9464", "127.0.0.1", "127.0.0.1:65536"]],
  ["ADMIN_ADDRESS", ["a.internal:80"], ["[::1]", "[x]:1", "[beef]:1", "a b:1"]],
  ["CORS_ORIGINS", ["off"], ["https://a.example/", "*.example", "null"]],
  ["HOST", ["localhost"], ["a b"]],
  ["COUNTERS_OUTAGE", ["local", "deny"], ["open"]],
  ["SIGN_UP", ["closed", "invite", "open"], ["yes"]],
  ["SERVICE_NAME", ["", "Northwind & Söhne"], ["a\nb", "a".repeat(61)]],
  ["BROWSE", ["members", "everyone", ""], ["off", "public"]],
  [
    "CONTACT",
    ["", "records@example.org", "https://example.org/people?a=1"],
    ["http://example.org", "records", "https:", "javascript:alert(1)", "a@b.example, c@d.example"],
  ],
  [
    "MAIL_FROM",
    ["a@b.example", "<a@b.example>", "Records of GPs <a@b.example>"],
    ["records", "a@b.example, c@d.example", "a@b.example\r\nBcc: c@d.example"],
  ],
  [
    "SMTP_URL",
    ["smtps://user:geheim@mail.example"],
    ["https://user:geheim@mail.example", "smtps://", "geheim"],
  ],
  [
    "COUNTERS_URL",
    ["valkey://10.0.0.5", "rediss://:geheim@counts.example:6380/1", "redis://h/"],
    [
      "https://user:geheim@counts.example",
      "redis://",
      "valkey://:geheim@counts.example/records",
      "rediss://:geheim@counts.example?family=6",
      "geheim",
    ],
  ],
  [
    "DATABASE_URL",
    [
      "postgres://u:p%40ss@db.example:5433/records?sslmode=verify-full&sslrootcert=/etc/ca.pem",
      "postgresql://u@%2Frun%2Fpostgresql/records",
      "postgres://u@localhost/records?host=/run/postgresql",
    ],
    [
      "mysql://u:geheim@db.example/records",
      "postgres://db.example/records",
      "postgres://u:geheim@db.example",
      "postgres://u:geheim@db.example/a/b",
      "postgres://u:geheim@/records",
      "u:geheim@db.example/records",
      "postgres://u:geheim@db.example/records?sslmode=prefer",
      "postgres://u:geheim@db.example/records?sslmode=verify-ca",
      "postgres://u:geheim@db.example/records?sslrootcert=ca.pem",
      "postgres://u:geheim@db.example/records?query_timeout=0",
      "postgres://u@db.example/records?password=geheim",
    ],
  ],
  ["LOG_LEVEL", ["info", ""], ["loud"]],
] as const;

test("every fault is named at once, with the setting, what it takes and what it is", () => {
  const isSecret = (name: string) => settings.find((one) => one.name === name)!.isSecret;
  const shown = borders.filter(([name]) => !isSecret(name));
  const wrong = Object.fromEntries(shown.map(([name, , [value]]) => [name, value]));
  const faults = faultsOf(wrong);
  const named = faults.map((fault) => fault.split(" ")[0]);
  const expected = settings.map(({ name }) => name).filter((name) => name in wrong);
  assert.deepEqual(named, expected);
  for (const [name, value] of Object.entries(wrong))
    assert.ok(
      faults.some((fault) => fault.startsWith(name) && fault.includes(`'${value}'`)),
      name,
    );
});

test("a value that a setting does not take is a fault that shows no password, one on the border of its range is not", () => {
  for (const [name, inside, outside] of borders) {
    // Without it no counters can be shared.
    const given = { DATABASE_URL: "postgres://records@db.example/records" };
    for (const value of inside) {
      assert.deepEqual(faultsOf({ ...given, [name]: value }), [], `${name}=${value}`);
      const member = whole[name];
      if (member !== undefined)
        assert.equal(readConfig({ ...given, [name]: value })[member], value);
    }
    for (const value of outside) {
      const [fault = "", ...others] = faultsOf({ ...given, [name]: value });
      assert.deepEqual(others, [], `${name}=${value}`);
      assert.ok(fault.startsWith(`${name} must `), `${name}=${value}: ${fault}`);
      assert.doesNotMatch(fault, /geheim/);
    }
  }
});

test("TRUSTED_PROXIES takes addresses and ranges of both families", () => {
  const { trustedProxies } = readConfig({ TRUSTED_PROXIES: "10.0.0.0/8, ::1, 192.168.1.7" });
  assert.ok(
    trustedProxies!.check("10.200.3.4") &&
      trustedProxies!.check("::1", "ipv6") &&
      trustedProxies!.check("192.168.1.7"),
  );
  assert.equal(trustedProxies!.check("192.168.1.8"), false);
});

test("what a setting says in another way is taken as what it means", () => {
  for (const [given, meant] of [
    [{ PUBLIC_URL: "https://records.example/a/" }, { publicUrl: "https://records.example/a" }],
    [{ ADMIN_ADDRESS: "" }, { adminAddress: null }],
    [{ ADMIN_ADDRESS: "127.0.0.1:9464" }, { adminAddress: { host: "127.0.0.1", port: 9464 } }],
    [{ ADMIN_ADDRESS: "localhost:0" }, { adminAddress: { host: "127.0.0.1", port: 0 } }],
    [{ ADMIN_ADDRESS: "[::1]:9464" }, { adminAddress: { host: "::1", port: 9464 } }],
    [{ ADMIN_ADDRESS: "m.internal:80" }, { adminAddress: { host: "m.internal", port: 80 } }],
    [{ CORS_ORIGINS: "off" }, { corsOrigins: [] }],
    [
      { CORS_ORIGINS: "https://a.example,http://localhost:3000" },
      { corsOrigins: ["https://a.example", "http://localhost:3000"] },
    ],
    [{ HOST: "localhost" }, { host: "127.0.0.1" }],
    [{ SIGN_UP: "invite" }, { signUp: "invite" }],
  ] as [Record<string, string>, object][])
    assert.partialDeepStrictEqual(readConfig(given), meant);
});

test("ADMIN_ADDRESS is not the address that the service has", () => {
  assert.match(faultsOf({ PORT: "9464", ADMIN_ADDRESS: "127.0.0.1:9464" })[0]!, /HOST:PORT/);
  assert.deepEqual(faultsOf({ PORT: "0", ADMIN_ADDRESS: "127.0.0.1:0" }), []);
  const faults = (HOST: string, where: string) =>
    faultsOf({ HOST, PORT: "80", ADMIN_ADDRESS: `${where}:80` }).length;
  assert.equal(faults("0.0.0.0", "127.0.0.1"), 1);
  assert.equal(faults("127.0.0.1", "[::]"), 1);
  assert.equal(faults("0.0.0.0", "[::1]"), 0);
});

test("only addresses of this machine are loopback", () => {
  for (const host of ["127.0.0.1", "127.9.9.9", "::1"]) assert.equal(isLoopback(host), true, host);
  for (const host of ["0.0.0.0", "::", "10.0.0.1", "127.0.0.1.example", "localhost.example"])
    assert.equal(isLoopback(host), false, host);
});

test("a % in a password that encodes nothing is refused with what stands for it", () => {
  for (const [name, url] of [
    ["COUNTERS_URL", "redis://:geheim%zz@counts.example"],
    ["SMTP_URL", "smtps://user:geheim%zz@mail.example"],
    ["DATABASE_URL", "postgres://user:geheim%zz@db.example/records"],
  ] as const)
    assert.ok(
      faultsOf({ [name]: url }).some((fault) =>
        fault.startsWith(`${name} has a % in its user or password that must be written as %25`),
      ),
    );
});

test("counters for several instances take the database that gives accounts the same number on all of them", () => {
  const [fault, ...others] = faultsOf({ COUNTERS_URL: "valkey://:geheim@counts.example" });
  assert.match(fault!, /^COUNTERS_URL is set and DATABASE_URL is not\. /);
  assert.doesNotMatch(fault!, /geheim/);
  assert.deepEqual(others, []);
});

test("mail takes PUBLIC_URL wherever others than this machine reach the service", () => {
  const SMTP_URL = "smtps://user:geheim@mail.example";
  for (const HOST of ["0.0.0.0", "::", "10.0.0.5", "records.internal"]) {
    const [fault, ...others] = faultsOf({ SMTP_URL, HOST });
    assert.deepEqual(others, []);
    assert.match(fault!, /^SMTP_URL is set and PUBLIC_URL is not, /);
    assert.ok(fault!.includes(`'${HOST}'`) && !fault!.includes("geheim"));
    assert.deepEqual(faultsOf({ SMTP_URL, HOST, PUBLIC_URL: "https://records.example" }), []);
    assert.deepEqual(faultsOf({ HOST }), []);
  }
  for (const HOST of ["", "localhost", "127.0.0.1", "::1"])
    assert.deepEqual(faultsOf({ SMTP_URL, HOST }), []);
});

test("an address to listen on is reached from this machine under one URL", () => {
  for (const [host, url] of [
    ["127.0.0.1", "http://127.0.0.1:80"],
    ["0.0.0.0", "http://127.0.0.1:80"],
    ["::", "http://[::1]:80"],
    ["0::0", "http://[::1]:80"],
    ["::1", "http://[::1]:80"],
    ["10.0.0.5", "http://10.0.0.5:80"],
    ["records.internal", "http://records.internal:80"],
  ] as const)
    assert.equal(localUrl(host, 80), url);
});

test("people are sent to the account pages where those are served, and nowhere else", () => {
  const urlOf = (environment: Record<string, string>) => accountUrl(readConfig(environment));
  assert.equal(urlOf({}), "/account");
  for (const PUBLIC_URL of ["https://records.example", "https://records.example/gp"])
    for (const HOST of ["", "0.0.0.0"])
      assert.equal(urlOf({ HOST, PUBLIC_URL }), `${PUBLIC_URL}/account`);
  assert.equal(urlOf({ HOST: "0.0.0.0" }), null);
  assert.equal(urlOf({ PUBLIC_URL: "http://records.example" }), null);
});

test("with PUBLIC_URL the Host header is ignored", () => {
  const own = ownOrigin("https://records.example/gp", "evil.example");
  assert.deepEqual(own, {
    origin: "https://records.example",
    base: "https://records.example/gp",
    isSecure: true,
  });
});

test("without PUBLIC_URL pages are served to this machine only", () => {
  for (const host of ["localhost", "localhost:8080", "127.0.0.1:8080", "127.3.2.1", "[::1]:80"])
    assert.deepEqual(ownOrigin(null, host), {
      origin: `http://${host}`,
      base: `http://${host}`,
      isSecure: false,
    });
  for (const host of ["evil.example", "127.0.0.1.evil.example", "localhost.evil", "10.0.0.1", ""])
    assert.equal(ownOrigin(null, host), null, host);
  assert.equal(ownOrigin(null), null);
});

test("a password never travels over plain http to another machine", () => {
  assert.equal(ownOrigin("http://records.example"), null);
  assert.equal(ownOrigin("http://127.0.0.1:8080")!.isSecure, false);
});

test("who is missing PUBLIC_URL is told by a setting that other machines could reach the service or its mail", () => {
  const found = (environment: Record<string, string>) =>
    missedLinks(readConfig(environment))?.found;
  assert.equal(found({}), undefined);
  const publicUrl = { PUBLIC_URL: "https://records.example" };
  const mail = { SMTP_URL: "smtp://localhost:25", MAIL_FROM: "gp@records.example" };
  for (const settings of [{ HOST: "0.0.0.0" }, mail, { HOST: "::", ...mail }])
    assert.equal(found({ ...settings, ...publicUrl }), undefined);
  for (const host of ["0.0.0.0", "::", "192.0.2.7", "records.example"])
    assert.match(
      found({ HOST: host })!,
      new RegExp(
        `^HOST is '${host.replaceAll(".", "\\.")}' and PUBLIC_URL is not set, so other machines`,
      ),
    );
  assert.match(
    found({ ...mail, PORT: "8080" })!,
    /^SMTP_URL .* lead to http:\/\/127\.0\.0\.1:8080/,
  );
  assert.match(found({ ...mail, PORT: "0" })!, /lead to a local port that differs at each start/);
});

test("every secret may stand in a file that a setting ending in _FILE names, and no other setting may", (t) => {
  const secrets = settings.filter(({ isSecret }) => isSecret).map(({ name }) => name);
  assert.deepEqual(secrets, ["DATABASE_URL", "COUNTERS_URL", "SMTP_URL"]);
  const ofFiles = settingNames.filter((name) => name.endsWith("_FILE"));
  assert.deepEqual(ofFiles, ["DATABASE_URL_FILE", "COUNTERS_URL_FILE", "SMTP_URL_FILE"]);
  const path = join(temporaryFolder(t), "smtp");
  const secret = "smtps://user:geheim@mail.example";
  writeFileSync(path, `${secret}\n`);
  assert.equal(readConfig({ SMTP_URL_FILE: path }).smtpUrl, secret);
  assert.equal(readConfig({ SMTP_URL_FILE: " ", SMTP_URL: secret }).smtpUrl, secret);
  assert.equal(readConfig({ PORT_FILE: path }).port, 8080);
});

test("a secret's file that cannot be used is named, and what stands in it is not shown", (t) => {
  const folder = temporaryFolder(t);
  const [wrong, empty, absent] = ["wrong", "empty", "absent"].map((name) => join(folder, name));
  writeFileSync(wrong!, "https://user:geheim@mail.example");
  writeFileSync(empty!, "\n");
  const faultOf = (environment: Record<string, string>) => {
    const [fault, ...others] = faultsOf(environment);
    assert.deepEqual(others, []);
    return fault;
  };
  assert.equal(
    faultOf({ SMTP_URL_FILE: wrong! }),
    `SMTP_URL, read from ${wrong} as SMTP_URL_FILE says, must be an smtp or smtps URL such as smtps://user:password@mail.example:465.`,
  );
  for (const [path, words] of [
    [empty!, "which is empty"],
    [absent!, "which cannot be read (ENOENT)"],
    [folder, "which is not a regular file"],
  ])
    assert.equal(faultOf({ SMTP_URL_FILE: path! }), `SMTP_URL_FILE names ${path}, ${words}.`);
  assert.equal(
    faultOf({ SMTP_URL: "smtps://mail.example", SMTP_URL_FILE: wrong! }),
    "SMTP_URL and SMTP_URL_FILE must not both be set; remove one.",
  );
});

function fileWith(t: TestContext, text: string, mode = 0o600): string {
  const name = join(temporaryFolder(t), ".env");
  writeFileSync(name, text);
  chmodSync(name, mode);
  return name;
}

test("known settings of the file are taken, the first behind a byte order mark, others are left alone", (t) => {
  const name = fileWith(
    t,
    "\uFEFFHOST=localhost\nPORT=9001\nexport LOG_LEVEL='warn'\nNODE_OPTIONS=--inspect\n",
  );
  const { environment, file } = withEnvironmentFile({ PATH: "/bin" }, { name });
  assert.deepEqual(environment, {
    PATH: "/bin",
    HOST: "localhost",
    PORT: "9001",
    LOG_LEVEL: "warn",
  });
  assert.deepEqual(file, {
    path: name,
    used: ["HOST", "PORT", "LOG_LEVEL"],
    unknown: ["NODE_OPTIONS"],
    ignored: null,
  });
});

test("the environment wins over the file, be it empty, and for a secret in either of its two settings", (t) => {
  const secret = "smtps://user:geheim@mail.example";
  const name = fileWith(t, `PORT=9001\nHOST=::1\nSMTP_URL=${secret}\n`);
  // HOST is no secret, so HOST_FILE is no setting.
  const given = { PORT: "", SMTP_URL_FILE: "/run/secrets/smtp", HOST_FILE: "/etc/host" };
  const { environment, file } = withEnvironmentFile(given, { name });
  assert.deepEqual(environment, { ...given, HOST: "::1" });
  assert.deepEqual(file!.used, ["HOST"]);
  assert.equal(withEnvironmentFile({}, { name }).environment["SMTP_URL"], secret);
});

test("where there is no such file, or a folder of that name, nothing is read and nothing named", (t) => {
  const name = join(temporaryFolder(t), ".env");
  assert.deepEqual(withEnvironmentFile({}, { name }), { environment: {}, file: null });
  mkdirSync(name);
  assert.deepEqual(withEnvironmentFile({}, { name }), { environment: {}, file: null });
});

const ignoredOf = (name: string, user = process.geteuid?.()) => {
  const { environment, file } = withEnvironmentFile({}, { name, user });
  assert.deepEqual(environment, {});
  assert.deepEqual(file!.used, []);
  return file!.ignored!;
};

test("a file that others may write is ignored, and the command that is named mends that", (t) => {
  for (const mode of [0o620, 0o602, 0o666]) {
    const name = fileWith(t, "PORT=9001\n", mode);
    const { found, mend } = ignoredOf(name);
    assert.equal(found, `can be written by other users (mode 0${mode.toString(8)})`);
    execFileSync("sh", ["-c", mend.slice(mend.indexOf("chmod"))]);
    assert.equal(withEnvironmentFile({}, { name }).environment["PORT"], "9001");
  }
});

test("a file of another user, or a link that another user made, is ignored; one of root's is read", (t) => {
  const name = fileWith(t, "PORT=9001\n", 0o644);
  const owner = statSync(name).uid;
  if (owner === 0) {
    assert.equal(withEnvironmentFile({}, { name, user: 1234 }).environment["PORT"], "9001");
    chownSync(name, 4321, 4321);
  }
  const foreign = owner === 0 ? 4321 : owner;
  const link = join(temporaryFolder(t), ".env");
  symlinkSync(name, link);
  const belongs = new RegExp(`^belongs to the user with the id ${foreign}, not to `);
  for (const path of [name, link]) assert.match(ignoredOf(path, 1234).found, belongs);
});

test("what is no file of settings is ignored without being waited for", (t) => {
  const pipe = join(temporaryFolder(t), ".env");
  execFileSync("mkfifo", ["-m", "600", pipe]);
  assert.match(ignoredOf(pipe).found, /^is not a regular file/);
  assert.match(ignoredOf(fileWith(t, "#".repeat(65_537))).found, /^is larger than 64 KiB/);
  const lost = join(temporaryFolder(t), ".env");
  symlinkSync("nowhere", lost);
  assert.equal(ignoredOf(lost).found, "cannot be read (ENOENT)");
});

test("every command reads the file of its working folder, or names it in one line and goes on without", async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, ".env");
  writeFileSync(file, "DATA_DIR=from-file\nPORT=many\n", { mode: 0o600 });
  const run = (...args: string[]) =>
    outcomeOf(
      "sh",
      ["-c", `cd '${folder}' && exec "$0" "$@"`, process.execPath, mainPath, ...args],
      { PATH: process.env["PATH"] },
    );
  const refused = await run("accounts", "list");
  assert.equal(refused.exitCode, 2);
  assert.match(refused.err, /^error: PORT must be .* but is 'many'\.\n$/);
  writeFileSync(file, "DATA_DIR=from-file\n");
  assert.equal((await run("accounts", "create", "--name", "Acme")).exitCode, 0);
  assert.ok(statSync(join(folder, "from-file", "control.sqlite")).isFile());
  const doctor = await run("doctor");
  assert.ok(doctor.out.includes(`${file} sets DATA_DIR\n`), doctor.out);
  chmodSync(file, 0o666);
  const { exitCode, out, err } = await run("accounts", "list", "--json");
  assert.deepEqual([exitCode, out], [0, "[]\n"]);
  assert.match(
    err,
    /^warning: \/\S+\/\.env is ignored: it can be written by other users \(mode 0666\)\. .*\n$/,
  );
});

test("doctor names the file, what it sets, and what else stands in it", async (t) => {
  const dataDir = temporaryFolder(t);
  const environmentFile = { path: "/srv/.env", used: ["PORT"], unknown: [], ignored: null };
  const judged = async (changes: object, settings = {}) =>
    look(settingsCheck, dataDir, { environmentFile: { ...environmentFile, ...changes }, settings });
  assert.equal((await judged({}))[1]!.found, "/srv/.env sets PORT");
  const unknown = ["PROT", "\u001b[2J"];
  assert.equal(
    (await judged({ unknown, used: [] }))[1]!.found,
    "/srv/.env sets no setting beyond those already set; other names in it are not settings and are ignored: PROT, 1 more",
  );
  const [wrong] = await judged({}, { PORT: "many" });
  assert.match(wrong!.mend!, /^Correct the setting in the environment or in \/srv\/\.env; /);
  const ignored = { found: "is ours", mend: "Mend it." };
  const [, warned] = await judged({ ignored });
  assert.deepEqual(warned, {
    check: "settings",
    status: "warn",
    found: "/srv/.env is ignored: it is ours",
    mend: "Mend it.",
  });
  await finding("ok", settingsCheck, dataDir);
});
