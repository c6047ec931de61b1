/** A copy of all records in memory: read page by page, then brought from dataset to dataset by what changed. */
import { isProblem, VersionChangedError } from "./errors.ts";
import type { RequestOptions, Transport } from "./transport.ts";
import type { Gp, Meta, Pagination, Principal, Project, Signal } from "./types.ts";

/** A record as a mirror has it: a GP is without its lists, which repeat other records. */
export interface MirroredRecords {
  gp: Omit<Gp, "principals" | "principals_total" | "signals" | "signals_total">;
  principal: Principal;
  signal: Signal;
  project: Project;
}

export type Kind = keyof MirroredRecords;

/**
 * Whether the hash that the service gives of the dataset is that of the copy. `different`: a GP is missing that no record
 * names, and that shares no longer word of its name with one that is named. `unknown`: the service gives none.
 */
export type Proof = "equal" | "different" | "unknown";

export interface MirrorUpdate {
  /** The dataset the copy was of before; null for the first. */
  from: string | null;
  /** The dataset it is of now. */
  version: string;
  /** What was read for it: nothing, the steps between the two, or all pages. */
  how: "unchanged" | "steps" | "pages";
  proof: Proof;
}

export interface UpdateOptions extends RequestOptions {
  /** Told after each page, with the number of records read so far: a moment to save. */
  onPage?: (page: { version: string; records: number }) => void | Promise<void>;
}

export interface Mirror {
  /** The dataset that every record here is of; null before the first update is over. */
  readonly version: string | null;
  count(kind: Kind): number;
  get<One extends Kind>(kind: One, id: string): MirroredRecords[One] | undefined;
  /** In the order of their ids. */
  records<One extends Kind>(kind: One): Iterable<MirroredRecords[One]>;
  /**
   * Makes it a copy of what the service serves now. Until that is whole the old copy stays; what an update that failed had
   * read, the next one goes on from. One update at a time.
   * @throws ProblemError, NetworkError, UnexpectedAnswerError; VersionChangedError where datasets are published faster than
   *   they can be read; the signal's reason.
   */
  update(options?: UpdateOptions): Promise<MirrorUpdate>;
  /** Lines of text from which `client.mirror` makes it again, with what an unfinished update has read. */
  save(): Iterable<string>;
}

/** In the order of a step. */
const kinds = ["gp", "principal", "signal", "project"] as const;
const paged = ["principal", "signal", "project"] as const;
const paths = {
  gp: "/fetch-gp",
  principal: "/fetch-principals",
  signal: "/fetch-signals",
  project: "/fetch-projects",
} as const;

/** JSON of records as the service writes it, by id. */
type Lines = Record<Kind, Map<string, string>>;

interface Copy {
  version: string;
  proof: Proof;
  lines: Lines;
}

/** What is read so far of a dataset. */
interface Draft {
  /** Null before the first page. */
  version: string | null;
  /** Where the next page begins; null where there is none. */
  offsets: Record<(typeof paged)[number], number | null>;
  lines: Lines;
}

interface Page {
  data: { id: string }[];
  pagination: Pagination;
  meta: Meta;
  requestId: string;
}

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

/** Of one update: datasets that are published faster than they can be read must not keep it going for ever. */
const restartsMax = 10;

const noLines = (): Lines => ({
  gp: new Map(),
  principal: new Map(),
  signal: new Map(),
  project: new Map(),
});

const newDraft = (): Draft => ({
  version: null,
  offsets: { principal: 0, signal: 0, project: 0 },
  lines: noLines(),
});

/** @param saved what `save` gave. @throws SyntaxError, TypeError where it is something else. */
export function openMirror(transport: Transport, saved: Iterable<string> = []): Mirror {
  let { copy, draft } = load(saved);

  /** @throws VersionChangedError where it is of another dataset than the pages before. */
  function take(page: Page, kind: Kind): void {
    const to = page.meta.dataset_version;
    const from = draft.version ?? to;
    draft.version = from;
    if (from !== to)
      throw new VersionChangedError(
        `The dataset changed from ${from} to ${to} while it was read.`,
        page.requestId,
        { from, to },
      );
    for (const record of page.data)
      draft.lines[kind].set(
        record.id,
        JSON.stringify(kind === "gp" ? withoutLists(record) : record),
      );
  }

  async function readPage(kind: Kind, query: object, options: UpdateOptions): Promise<Page> {
    const page = (await transport.getJson(
      paths[kind],
      { ...query, limit: 100 },
      options,
    )) as unknown as Page;
    take(page, kind);
    return page;
  }

  const told = async ({ onPage }: UpdateOptions) => {
    const records = kinds.reduce((sum, kind) => sum + draft.lines[kind].size, 0);
    await onPage?.({ version: draft.version!, records });
  };

  /** Reads what the draft lacks. */
  async function fill(options: UpdateOptions): Promise<void> {
    for (const kind of paged)
      for (let offset = draft.offsets[kind]; offset !== null;) {
        const { pagination } = await readPage(kind, { offset }, options);
        draft.offsets[kind] = offset = pagination.next_offset;
        await told(options);
      }
    const missing = namedGps(draft.lines);
    for (const id of draft.lines.gp.keys()) missing.found(id);
    for (let query = missing.next(); query !== undefined; query = missing.next())
      for (let offset: number | null = 0; offset !== null;) {
        const { data, pagination }: Page = await readPage(
          "gp",
          { gp_name: query, offset },
          options,
        );
        for (const { id } of data) missing.found(id);
        offset = pagination.next_offset;
        await told(options);
      }
  }

  async function readAll(options: UpdateOptions): Promise<Copy> {
    for (let restarts = 0; ; restarts++)
      try {
        await fill(options);
        const { version, lines } = draft;
        const { publications } = await listPublications(transport, version!, options);
        const hash = publications.find((one) => one.version === version)?.hash ?? null;
        const proof =
          hash === null ? "unknown" : hash === (await hashOf(lines)) ? "equal" : "different";
        draft = newDraft();
        return { version: version!, proof, lines };
      } catch (error) {
        if (!(error instanceof VersionChangedError)) throw error;
        draft = newDraft();
        if (restarts === restartsMax) throw error;
      }
  }

  /** The copy after all steps; undefined where there is no way, or it does not lead to what the service has. */
  async function follow(from: Copy, options: UpdateOptions): Promise<Copy | undefined> {
    const { publications, quotaMin } = await listPublications(transport, from.version, options);
    const steps = stepsFrom(from.version, publications);
    if (steps === undefined) return undefined;
    if (steps.length === 0) return from;
    // More changes than records cost more than all pages.
    const records = kinds.reduce((sum, kind) => sum + from.lines[kind].size, 0);
    if (steps.reduce((sum, { changes }) => sum + changes!, 0) > records) return undefined;
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

  return {
    get version() {
      return copy?.version ?? null;
    },
    count: (kind) => copy?.lines[kind].size ?? 0,
    get(kind, id) {
      const line = copy?.lines[kind].get(id);
      return line === undefined ? undefined : JSON.parse(line);
    },
    *records(kind) {
      const lines = copy?.lines[kind] ?? new Map<string, string>();
      for (const id of sortedKeys(lines)) yield JSON.parse(lines.get(id)!);
    },
    async update(options = {}) {
      const from = copy?.version ?? null;
      const followed = copy === null ? undefined : await follow(copy, options);
      const isSame =
        followed === undefined &&
        copy !== null &&
        (await isServed(transport, copy.version, options));
      const next = followed ?? (isSame ? copy! : await readAll(options));
      copy = next;
      const how = next.version === from ? "unchanged" : followed === undefined ? "pages" : "steps";
      return { from, version: next.version, how, proof: next.proof };
    },
    *save() {
      const { version, offsets } = draft;
      const head = copy === null ? null : { version: copy.version, proof: copy.proof };
      yield JSON.stringify({ format: 1, copy: head, draft: { version, offsets } });
      for (const [name, lines] of [
        ["copy", copy?.lines],
        ["draft", draft.lines],
      ] as const)
        for (const kind of lines === undefined ? [] : kinds)
          for (const line of lines![kind].values())
            yield `{"of":"${name}","kind":"${kind}","record":${line}}`;
    },
  };
}

function load(saved: Iterable<string>): { copy: Copy | null; draft: Draft } {
  let copy: Copy | null = null;
  let draft = newDraft();
  let isHead = true;
  for (const line of saved) {
    if (line === "") continue;
    const entry = JSON.parse(line);
    if (isHead) {
      if (entry.format !== 1)
        throw new TypeError("This is not a saved mirror, or one of a later version.");
      if (entry.copy !== null) copy = { ...entry.copy, lines: noLines() };
      draft = { ...entry.draft, lines: noLines() };
    } else {
      const { lines } = entry.of === "draft" ? draft : copy!;
      lines[entry.kind as Kind].set(entry.record.id, JSON.stringify(entry.record));
    }
    isHead = false;
  }
  return { copy, draft };
}

/** What a GP embeds of other records. */
const lists = new Set(["principals", "principals_total", "signals", "signals_total"]);

const withoutLists = (record: object): object =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !lists.has(name)));

/**
 * The API lists no GPs but by name. Those that records name are found by the words that many of their names have in
 * common, a hundred a request, and the rest by their ids, one a request.
 */
function namedGps(lines: Lines) {
  const wordsOf = new Map<string, string[]>();
  const idsWith = new Map<string, Set<string>>();
  for (const kind of paged)
    for (const line of lines[kind].values())
      for (const { id, name } of (JSON.parse(line) as Signal).gps) {
        if (wordsOf.has(id)) continue;
        // A word of four letters or more is found wherever it stands in a name.
        const words = name.split(/[^\p{L}\p{N}]+/u).filter((word) => [...word].length >= 4);
        wordsOf.set(id, words);
        for (const word of words) idsWith.set(word, (idsWith.get(word) ?? new Set()).add(id));
      }
  const found = (id: string) => {
    for (const word of wordsOf.get(id) ?? []) idsWith.get(word)?.delete(id);
    wordsOf.delete(id);
  };
  return {
    found,
    /** The query that finds most of those that are missing; undefined where none is. */
    next(): string | undefined {
      let best: string | undefined;
      let most = 1;
      for (const [word, { size }] of idsWith) if (size > most) [best, most] = [word, size];
      if (best !== undefined) {
        // Asked once: what it does not find is found by its id.
        idsWith.delete(best);
        return best;
      }
      const [id] = wordsOf.keys();
      if (id !== undefined) found(id);
      return id;
    },
  };
}

/**
 * Publications from the newest back to the one that leads on from `version`, or is it; none where the service tells of none.
 * `quotaMin` is the smallest quota of the account.
 */
async function listPublications(
  transport: Transport,
  version: string,
  options: UpdateOptions,
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
  { from, version, step }: Publication,
  fromHash: string,
  limit: number,
  options: UpdateOptions,
): Promise<{ toHash: string; changes: Change[] } | undefined> {
  const changes: Change[] = [];
  try {
    const [first, ...rest] = await transport.getLines(step!, { limit, offset: 0 }, options);
    const head = first as StepHead;
    if (
      head.format !== 1 ||
      head.from !== from ||
      head.to !== version ||
      head.from_hash !== fromHash
    )
      return undefined;
    changes.push(...(rest as Change[]));
    while (changes.length < head.changes) {
      const part = await transport.getLines(step!, { limit, offset: changes.length }, options);
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

/** @returns false where the change is of something that is not there. */
function apply(lines: Lines, change: Change): boolean {
  const of = lines[change.kind];
  const before = of.get(change.id);
  if (change.change === "added") of.set(change.id, JSON.stringify(change.record));
  else if (before === undefined) return false;
  else if (change.change === "changed")
    // Members keep their places.
    of.set(change.id, JSON.stringify(change.record ?? { ...JSON.parse(before), ...change.after }));
  else of.delete(change.id);
  return true;
}

async function isServed(
  transport: Transport,
  version: string,
  options: UpdateOptions,
): Promise<boolean> {
  const page = await transport.getJson(paths.signal, { limit: 1 }, options);
  return (page as unknown as Page).meta.dataset_version === version;
}

/** SHA-256 of the SHA-256 of every line, by kind and id, in hexadecimal digits. */
async function hashOf(lines: Lines): Promise<string> {
  const { subtle } = crypto;
  const encoder = new TextEncoder();
  const count = kinds.reduce((sum, kind) => sum + lines[kind].size, 0);
  const digests = new Uint8Array(32 * count);
  let at = 0;
  for (const kind of kinds)
    for (const id of sortedKeys(lines[kind])) {
      const bytes = encoder.encode(lines[kind].get(id));
      digests.set(new Uint8Array(await subtle.digest("SHA-256", bytes)), 32 * at++);
    }
  const total = new Uint8Array(await subtle.digest("SHA-256", digests));
  return Array.from(total, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Ids are ASCII, whose order is that of their bytes. */
const sortedKeys = (lines: ReadonlyMap<string, string>) => [...lines.keys()].sort();
