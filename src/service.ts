/** Wires the modules together for one process, and ends them in order. The opener of a service closes it. */
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Logger } from "pino";
import { accountUrl, type Config } from "#config.ts";
import { openAccountWorker } from "#dashboard/account-worker.ts";
import { accountWorkerSettings } from "#dashboard/messages.ts";
import { openPublications } from "#datasets/publications.ts";
import type { Load } from "#datasets/start-load.ts";
import type { ExportOffers } from "#exports/offers.ts";
import { openAnswerCache } from "#gateway/answer-cache.ts";
import { openGateway } from "#gateway/gateway.ts";
import { openReads } from "#gateway/open-reads.ts";
import { openOperations } from "#gateway/read-operation.ts";
import { openAdmin } from "#http/admin.ts";
import type { HttpDependencies, ServiceState } from "#http/dependencies.ts";
import { addressText, listenAt, listenPassed, type PassedSockets } from "#http/listen.ts";
import { startOverloadGuard } from "#http/overload.ts";
import { openRequestMetrics, openRequestRecorder } from "#http/record-requests.ts";
import { openCommitBarrier, refuseUncommitted, sendNow } from "#http/send-answer.ts";
import { openKeyVerifier, openKnownKeys } from "#keys/key-verifier.ts";
import { coarseNetwork } from "#limits/client-network.ts";
import { type Clock, systemClock } from "#limits/clocks.ts";
import { failedKeys, openKeyedLimit } from "#limits/keyed-limit.ts";
import { openCounters } from "#limits/open-counters.ts";
import type { Patience } from "#limits/shared-counters.ts";
import { operations } from "#operations/index.ts";
import type { ReadModel } from "#search/read-model.ts";
import { type FailingPart, openFailingParts, metricsOf } from "#service/metrics.ts";
import { openServedDatasets } from "#service/served-datasets.ts";
import { watchControl } from "#store/control-watch.ts";
import { takeLock } from "#store/lock.ts";
import { controlFile, controlShape, openFile } from "#store/sqlite-file.ts";
import { openRecording } from "#usage/open-recording.ts";

export interface Service {
  server: Server;
  /** Returns the address of the metrics once it listens, or null if there is none. */
  adminAddress(): string | null;
  /** Resolves to the address it listens on. Queries get a 503 until `start` has loaded a dataset. */
  listen(): Promise<string>;
  /**
   * Loads the current dataset, then listens, if it does not yet. Until then clients wait in a passed socket. Without one, a
   * proxy asks another instance. Resolves to the address.
   */
  start(): Promise<string>;
  /** Finishes the requests in progress within 5 s, or 8 s while PostgreSQL does not answer. Nothing counted is lost. */
  stop(): Promise<void>;
}

/** Clocks and patience, which tests inject. */
interface Time {
  clock: Clock;
  /** Returns milliseconds since 1970. */
  now(): number;
  /** Patience with the server that counts for several instances. */
  patience?: Patience | undefined;
}

/**
 * Opens a service.
 * @param ahead load of the current dataset, if it has already begun.
 * @param passed sockets to listen on in place of HOST, PORT and ADMIN_ADDRESS.
 * @param program version of the program, for other machines.
 * @throws DomainError if another server uses the data folder, or if it cannot be used.
 */
export async function openService(
  config: Config,
  log: Logger,
  { clock, now, patience }: Time = { clock: systemClock(), now: Date.now },
  ahead: Load | null = null,
  passed: PassedSockets = { main: null, admin: null },
  program = "unknown",
): Promise<Service> {
  const { dataDir } = config;
  const failing = openFailingParts(() => datasets.isWantedServed());
  const report = (part: FailingPart, what: string) => (fault: Error | null) => {
    failing.set(part, fault !== null);
    if (fault === null) log.info(`${what}: works again`);
    else log.error({ err: fault }, what);
  };

  const reportKeys = report("keys", "keys cannot be read");
  const { databaseUrl } = config;
  const openShared = async (url: string) => {
    const { openDatabase } = await import("#service/open-database.ts");
    return openDatabase(url, reportKeys);
  };
  const shared = databaseUrl === null ? null : await openShared(databaseUrl);
  if (shared === null) openFile(controlShape(dataDir)).close();
  const lock = takeLock(
    join(dataDir, "server.lock"),
    `Another server is running on ${dataDir}. Stop it, or set DATA_DIR to another folder.`,
  );
  let emptied = 0;
  const { counters, mode: countersMode } = await openCounters({
    dataDir,
    database: shared?.place ?? null,
    countersUrl: config.countersUrl,
    outage: config.countersOutage,
    patience: patience ?? { answer: config.countersPatienceMilliseconds },
    clock,
    onFault: report("counts", shared === null ? "counts cannot be saved" : "counts are not shared"),
    onEmptied() {
      emptied++;
      log.error("the server of COUNTERS_URL has lost all counts: every window begins anew");
    },
  }).catch((fault: unknown) => {
    lock.release();
    throw fault;
  });
  const accountWorker = openAccountWorker({
    settings: () =>
      accountWorkerSettings(
        config,
        (server.address() as AddressInfo).port,
        shared?.forThreads ?? null,
      ),
    counters: () => counters,
    reportError: (message) => log.error(message),
  });
  const cache = openAnswerCache(config.answerCacheBytes);
  let served: ReadModel | null = null;
  const model = () => served;
  const offers = config.exports ? await openOffers(config, log, program, model) : null;
  const datasets = await openServedDatasets({
    folder: join(dataDir, "datasets"),
    ahead,
    database: shared?.forThreads ?? null,
    fetchesPinned: config.exports,
    program,
    onModel(next, from) {
      served = next;
      cache.clear();
      accountWorker.show(from);
      offers?.tidy(from.generation.version);
    },
    now,
    log,
  });
  // A worker reads the dataset while this thread imports the rest.
  const { buildServer } = await import("#http/build-server.ts");
  const keyVerifier = openKeyVerifier({
    keys:
      shared?.keys ??
      openKnownKeys({ source: watchControl(controlFile(dataDir), now), onFault: reportKeys }),
    accountUrl: accountUrl(config),
    now,
  });
  const recording = openRecording({
    dataDir,
    database: shared?.forThreads ?? null,
    retention: { logDays: config.usageLogDays, logRowsMax: config.usageLogRows },
    now,
    onFault: report("usage", "usage cannot be saved"),
    onLoss: (requests, isOver) =>
      log.error({ requests }, isOver ? "usage was lost" : "usage is being lost"),
  });
  const overload = startOverloadGuard(config, log);
  const life = { state: "starting" as ServiceState };

  const gateway = openGateway({
    verifyKey: (presented) => keyVerifier.verify(presented),
    noteKeyUse: ({ id }, addressOf) =>
      recording.noteKeyUse(id, now(), () => coarseNetwork(addressOf())),
    failedKeys: openKeyedLimit(failedKeys, clock),
    accountUrl: accountUrl(config),
    counters,
  });
  const answering = {
    gateway,
    cache,
    operations,
    pageSizeMax: config.pageSizeMax,
    publicUrl: config.publicUrl,
    model,
    changes: openPublications(join(dataDir, "datasets")),
    offers,
    isStopping: () => life.state !== "running",
  };
  const findAnswer = openOperations(answering);
  const requestMetrics = openRequestMetrics();
  const http: HttpDependencies = {
    config,
    operations,
    gateway,
    reads: openReads(answering, findAnswer),
    findAnswer,
    model,
    changes: answering.changes,
    afterCommit: openCommitBarrier(() => counters.commit(), sendNow, refuseUncommitted),
    accountWorker: accountWorker.answer,
    now,
    clock,
    life,
    overload,
    metrics: requestMetrics,
    recordRequest: openRequestRecorder({
      config,
      log,
      metrics: requestMetrics,
      record: recording.record,
    }),
    log,
  };
  const { server, connections, drain } = buildServer(http);
  const metrics = metricsOf({
    http,
    connections,
    cache,
    datasets,
    recording,
    failing,
    countersMode,
    countersEmptied: () => (config.countersUrl === null ? null : emptied),
    shared,
    accountWorker,
    dataDir,
  });
  const admin = openAdmin(config.adminAddress, passed.admin, http, metrics, datasets.wanted);

  let listening: Promise<string> | undefined;
  const listen = () => (listening ??= listenOnce());
  const listenOnce = async () => {
    await listenAdmin();
    return addressText(
      passed.main === null
        ? await listenAt(server, config)
        : await listenPassed(server, passed.main, config.host),
    );
  };
  let adminListening: Promise<void> | undefined;
  const listenAdmin = () => (adminListening ??= admin.listen());

  const stop = async () => {
    life.state = "closing";
    const closed = setTimeout(() => (life.state = "draining"), closingMilliseconds);
    offers?.close();
    await Promise.all([drain(), datasets.close()]);
    clearTimeout(closed);
    overload.close();
    await Promise.all([accountWorker.close(), recording.close(), keyVerifier.close()]);
    // The account worker may have counted until now.
    await counters.close();
    await admin.close();
    lock.release();
  };
  let stopping: Promise<void> | undefined;

  return {
    server,
    adminAddress: admin.address,
    listen,
    async start() {
      await listenAdmin();
      await datasets.look();
      if (life.state !== "starting")
        throw new Error("The service was stopped before it had started.");
      const address = await listen();
      // Mail and the audit log give it work even if nobody opens a page.
      if (config.smtpUrl !== null || config.auditDays > 0) accountWorker.open();
      if (stopping === undefined) life.state = "running";
      return address;
    },
    stop: () => (stopping ??= stop()),
  };
}

/** Opens the files of whole datasets. Their code is loaded only here. */
async function openOffers(
  { dataDir }: Config,
  log: Logger,
  program: string,
  model: HttpDependencies["model"],
): Promise<ExportOffers> {
  const { openExportOffers } = await import("#exports/offers.ts");
  return openExportOffers({
    folder: join(dataDir, "datasets"),
    served: () => model()?.parts.version ?? null,
    program,
    onMade: (dataset, file, milliseconds) =>
      log.info({ dataset, file, ms: Math.round(milliseconds) }, "an export is made"),
  });
}

/** Time in `closing`, in ms: enough to close idle connections, and for the last answer of busy ones, unless it is slow. */
const closingMilliseconds = 1000;
