/** Which requests a page of the log shows, as its address says it. */
import { operations } from "#operations/index.ts";
import type { RequestFilter } from "#usage/request-log.ts";
import { type StatusClass, statusClasses } from "#usage/status-class.ts";

export const filterNames = ["key", "operation", "status", "from", "to", "id"] as const;
type FilterName = (typeof filterNames)[number];

export interface FilterReading {
  filter: RequestFilter;
  /** What was asked for, to be shown in the form again; what was left empty is missing. */
  typed: Partial<Record<FilterName, string>>;
  fault?: string;
}

const dayMilliseconds = 86_400_000;
const requestIdShape = /^[A-Za-z0-9._-]{1,64}$/;

export function readFilter(query: URLSearchParams): FilterReading {
  const typed: FilterReading["typed"] = {};
  for (const name of filterNames) {
    const value = query.get(name)?.trim() ?? "";
    if (value !== "") typed[name] = value;
  }
  const { key, operation, status, from, to, id } = typed;
  const since = from === undefined ? undefined : momentOf(from);
  const until = to === undefined ? undefined : endOf(to);
  const statusClass = statusClasses.find((one) => one === status);
  const fault = faultOf(typed, since, until);
  const filter = { key, operation, statusClass, requestId: id, since, until };
  return fault === undefined ? { filter, typed } : { filter, typed, fault };
}

function faultOf(
  { operation, status, id }: FilterReading["typed"],
  since: number | undefined,
  until: number | undefined,
): string | undefined {
  if (operation !== undefined && !operations.some(({ name }) => name === operation))
    return "There is no such operation.";
  if (status !== undefined && !statusClasses.includes(status as StatusClass))
    return "A status is one of 2xx, 3xx, 4xx and 5xx.";
  if (Number.isNaN(since) || Number.isNaN(until))
    return "A time looks like 2026-11-21T09:30, in UTC.";
  if (since !== undefined && until !== undefined && since >= until)
    return "The time from which must lie before the time to which.";
  if (id !== undefined && !requestIdShape.test(id))
    return "A request id has at most 64 letters, digits, points, hyphens and underscores.";
  return undefined;
}

const dayShape = /^\d{4}-\d\d-\d\d$/;
const momentShape = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d)?)?$/;

/** Milliseconds since 1970; not a number for what is no time. */
function momentOf(text: string): number {
  if (!momentShape.test(text)) return Number.NaN;
  return Date.parse(dayShape.test(text) ? `${text}T00:00:00Z` : `${text}Z`);
}

/** A day alone is taken to its end. */
const endOf = (text: string): number =>
  momentOf(text) + (dayShape.test(text) ? dayMilliseconds : 0);
