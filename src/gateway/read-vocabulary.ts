/** Answers `/vocabulary`: every tag, theme and market, and the closed lists. */
import { json as format } from "#operations/formats.ts";
import { refuseParameters } from "#operations/parameters.ts";
import { vocabularyOf, vocabularyPath as path } from "#operations/vocabulary.ts";
import type { DatasetParts } from "#search/dataset-parts.ts";
import type { SentBody } from "./answer-cache.ts";
import type { Found } from "./gateway.ts";
import {
  answerTag,
  descriptionLink,
  headerLines,
  matchesTag,
  validators,
  preferredType,
} from "./headers.ts";
import {
  type Asked,
  finish,
  notAcceptable,
  type Read,
  type ReadDependencies,
  served,
} from "./reads.ts";

export function vocabularyRead(dependencies: ReadDependencies): Read {
  const { gateway, operations, publicUrl } = dependencies;
  const written = new WeakMap<DatasetParts, SentBody>();

  /** @throws Problem in the order of the contract: format, parameters, dataset. */
  const find = ({ text, headers }: Asked): Found<SentBody> => {
    if (preferredType(headers.accept, [format.mediaType]) === undefined)
      throw notAcceptable([format.mediaType]);
    refuseParameters(path, text, operations);
    const { parts } = served(dependencies);
    const { version: datasetVersion } = parts;
    const tag = answerTag(datasetVersion, "vocabulary", "", format.name);
    if (matchesTag(headers["if-none-match"], tag))
      return { kind: "unchanged", tag, datasetVersion };
    let answer = written.get(parts);
    if (answer === undefined) {
      answer = {
        tag,
        datasetVersion,
        body: Buffer.from(JSON.stringify(vocabularyOf(parts))),
        encoded: {},
        headers: headerLines({
          ...validators({ tag, datasetVersion }),
          "content-type": format.contentType,
          link: descriptionLink(publicUrl),
        }),
      };
      written.set(parts, answer);
    }
    return { kind: "answer", answer };
  };
  return {
    path,
    name: "vocabulary",
    hasAlias: true,
    ask: async (asked) => finish(dependencies, await gateway.counted(asked, find), asked),
  };
}
