/** Metrics of event-loop lag. */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { gauge, type Metric } from "./metric.ts";

interface EventLoopMetrics {
  /** Metrics. Reading the last one starts a new measuring period. */
  metrics: readonly Metric[];
  close(): void;
}

const resolutionMilliseconds = 20;

export function openEventLoopMetrics(): EventLoopMetrics {
  const delays = monitorEventLoopDelay({ resolution: resolutionMilliseconds });
  delays.enable();
  // The measure is the time between two samples, which includes the sampling interval.
  const seconds = (nanoseconds: number) =>
    delays.count === 0 ? 0 : Math.max(0, nanoseconds / 1e9 - resolutionMilliseconds / 1e3);
  const since = "of the event loop since the metrics were last read";
  return {
    metrics: [
      gauge("nodejs_eventloop_lag_p50_seconds", `Median delay ${since}`, () =>
        seconds(delays.percentile(50)),
      ),
      gauge("nodejs_eventloop_lag_p99_seconds", `99th percentile of the delay ${since}`, () =>
        seconds(delays.percentile(99)),
      ),
      gauge("nodejs_eventloop_lag_max_seconds", `Longest delay ${since}`, () => {
        const longest = seconds(delays.max);
        delays.reset();
        return longest;
      }),
    ],
    close: () => void delays.disable(),
  };
}
