/** A copy of all records in memory: read from an export or page by page, then brought from dataset to dataset by what changed. */
import { type Draft, isServed, newDraft, readAll, type UpdateOptions } from "./mirror-pages.ts";
import {
  type Copy,
  type Kind,
  kinds,
  type MirroredRecords,
  noLines,
  type Proof,
  sortedKeys,
} from "./mirror-records.ts";
import { followSteps } from "./mirror-steps.ts";
import type { Transport } from "./transport.ts";

export interface MirrorUpdate {
  /** The dataset the copy was of before; null for the first. */
  from: string | null;
  /** The dataset it is of now. */
  version: string;
  /** What was read for it: nothing, the steps between the two, the files of an export, or all pages. */
  how: "unchanged" | "steps" | "export" | "pages";
  proof: Proof;
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

/** @param saved what `save` gave. @throws SyntaxError, TypeError where it is something else. */
export function openMirror(transport: Transport, saved: Iterable<string> = []): Mirror {
  const { draft, ...loaded } = load(saved);
  let { copy } = loaded;

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
      const followed = copy === null ? undefined : await followSteps(transport, copy, options);
      const isSame =
        followed === undefined &&
        copy !== null &&
        (await isServed(transport, copy.version, options));
      const read =
        followed === undefined && !isSame
          ? await readAll(transport, draft, options)
          : { copy: followed ?? copy!, how: "steps" as const };
      copy = read.copy;
      const { version, proof } = copy;
      return { from, version, how: version === from ? "unchanged" : read.how, proof };
    },
    *save() {
      const { version, offsets, how } = draft;
      const head = copy === null ? null : { version: copy.version, proof: copy.proof };
      yield JSON.stringify({ format: 1, copy: head, draft: { version, offsets, how } });
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
      draft = { ...newDraft(), ...entry.draft };
    } else {
      const { lines } = entry.of === "draft" ? draft : copy!;
      lines[entry.kind as Kind].set(entry.record.id, JSON.stringify(entry.record));
    }
    isHead = false;
  }
  return { copy, draft };
}
