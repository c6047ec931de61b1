/** Notes each publication with the step that leads to it, before the pointer moves. */
import { rmSync } from "node:fs";
import type { Publication } from "#records/publication.ts";
import type { Catalogue } from "./catalogue.ts";
import type { Generation } from "./generation.ts";
import { openPublished } from "./open-generation.ts";
import { openPublications, type Publications } from "./publications.ts";
import { writeStep } from "./write-step.ts";

/** Function that reports a mishap which is no reason to fail. @param sentence text without a full stop. */
export type Warn = (sentence: string) => void;

/** A generation and its file on this machine. */
interface Side {
  generation: Pick<Generation, "version" | "published_at">;
  path: string;
}

interface StepRequest {
  publications: Publications;
  /** Publications noted before, oldest first. */
  noted: readonly Publication[];
  from: Side;
  to: Side;
  warn: Warn;
}

/** Note of a publication with a step, and the hash at the start of the step. */
export interface MadeStep extends Pick<Publication, "hash" | "step"> {
  from_hash: string;
}

/**
 * Writes the step from one generation to the other, if it does not exist yet. Returns null if that fails, which prevents
 * no publication: clients that follow read all records again.
 */
export function makeStep({ publications, noted, from, to, warn }: StepRequest): MadeStep | null {
  const [before, after] = [from.generation.version, to.generation.version];
  const fromHash = hashIn(noted, before);
  const former = noted.find((one) => one.from === before && one.version === after);
  if (former?.step != null && fromHash !== null && publications.openStep(before, after) !== null)
    return { hash: former.hash, step: former.step, from_hash: fromHash };
  const path = publications.temporaryPath();
  try {
    const sides = {
      from: { version: before, path: from.path },
      to: { version: after, path: to.path },
    };
    const { from_hash, to_hash, changes, counts } = writeStep(path, { ...sides, fromHash });
    publications.adoptStep(path, before, after);
    return { hash: to_hash, step: { changes, counts }, from_hash };
  } catch (error) {
    rmSync(path, { force: true });
    warn(noStep(before, after, error as Error));
    return null;
  }
}

/** Returns the sentence about a step that was not written, without a full stop. */
export const noStep = (from: string, to: string, { message }: Error) =>
  `the changes from ${from} to ${to} were not written, so clients that follow /changes must read all records again: ${message.replace(/\.$/, "")}`;

const hashIn = (noted: readonly Publication[], version: string) =>
  noted.find((one) => one.version === version && one.hash !== null)?.hash ?? null;

/** Adds a publication, and the one before it if that was published while CHANGES_DAYS was 0. */
function withPublication(
  noted: readonly Publication[],
  from: Side["generation"] | null,
  to: Pick<Publication, "version" | "published_at">,
  made: MadeStep | null,
): Publication[] {
  const { version, published_at } = to;
  const hash = made?.hash ?? hashIn(noted, version);
  const publication: Publication = {
    version,
    published_at,
    from: from?.version ?? null,
    hash,
    step: made?.step ?? null,
  };
  if (from === null) return [...noted, publication];
  const base: Publication = {
    version: from.version,
    published_at: from.published_at!,
    from: null,
    hash: null,
    step: null,
  };
  const isKnown = noted.some((one) => one.version === from.version);
  const before = (isKnown ? noted : [...noted, base]).map((one) =>
    one.hash === null && one.version === from.version
      ? { ...one, hash: made?.from_hash ?? null }
      : one,
  );
  return [...before, publication];
}

/** Returns publications younger than this many days, and the newest one. */
export function youngerThan(
  noted: readonly Publication[],
  days: number,
  nowMilliseconds: number,
): Publication[] {
  const since = nowMilliseconds - days * dayMilliseconds;
  return noted.filter(
    ({ published_at }, i) => i === noted.length - 1 || Date.parse(published_at) >= since,
  );
}

const dayMilliseconds = 86_400_000;

/** Returns the datasets of a folder, whose publications are noted from now on. */
export function keepingSteps(catalogue: Catalogue, warn: Warn): Catalogue {
  const publications = openPublications(catalogue.folder);

  function note(to: Side, publishedAt: string, isBaseChecked: boolean): void {
    try {
      const from = catalogue.current();
      const { version } = to.generation;
      if (from?.version === version) return;
      const noted = publications.list(from?.version ?? null);
      let made: MadeStep | null = null;
      if (from !== null) {
        const path = catalogue.pathOf(from.version);
        if (!isBaseChecked) openPublished(path, from).db.close();
        made = makeStep({ publications, noted, from: { generation: from, path }, to, warn });
      }
      const entry = { version, published_at: publishedAt };
      publications.write(withPublication(noted, from, entry, made));
    } catch (error) {
      warn(
        `the publication of ${to.generation.version} is not listed by /changes: ${(error as Error).message.replace(/\.$/, "")}`,
      );
    }
  }
  return {
    ...catalogue,
    publishDraft(path, generation, time) {
      // An import has checked the generation that it builds on.
      note({ path, generation }, time, true);
      return catalogue.publishDraft(path, generation, time);
    },
    publish(version, time) {
      const generation = catalogue.find(version);
      note({ path: catalogue.pathOf(version), generation }, time, false);
      return catalogue.publish(version, time);
    },
  };
}
