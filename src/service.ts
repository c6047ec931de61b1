/** Puts the rooms together for one process. Whoever opens a service closes it. */
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import type { Logger } from "pino";
import type { Config } from "#config.ts";
import { openCatalogue } from "#datasets/catalogue.ts";
import { followCurrent, type Follower } from "#datasets/follow-current.ts";
import { openAnswerCache } from "#http/answer-cache.ts";
import { buildApp } from "#http/build-app.ts";
import { prepareDrain } from "#http/drain.ts";
import type { FrontDoor, ServiceState } from "#http/front-door.ts";
import { openKeyRing } from "#keys/key-ring.ts";
import { systemClock, type Clock } from "#limits/clock.ts";
import { openFailedKeys } from "#limits/failed-keys.ts";
import { openMemoryCounters } from "#limits/memory-counters.ts";
import { operations } from "#operations/index.ts";
import { takeLock } from "#store/lock.ts";
import { controlFile, openControl } from "#store/stores.ts";
import { openWriter } from "#store/writer.ts";
import { openKeyUse } from "#usage/key-use.ts";

export interface Service {
  app: FastifyInstance;
  /** Listens, then loads the current dataset; resolves to the address once it can answer. */
  start(): Promise<string>;
  /** Finishes what it has begun, within five seconds; nothing counted is lost. */
  stop(): Promise<void>;
}

/** What time it is, for whoever counts or compares it. */
export interface Time {
  clock: Clock;
  /** Milliseconds since 1970. */
  now(): number;
}

/**
 * @throws StoreFault where another server holds the data folder, or it cannot be used.
 */
export async function openService(
  config: Config,
  log: Logger,
  { clock, now }: Time = { clock: systemClock(), now: Date.now },
): Promise<Service> {
  const { dataDir } = config;
  const tell = (what: string) => (fault: Error | null) =>
    fault === null ? log.info(`${what}: works again`) : log.error({ err: fault }, what);

  await (await openControl(dataDir)).close();
  const lock = takeLock(
    join(dataDir, "server.lock"),
    `Another server is running on ${dataDir}. Stop it, or set DATA_DIR to another folder.`,
  );
  const catalogue = openCatalogue(join(dataDir, "datasets"));
  const keyRing = openKeyRing({
    path: controlFile(dataDir),
    now,
    onFault: tell("keys cannot be read"),
  });
  const counters = openMemoryCounters({
    dir: dataDir,
    clock,
    onFault: tell("counts cannot be saved"),
  });
  const writer = openWriter({ dataDir, onFault: tell("usage cannot be saved") });
  const keyUse = openKeyUse({ writer });
  const cache = openAnswerCache(config.answerCacheBytes);

  let state: ServiceState = "starting";
  let follower: Follower | null = null;
  const door: FrontDoor = {
    config,
    operations,
    model: () => follower?.model() ?? null,
    verifyKey: (presented) => keyRing.verify(presented),
    noteKeyUse: (key) => keyUse.note(key.id, now()),
    counters,
    failedKeys: openFailedKeys({ clock }),
    storeAnswers: () => keyRing.answers(),
    state: () => state,
    log,
  };
  const app = buildApp(door, cache);
  const drain = prepareDrain(app.server);

  return {
    app,
    async start() {
      const address = await app.listen({ host: config.host, port: config.port });
      follower = await followCurrent({
        catalogue,
        onModel({ parts: { version } }) {
          cache.clear();
          log.info({ dataset: version }, "dataset is served");
        },
        onFault: (fault) => log.error({ err: fault }, "dataset cannot be served"),
      });
      state = "running";
      return address;
    },
    async stop() {
      state = "draining";
      await Promise.all([drain(), follower?.close()]);
      await app.close();
      await keyUse.close();
      await writer.close();
      counters.close();
      keyRing.close();
      lock.release();
    },
  };
}
