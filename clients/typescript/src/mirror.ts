/** A copy of all records in memory, read page by page. */
import { VersionChangedError } from "./errors.ts";
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

export interface MirrorUpdate {
  /** The dataset the copy was of before; null for the first. */
  from: string | null;
  /** The dataset it is of now. */
  version: string;
  /** What was read for it: nothing, or all pages. */
  how: "unchanged" | "pages";
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
        draft = newDraft();
        return { version: version!, lines };
      } catch (error) {
        if (!(error instanceof VersionChangedError)) throw error;
        draft = newDraft();
        if (restarts === restartsMax) throw error;
      }
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
      const isSame = copy !== null && (await isServed(transport, copy.version, options));
      if (!isSame) copy = await readAll(options);
      const { version } = copy!;
      return { from, version, how: isSame ? "unchanged" : "pages" };
    },
    *save() {
      const { version, offsets } = draft;
      const head = copy === null ? null : { version: copy.version };
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

async function isServed(
  transport: Transport,
  version: string,
  options: UpdateOptions,
): Promise<boolean> {
  const page = await transport.getJson(paths.signal, { limit: 1 }, options);
  return (page as unknown as Page).meta.dataset_version === version;
}

/** Ids are ASCII, whose order is that of their bytes. */
const sortedKeys = (lines: ReadonlyMap<string, string>) => [...lines.keys()].sort();
