/** Answers `/changes` and the steps below it: what publications changed. */
import { greatestRequest, type Quotas } from "#limits/policy.ts";
import {
  changesPath as path,
  findStep,
  publicationPage,
  readListQuery,
  type StepPart,
} from "#operations/changes.ts";
import { json, ndjson } from "#operations/formats.ts";
import { Problem } from "#problems.ts";
import { encodedBytesMin } from "./answer-cache.ts";
import type { Caller, Found } from "./gateway.ts";
import {
  answerTag,
  descriptionLink,
  headerLines,
  matchesTag,
  pageLinks,
  validators,
  preferredEncoding,
} from "./headers.ts";
import {
  acceptOnly,
  type Question,
  asking,
  type Content,
  foundJson,
  type Read,
  type ReadDependencies,
  replyOf,
  served,
  unchanged,
} from "./reads.ts";

/** Returns a Problem if the key is valid but its plan does not include changes. Returns undefined otherwise. */
export function changesRefusal({ key }: Caller): Problem | undefined {
  if (key === null || key instanceof Problem || key.mayReadChanges) return undefined;
  return new Problem(
    "access-denied",
    "The plan of this account does not include /changes. Ask the operator for a plan that does.",
    { reason: "plan" },
  );
}

export function changesRead(dependencies: ReadDependencies): Read {
  const { operations, pageSizeMax, publicUrl, changes } = dependencies;
  const find = (asked: Question) => {
    acceptOnly(json.mediaType, asked);
    const query = readListQuery(asked.text, pageSizeMax, operations);
    const { parts } = served(dependencies);
    const datasetVersion = parts.version;
    const publications = changes.list(datasetVersion);
    // The list can change without a new dataset: when an earlier dataset is served again, or when old publications
    // or steps are removed. A new publication fills in its predecessor's hash before its own dataset is served.
    const last = publications.at(-1);
    const steps = publications.filter(({ step }) => step !== null).length;
    const state = `${query.limit} ${query.offset} ${publications[0]?.published_at} ${last?.published_at} ${last?.hash} ${publications.length} ${steps}`;
    const tag = answerTag(datasetVersion, "changes", state, json.name);
    const total = publications.length;
    const link = pageLinks({ path, query, total }, publicUrl);
    const more = { "x-total-count": String(total), link };
    return foundJson(dependencies, asked, { tag, datasetVersion }, more, () =>
      JSON.stringify(publicationPage(publications, parts, query)),
    );
  };
  return {
    path,
    name: "changes",
    hasAlias: true,
    ask: asking(dependencies, find, ({ caller }) => changesRefusal(caller) ?? 1),
  };
}

interface TaggedPart extends StepPart {
  tag: string;
}

/** Returns the read that serves steps. Counts one request for every 100 changes sent, rounded up, and at least one. */
export function stepsRead(dependencies: ReadDependencies): Read {
  const { gateway, operations, changes } = dependencies;
  return {
    path: `${path}/*`,
    name: "changes",
    hasAlias: true,
    async ask(asked) {
      let part!: TaggedPart;
      let isKnown = false;
      const cost = (_: Question, quotas: Quotas): number | Problem => {
        const refusal = changesRefusal(asked.caller);
        if (refusal !== undefined) return refusal;
        // Checked in this order: format, dataset, path, parameters.
        acceptOnly(ndjson.mediaType, asked);
        const found = findStep(changes, served(dependencies).parts.version, {
          name: asked.below,
          queryText: asked.text,
          greatestRequest: greatestRequest(quotas),
          operations,
        });
        const { from, to, limit, offset, requests } = found;
        const tag = answerTag(to, "changes", `${from} ${limit} ${offset}`, ndjson.mediaType);
        part = { ...found, tag };
        isKnown = matchesTag(asked.headers["if-none-match"], tag);
        return isKnown || asked.isHead ? 1 : requests;
      };
      const find = (): Found<TaggedPart> =>
        isKnown
          ? { kind: "unchanged", tag: part.tag, datasetVersion: part.to }
          : { kind: "answer", answer: part };
      const outcome = await gateway.counted(asked, find, cost);
      const { result } = outcome;
      if (result.kind === "problem") return replyOf(outcome, null, result);
      if (result.kind === "unchanged")
        return replyOf(outcome, result.datasetVersion, unchanged(result));
      return replyOf(outcome, result.answer.to, contentOf(dependencies, asked, result.answer));
    },
  };
}

function contentOf(
  { publicUrl }: ReadDependencies,
  { isHead, headers }: Question,
  { to: datasetVersion, tag, path: stepPath, file, total, limit, offset, start, end }: TaggedPart,
): Content {
  const encoding =
    end - start <= encodedBytesMin ? null : preferredEncoding(headers["accept-encoding"]);
  const query = { values: {}, limit: limit ?? 0, offset };
  return {
    kind: "content",
    status: 200,
    headers: headerLines({
      ...validators({ tag, datasetVersion }),
      "content-type": ndjson.contentType,
      ...(encoding === null
        ? { "content-length": String(end - start) }
        : { "content-encoding": encoding }),
      "x-total-count": String(total),
      link:
        limit === null
          ? descriptionLink(publicUrl)
          : pageLinks({ path: stepPath, query, total }, publicUrl),
    }),
    body: null,
    ...(!isHead && start < end && { file: { path: file, start, end, encoding } }),
  };
}
