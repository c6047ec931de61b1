/** The steps from the text of a query to its answer. */
import { openAnswerCache } from "#http/answer-cache.ts";
import { answerTag } from "#http/entity-tag.ts";
import { pageLinks } from "#http/page-links.ts";
import { makeRequestId } from "#http/request-id.ts";
import { hintsFor } from "#operations/hints.ts";
import { operations } from "#operations/index.ts";
import { answer } from "#operations/page.ts";
import { canonicalQuery, readQuery } from "#operations/parameters.ts";
import type { ReadModel } from "#search/read-model.ts";
import type { Candidate } from "../measure.ts";
import { type Asked, pageSizeMax } from "./asked.ts";
import { step } from "./step.ts";

export function answeringSteps(
  askedAt: (i: number) => Asked,
  model: ReadModel,
  count: number,
): Candidate<number>[] {
  const { version } = model.parts;
  const cache = openAnswerCache(2 ** 30);
  for (let i = 0; i < count; i++) {
    const { etag, body } = askedAt(i);
    cache.add(etag, { identity: body, encoded: {}, headers: [] });
  }
  const each = (name: string, call: (asked: Asked) => unknown) =>
    step(name, count, (i) => call(askedAt(i)));
  return [
    step("request id", count, () => makeRequestId()),
    each("parameters read", ({ operation, text }) =>
      readQuery(operation, text, pageSizeMax, operations),
    ),
    each("canonical query", ({ query }) => canonicalQuery(query)),
    each("entity tag", ({ operation, canonical }) =>
      answerTag(version, operation.name, canonical, "json"),
    ),
    each("answer found in the cache", ({ etag }) => cache.find(etag)),
    each("search", ({ operation, query }) => operation.select(model, query)),
    each("hints", ({ query, selection }) => hintsFor(model, query, selection, false)),
    each("search, hints and documents", ({ operation, query }) => answer(operation, model, query)),
    each("links to other pages", ({ operation, query, total }) =>
      pageLinks(operation, query, total, null),
    ),
  ];
}
