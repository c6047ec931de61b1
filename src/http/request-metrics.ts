/** Metrics of requests: how many, how long they took, and which were refused. */
import { type Metric, openHistogram, openTally } from "#metrics/metric.ts";
import { windows } from "#limits/policy.ts";
import { mcpMessages } from "#limits/quota-problem.ts";
import { type ReadName, readNames } from "#operations/reads.ts";
import type { Problem } from "#problems.ts";
import { type OverloadCause, overloadCauses } from "./overload.ts";

/** Pages, health, unknown paths, and what could not be read. */
export const otherPaths = "other";
export type CountedOperation = ReadName | typeof otherPaths;

export interface RequestMetrics {
  metrics: readonly Metric[];
  answered(operation: CountedOperation, status: number, milliseconds: number): void;
  /** A response to what reached no route; its duration is not measured. */
  answeredUnrouted(status: number): void;
  /** Called with every problem that is sent; counts those of a quota. */
  refused(problem: Problem): void;
  overloaded(cause: OverloadCause): void;
}

/** Seconds: from a response out of the cache to one that nobody should wait for. */
const durationBounds = [
  0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,
];

export function openRequestMetrics(): RequestMetrics {
  const requests = openTally(
    "gp_records_requests_total",
    "Requests answered",
    ["operation", "status"],
    [...readNames, otherPaths].map((name) => [name, 500]),
  );
  const durations = openHistogram(
    "gp_records_request_duration_seconds",
    "Time from a request's headers to the last byte handed to the system",
    "operation",
    durationBounds,
  );
  const policies = [...windows.map(({ name }) => name), "failed-keys", mcpMessages.name];
  const quotas = openTally(
    "gp_records_quota_refusals_total",
    "Requests refused because this quota was used up",
    ["policy"],
    policies.map((policy) => [policy]),
  );
  const overload = openTally(
    "gp_records_overload_refusals_total",
    "Requests refused because the process had too much to do",
    ["cause"],
    overloadCauses.map((cause) => [cause]),
  );
  return {
    metrics: [requests, durations, quotas, overload],
    answered(operation, status, milliseconds) {
      requests.add(operation, status);
      durations.observe(operation, milliseconds / 1000);
    },
    answeredUnrouted: (status) => requests.add(otherPaths, status),
    refused({ code, members }) {
      if (code !== "quota-exceeded") return;
      for (const policy of members["violated-policies"] as readonly string[]) quotas.add(policy);
    },
    overloaded: (cause) => overload.add(cause),
  };
}
