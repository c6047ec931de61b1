/** Answers `/vocabulary`: every tag, theme and market, and the closed lists. */
import { json } from "#operations/formats.ts";
import { refuseParameters } from "#operations/parameters.ts";
import { vocabularyOf, vocabularyPath as path } from "#operations/vocabulary.ts";
import { answerTag, descriptionLink } from "./headers.ts";
import {
  acceptOnly,
  type Asked,
  finish,
  foundJson,
  type Read,
  type ReadDependencies,
  served,
} from "./reads.ts";

export function vocabularyRead(dependencies: ReadDependencies): Read {
  const { gateway, operations, publicUrl } = dependencies;

  /** @throws Problem in the order of the contract: format, parameters, dataset. */
  const find = (asked: Asked) => {
    acceptOnly(json.mediaType, asked);
    refuseParameters(path, asked.text, operations);
    const model = served(dependencies);
    const { version: datasetVersion } = model.parts;
    const tag = answerTag(datasetVersion, "vocabulary", "", json.name);
    const link = descriptionLink(publicUrl);
    return foundJson(dependencies, asked, { tag, datasetVersion }, { link }, () =>
      JSON.stringify(vocabularyOf(model)),
    );
  };
  return {
    path,
    name: "vocabulary",
    hasAlias: true,
    ask: async (asked) => finish(dependencies, await gateway.counted(asked, find), asked),
  };
}
