import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { exitCodes } from "#cli/command-fault.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { gp, signal } from "../datasets/published.ts";
import { outcomeOfScript } from "../support/command-line.ts";
import { allCommands } from "../support/all-commands.ts";
import { importRecords } from "../support/dataset.ts";
import { eventually } from "../support/eventually.ts";
import { oldNode } from "../support/old-node.ts";
import { newKey } from "../support/own-process.ts";
import { spawnServer, startServer } from "../support/server-process.ts";
import { canConnect, freePort, listenFor } from "../support/ports.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const launcher = fileURLToPath(new URL("../../bin/gp-records", import.meta.url));

/** A data folder with these records and a key. */
async function folderWithKey(t: TestContext, records: readonly unknown[]) {
  const dataDir = temporaryFolder(t);
  await importRecords(openCatalogue(join(dataDir, "datasets")), records);
  return { dataDir, key: await newKey(dataDir, "Acme") };
}

test("a plain serve loads no driver of a database, nothing that only several machines need, and once the stores are there no query builder in the thread that answers", async (t) => {
  const folder = temporaryFolder(t);
  const { server: before, loaded: atFirst } = await startWatched(t, folder);
  // The account worker is a thread of the same program.
  assert.equal((await fetch(`${before.url}/account/sign-in`)).status, 200);
  assert.match(atFirst(), /node_modules\/negotiator\//);
  assert.match(atFirst(), /node_modules\/kysely\//);
  assert.doesNotMatch(atFirst(), /node_modules\/(?:pg|pg-[a-z]+|@redis)\//);
  assert.doesNotMatch(atFirst(), /src\/\S*(?:postgres|valkey|shared|remote|engine)/);
  // Pages come with the first request for one.
  assert.doesNotMatch(atFirst(), /^first: \S*src\/(?:pages\/(?!assets)|http\/describe)/m);
  // What answers agents comes with the first message of one that has a key.
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "list_gps" } };
  const refused = await fetch(`${before.url}/mcp`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(call),
  });
  assert.equal(refused.status, 401);
  assert.doesNotMatch(
    atFirst(),
    /node_modules\/(?:@modelcontextprotocol|zod)\/|src\/mcp\/|listings/,
  );
  before.signal("SIGTERM");
  await before.ended;
  const { server, loaded } = await startWatched(t, folder);
  assert.equal((await server.get("/ready")).status, 503);
  assert.match(loaded(), /^first: \S*node_modules\/negotiator\//m);
  assert.doesNotMatch(loaded(), /^first: \S*node_modules\/kysely\//m);
});

/** A server, and the address of each module it has loaded, behind "first: " where that was in its first thread. */
async function startWatched(t: TestContext, folder: string) {
  const list = join(folder, "loaded");
  writeFileSync(list, "");
  const watch = join(folder, "watch.mjs");
  writeFileSync(
    watch,
    `import { appendFileSync } from "node:fs";
     import { registerHooks } from "node:module";
     import { isMainThread } from "node:worker_threads";
     registerHooks({
       load(url, context, next) {
         appendFileSync(${JSON.stringify(list)}, (isMainThread ? "first: " : "") + url + "\\n");
         return next(url, context);
       },
     });`,
  );
  const settings = { NODE_OPTIONS: `--import ${pathToFileURL(watch).href}` };
  const server = await startServer(t, { dataDir: join(folder, "data"), settings });
  return { server, loaded: () => readFileSync(list, "utf8") };
}

test("what is missed for want of PUBLIC_URL is said at the start and by doctor, with what to do", async (t) => {
  const dataDir = join(temporaryFolder(t), "new");
  const settings = { SMTP_URL: "smtp://127.0.0.1:1", MAIL_FROM: "gp@records.example", PORT: "0" };
  const server = await startServer(t, { dataDir, settings });
  await eventually(() =>
    assert.match(
      server.out(),
      /^\{"level":40,.*"msg":"SMTP_URL is set and PUBLIC_URL is not: links in mail lead to .*\. Set PUBLIC_URL to .*\."\}$/m,
    ),
  );
  assert.match(
    (await allCommands(dataDir, settings).start("doctor")).out,
    /^warn +settings +SMTP_URL is set and PUBLIC_URL is not: .*\n +→ Set PUBLIC_URL to /m,
  );
});

test(
  "a socket and a directory among the counts are named in the log, and keep no server from answering",
  { timeout: 240_000 },
  async (t) => {
    const dataDir = temporaryFolder(t);
    const folder = join(dataDir, "counts");
    mkdirSync(folder);
    const pathOf = (number: number) => join(folder, `0000000${number}.counts`);
    const socket = createServer().listen(pathOf(1));
    await once(socket, "listening");
    t.after(() => socket.close());
    mkdirSync(pathOf(2));
    const server = await startServer(t, { dataDir });
    assert.equal((await server.get("/health")).status, 200);
    // The log is written by another thread.
    await eventually(() => {
      for (const number of [1, 2])
        assert.ok(
          server.out().includes(`Request counts in ${pathOf(number)} cannot be read: E`),
          server.out(),
        );
    });
  },
);

test("a second server is kept off the data folder of the first: one line, exit code 5", async (t) => {
  const dataDir = temporaryFolder(t);
  const server = await startServer(t, { dataDir });
  assert.match(server.out(), /^gp-records answers at http:\/\/127\.0\.0\.1:\d+$/m);
  assert.equal(
    await allCommands(dataDir).refusal(exitCodes.busy, "serve"),
    `error: Another server is running on ${dataDir}. Stop it, or set DATA_DIR to another folder.\n`,
  );
  assert.equal((await server.get("/health")).status, 200);
});

test("a reader of the output that has stopped reading holds up neither answers nor the end", async (t) => {
  const server = await startServer(t, { dataDir: temporaryFolder(t) });
  server.stdout.pause();
  // Some 200 bytes of log each: more than a pipe and the buffer of its reader hold.
  for (let round = 0; round < 48; round++)
    await Promise.all(Array.from({ length: 25 }, () => server.get("/health")));
  server.signal("SIGTERM");
  assert.deepEqual(await server.ended, { exitCode: exitCodes.done, signal: null });
});

test("a server told to stop while it still starts ends well", async (t) => {
  const port = await freePort();
  const { dataDir } = await folderWithKey(t, [gp("Acme Capital")]);
  const server = spawnServer(t, { dataDir, settings: { PORT: String(port) } });
  // It listens before it has loaded its dataset.
  while (!(await canConnect("127.0.0.1", port))) await setTimeout(5);
  server.signal("SIGTERM");
  assert.deepEqual(await server.ended, { exitCode: exitCodes.done, signal: null });
});

test("a data folder that cannot be used ends with 2 and one line that names it", async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, "file");
  writeFileSync(file, "");
  mkdirSync(join(folder, "data"));
  writeFileSync(join(folder, "data", "datasets"), "");
  // Below /proc nothing can be made, whoever asks.
  for (const dataDir of [file, join(folder, "data"), "/proc/none/data"]) {
    const err = await allCommands(dataDir).refusal(exitCodes.usage, "serve");
    assert.match(err, /^error: \S+ cannot be used \(E[A-Z]+\)\. .*DATA_DIR\.\n$/);
    assert.ok(err.includes(dataDir.startsWith("/proc") ? "/proc" : dataDir), err);
  }
});

test("an address that cannot be listened on is named, and what to change", async (t) => {
  const dataDir = temporaryFolder(t);
  const port = await listenFor(t, createServer());
  const faultOf = (code: number, settings: Record<string, string>) =>
    allCommands(dataDir, { LOG_LEVEL: "silent", ...settings }).refusal(code, "serve");
  assert.equal(
    await faultOf(exitCodes.busy, { PORT: String(port) }),
    `error: 127.0.0.1:${port} is in use by another program. Stop that program, or choose another port in PORT.\n`,
  );
  assert.equal(
    await faultOf(exitCodes.busy, { PORT: "0", ADMIN_ADDRESS: `127.0.0.1:${port}` }),
    `error: 127.0.0.1:${port} is in use by another program. Stop that program, or choose another port in ADMIN_ADDRESS.\n`,
  );
  // Kept for documentation (RFC 5737), so no machine has it.
  assert.equal(
    await faultOf(exitCodes.usage, { HOST: "192.0.2.1", PORT: "0" }),
    "error: Cannot listen on 192.0.2.1:0 (EADDRNOTAVAIL). Set HOST to an address of this machine.\n",
  );
});

/** A hundred GPs with the same hundred signals: one page of them is more than the system buffers for a connection. */
const manyGps = Array.from({ length: 100 }, (_, i) => gp(`Acme ${i}`));
const summary = "long ".repeat(200);
const bigPage = [
  ...manyGps,
  ...manyGps.map(({ id }, _, all) => signal(id, { summary, gps: all.map((one) => one.id) })),
];

const requestLines = (path: string, key = "") =>
  `GET ${path} HTTP/1.1\r\nHost: here\r\nx-api-key: ${key}\r\n\r\n`;

/** A connection on which this was sent, and all that came back. */
async function connection(port: number, sent: string) {
  const socket = connect(port, "127.0.0.1");
  const parts: Buffer[] = [];
  socket.on("data", (part: Buffer) => parts.push(part));
  socket.on("error", () => {});
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  await once(socket, "connect");
  socket.write(sent);
  return { socket, closed, text: () => Buffer.concat(parts).toString("latin1") };
}

async function readSome(socket: Socket): Promise<void> {
  await once(socket, "data");
  socket.pause();
}

test("SIGTERM finishes what was begun, closes what is idle, answers what comes later on a busy connection and ends that, and ends with 0", async (t) => {
  const { dataDir, key } = await folderWithKey(t, bigPage);
  const { port, signal, ended, err } = await startServer(t, { dataDir });
  const idle = await connection(port, requestLines("/health"));
  await once(idle.socket, "data");
  const unused = await connection(port, "");
  const halfSent = await connection(port, "GET /health HTTP/1.1\r\nHos");
  const running = await connection(port, requestLines("/fetch-gp?gp_name=acme&limit=100", key));
  await readSome(running.socket);
  signal("SIGTERM");
  await Promise.all([idle.closed, unused.closed]);
  assert.equal(await canConnect("127.0.0.1", port), false);
  running.socket.write(requestLines("/fetch-gp?gp_name=acme", key));
  running.socket.resume();
  await running.closed;
  await halfSent.closed;
  assert.deepEqual(await ended, { exitCode: exitCodes.done, signal: null });
  assert.equal(err(), "");

  const [head, rest] = splitAt(running.text(), "\r\n\r\n");
  const length = Number(/content-length: (\d+)/.exec(head)![1]);
  const page = JSON.parse(Buffer.from(rest.slice(0, length), "latin1").toString("utf8"));
  assert.equal(page.data.length, 100);
  const [lateHead, lateBody] = splitAt(rest.slice(length), "\r\n\r\n");
  assert.match(lateHead, /^HTTP\/1\.1 200 /);
  assert.match(lateHead, /\r\nconnection: close(\r\n|$)/i);
  assert.equal(JSON.parse(lateBody).data.length, 20);
});

test("SIGINT ends a server with 0, and after SIGTERM at once, whatever is under way", async (t) => {
  const { dataDir, key } = await folderWithKey(t, bigPage);
  const quiet = await startServer(t, { dataDir });
  quiet.signal("SIGINT");
  assert.deepEqual(await quiet.ended, { exitCode: exitCodes.done, signal: null });

  const { port, signal, ended } = await startServer(t, { dataDir });
  const idle = await connection(port, "");
  const running = await connection(port, requestLines("/fetch-gp?gp_name=acme&limit=100", key));
  await readSome(running.socket);
  signal("SIGTERM");
  await idle.closed;
  signal("SIGINT");
  assert.deepEqual(await ended, { exitCode: null, signal: "SIGINT" });
  running.socket.destroy();
});

function splitAt(text: string, mark: string): [string, string] {
  const place = text.indexOf(mark);
  return [text.slice(0, place), text.slice(place + mark.length)];
}

test(
  "a process group told to stop, launcher included, finishes slow downloads",
  { skip: oldNode === undefined && "there is no Node that the launcher replaces on this machine" },
  async (t) => {
    const { dataDir, key } = await folderWithKey(t, bigPage);
    const server = await startServer(t, { dataDir, node: oldNode!, main: launcher, isGroup: true });
    const lines = requestLines("/fetch-gp?gp_name=acme&limit=100", key);
    const downloads = await Promise.all(
      Array.from({ length: 7 }, () => connection(server.port, lines)),
    );
    await Promise.all(downloads.map(({ socket }) => readSome(socket)));
    // The launcher passes its signal on only once the server has begun to stop.
    process.kill(server.pid, "SIGSTOP");
    server.signal("SIGTERM");
    while (await canConnect("127.0.0.1", server.port)) await setTimeout(5);
    process.kill(server.pid, "SIGCONT");
    for (const { socket } of downloads) socket.resume();
    await Promise.all(downloads.map(({ closed }) => closed));
    for (const { text } of downloads) {
      const [head, body] = splitAt(text(), "\r\n\r\n");
      assert.equal(body.length, Number(/content-length: (\d+)/.exec(head)![1]));
    }
    assert.deepEqual(await server.ended, { exitCode: exitCodes.done, signal: null });
    assert.equal(server.err(), "");
  },
);

test("a command that serves nothing does not wait for what serving and importing need", async () => {
  const { out, err } = await outcomeOfScript(`
    import { registerHooks } from "node:module";
    const packages = new Set();
    registerHooks({
      load(url, context, next) {
        packages.add(/node_modules.([^/]+)/.exec(url)?.[1]);
        return next(url, context);
      },
    });
    process.argv = ["node", "gp-records", "--help"];
    process.on("exit", () => console.log("loaded", ...packages));
    await import(${JSON.stringify(import.meta.resolve("#cli/main.ts"))});
  `);
  assert.match(out, /^loaded .*commander/m, err);
  assert.doesNotMatch(out, /^loaded .*(negotiator|pino|typebox|csv-parse)/m);
});
