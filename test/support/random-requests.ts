/** Sends random requests to a service through Prism, which holds each answer to openapi.json. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createServer, request as send } from "node:http";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { formats } from "#operations/formats.ts";
import { operations } from "#operations/index.ts";
import { vocabularyPath } from "#operations/vocabulary.ts";
import { awkwardRecords } from "./awkward.ts";
import { type Random, seededRandom } from "./awkward/random.ts";
import { cast } from "./cast.ts";
import { assertDescribed } from "./described.ts";
import { freePort } from "./free-port.ts";
import { startService, type TestService } from "./service.ts";
import { outsideCommand } from "../outside/outside.ts";

interface Violation {
  location: readonly string[];
  message: string;
}

interface CheckedAnswer {
  target: string;
  status: number;
  violations: Violation[];
}

interface CheckedAnswers {
  answers: CheckedAnswer[];
  /** Of an answer whose total was changed into a text on the way. */
  lie: CheckedAnswer;
}

/** @param seed the same seed asks the same. */
export async function checkAnswers(
  t: TestContext,
  seed: number,
  count: number,
): Promise<CheckedAnswers> {
  const records = [
    ...cast,
    ...awkwardRecords(seed, { gps: 40, principals: 60, signals: 80, projects: 30 }),
  ];
  const service = await startService(t, { records, settings: { EXPORTS: "on" } });
  const prism = await startPrism(t, await startLiar(t, service.port));
  const random = seededRandom(seed);
  const draw = await openDraw(service, random);
  const answers: CheckedAnswer[] = [];
  let begun = 0;
  const sendAll = async () => {
    while (begun < count) {
      // Windows that are used up are free again now and then.
      if (begun++ % 250 === 0) service.clock.advance(60);
      answers.push(await ask(prism, draw()));
    }
  };
  await Promise.all(Array.from({ length: 6 }, sendAll));
  const headers = { "x-api-key": service.key, "x-lie": "1" };
  return { answers, lie: await ask(prism, { target: "/fetch-signals", method: "GET", headers }) };
}

interface Drawn {
  target: string;
  method: string;
  headers: Record<string, string>;
}

/** What Prism sends beside the answer of the service. */
const ofPrism = new Set(["sl-violations"]);

async function ask(prism: string, { target, method, headers }: Drawn): Promise<CheckedAnswer> {
  const response = await fetch(prism + target, { method, headers });
  const { status } = response;
  const text = await response.text();
  const isProblem = response.headers.get("content-type")?.includes("problem+json") === true;
  const found = JSON.parse(response.headers.get("sl-violations") ?? "[]") as Violation[];
  // Prism knows only what is described: errors on other paths and of other methods are held to it here.
  if (isProblem)
    assertDescribed({
      status,
      headers: [...response.headers].filter(([name]) => !ofPrism.has(name)),
      json: JSON.parse(text),
    });
  return {
    target: `${method} ${target}`,
    status,
    violations: found.filter(({ location }) => location[0] === "response"),
  };
}

/** Hands on what it is asked; with `x-lie` the total of the answer becomes a text. @returns its address. */
async function startLiar(t: TestContext, port: number): Promise<string> {
  const server = createServer((request, response) => {
    const { method, url, headers } = request;
    const isLie = headers["x-lie"] !== undefined;
    if (isLie) delete headers["accept-encoding"];
    const onward = send({ port, method, path: url, headers }, (answer) => {
      const parts: Buffer[] = [];
      answer.on("data", (part: Buffer) => parts.push(part));
      answer.on("end", () => {
        let body = Buffer.concat(parts);
        if (isLie) body = Buffer.from(body.toString().replace(/"total":(\d+)/, '"total":"$1"'));
        const { "content-length": _, ...kept } = answer.headers;
        response.writeHead(answer.statusCode!, { ...kept, "content-length": body.length });
        response.end(body);
      });
    });
    onward.on("error", () => response.destroy());
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** @returns its address, once it listens. */
async function startPrism(t: TestContext, upstream: string): Promise<string> {
  const port = await freePort();
  const prism = spawn(
    outsideCommand("prism"),
    ["proxy", "openapi.json", upstream, "--host=127.0.0.1", `--port=${port}`, "--cors=false"],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  t.after(() => prism.kill());
  await new Promise<void>((resolve, reject) => {
    let said = "";
    prism.stdout.on("data", (part: Buffer) => {
      if (said.length < 10_000) said += part.toString();
      if (said.includes("Prism is listening")) resolve();
    });
    prism.on("error", reject);
    prism.on("exit", () => reject(new Error(`Prism ended: ${said}`)));
  });
  return `http://127.0.0.1:${port}`;
}

interface Read {
  path: string;
  parameters: readonly string[];
}

/** Every path that is described and has nothing to be filled in. */
const reads: readonly Read[] = Object.entries(
  (JSON.parse(readFileSync("openapi.json", "utf8")) as Description).paths,
)
  .filter(([path, { get }]) => !path.includes("{") && get !== undefined)
  .map(([path, { get }]) => ({
    path,
    parameters: (get!.parameters ?? []).flatMap((one) => (one.in === "query" ? [one.name] : [])),
  }));

interface Description {
  paths: Record<string, { get?: { parameters?: readonly { in?: string; name: string }[] } }>;
}

const texts = ["northwind", "stone", "kk", "a", "三井", "%", "ai", "dallas", "multifamily", "none"];
const numbers = ["0", "1", "2", "20", "100", "101", "-1", "1e2", "", "2147483647", "2147483648"];
const others = ["/nowhere", "/fetch-gps", "/v1/fetch", "/v9/fetch-gp"];

/** @returns a function that draws the next request. */
async function openDraw(service: TestService, random: Random): Promise<() => Drawn> {
  const plenty = { minute: 1e6, hour: 1e6, day: 1e6 };
  const rich = await service.newKey({ quotas: plenty });
  const poor = await service.newKey({ quotas: { minute: 3 } });
  const expired = await service.newKey({ expiresAt: service.clock.now() + 1000 });
  service.clock.advance(2);
  const { headers } = await service.get("/fetch-signals", { "x-api-key": rich.key });
  const etag = headers.get("etag")!;
  const { pick, chance, below } = random;
  const keys = () => (chance(0.8) ? rich.key : pick([poor.key, expired.key, "gpr_wrong", ""]));
  const accepts = [...formats.map(({ mediaType }) => mediaType), "*/*", "image/png", "text/html"];
  const pair = (name: string) => {
    const value = name === "limit" || name === "offset" ? pick(numbers) : pick(texts);
    return `${name}=${encodeURIComponent(value)}`;
  };
  const query = (names: readonly string[]) => {
    const pairs = Array.from({ length: below(4) }, () => pair(pick(names)));
    if (chance(0.05)) pairs.push(pick(["x=1", "tga=ai", "tag", "limit=%zz", "gp_name=%00"]));
    return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
  };
  const target = () => {
    if (chance(0.03)) return pick(others);
    const { path, parameters } = pick(reads);
    const prefix = chance(0.05) ? "/v1" : "";
    const rest = parameters.length > 0 && chance(0.9) ? query(parameters) : "";
    if (chance(0.05)) return `${prefix}${path}?tag=ai`;
    if (path !== "/fetch-gp" || chance(0.1)) return `${prefix}${path}${rest}`;
    return `${prefix}${path}?gp_name=${encodeURIComponent(pick(texts))}${rest.replace("?", "&")}`;
  };
  return () => {
    const sent: Record<string, string> = { "x-api-key": keys() };
    if (sent["x-api-key"] === "") delete sent["x-api-key"];
    if (chance(0.3)) sent["accept"] = pick(accepts);
    if (chance(0.1)) sent["if-none-match"] = pick(["*", etag, '"other"']);
    if (chance(0.1)) sent["x-request-id"] = "from-the-client";
    return { target: target(), method: chance(0.02) ? "POST" : "GET", headers: sent };
  };
}

/** Every kind of answer is among them, none violates the description, and a lie would have been found. */
export function assertNoViolation({ answers, lie }: CheckedAnswers, count: number): void {
  assert.equal(answers.length, count);
  assert.deepEqual(
    answers.filter(({ violations }) => violations.length > 0),
    [],
  );
  const statuses = new Set(answers.map(({ status }) => status));
  for (const status of [200, 304, 400, 401, 404, 405, 406, 429])
    assert.ok(statuses.has(status), `no ${status} among ${[...statuses].join()}`);
  for (const { path } of reads)
    assert.ok(
      answers.some(({ target }) => target.startsWith(`GET ${path}`)),
      path,
    );
  for (const path of [...operations.map((one) => one.path), vocabularyPath])
    assert.ok(
      answers.some(({ target, status }) => status === 200 && target.startsWith(`GET ${path}`)),
      path,
    );
  assert.match(lie.violations.map(({ message }) => message).join(), /integer/);
}
