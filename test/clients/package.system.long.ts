import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join, resolve } from "node:path";
import { test, type TestContext } from "node:test";
import { typeFiles } from "../../clients/write-types.ts";
import { hasOutside, outsideCommand } from "../outside/outside.ts";
import { browser } from "../support/browser.ts";
import { cast } from "../support/cast.ts";
import { listenFor } from "../support/ports.ts";
import { startService } from "../support/service.ts";
import { hasPython } from "./each-client.ts";
import { checkTypes, packClient, run } from "./packed.ts";
import { publish } from "./publish.ts";

test("the package holds what runs, its types, README and licence, and nothing else", async (t) => {
  const { client } = await packClient(t);
  assert.deepEqual(readdirSync(client).toSorted(), [
    "LICENSE",
    "README.md",
    "dist",
    "package.json",
  ]);
  const modules = readdirSync("clients/typescript/src").map((name) => name.replace(/\.ts$/, ""));
  assert.deepEqual(
    readdirSync(join(client, "dist")).toSorted(),
    modules.flatMap((name) => [`${name}.d.ts`, `${name}.js`]).toSorted(),
  );
});

test("publint and are-the-types-wrong find nothing in the package", async (t) => {
  if (!hasOutside(t, "publint") || !hasOutside(t, "@arethetypeswrong/cli")) return;
  const { archive, folder } = await packClient(t);
  await run(outsideCommand("publint"), ["--strict", archive]);
  await run(outsideCommand("attw"), ["--profile", "esm-only", archive], { cwd: folder });
});

/** A service that has published a signal, and went back. */
async function startWithChanges(t: TestContext) {
  const service = await startService(t);
  const signal = { record: "signal", id: "closing", title: "A fund closes", date: "2026-11-20" };
  await publish(service, [...cast, signal]);
  await publish(service, "roll back");
  return service;
}

/** Blocks of code in a page, each with the text that follows it as its output. */
function samplesOf(page: string, language: string) {
  const pattern = new RegExp(
    `^\`\`\`${language}\\n(.*?)^\`\`\`\\n(?:\\n\`\`\`text\\n(.*?)^\`\`\`\\n)?`,
    "gms",
  );
  return [...readFileSync(page, "utf8").matchAll(pattern)].map(([, code, output]) => ({
    code: code!,
    output: output ?? "",
  }));
}

test("the samples of the client in TypeScript fit its types, and print what its README says", async (t) => {
  const page = "clients/typescript/README.md";
  const samples = samplesOf(page, "ts");
  assert.ok(samples.length >= 3);
  const [service, { folder }] = await Promise.all([startWithChanges(t), packClient(t)]);
  samples.forEach(({ code }, i) => writeFileSync(join(folder, `sample-${i}.mts`), code));
  const names = samples.map((_, i) => `sample-${i}.mts`);
  await checkTypes(folder, names);
  const env = { GP_RECORDS_URL: service.url, GP_RECORDS_KEY: service.key };
  for (const [i, { output }] of samples.entries())
    assert.equal(await run(process.execPath, [names[i]!], { cwd: folder, env }), output, page);
});

test("the samples of the client in Python print what its README says", async (t) => {
  if (!hasPython(t)) return;
  const page = "clients/python/README.md";
  const samples = samplesOf(page, "python");
  assert.ok(samples.length >= 3);
  const service = await startWithChanges(t);
  const env = {
    GP_RECORDS_URL: service.url,
    GP_RECORDS_KEY: service.key,
    PYTHONPATH: resolve("clients/python"),
    PYTHONDONTWRITEBYTECODE: "1",
  };
  for (const { code, output } of samples)
    assert.equal(await run("python3", ["-c", code], { env }), output, page);
});

test("in a browser the client reads, waits and tells errors from another origin", async (t) => {
  const chromium = await browser(t);
  if (chromium === null) return;
  const [service, { client }] = await Promise.all([startService(t), packClient(t)]);
  const files = createServer((request, response) => {
    const path = join(client, "dist", request.url!.slice(1));
    const isModule = request.url!.endsWith(".js") && existsSync(path);
    response.setHeader("content-type", isModule ? "text/javascript" : "text/html");
    response.end(isModule ? readFileSync(path) : "<!doctype html><title>A page</title>");
  });
  const page = await (await chromium.newContext()).newPage();
  await page.goto(`http://127.0.0.1:${await listenFor(t, files)}/`);
  const { key } = await service.newKey({ quotas: { minute: 3 } });
  const program = `(async () => {
    const { createClient, isProblem } = await import("/index.js");
    const client = createClient({
      baseUrl: ${JSON.stringify(service.url)},
      key: ${JSON.stringify(key)},
      cache: new Map(),
      waitMaxSeconds: 0,
    });
    const first = await client.fetchSignals({ limit: 2 });
    const again = await client.fetchSignals({ limit: 2 });
    const code = await client.fetchGp({}).catch((error) => isProblem(error, "invalid-parameters") && error.code);
    const refused = await client.fetchGp({}).catch(({ problem }) => problem);
    return { first, again, code, refused };
  })()`;
  const { first, again, code, refused } = (await page.evaluate(program)) as Record<string, any>;
  const { body } = await service.get("/fetch-signals?limit=2");
  for (const { requestId, quota, ...answer } of [first, again]) {
    assert.deepEqual(answer, body);
    assert.match(requestId, /^client_[0-9a-f]{20}\.1$/);
    assert.equal(quota[0].quota, 3);
  }
  const statuses = service.log.map((line) => JSON.parse(line).status as number);
  assert.ok(statuses.includes(304));
  assert.deepEqual(
    [code, refused.code, refused.retry_after],
    ["invalid-parameters", "quota-exceeded", 60],
  );
});

test("the types of the clients are what openapi.json says", () => {
  for (const [path, wanted] of Object.entries(typeFiles()))
    assert.ok(
      readFileSync(path, "utf8") === wanted,
      `${path} is not what openapi.json says: run 'npm run openapi' and look at the difference.`,
    );
});

test("both clients have the version of the service they come with", () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  const ours = JSON.parse(readFileSync("clients/typescript/package.json", "utf8")) as {
    version: string;
  };
  const [, python] = /^__version__ = "(.+)"$/m.exec(
    readFileSync("clients/python/gp_records.py", "utf8"),
  )!;
  assert.deepEqual([ours.version, python], [version, version]);
});

test("the client in TypeScript has no dependencies and imports nothing but its own files", () => {
  const manifest = JSON.parse(readFileSync("clients/typescript/package.json", "utf8")) as object;
  assert.ok(!("dependencies" in manifest));
  for (const name of readdirSync("clients/typescript/src")) {
    const text = readFileSync(`clients/typescript/src/${name}`, "utf8");
    for (const [, target] of text.matchAll(/\bfrom "([^"]+)"/g))
      assert.match(target!, /^\.\/[\w-]+\.ts$/);
  }
});
