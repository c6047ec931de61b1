/** Whole requests as Node's HTTP objects, without a socket: all of the program's own work, system calls left out. */
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { openLog } from "#cli/log.ts";
import { readConfig } from "#config.ts";
import { openService, type Service } from "#service.ts";
import type { Candidate } from "../measure.ts";
import { costSetups } from "../rows/cost.ts";
import type { Asked } from "./asked.ts";
import { awaitedStep } from "./step.ts";

interface WholeOrder {
  askedAt: (i: number) => Asked;
  keys: readonly string[];
  /** One for each service that is started. */
  dataDirs: [string, string, string];
  count: number;
}

export interface WholeSteps {
  steps: Candidate<number>[];
  close(): Promise<void>;
}

type Handler = (request: IncomingMessage, response: ServerResponse, asked: Asked) => void;

export async function wholeSteps(order: WholeOrder): Promise<WholeSteps> {
  const { askedAt, keys, count } = order;
  const [warmDir, logDir, metricsDir] = order.dataDirs;
  const warm = await start(warmDir, "warm");
  const log = await start(logDir, "log");
  const metrics = await start(metricsDir, "metrics");

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
      each("the same with log, metrics and usage recording", handledBy(metrics)),
      each("bare answer of Node", (_, response, { body }) =>
        response
          .writeHead(200, { "content-type": "application/json", "content-length": body.length })
          .end(body),
      ),
    ],
    async close() {
      for (const service of [warm, log, metrics]) await service.stop();
    },
  };
}

/** The log goes to standard output, as the program's does. */
async function start(dataDir: string, row: "warm" | "log" | "metrics"): Promise<Service> {
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
