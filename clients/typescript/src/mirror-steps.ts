/** Brings a mirror from dataset to dataset by what changed. */
import { isProblem } from "./errors.ts";
import {
  type Copy,
  countOf,
  hashOf,
  type Kind,
  kinds,
  type Lines,
  noLines,
} from "./mirror-records.ts";
import type { RequestOptions, Transport } from "./transport.ts";
import type { Pagination } from "./types.ts";

interface Publication {
  version: string;
  from: string | null;
  hash: string | null;
  step: string | null;
  changes: number | null;
}

interface StepHead {
  format: number;
  from: string;
  to: string;
  from_hash: string;
  to_hash: string;
  changes: number;
}

type Change = { kind: Kind; id: string } & (
  | { change: "added"; record: object }
  | { change: "changed"; after: object; record?: object }
  | { change: "removed" | "merged" }
);

/** The copy after all steps; undefined where there is no way, or it does not lead to what the service has. */
export async function followSteps(
  transport: Transport,
  from: Copy,
  options: RequestOptions,
): Promise<Copy | undefined> {
  const { publications, quotaMin } = await listPublications(transport, from.version, options);
  const steps = stepsFrom(from.version, publications);
  if (steps === undefined) return undefined;
  if (steps.length === 0) return from;
  // More changes than records cost more than all pages.
  const changes = steps.reduce((sum, step) => sum + step.changes!, 0);
  if (changes > countOf(from.lines)) return undefined;
  const lines = noLines();
  for (const kind of kinds) lines[kind] = new Map(from.lines[kind]);
  let hash = await hashOf(lines);
  // As large a part as ten requests, or the smallest quota, will pay for.
  const limit = 100 * Math.min(10, quotaMin);
  for (const step of steps) {
    const read = await readStep(transport, step, hash, limit, options);
    if (read === undefined || !read.changes.every((change) => apply(lines, change)))
      return undefined;
    hash = read.toHash;
  }
  if ((await hashOf(lines)) !== hash) return undefined;
  return { version: steps.at(-1)!.version, proof: "equal", lines };
}

/**
 * Publications from the newest back to the one that leads on from `version`, or is it; none where the service tells of none.
 * `quotaMin` is the smallest quota of the account.
 */
export async function listPublications(
  transport: Transport,
  version: string,
  options: RequestOptions,
): Promise<{ publications: Publication[]; quotaMin: number }> {
  const publications: Publication[] = [];
  let quotaMin = 1;
  try {
    for (let offset: number | null = 0; offset !== null;) {
      const page = await transport.getJson("/changes", { limit: 100, offset }, options);
      const { data, pagination } = page as unknown as {
        data: Publication[];
        pagination: Pagination;
      };
      quotaMin = Math.min(...page.quota.map(({ quota }) => quota));
      publications.push(...data);
      const isFound = data.some((one) => one.version === version || one.from === version);
      offset = isFound ? null : pagination.next_offset;
    }
  } catch (error) {
    // A service or a plan without changes is read page by page.
    if (!isProblem(error, "unknown-path") && !isProblem(error, "access-denied")) throw error;
  }
  return { publications, quotaMin };
}

/** Those that lead from `version` to the newest, oldest first; undefined where none do. */
function stepsFrom(
  version: string,
  publications: readonly Publication[],
): Publication[] | undefined {
  if (publications[0]?.version === version) return [];
  const last = publications.findIndex(({ from }) => from === version);
  const steps = publications.slice(0, last + 1).reverse();
  return steps.length > 0 && steps.every(({ step }) => step !== null) ? steps : undefined;
}

/** @returns undefined where the step is gone, or does not begin with what has this hash. */
async function readStep(
  transport: Transport,
  { from, version }: Publication,
  fromHash: string,
  limit: number,
  options: RequestOptions,
): Promise<{ toHash: string; changes: Change[] } | undefined> {
  const changes: Change[] = [];
  // Not as the service names it: what does not begin with a slash would lead the key to another host.
  const path = `/changes/${from}..${version}.ndjson`;
  try {
    const [first, ...rest] = await transport.getLines(path, { limit, offset: 0 }, options);
    const head = first as StepHead | undefined;
    if (
      head?.format !== 1 ||
      head.from !== from ||
      head.to !== version ||
      head.from_hash !== fromHash
    )
      return undefined;
    changes.push(...(rest as Change[]));
    while (changes.length < head.changes) {
      const part = await transport.getLines(path, { limit, offset: changes.length }, options);
      if (part.length === 0) return undefined;
      changes.push(...(part as Change[]));
    }
    return { toHash: head.to_hash, changes };
  } catch (error) {
    // A step that is listed and cannot be had in all tries is as good as gone.
    if (isProblem(error, "unknown-path") || isProblem(error, "unavailable")) return undefined;
    throw error;
  }
}

/** @returns false where the change is of something that is not there, or is none. */
function apply(lines: Lines, change: Change): boolean {
  const of = lines[change.kind] as Lines[Kind] | undefined;
  if (of === undefined) return false;
  const before = of.get(change.id);
  if (change.change === "added") of.set(change.id, JSON.stringify(change.record));
  else if (before === undefined) return false;
  else if (change.change === "changed")
    // Members keep their places.
    of.set(change.id, JSON.stringify(change.record ?? { ...JSON.parse(before), ...change.after }));
  else of.delete(change.id);
  return true;
}
