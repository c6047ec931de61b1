/** The mix as the steps of a request meet it: text, query, selection, answer. */
import { join } from "node:path";
import { openCatalogue } from "#datasets/catalogue.ts";
import { followCurrent } from "#datasets/follow-current.ts";
import { answerTag } from "#api/entity-tag.ts";
import { operations } from "#operations/index.ts";
import type { Operation, Query } from "#operations/operation.ts";
import { answer } from "#operations/page.ts";
import { canonicalQuery, readQuery } from "#operations/parameters.ts";
import type { ReadModel, Selection } from "#search/read-model.ts";
import type { Mix } from "../mix.ts";

/** What a server allows by default. */
export const pageSizeMax = 100;

export interface Asked {
  target: string;
  operation: Operation;
  /** After the `?`. */
  text: string;
  query: Query;
  canonical: string;
  etag: string;
  selection: Selection;
  body: Buffer;
  total: number;
}

/**
 * The read model of what is published in a data folder.
 * @throws Error where it cannot be loaded.
 */
export async function openPublished(dataDir: string): Promise<ReadModel> {
  let fault = new Error(`Nothing is published in ${dataDir}.`);
  const follower = followCurrent({
    catalogue: openCatalogue(join(dataDir, "datasets")),
    onModel() {},
    onFault: (found) => (fault = found),
    now: () => performance.now(),
  });
  await follower.look();
  await follower.close();
  return follower.model() ?? Promise.reject(fault);
}

/** @returns a function from the number of a request to what it asks. */
export function askedOf({ targets, order }: Mix, model: ReadModel): (i: number) => Asked {
  const all = targets.map((target) => askedFrom(target, model));
  return (i) => all[order[i % order.length]!]!;
}

function askedFrom(target: string, model: ReadModel): Asked {
  const [path, text = ""] = target.split("?");
  const operation = operations.find((one) => one.path === path)!;
  const query = readQuery(operation, text, pageSizeMax, operations);
  const canonical = canonicalQuery(query);
  const { body, total } = answer(operation, model, query);
  return {
    target,
    operation,
    text,
    query,
    canonical,
    etag: answerTag(model.parts.version, operation.name, canonical, "json"),
    selection: operation.select(model, query),
    body,
    total,
  };
}
