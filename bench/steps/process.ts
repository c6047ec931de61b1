/** Measures the steps of a request by calling the program's own functions, in a process of its own. */
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { openAnswerCache } from "#api/answer-cache.ts";
import { answerTag } from "#api/entity-tag.ts";
import { openLog } from "#cli/log.ts";
import { readConfig } from "#config.ts";
import { pageLinks } from "#http/mount-operation.ts";
import { makeRequestId } from "#http/request-id.ts";
import { openKeyVerifier, openKnownKeys } from "#keys/key-verifier.ts";
import type { LiveKey } from "#keys/live-key.ts";
import { systemClock } from "#limits/clocks.ts";
import { type MemoryCounters, openMemoryCounters } from "#limits/memory-counters.ts";
import { defaultQuotas } from "#limits/policy.ts";
import { rateLimitField, rateLimitPolicyField } from "#limits/rate-limit-fields.ts";
import { json } from "#operations/formats.ts";
import { hintsFor } from "#operations/hints.ts";
import { operations } from "#operations/index.ts";
import { answer } from "#operations/page.ts";
import { canonicalQuery, readQuery } from "#operations/parameters.ts";
import type { ReadModel } from "#search/read-model.ts";
import { openService, type Service } from "#service.ts";
import { watchControl } from "#store/control-watch.ts";
import { controlFile } from "#store/files.ts";
import { openKeyUse, openRecorder } from "#usage/recording.ts";
import { openWriter } from "#usage/writer.ts";
import { type Candidate, inTurn } from "../rounds.ts";
import { costSetups } from "../rows/cost.ts";
import { median } from "../statistics.ts";
import { type Asked, askedOf, openPublished, pageSizeMax } from "./asked.ts";
import type { StepFigure, StepsOrder } from "./measure-steps.ts";
import { awaitedStep, step } from "./step.ts";

async function measure(order: StepsOrder): Promise<StepFigure[]> {
  const { mix, keys, dataDirs, scratchDir, rounds, count } = order;
  const model = await openPublished(dataDirs[0]);
  const askedAt = askedOf(mix, model);
  const access = await accessSteps({ keys, dataDir: dataDirs[0], scratchDir, count });
  const whole = await wholeSteps({ askedAt, keys, dataDirs, count });
  const candidates = [...access.steps, ...answeringSteps(askedAt, model, count), ...whole.steps];
  // Until V8 has compiled what it will compile.
  await inTurn(rounds, candidates);
  const figures = await inTurn(rounds, candidates);
  await whole.close();
  await access.close();
  return Array.from(figures, ([name, microseconds]) => ({
    name,
    microseconds: median(microseconds),
  }));
}

process.on("disconnect", () => process.exit());
process.once("message", async (order: StepsOrder) => {
  process.send!(await measure(order));
});

interface AccessOrder {
  keys: readonly string[];
  dataDir: string;
  /** For counts and usage that are measured apart. */
  scratchDir: string;
  count: number;
}

interface AccessSteps {
  steps: Candidate<number>[];
  close(): Promise<void>;
}

/** The steps that decide whether a request is admitted. */
async function accessSteps(order: AccessOrder): Promise<AccessSteps> {
  const { keys, dataDir, scratchDir, count } = order;
  const path = controlFile(dataDir);
  const openKeys = () => openKnownKeys({ source: watchControl(path, Date.now), onFault: refuse });
  const verifier = openKeyVerifier({ keys: openKeys() });
  const known = openKeys();
  const live = await Promise.all(keys.map(async (key) => verifier.verify(key)));
  const clock = systemClock();
  const memory = openMemoryCounters({ dir: null, clock, onFault: refuse });
  const journal = openMemoryCounters({ dir: scratchDir, clock, onFault: refuse });
  const writer = openWriter({ dataDir: scratchDir, onFault: refuse });
  const use = openKeyUse({ writer });
  const recorder = openRecorder({ writer, now: Date.now });
  const ids = Array.from({ length: count }, () => makeRequestId());
  const keyOf = (i: number) => live[i % live.length]!;
  return {
    steps: [
      step("key verified", count, (i) => verifier.verify(keys[i % keys.length]!)),
      step("keys read again if changed (once a turn of the loop)", count, () => known.refresh()),
      step("usage recorded", count, (i) =>
        recorder.record({
          account: keyOf(i).accountNumber,
          key: keyOf(i).id,
          operation: operations[i % operations.length]!.name,
          status: 200,
          milliseconds: 0.25,
          bytes: 10_000 + i,
          dataset: "20261121T090000Z-1",
          problem: null,
          requestId: ids[i]!,
          query: null,
        }),
      ),
      step("use of the key noted", count, (i) => use.note(keyOf(i).id, Date.now())),
      step("counted in memory, headers", count, (i) => countRequest(memory, keyOf(i))),
      step("the same with the journal", count, (i) => {
        countRequest(journal, keyOf(i));
        journal.commit();
      }),
    ],
    async close() {
      await verifier.close();
      memory.close();
      journal.close();
      use.close();
      recorder.close();
      await writer.close();
    },
  };
}

const countRequest = (counters: MemoryCounters, { accountNumber }: LiveKey) =>
  rateLimitPolicyField(defaultQuotas) + rateLimitField(counters.take(accountNumber, defaultQuotas));

/** What cannot be saved would make a step look quick. */
function refuse(fault: Error | null): void {
  if (fault !== null) throw fault;
}

/** The steps from the text of a query to its answer. */
function answeringSteps(
  askedAt: (i: number) => Asked,
  model: ReadModel,
  count: number,
): Candidate<number>[] {
  const { version } = model.parts;
  const cache = openAnswerCache(2 ** 30);
  for (let i = 0; i < count; i++) {
    const { etag, body, operation, query, total } = askedAt(i);
    cache.add({
      operation,
      format: json,
      query,
      tag: etag,
      datasetVersion: version,
      total,
      body,
      encoded: {},
      headers: null,
    });
  }
  const each = (name: string, call: (asked: Asked) => unknown) =>
    step(name, count, (i) => call(askedAt(i)));
  return [
    step("request id", count, () => makeRequestId()),
    each("parameters read", ({ operation, text }) =>
      readQuery(operation, text, pageSizeMax, operations),
    ),
    each("canonical query", ({ query }) => canonicalQuery(query)),
    each("entity tag", ({ operation, canonical }) =>
      answerTag(version, operation.name, canonical, "json"),
    ),
    each("answer found in the cache", ({ etag }) => cache.find(etag)),
    each("search", ({ operation, query }) => operation.select(model, query)),
    each("hints", ({ query, selection }) => hintsFor(model, query, selection, false)),
    each("search, hints and documents", ({ operation, query }) => answer(operation, model, query)),
    each("links to other pages", (asked) => pageLinks(asked, null)),
  ];
}

interface WholeOrder {
  askedAt: (i: number) => Asked;
  keys: readonly string[];
  /** One for each service that is started. */
  dataDirs: [string, string, string];
  count: number;
}

interface WholeSteps {
  steps: Candidate<number>[];
  close(): Promise<void>;
}

type Handler = (request: IncomingMessage, response: ServerResponse, asked: Asked) => void;

/** Whole requests as Node's HTTP objects, without a socket: all of the program's own work, system calls left out. */
async function wholeSteps(order: WholeOrder): Promise<WholeSteps> {
  const { askedAt, keys, count } = order;
  const [warmDir, logDir, allDir] = order.dataDirs;
  const warm = await start(warmDir, "warm");
  const log = await start(logDir, "log");
  const all = await start(allDir, "all");

  const each = (name: string, handler: Handler) =>
    awaitedStep(name, count, async (i) => {
      const asked = askedAt(i);
      const status = await handle((request, response) => handler(request, response, asked), {
        url: asked.target,
        headers: {
          host: "127.0.0.1",
          "user-agent": "gp-records-bench",
          accept: "*/*",
          "x-api-key": keys[i % keys.length]!,
        },
      });
      if (status !== 200) throw new Error(`${asked.target} was answered with ${status}.`);
    });
  const handledBy =
    ({ app }: Service): Handler =>
    (request, response) =>
      app.routing(request, response);
  return {
    steps: [
      each("whole warm request", handledBy(warm)),
      each("the same with a log line", handledBy(log)),
      each("the same with log, metrics and usage recording", handledBy(all)),
      each("bare answer of Node", (_, response, { body }) =>
        response
          .writeHead(200, { "content-type": "application/json", "content-length": body.length })
          .end(body),
      ),
    ],
    async close() {
      for (const service of [warm, log, all]) await service.stop();
    },
  };
}

/** The log goes to standard output, as the program's does. */
async function start(dataDir: string, row: "warm" | "log" | "all"): Promise<Service> {
  const config = readConfig({
    ...costSetups[row].settings,
    DATA_DIR: dataDir,
    PORT: "0",
    // The other steps hold the thread for as long as they like.
    EVENT_LOOP_DELAY_MAX_MS: "0",
  });
  const service = await openService(config, openLog(config.logLevel).logger);
  await service.start();
  return service;
}

/** Stands in for a socket: takes what is written and keeps nothing. */
class Sink extends Socket {
  override readonly remoteAddress = "127.0.0.1";
  override _write(_chunk: unknown, _encoding: unknown, done: () => void): void {
    done();
  }
  override _writev(_chunks: unknown, done: () => void): void {
    done();
  }
}

const sink = new Sink();

/** Hands one GET to the handler; resolves to the status when the answer is finished. */
function handle(
  handler: (request: IncomingMessage, response: ServerResponse) => void,
  { url, headers }: { url: string; headers: Readonly<Record<string, string>> },
): Promise<number> {
  const request = new IncomingMessage(sink);
  request.method = "GET";
  request.url = url;
  request.httpVersion = "1.1";
  request.httpVersionMajor = 1;
  request.httpVersionMinor = 1;
  for (const [name, value] of Object.entries(headers)) {
    request.headers[name] = value;
    request.rawHeaders.push(name, value);
  }
  request.push(null);
  const response = new ServerResponse(request);
  response.assignSocket(sink);
  return new Promise((resolve) => {
    response.once("finish", () => {
      response.detachSocket(sink);
      resolve(response.statusCode);
    });
    handler(request, response);
  });
}
