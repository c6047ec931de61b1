/** Wires the modules together for one process, and stops them in order. Whoever opens a service must stop it. */
import { join } from "node:path";
import type { Logger } from "pino";
import { accountUrl, type Config, ConfigFault, localUrl, missedContact } from "#config.ts";
import { openAccountWorker } from "#dashboard/account-worker.ts";
import { type Catalogue, currentOrNull, openCatalogue } from "#datasets/catalogue.ts";
import { type Follower, followCurrent } from "#datasets/follow-current.ts";
import type { Generation } from "#datasets/generation.ts";
import type { LoadOrder } from "#datasets/load-worker.ts";
import { openPublications } from "#datasets/publications.ts";
import type { Load } from "#datasets/start-load.ts";
import { openAnswerCache } from "#gateway/answer-cache.ts";
import { openGateway } from "#gateway/gateway.ts";
import { openOperations, openReads } from "#gateway/read-operation.ts";
import { openAdmin } from "#http/admin.ts";
import { type HttpDependencies, type ServiceState, whyNotReady } from "#http/dependencies.ts";
import { addressText, listenAt, listenPassed, type PassedSockets } from "#http/listen.ts";
import { startOverloadGuard } from "#http/overload.ts";
import { openRequestMetrics, openRequestRecorder } from "#http/record-requests.ts";
import { openCommitBarrier, sendNow } from "#http/send-answer.ts";
import { openKeyVerifier, openKnownKeys, openSharedKeys } from "#keys/key-verifier.ts";
import { coarseNetwork } from "#limits/client-network.ts";
import { type Clock, systemClock } from "#limits/clocks.ts";
import { failedKeys, openKeyedLimit } from "#limits/keyed-limit.ts";
import { type Counters, type CountersMode, countersModes } from "#limits/counters.ts";
import { openJournal } from "#limits/journal.ts";
import { openMemoryCounters } from "#limits/memory-counters.ts";
import type { Patience, SharedCountersOptions } from "#limits/shared-counters.ts";
import { counter, gauge, gaugeBy, type Metric } from "#metrics/metric.ts";
import { diskMetrics, processMetrics } from "#metrics/process-metrics.ts";
import { operations } from "#operations/index.ts";
import { recordCounts } from "#operations/page.ts";
import { isInvented } from "#records/common.ts";
import type { ReadModel } from "#search/read-model.ts";
import { watchControl } from "#store/control-watch.ts";
import { takeLock } from "#store/lock.ts";
import { controlFile, openFile, shapeOf } from "#store/sqlite-file.ts";
import type { SharedKeySource } from "#store/watch-postgres.ts";
import { openRecording, type Recording } from "#usage/writer.ts";

export type Service = Awaited<ReturnType<typeof openService>>;

interface ServiceOptions {
  clock?: Clock;
  /** Returns milliseconds since 1970. */
  now?: () => number;
  /** Longest waits for the server that counts the requests to all instances. */
  patience?: Patience | undefined;
  /** Load of the current dataset; null if it has not begun yet. */
  ahead?: Load | null;
  /** Sockets to listen on instead of HOST, PORT and ADMIN_ADDRESS. */
  passed?: PassedSockets;
  /** Version of the program, for exports and the list of instances. */
  program?: string;
}

/**
 * Opens a service.
 * @throws DomainError if another server uses the data folder, or if a store cannot be used.
 * @throws DatasetFault if DATABASE_URL is set and the datasets folder has datasets from elsewhere.
 */
export async function openService(config: Config, log: Logger, options: ServiceOptions = {}) {
  const { clock = systemClock(), now = Date.now, patience, ahead = null } = options;
  const { passed = { main: null, admin: null }, program = "unknown" } = options;
  const { dataDir, databaseUrl } = config;
  const failing = { keys: false, counts: false, usage: false };
  const report = (part: keyof typeof failing, what: string) => (fault: Error | null) => {
    failing[part] = fault !== null;
    if (fault === null) log.info(`resolved: ${what}`);
    else log.error({ err: fault }, what);
  };

  // Closes all parts in reverse order when the service stops, or at once if it cannot be opened.
  await using opened = new AsyncDisposableStack();
  const reportKeys = report("keys", "keys cannot be read");
  const shared = databaseUrl === null ? null : await openDatabaseKeys(databaseUrl, reportKeys);
  if (shared === null) openFile(shapeOf("control.sqlite", dataDir)).close();
  else opened.defer(() => shared.keys.close());
  const lock = takeLock(
    join(dataDir, "server.lock"),
    `Another server is running on ${dataDir}. Stop it, or set DATA_DIR to another folder.`,
  );
  opened.defer(() => lock.release());
  // Closed after the parts below, so that /metrics still shows what is lost while they close.
  const last = opened.use(new AsyncDisposableStack());
  const counting = {
    clock,
    patience: patience ?? { answer: config.countersPatienceMilliseconds },
    onFault: report(
      "counts",
      databaseUrl === null ? "counts cannot be saved" : "counts are not shared",
    ),
  };
  const counters = await openCounters(config, log, counting);
  // Closed after the account worker, which may look up counts until then.
  opened.defer(() => counters.close());
  /** Port listened on. It is kept because requests are still answered after the server has stopped listening. */
  let port = 0;
  const accountWorker = openAccountWorker({
    settings: () => ({
      ...config,
      linkBase: config.publicUrl ?? localUrl(config.host, port),
    }),
    quota: { look: counters.look.bind(counters), take: (...charged) => gateway.charge(...charged) },
    reportError: (message) => log.error(message),
  });
  const cache = openAnswerCache(config.answerCacheBytes);
  let served: ReadModel | null = null;
  const life = { state: "starting" as ServiceState };
  let missed: ReturnType<typeof missedContact> = null;
  const browse = () => (missed === null ? config.browse : "members");
  // The code for exports is loaded only if it is used.
  const offers = config.exports
    ? (await import("#exports/offers.ts")).openExportOffers({
        folder: join(dataDir, "datasets"),
        served: () => served?.parts.version ?? null,
        program,
        onMade: (dataset, file, milliseconds) =>
          log.info({ dataset, file, ms: Math.round(milliseconds) }, "an export was made"),
      })
    : null;
  const datasets = await followDatasets(config, log, {
    ahead,
    program,
    onModel(next, from) {
      served = next;
      cache.clear();
      missed = missedContact(config, isInvented(next.parts.sources));
      // While starting, `start` throws the fault instead, except in a demo.
      if (missed !== null && (life.state !== "starting" || config.isDemo))
        log.warn(
          `${missed.found}. For now, pages show records to members only. ${missed.mend}, and restart the server.`,
        );
      accountWorker.show(from, browse());
      offers?.tidy(from.generation.version);
    },
  });
  opened.defer(() => datasets.close());
  // A worker reads the dataset while this thread imports the remaining modules.
  const { buildServer } = await import("#http/build-server.ts");
  const { keys, syncs } = shared ?? openFileKeys(dataDir, now, reportKeys);
  const keyVerifier = openKeyVerifier({ keys, accountUrl: accountUrl(config), now });
  const recording = openRecording({
    dataDir,
    databaseUrl,
    retention: { logDays: config.usageLogDays, logRowsMax: config.usageLogRows },
    now,
    onFault: report("usage", "usage cannot be saved"),
    onLoss: (requests, isOver) =>
      log.error({ requests }, `usage records ${isOver ? "were" : "are being"} dropped`),
  });
  // All at once, because each may wait for PostgreSQL.
  opened.defer(async () => {
    await Promise.all([accountWorker.close(), recording.close(), keyVerifier.close()]);
  });
  const overload = startOverloadGuard(config, log);
  opened.defer(() => overload.close());

  const gateway = openGateway({
    verifyKey: (presented) => keyVerifier.verify(presented),
    noteKeyUse: ({ id }, addressOf) =>
      recording.noteKeyUse(id, now(), () => coarseNetwork(addressOf())),
    failedKeys: openKeyedLimit([failedKeys], clock),
    accountUrl: accountUrl(config),
    isSignUpOpen: config.signUp === "open",
    counters,
  });
  const answering = {
    gateway,
    cache,
    operations,
    pageSizeMax: config.pageSizeMax,
    publicUrl: config.publicUrl,
    model: () => served,
    changes: openPublications(join(dataDir, "datasets")),
    explain: accountWorker.explain,
    offers,
    isStopping: () => life.state === "closing" || life.state === "draining",
  };
  const answers = openOperations(answering);
  const requestMetrics = openRequestMetrics();
  const http: HttpDependencies = {
    ...answering,
    config,
    reads: openReads(answering, answers),
    answers,
    afterCommit: openCommitBarrier(() => counters.commit(), sendNow),
    accountWorker: accountWorker.answer,
    browse,
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
  const metrics = [
    gauge("gp_records_ready", "1 while queries are answered, as /ready says, else 0", () =>
      whyNotReady(http) === undefined ? 1 : 0,
    ),
    ...requestMetrics.metrics,
    ...connections.metrics,
    ...cache.metrics,
    ...datasets.metrics,
    ...usageMetrics(recording),
    gaugeBy(
      "gp_records_sync_last_success_timestamp_seconds",
      "Time when a sync of a source last succeeded, or while none has when the first began, in Unix time",
      "source",
      () =>
        Object.fromEntries(syncs().map((row) => [row.source, Date.parse(row.succeeded_at) / 1000])),
    ),
    gaugeBy(
      "gp_records_failing",
      "1 while the part of the service that the label names cannot do its work; otherwise 0",
      "part",
      () => ({ ...failing, dataset: !datasets.isWantedServed() }),
    ),
    ...counters.metrics,
    ...diskMetrics(dataDir),
    ...processMetrics(),
  ];
  const admin = openAdmin(config.adminAddress, passed.admin, http, metrics, datasets.wanted);
  last.defer(() => admin.close());

  let listening: Promise<string> | undefined;
  const listen = () => (listening ??= listenOnce());
  const listenOnce = async () => {
    await listenAdmin();
    const address =
      passed.main === null
        ? await listenAt(server, config)
        : await listenPassed(server, passed.main, config.host);
    ({ port } = address);
    return addressText(address);
  };
  let adminListening: Promise<void> | undefined;
  const listenAdmin = () => (adminListening ??= admin.listen());

  const parts = opened.move();
  const stop = async () => {
    await using _parts = parts;
    life.state = "closing";
    const closed = setTimeout(() => (life.state = "draining"), closingMilliseconds);
    offers?.close();
    // The datasets are closed while the connections are, because both may take long.
    await Promise.all([drain(), datasets.close()]).finally(() => clearTimeout(closed));
  };
  let stopping: Promise<void> | undefined;

  return {
    server,
    /** Returns the URL of the admin server. Returns null until it listens, or if there is none. */
    adminAddress: admin.address,
    /** Listens, and resolves to the URL. Queries get a 503 until `start` has loaded a dataset. */
    listen,
    /**
     * Loads the current dataset, then listens unless `listen` was called before. Meanwhile, connections wait in a
     * passed socket; without one, they are refused, so a proxy can try another instance. Resolves to the URL.
     * @throws ConfigFault if CONTACT must be set, ListenFault if an address cannot be used, Error after `stop`.
     */
    async start() {
      await listenAdmin();
      await datasets.look();
      // The demo, not the operator, chose to show records to everyone. It shows real ones to members only.
      if (missed !== null && !config.isDemo)
        throw new ConfigFault([`${missed.found}. ${missed.mend}.`]);
      if (life.state !== "starting")
        throw new Error("The service was stopped before it had started.");
      const address = await listen();
      // The account worker mails notices and removes old audit entries even if nobody opens a page.
      if (config.smtpUrl !== null || config.auditDays > 0) accountWorker.open();
      if (stopping === undefined) life.state = "running";
      return address;
    },
    /**
     * Finishes requests in progress for up to 3 s. Ends within 5 s in total, or within 8 s while PostgreSQL does not
     * answer. Loses no counts unless their store is unavailable.
     */
    stop: () => (stopping ??= stop()),
  };
}

/**
 * Longest time in the state `closing`, in ms. By its end, idle connections are closed, and busy ones have sent all but
 * slow responses.
 */
const closingMilliseconds = 1000;

const usageMetrics = ({ waiting, waitingBytesMax, lostCount }: Recording) => [
  gauge(
    "gp_records_usage_queue_bytes",
    "Memory that usage records take while they wait to be written",
    () => waiting().bytes,
  ),
  gauge(
    "gp_records_usage_queue_max_bytes",
    "Maximum memory of waiting usage records; beyond it the oldest are dropped",
    () => waitingBytesMax,
  ),
  counter("gp_records_usage_lost_total", "Requests whose usage records were dropped", lostCount),
];

/** Opens the API keys and the times of source syncs in the data folder's control store. */
function openFileKeys(dataDir: string, now: () => number, onFault: (fault: Error | null) => void) {
  const source = watchControl(controlFile(dataDir), now);
  return { keys: openKnownKeys({ source, onFault }), syncs: source.syncs };
}

/** Opens the API keys and the times of source syncs in PostgreSQL. Imports the PostgreSQL code only when called. */
async function openDatabaseKeys(url: string, onFault: (fault: Error | null) => void) {
  const { connectKeys } = await import("#store/watch-postgres.ts");
  let source: SharedKeySource;
  const connect = async (onChange: () => void) => (source = await connectKeys(url, onChange));
  return { keys: await openSharedKeys({ connect, onFault }), syncs: () => source.syncs() };
}

/**
 * Opens the counters that the settings select. The modules for several instances are imported only if they are needed.
 * @throws StoreFault if the server that counts must be set up first, or refuses the user or the password.
 */
async function openCounters(
  { dataDir, databaseUrl, countersUrl, countersOutage: outage }: Config,
  log: Logger,
  options: Omit<SharedCountersOptions, "engine" | "outage">,
): Promise<Counters & { metrics: readonly Metric[] }> {
  let emptied = 0;
  const onEmptied = () => {
    emptied++;
    log.error(
      "the server at COUNTERS_URL, or a node of its cluster, lost its counts: the quota windows of the affected accounts start over. Unless it was flushed on purpose, check that it saves its data (appendonly yes)",
    );
  };
  const metricsOf = (mode: () => CountersMode) => [
    gaugeBy("gp_records_counters_mode", "1 for the way requests are counted now", "mode", () =>
      Object.fromEntries(countersModes.map((one) => [one, one === mode()])),
    ),
    counter(
      "gp_records_counters_emptied_total",
      "Number of times that the server at COUNTERS_URL, or a node of its cluster, was found to have lost its counts",
      () => (countersUrl === null ? null : emptied),
    ),
  ];
  if (databaseUrl === null) {
    const metrics = metricsOf(() => "embedded");
    return {
      ...openMemoryCounters(options.clock, openJournal({ dir: dataDir, ...options })),
      metrics,
    };
  }
  const { openSharedCounters } = await import("#limits/shared-counters.ts");
  const engine =
    countersUrl === null
      ? (await import("#limits/postgres-engine.ts")).openPostgresEngine(databaseUrl)
      : await (
          await import("#limits/valkey-engine.ts")
        ).openValkeyEngine(countersUrl, { onEmptied });
  const counters = await openSharedCounters({ engine, outage, ...options });
  return { ...counters, metrics: metricsOf(counters.mode) };
}

interface FollowOrder {
  /** Load of the current dataset; null if it has not begun yet. */
  ahead: Load | null;
  program: string;
  /** Called with the model of a dataset that is taken over. The old model is closed about 2 s later. */
  onModel(model: ReadModel, from: LoadOrder): void;
}

/**
 * Follows the folder's current dataset, from which requests are answered. The folder follows the shared datasets if a
 * database is set.
 */
async function followDatasets(
  config: Config,
  log: Logger,
  { ahead, program, onModel }: FollowOrder,
) {
  const catalogue = openCatalogue(join(config.dataDir, "datasets"));
  let failures = 0;
  const shared =
    config.databaseUrl === null
      ? null
      : (await import("#datasets/follow-shared.ts")).startFollowing({
          url: config.databaseUrl,
          folder: catalogue.folder,
          fetchesPinned: config.exports,
          program,
          onPointed: () => void follower.lookAnew(),
          onFault(fault) {
            if (fault === null) log.info("resolved: shared datasets cannot be followed");
            else log.error({ err: fault }, "shared datasets cannot be followed");
          },
          now: () => performance.now(),
        });
  const follower: Follower = followCurrent({
    catalogue,
    ahead,
    onModel(model, from) {
      onModel(model, from);
      const { version } = model.parts;
      shared?.noteServed(version);
      log.info({ dataset: version }, "dataset is served");
    },
    onFault(fault) {
      failures++;
      log.error({ err: fault }, "dataset cannot be served");
      const version = currentOrNull(catalogue);
      if (version !== null) shared?.mend(version);
    },
    now: () => performance.now(),
  });
  return {
    look: follower.look,
    /** Returns the version that should be served, or null if there is none or the pointer to it cannot be read. */
    wanted: () => shared?.wanted() ?? currentOrNull(catalogue),
    /** Reports whether the served version is the wanted one. True also if none is wanted and none is served. */
    isWantedServed: () =>
      follower.model()?.parts.version === (shared?.wanted() ?? currentOf(catalogue)?.version),
    metrics: [
      gaugeBy(
        "gp_records_dataset_info",
        "Always 1; the label names the served dataset",
        "version",
        () => {
          const served = follower.model();
          return served === null ? {} : { [served.parts.version]: 1 };
        },
      ),
      gaugeBy("gp_records_dataset_records", "Served records, by kind of record", "kind", () => {
        const served = follower.model();
        return served === null ? {} : recordCounts(served);
      }),
      gauge(
        "gp_records_dataset_updated_timestamp_seconds",
        "Time when the served dataset was built, in Unix time",
        () => secondsOf(follower.model()?.parts.updatedAt),
      ),
      gauge(
        "gp_records_dataset_published_timestamp_seconds",
        "Time when the current dataset was last published or rolled back to, in Unix time",
        () => secondsOf(currentOf(catalogue)?.published_at),
      ),
      counter(
        "gp_records_dataset_load_failures_total",
        "Failed attempts to serve a published dataset",
        () => failures,
      ),
      gauge(
        "gp_records_dataset_behind_seconds",
        "Time since this server was last known to serve the dataset that all servers should serve; 0 while it does",
        () => shared?.behindSeconds() ?? null,
      ),
    ],
    async close() {
      await Promise.all([follower.close(), shared?.close()]);
    },
  };
}

/**
 * Returns the current dataset. Returns undefined if the folder names none. Returns `{ version: "" }`, which equals no
 * real version, if the current dataset cannot be read.
 */
function currentOf(catalogue: Catalogue): Partial<Generation> | undefined {
  try {
    return catalogue.current() ?? undefined;
  } catch {
    return { version: "" };
  }
}

const secondsOf = (time: string | null | undefined) =>
  time === undefined || time === null ? null : Date.parse(time) / 1000;
