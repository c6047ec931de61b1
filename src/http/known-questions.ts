/** Questions as they were written, each read once: the same text on the same path always means the same query. */
import { LRUCache } from "lru-cache";
import type { Operation, Query } from "#operations/operation.ts";
import { canonicalQuery, readQuery } from "#operations/parameters.ts";
import { answerTag } from "./entity-tag.ts";

export interface Question {
  query: Query;
  /** Of the answer from a dataset, in a format. */
  tagFor(datasetVersion: string, format: string): string;
}

/**
 * @param text the query string as it was sent.
 * @throws Problem as `readQuery` does; what cannot be read is not kept.
 */
export type ReadQuestion = (text: string) => Question;

const keptMax = 5000;
/** Longer ones are rare, and would let few clients fill much memory. */
const keptLengthMax = 300;

export function openKnownQuestions(
  operation: Operation,
  pageSizeMax: number,
  all: readonly Operation[],
): ReadQuestion {
  const known = new LRUCache<string, Question>({ max: keptMax });
  return (text) => {
    let question = known.get(text);
    if (question === undefined) {
      question = questionOf(operation, readQuery(operation, text, pageSizeMax, all));
      if (text.length <= keptLengthMax) known.set(text, question);
    }
    return question;
  };
}

function questionOf(operation: Operation, query: Query): Question {
  const canonical = canonicalQuery(query);
  let taggedVersion = "";
  let taggedFormat = "";
  let tag = "";
  return {
    query,
    tagFor(datasetVersion, format) {
      if (datasetVersion !== taggedVersion || format !== taggedFormat) {
        tag = answerTag(datasetVersion, operation.name, canonical, format);
        taggedVersion = datasetVersion;
        taggedFormat = format;
      }
      return tag;
    },
  };
}
