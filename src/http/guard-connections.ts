/** Bounds what connections can cost: how many there are, and how long an unread answer is kept. */
import type { FastifyInstance } from "fastify";
import { counter, gauge, type Metric } from "#metrics/metric.ts";
import { openFilesMax } from "#metrics/open-files.ts";
import { connectionsMaxFor } from "./connections-max.ts";
import { type Connections, watchConnections } from "./connections.ts";
import { type SlowReaders, slowReaderBounds, watchSlowReaders } from "./slow-readers.ts";

export interface GuardedConnections extends Connections {
  metrics: readonly Metric[];
}

/**
 * @param connectionsMax null for what the limit of open files allows.
 * @param lingerMilliseconds what a client has to read the last answer and to close its side.
 */
export function guardConnections(
  app: FastifyInstance,
  connectionsMax: number | null,
  lingerMilliseconds: number,
): GuardedConnections {
  const { server } = app;
  server.maxConnections = connectionsMax ?? connectionsMaxFor(openFilesMax());
  const connections = watchConnections(server, lingerMilliseconds);
  const slowReaders = watchSlowReaders(connections.open, () => performance.now());
  const timer = setInterval(slowReaders.look, slowReaderBounds.lookEveryMilliseconds);
  timer.unref();
  app.addHook("onClose", async () => clearInterval(timer));
  return { ...connections, metrics: metricsOf(connections, slowReaders, server.maxConnections) };
}

function metricsOf(
  { open, droppedCount, abortedCount }: Connections,
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
