/** Wires the modules together for one process. Whoever opens a service closes it. */
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type { OperatorTeller } from "#alarms/tell-operator.ts";
import { openAccountWorker } from "#account/account-worker.ts";
import { accountWorkerSettings } from "#account/messages.ts";
import { type Api, openApi } from "#api/ask.ts";
import { accountUrl, type Config } from "#config.ts";
import { type Catalogue, openCatalogue } from "#datasets/catalogue.ts";
import { followCurrent } from "#datasets/follow-current.ts";
import type { Generation } from "#datasets/generation.ts";
import type { Load } from "#datasets/start-load.ts";
import type { SharedDatasetsLink } from "#datasets/start-remote.ts";
import { openAdmin } from "#http/admin.ts";
import { openCommitBarrier } from "#http/commit-barrier.ts";
import { drain, settle } from "#http/connections.ts";
import type { HttpDependencies, ServiceState } from "#http/dependencies.ts";
import { whyNotReady } from "#http/health.ts";
import { addressText, listenPassed, type PassedSockets } from "#http/listen.ts";
import { openRequestRecorder } from "#http/log-requests.ts";
import { startOverloadGuard } from "#http/overload.ts";
import { openRequestMetrics } from "#http/request-metrics.ts";
import { openKeyVerifier, openKnownKeys } from "#keys/key-verifier.ts";
import { coarseNetwork } from "#limits/client-network.ts";
import { type Clock, systemClock } from "#limits/clocks.ts";
import { openFailedKeys } from "#limits/failed-keys.ts";
import { countersModes, openCounters } from "#limits/open-counters.ts";
import type { Patience } from "#limits/shared-counters.ts";
import { openDatasetMetrics } from "#metrics/dataset-metrics.ts";
import { diskMetrics } from "#metrics/disk-metrics.ts";
import { type FailingPart, openFailingParts } from "#metrics/failing-parts.ts";
import { counter, gauge } from "#metrics/metric.ts";
import { instanceMetrics } from "#metrics/instance-metrics.ts";
import { operations } from "#operations/index.ts";
import { recordCounts } from "#operations/page.ts";
import { watchControl } from "#store/control-watch.ts";
import { controlFile } from "#store/files.ts";
import { type Lock, takeLock } from "#store/lock.ts";
import { refuseMovedFolder, watchFolderMark } from "#store/move-mark.ts";
import { readyControl } from "#store/ready-control.ts";
import { openRecording, type Recording } from "#usage/recording.ts";

export interface Service {
  app: FastifyInstance;
  /** Where metrics are served, once it listens; null without an admin address. */
  adminAddress(): string | null;
  /** Resolves to the address it listens on; until `start` has loaded a dataset, queries are answered with 503. */
  listen(): Promise<string>;
  /**
   * Loads the current dataset, then listens, if it does not yet: until then clients wait in the socket where one was
   * passed, and a proxy asks another instance where not. Resolves to the address.
   */
  start(): Promise<string>;
  /** Finishes the requests in progress, within five seconds; nothing counted is lost. */
  stop(): Promise<void>;
}

/** The clocks, and how long others may take: what tests inject. */
interface Time {
  clock: Clock;
  /** Milliseconds since 1970. */
  now(): number;
  /** With those who count for several instances. */
  patience?: Patience | undefined;
}

/**
 * @param ahead of the current dataset, where it is being read already.
 * @param passed sockets to listen on in place of HOST, PORT and ADMIN_ADDRESS.
 * @param program its version, as other machines are told.
 * @throws DomainError where another server holds the data folder, or it cannot be used.
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
  const failing = openFailingParts(
    () =>
      follower.model()?.parts.version ===
      (sharedDatasets?.wanted() ?? currentOf(catalogue)?.version),
  );
  const logFault = (what: string) => (fault: Error | null) => {
    if (fault === null) log.info(`${what}: works again`);
    else log.error({ err: fault }, what);
  };
  const report = (part: FailingPart, what: string) => (fault: Error | null) => {
    failing.set(part, fault !== null);
    logFault(what)(fault);
  };

  const reportKeys = report("keys", "keys cannot be read");
  const { databaseUrl } = config;
  const moved = Promise.withResolvers<Error>();
  const shared =
    databaseUrl === null ? null : await openDatabase(databaseUrl, reportKeys, moved.resolve);
  if (shared === null) await readyControl(dataDir);
  const lock = takeLock(
    join(dataDir, "server.lock"),
    `Another server is running on ${dataDir}. Stop it, or set DATA_DIR to another folder.`,
  );
  // Under the lock, which `copy` takes once it has marked the folder.
  if (shared === null) refuseUnderLock(dataDir, lock);
  const { counters, mode: countersMode } = await openCounters({
    dataDir,
    database: shared?.place ?? null,
    countersUrl: config.countersUrl,
    outage: config.countersOutage,
    patience,
    clock,
    onFault: report("counts", shared === null ? "counts cannot be saved" : "counts are not shared"),
  }).catch((fault: unknown) => {
    lock.release();
    throw fault;
  });
  let api: Api | null = null;
  let sharedDatasets: SharedDatasetsLink | null = null;
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const datasets = openDatasetMetrics(
    () => servedDataset(follower.model()),
    () => currentOf(catalogue)?.published_at ?? null,
  );
  const accountWorker = openAccountWorker({
    settings: () =>
      accountWorkerSettings(
        config,
        (app.server.address() as AddressInfo).port,
        shared?.forThreads ?? null,
      ),
    counters: () => counters,
    answerCall: (call) => answerCall(call),
    reportError: (message) => log.error(message),
  });
  const follower = followCurrent({
    catalogue,
    ahead,
    onModel({ parts }, from) {
      api?.forgetAnswers();
      accountWorker.show(from);
      datasets.loaded(now());
      sharedDatasets?.noteServed(parts.version);
      log.info({ dataset: parts.version }, "dataset is served");
    },
    onFault(fault) {
      datasets.failed();
      log.error({ err: fault }, "dataset cannot be served");
      const version = wantedVersion(catalogue);
      if (version !== null) sharedDatasets?.mend(version);
    },
    now: () => performance.now(),
  });
  if (shared !== null) {
    const { startRemote } = await import("#datasets/start-remote.ts");
    sharedDatasets = startRemote({
      ...shared.forThreads,
      folder: catalogue.folder,
      program,
      // What was read ahead may be served by now.
      served: follower.model()?.parts.version ?? null,
      onPointed: () => void follower.lookAnew(),
      onFault: logFault("shared datasets cannot be followed"),
      now: () => performance.now(),
    });
  }
  // A worker reads the dataset while this thread imports Fastify, the slowest import.
  const { buildApp } = await import("#http/build-app.ts");
  const { openExplorerCalls } = await import("#http/explorer-calls.ts");
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

  let state: ServiceState = "starting";
  api = openApi({
    operations,
    pageSizeMax: config.pageSizeMax,
    cacheBytes: config.answerCacheBytes,
    accountUrl: accountUrl(config),
    verifyKey: (presented) => keyVerifier.verify(presented),
    noteKeyUse: ({ id }, addressOf) => recording.noteKeyUse(id, () => coarseNetwork(addressOf())),
    failedKeys: openFailedKeys({ clock }),
    counters,
    model: () => follower.model(),
  });
  const requestMetrics = openRequestMetrics();
  const http: HttpDependencies = {
    config,
    operations,
    api,
    model: () => follower.model(),
    afterCommit: openCommitBarrier(() => counters.commit()),
    accountWorker: accountWorker.answer,
    now,
    clock,
    state: () => state,
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
  const answerCall = openExplorerCalls(http);
  const { app, connections } = buildApp(http);
  const metrics = [
    readiness(http),
    ...http.metrics.metrics,
    ...connections.metrics,
    ...api.metrics,
    ...datasets.metrics,
    ...usageMetrics(recording),
    failing,
    ...instanceMetrics({
      countersModes,
      countersMode,
      behindSeconds: () => sharedDatasets?.behindSeconds() ?? null,
      pool: () => shared?.poolUse() ?? null,
      jobs: () => (shared === null ? {} : accountWorker.jobs()),
    }),
    ...diskMetrics(dataDir),
  ];
  const admin = openAdmin(
    config.adminAddress,
    passed.admin,
    http,
    metrics,
    () => sharedDatasets?.wanted() ?? wantedVersion(catalogue),
  );

  let listening: Promise<string> | undefined;
  const listen = () => (listening ??= listenOnce());
  const listenOnce = async () => {
    await listenAdmin();
    if (passed.main === null) return app.listen({ host: config.host, port: config.port });
    await app.ready();
    return addressText(await listenPassed(app.server, passed.main, config.host));
  };
  let operator: OperatorTeller | null = null;
  let adminListening: Promise<void> | undefined;
  const listenAdmin = () => (adminListening ??= admin.listen());

  const endWatch = shared === null ? watchFolderMark(dataDir, moved.resolve) : () => {};
  let datasetsClosing: Promise<unknown> | undefined;
  const closeDatasets = () =>
    (datasetsClosing ??= Promise.all([follower.close(), sharedDatasets?.close()]));
  let storesClosing: Promise<void> | undefined;
  const closeStores = () => (storesClosing ??= closeOnce());
  const closeOnce = async () => {
    endWatch();
    await Promise.all([accountWorker.close(), recording.close()]);
    await counters.close();
    await keyVerifier.close();
  };
  let isLockHeld = true;
  const releaseLock = () => {
    if (isLockHeld) lock.release();
    isLockHeld = false;
  };
  // The process goes on, so that clients and proxies are told, until somebody ends it.
  void moved.promise.then(async (reason) => {
    if (state !== "closing") state = "draining";
    log.warn(`requests are refused from now on: ${reason.message}`);
    await settle(connections);
    await closeStores();
    // Last, as `copy` takes an instance that has signed off for one that writes nothing more.
    await closeDatasets();
    releaseLock();
  });

  return {
    app,
    adminAddress: admin.address,
    listen,
    async start() {
      await listenAdmin();
      const { operatorWebhook: webhookUrl } = config;
      if (webhookUrl !== null) {
        const { tellOperator } = await import("#alarms/tell-operator.ts");
        const elapsed = () => performance.now();
        operator = tellOperator({ webhookUrl, metrics, log, elapsed, now, program });
      }
      await follower.look();
      if (state !== "starting") throw new Error("The service was stopped before it had started.");
      const address = await listen();
      // Mail and the audit log give it work even if nobody opens a page.
      if (config.smtpUrl !== null || config.auditDays > 0) accountWorker.open();
      state = "running";
      return address;
    },
    async stop() {
      if (state !== "draining") state = "closing";
      const closed = setTimeout(() => (state = "draining"), closingMilliseconds);
      await Promise.all([drain(app.server, connections), closeDatasets(), operator?.close()]);
      clearTimeout(closed);
      await app.close();
      overload.close();
      await closeStores();
      await admin.close();
      releaseLock();
    },
  };
}

function refuseUnderLock(dataDir: string, lock: Lock): void {
  try {
    refuseMovedFolder(dataDir);
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** By then an idle connection is closed, and a busy one has had its last answer, unless that one is slow. */
const closingMilliseconds = 1000;

/** What a server has of PostgreSQL; its code is loaded only here. */
async function openDatabase(
  url: string,
  onFault: (fault: Error | null) => void,
  onMoved: (reason: Error) => void,
) {
  const { makeGateMemory, makePoolMemory, openGate, readPool } = await import("#store/postgres.ts");
  const { connectKeys } = await import("#store/watch-postgres.ts");
  const { openSharedKeys } = await import("#keys/shared-keys.ts");
  const [gateMemory, poolMemory] = [makeGateMemory(), makePoolMemory()];
  const place = { url, gate: openGate(gateMemory) };
  const connect = (onChange: () => void) => connectKeys(place, onChange);
  return {
    place,
    /** What other threads take to connect. */
    forThreads: { url, gateMemory, poolMemory },
    keys: await openSharedKeys({ connect, onFault, onMoved }),
    poolUse: () => readPool(poolMemory),
  };
}

const readiness = (http: HttpDependencies) =>
  gauge("gp_records_ready", "1 while queries are answered, as /ready says", () =>
    whyNotReady(http) === undefined ? 1 : 0,
  );

const usageMetrics = ({ lostCount, waiting, waitingBytesMax }: Recording) => [
  gauge(
    "gp_records_usage_queue_requests",
    "Requests whose record waits to be saved",
    () => waiting().requests,
  ),
  gauge("gp_records_usage_queue_bytes", "Memory that they take", () => waiting().bytes),
  gauge("gp_records_usage_queue_max_bytes", "Memory that they may take", () => waitingBytesMax),
  counter(
    "gp_records_usage_lost_total",
    "Requests whose record was given up because it could not be saved",
    lostCount,
  ),
];

const servedDataset = (model: ReturnType<HttpDependencies["model"]>) =>
  model && {
    version: model.parts.version,
    updatedAt: model.parts.updatedAt,
    records: recordCounts(model),
  };

/** The version that the folder names as current, servable or not; null where it names none or cannot be read. */
function wantedVersion(catalogue: Catalogue): string | null {
  try {
    return catalogue.currentVersion();
  } catch {
    return null;
  }
}

/** Undefined where the folder names no dataset; a version equal to no other where it cannot be read. */
function currentOf(catalogue: Catalogue): Partial<Generation> | undefined {
  try {
    return catalogue.current() ?? undefined;
  } catch {
    return { version: "" };
  }
}
