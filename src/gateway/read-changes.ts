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
import { encodedBytesMin, type SentBody } from "./answer-cache.ts";
import type { Caller, Found } from "./gateway.ts";
import {
  answerTag,
  descriptionLink,
  headerLines,
  matchesTag,
  pageLinks,
  quotaHeaders,
  validators,
  preferredEncoding,
  preferredType,
} from "./headers.ts";
import {
  type Asked,
  type Content,
  finish,
  notAcceptable,
  type Read,
  type ReadDependencies,
  served,
  unchanged,
} from "./reads.ts";

/** Returns a Problem if the plan of the caller's account does not include changes. */
export function changesRefusal({ key }: Caller): Problem | undefined {
  if (key === null || key instanceof Problem || key.mayReadChanges) return undefined;
  return new Problem("access-denied", "The plan of this account does not include /changes.", {
    reason: "plan",
  });
}

/** Returns the read of the list of publications. */
export function changesRead(dependencies: ReadDependencies): Read {
  const { gateway, operations, pageSizeMax, publicUrl, changes } = dependencies;

  /** @throws Problem in the order of the contract: format, parameters, dataset. */
  const find = ({ text, headers }: Asked): Found<SentBody> => {
    if (preferredType(headers.accept, [json.mediaType]) === undefined)
      throw notAcceptable([json.mediaType]);
    const query = readListQuery(text, pageSizeMax, operations);
    const { parts } = served(dependencies);
    const datasetVersion = parts.version;
    const publications = changes.list(datasetVersion);
    const { limit, offset } = query;
    // The list can change without a new dataset: when one is served again, and when old ones are removed.
    const state = `${publications[0]?.published_at} ${publications.at(-1)?.published_at} ${publications.length}`;
    const tag = answerTag(datasetVersion, "changes", `${limit} ${offset} ${state}`, json.name);
    if (matchesTag(headers["if-none-match"], tag))
      return { kind: "unchanged", tag, datasetVersion };
    const total = publications.length;
    const answer = {
      tag,
      datasetVersion,
      body: Buffer.from(JSON.stringify(publicationPage(publications, parts, query))),
      encoded: {},
      headers: headerLines({
        ...validators({ tag, datasetVersion }),
        "content-type": json.contentType,
        "x-total-count": String(total),
        link: pageLinks({ path, filters: {}, query, total }, publicUrl),
      }),
    };
    return { kind: "answer", answer };
  };
  return {
    path,
    name: "changes",
    hasAlias: true,
    async ask(asked) {
      const cost = () => changesRefusal(asked.caller) ?? 1;
      return finish(dependencies, await gateway.counted(asked, find, cost), asked);
    },
  };
}

interface TaggedPart extends StepPart {
  tag: string;
}

/** Returns the read of steps. A step counts one request for every 100 changes, rounded up. */
export function stepsRead(dependencies: ReadDependencies): Read {
  const { gateway, operations, changes } = dependencies;

  /** @throws Problem in the order of the contract: format, dataset, path, parameters. */
  const findPart = ({ below, text, headers }: Asked, quotas: Quotas): StepPart => {
    if (preferredType(headers.accept, [ndjson.mediaType]) === undefined)
      throw notAcceptable([ndjson.mediaType]);
    return findStep(changes, served(dependencies).parts.version, {
      name: below,
      queryText: text,
      greatestRequest: greatestRequest(quotas),
      operations,
    });
  };
  return {
    path: `${path}/*`,
    name: "changes",
    hasAlias: true,
    async ask(asked) {
      let find: () => Found<TaggedPart>;
      const cost = (_: Asked, quotas: Quotas): number | Problem => {
        const refusal = changesRefusal(asked.caller);
        if (refusal !== undefined) return refusal;
        try {
          const part = findPart(asked, quotas);
          const { from, to, limit, offset } = part;
          const tag = answerTag(to, "changes", `${from} ${limit} ${offset}`, ndjson.mediaType);
          const isKnown = matchesTag(asked.headers["if-none-match"], tag);
          find = () =>
            isKnown
              ? { kind: "unchanged", tag, datasetVersion: to }
              : { kind: "answer", answer: { ...part, tag } };
          return isKnown || asked.isHead ? 1 : part.requests;
        } catch (error) {
          find = () => {
            throw error;
          };
          return 1;
        }
      };
      const { asker, counted, result } = await gateway.counted(asked, () => find(), cost);
      return {
        asker,
        quotaHeaders: counted === null ? null : quotaHeaders(counted),
        datasetVersion:
          result.kind === "problem"
            ? null
            : result.kind === "answer"
              ? result.answer.to
              : result.datasetVersion,
        result:
          result.kind === "problem"
            ? result
            : result.kind === "answer"
              ? contentOf(dependencies, asked, result.answer)
              : unchanged(result),
      };
    },
  };
}

function contentOf(
  { publicUrl }: ReadDependencies,
  { isHead, headers }: Asked,
  { to: datasetVersion, tag, path: stepPath, file, total, limit, offset, start, end }: TaggedPart,
): Content {
  const encoding =
    end - start <= encodedBytesMin ? null : preferredEncoding(headers["accept-encoding"]);
  const query = { filter: {}, limit: limit ?? 0, offset };
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
          : pageLinks({ path: stepPath, filters: {}, query, total }, publicUrl),
    }),
    body: null,
    ...(!isHead && start < end && { file: { path: file, start, end, encoding } }),
  };
}
