/** Limits connections, in all and for each client network, and the time that an unread response is kept. */
import type { Server } from "node:http";
import type { Socket } from "node:net";
import type { Config } from "#config.ts";
import { counter, gauge, type Metric } from "#metrics/metric.ts";
import { openFilesMax } from "#metrics/process-metrics.ts";
import { isTrusted } from "./client-address.ts";
import { type Connection, type Connections, owes, watchConnections } from "./connections.ts";
import { openNetworkShares } from "#limits/client-network.ts";

export interface GuardedConnections extends Connections {
  metrics: readonly Metric[];
  /** Stops looking for slow readers. */
  stopWatching(): void;
}

/** @param lingerMilliseconds time for a client to read the last response and close its side. */
export function guardConnections(
  server: Server,
  config: Config,
  lingerMilliseconds: number,
): GuardedConnections {
  server.maxConnections = config.connectionsMax ?? connectionsMaxFor(openFilesMax());
  const connections = watchConnections(server, lingerMilliseconds);
  const refusedCount = boundClients(server, config);
  const slowReaders = watchSlowReaders(connections.open, () => performance.now());
  const timer = setInterval(slowReaders.look, slowReaderBounds.lookEveryMilliseconds);
  timer.unref();
  const metrics = metricsOf(connections, slowReaders, server.maxConnections);
  metrics.push(
    counter(
      "gp_records_client_connections_dropped_total",
      "Connections refused because their client network had too many open",
      refusedCount,
    ),
  );
  return { ...connections, metrics, stopWatching: () => clearInterval(timer) };
}

/**
 * Closes connections of a client network that has too many. A trusted proxy's stand for many clients and are left alone.
 * Returns how many it has closed.
 */
function boundClients(
  server: Server,
  { connectionsPerClientMax, trustedProxies }: Config,
): () => number {
  const shares = openNetworkShares(connectionsPerClientMax);
  let refused = 0;
  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress ?? "unknown";
    if (isTrusted(trustedProxies, address)) return;
    const giveBack = shares.take(address, 1);
    if (giveBack !== null) return void socket.once("close", giveBack);
    refused++;
    socket.destroy();
  });
  return () => refused;
}

function metricsOf(
  { open, droppedCount, overrunCount, abortedCount }: Connections,
  { cutCount }: SlowReaders,
  connectionsMax: number,
): Metric[] {
  return [
    gauge("gp_records_connections_open", "Open connections", () => open.size),
    gauge("gp_records_connections_max", "Connections that may be open", () => connectionsMax),
    counter(
      "gp_records_connections_dropped_total",
      "Connections refused because too many were open",
      droppedCount,
    ),
    counter(
      "gp_records_overruns_cut_total",
      "Connections ended because their client sent too many requests ahead",
      overrunCount,
    ),
    counter(
      "gp_records_slow_readers_cut_total",
      "Connections cut because their client did not read its answer",
      cutCount,
    ),
    counter(
      "gp_records_answers_aborted_total",
      "Answers whose connection ended before they were handed to the system",
      abortedCount,
    ),
  ];
}

/** Most open files that are connections, as a share of the process's limit. */
const shareOfOpenFiles = 0.9;
/** Open files kept for databases, datasets, counts and the log, and for a dataset that is being loaded. */
const otherFilesMin = 100;
const most = 20_000;
const whereUnknown = 8000;

/** Returns the default limit of open connections. @param openFilesMax the limit of the process; null if it is unknown. */
export function connectionsMaxFor(openFilesMax: number | null): number {
  if (openFilesMax === null) return whereUnknown;
  const left = Math.min(openFilesMax * shareOfOpenFiles, openFilesMax - otherFilesMin);
  return Math.max(1, Math.min(most, Math.floor(left)));
}

/** Limits for slow readers: a client that has not read `bytesMin` within the patience is disconnected. */
export const slowReaderBounds = {
  patienceMilliseconds: 30_000,
  bytesMin: 32 * 1024,
  lookEveryMilliseconds: 5000,
} as const;

interface Mark {
  bytes: number;
  atMilliseconds: number;
}

interface SlowReaders {
  /** Checks every connection with a pending response. */
  look(): void;
  cutCount(): number;
}

/** @param now monotonic milliseconds. */
export function watchSlowReaders(
  open: ReadonlyMap<Socket, Connection>,
  now: () => number,
): SlowReaders {
  const marks = new WeakMap<Socket, Mark>();
  let cut = 0;
  const isStuck = (socket: Socket): boolean => {
    const bytes = takenBytes(socket);
    const mark = bytes === null ? undefined : marks.get(socket);
    if (bytes === null) marks.delete(socket);
    else if (mark === undefined || bytes - mark.bytes >= slowReaderBounds.bytesMin)
      marks.set(socket, { bytes, atMilliseconds: now() });
    else return now() - mark.atMilliseconds >= slowReaderBounds.patienceMilliseconds;
    return false;
  };
  return {
    look() {
      for (const connection of open.values())
        if (owes(connection) && isStuck(connection.socket)) {
          cut++;
          // An orderly close would leave the unread bytes in the system's buffers.
          connection.socket.resetAndDestroy();
        }
    },
    cutCount: () => cut,
  };
}

/** Node's handle of a socket, which its own time-outs use, too. `socket.bytesWritten` also counts queued bytes. */
interface StreamHandle {
  bytesWritten: number;
  writeQueueSize: number;
}

/** Returns the bytes handed to the system over the life of the connection. Returns null while none are queued. */
function takenBytes(socket: Socket): number | null {
  const { _handle: handle } = socket as Socket & { _handle?: StreamHandle | null };
  if (handle === null || handle === undefined || handle.writeQueueSize === 0) return null;
  return handle.bytesWritten - handle.writeQueueSize;
}
