/** An HTTP server on a free port without the services behind it, for states that a whole service is hard to bring into. */
import type { TestContext } from "node:test";
import pino from "pino";
import { readConfig } from "#config.ts";
import { openAnswerCache } from "#gateway/answer-cache.ts";
import { type GatewayDependencies, openGateway } from "#gateway/gateway.ts";
import { openOperations, openReads } from "#gateway/read-operation.ts";
import { buildServer, timeouts } from "#http/build-server.ts";
import { sendNow } from "#http/send-answer.ts";
import type { HttpDependencies } from "#http/dependencies.ts";
import { listenAt } from "#http/listen.ts";
import {
  openRequestMetrics,
  openRequestRecorder,
  type RequestSinks,
} from "#http/record-requests.ts";
import { failedKeys, openKeyedLimit } from "#limits/keyed-limit.ts";
import { openMemoryCounters } from "#limits/memory-counters.ts";
import { operations } from "#operations/index.ts";
import { cast } from "./cast.ts";
import { modelOf } from "./dataset.ts";
import { readAnswer } from "./described.ts";
import { fixedClock } from "./service.ts";

/** An HTTP server over a real dataset, with what a test wants to be otherwise. */
export async function openHttpServer(
  t: TestContext,
  otherwise: Partial<HttpDependencies & GatewayDependencies & Pick<RequestSinks, "record">> = {},
  waits: Partial<typeof timeouts> = {},
) {
  const clock = fixedClock();
  const model = await modelOf(t, cast);
  const log: string[] = [];
  const key = {
    id: "key_1",
    name: "test",
    hint: "gpr_test",
    accountNumber: 1,
    accountId: "ac_1",
    quotas: { minute: null, hour: null, day: null },
    mayReadChanges: true,
    isDemo: false,
  };
  const config = otherwise.config ?? readConfig({});
  const gateway = openGateway({
    verifyKey: () => key,
    noteKeyUse() {},
    failedKeys: openKeyedLimit([failedKeys], clock),
    accountUrl: null,
    isSignUpOpen: false,
    counters: openMemoryCounters(clock),
    ...otherwise,
  });
  const answering = {
    gateway,
    operations,
    cache: openAnswerCache(0),
    pageSizeMax: config.pageSizeMax,
    publicUrl: config.publicUrl,
    model: () => model,
    changes: { list: () => [], stepPath: () => "", openStep: () => null },
    explain: () => Promise.reject(new Error("There is no account worker in this test.")),
    offers: null,
    isStopping: () => false,
    ...otherwise,
  };
  const answers = openOperations(answering);
  const logger = pino(
    { base: null },
    { write: (lines) => void log.push(...lines.trimEnd().split("\n")) },
  );
  const metrics = openRequestMetrics();
  const { record = () => {} } = otherwise;
  const http: HttpDependencies = {
    config,
    browse: () => config.browse,
    operations,
    gateway,
    reads: openReads(answering, answers),
    answers,
    model: () => model,
    changes: answering.changes,
    explain: answering.explain,
    recordRequest: openRequestRecorder({ config, log: logger, metrics, record }),
    accountWorker: () => Promise.reject(new Error("There is no account worker in this test.")),
    now: clock.now,
    clock,
    afterCommit: sendNow,
    life: { state: "running" },
    overload: { cause: null },
    metrics,
    log: logger,
    ...otherwise,
  };
  const { server, connections, drain } = buildServer(http, { ...timeouts, ...waits });
  const { port } = await listenAt(server, { host: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${port}`;
  t.after(() => {
    server.closeAllConnections();
    return drain();
  });
  const get = async (path: string, headers: Record<string, string> = {}, method = "GET") => {
    const sent = { "x-api-key": "x", ...headers };
    return readAnswer(await fetch(url + path, { headers: sent, method }));
  };
  return { http, log, get, connections, server, port };
}
