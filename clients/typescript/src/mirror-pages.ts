/** Reads all records, for a mirror that no steps lead on: from an export, or page by page. */
import { VersionChangedError } from "./errors.ts";
import { type Download, findOffer, readFile } from "./mirror-export.ts";
import {
  type Copy,
  countOf,
  hashOf,
  type Kind,
  kinds,
  lineOf,
  type Lines,
  noLines,
} from "./mirror-records.ts";
import { followSteps, listPublications } from "./mirror-steps.ts";
import type { RequestOptions, Transport } from "./transport.ts";
import type { Meta, Pagination, Signal } from "./types.ts";

export interface UpdateOptions extends RequestOptions {
  /** Told after each page, or file of an export, with the number of records read so far: a moment to save. */
  onPage?: (page: { version: string; records: number }) => void | Promise<void>;
}

const paged = ["principal", "signal", "project"] as const;
const paths = {
  gp: "/fetch-gp",
  principal: "/fetch-principals",
  signal: "/fetch-signals",
  project: "/fetch-projects",
} as const;

/** What is read so far of a dataset. */
export interface Draft {
  /** Null before the first page or file. */
  version: string | null;
  /** Where the next page begins; null where all records of the kind are read. GPs are read from the first. */
  offsets: Record<Kind, number | null>;
  /** By pages, once there was one. */
  how: "export" | "pages";
  lines: Lines;
  /** The file that is being read; it is not saved. */
  download?: Download | undefined;
}

export const newDraft = (): Draft => ({
  version: null,
  offsets: { gp: 0, principal: 0, signal: 0, project: 0 },
  how: "export",
  lines: noLines(),
  download: undefined,
});

interface Page {
  data: { id: string }[];
  pagination: Pagination;
  meta: Meta;
  requestId: string;
}

/** Of one update: datasets that are published faster than they can be read must not keep it going for ever. */
const restartsMax = 10;

/**
 * From the files of an export where the service offers one, else page by page.
 * @param draft what is read so far: it is gone on from, and empty once the copy is whole or the dataset was replaced.
 */
export async function readAll(
  transport: Transport,
  draft: Draft,
  options: UpdateOptions,
): Promise<{ copy: Copy; how: Draft["how"] }> {
  let mayExport = true;
  for (let restarts = 0; ; restarts++)
    try {
      if (mayExport) await readExport(transport, draft, options);
      await readPages(transport, draft, options);
      const { lines, how } = draft;
      const version = draft.version!;
      const { publications } = await listPublications(transport, version, options);
      const hash = publications.find((one) => one.version === version)?.hash ?? null;
      const proof =
        hash === null ? "unknown" : hash === (await hashOf(lines)) ? "equal" : "different";
      Object.assign(draft, newDraft());
      // An export has every record, so this one cannot be right.
      if (how === "export" && proof === "different") {
        mayExport = false;
        continue;
      }
      const copy: Copy = { version, proof, lines };
      const isBehind = publications.length > 0 && publications[0]!.version !== version;
      return { how, copy: (isBehind && (await followSteps(transport, copy, options))) || copy };
    } catch (error) {
      if (!(error instanceof VersionChangedError)) throw error;
      Object.assign(draft, newDraft());
      if (restarts === restartsMax) throw error;
    }
}

/** Reads what the draft lacks from files, as far as they are to be had. @throws VersionChangedError where they are of another dataset. */
async function readExport(
  transport: Transport,
  draft: Draft,
  options: UpdateOptions,
): Promise<void> {
  const missing = kinds.filter((kind) => draft.offsets[kind] !== null);
  if (missing.length === 0) return;
  const offer = await findOffer(transport, options);
  if (offer === undefined) return;
  draft.version ??= offer.version;
  refuseOther(draft.version, offer.version, offer.requestId);
  for (const kind of missing) {
    const onBegin = (download: Download) => void (draft.download = download);
    const lines = await readFile(transport, offer, kind, draft.download, onBegin, options);
    draft.download = undefined;
    if (lines === undefined) {
      // Another dataset may have been published, whose files are to be had.
      const newer = await findOffer(transport, options);
      if (newer !== undefined) refuseOther(draft.version, newer.version, newer.requestId);
      return;
    }
    draft.lines[kind] = lines;
    draft.offsets[kind] = null;
    await options.onPage?.({ version: draft.version, records: countOf(draft.lines) });
  }
}

/** Reads what the draft lacks. */
async function readPages(
  transport: Transport,
  draft: Draft,
  options: UpdateOptions,
): Promise<void> {
  const readPage = async (kind: Kind, query: object): Promise<Page> => {
    const page = await transport.getJson(paths[kind], { ...query, limit: 100 }, options);
    take(draft, page as unknown as Page, kind);
    return page as unknown as Page;
  };
  const told = async () =>
    options.onPage?.({ version: draft.version!, records: countOf(draft.lines) });

  for (const kind of paged)
    for (let offset = draft.offsets[kind]; offset !== null;) {
      const { pagination } = await readPage(kind, { offset });
      draft.offsets[kind] = offset = pagination.next_offset;
      await told();
    }
  if (draft.offsets.gp === null) return;
  const missing = namedGps(draft.lines);
  for (const id of draft.lines.gp.keys()) missing.found(id);
  for (let query = missing.next(); query !== undefined; query = missing.next())
    for (let offset: number | null = 0; offset !== null;) {
      const { data, pagination }: Page = await readPage("gp", { gp_name: query, offset });
      for (const { id } of data) missing.found(id);
      offset = pagination.next_offset;
      await told();
    }
  draft.offsets.gp = null;
}

function refuseOther(from: string, to: string, requestId: string): void {
  if (from !== to)
    throw new VersionChangedError(
      `The dataset changed from ${from} to ${to} while it was read.`,
      requestId,
      { from, to },
    );
}

/** @throws VersionChangedError where it is of another dataset than what was read before. */
function take(draft: Draft, page: Page, kind: Kind): void {
  const { dataset_version: version } = page.meta;
  draft.version ??= version;
  refuseOther(draft.version, version, page.requestId);
  draft.how = "pages";
  for (const record of page.data) draft.lines[kind].set(record.id, lineOf(kind, record));
}

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

/** Is it the dataset that the service answers from? */
export async function isServed(
  transport: Transport,
  version: string,
  options: RequestOptions,
): Promise<boolean> {
  const page = await transport.getJson(paths.signal, { limit: 1 }, options);
  return (page as unknown as Page).meta.dataset_version === version;
}
