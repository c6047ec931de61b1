/** Questions whose answers the plain reference has worked out, for comparing pages with them. */
import { mintId } from "#datasets/draft-record.ts";
import type { CanonicalRecord } from "#records/canonical.ts";
import { awkwardQueries, awkwardRecords } from "../../test/support/awkward.ts";
import {
  referenceAnswer,
  type ReferenceAnswer,
  type ReferenceQuery,
} from "../../test/support/reference.ts";
import type { PageJudge } from "./judge-page.ts";

export interface KnownAnswers {
  records: readonly CanonicalRecord[];
  questions: readonly ReferenceQuery[];
  comparePage: PageJudge;
  /** Pages compared so far. */
  compared(): number;
}

/** Enough that one GP has more than a hundred principals, few enough that the reference answers in milliseconds. */
const counts = { gps: 70, principals: 310, signals: 310, projects: 60 };
const questionCount = 300;
/** A question nobody has asked before costs the reference milliseconds, so few of those are put to it. */
const strangersCompared = 1 / 50;

export function knownAnswers(seed: number, source: string): KnownAnswers {
  const records = awkwardRecords(seed, counts);
  const publicIdOf = (kind: CanonicalRecord["record"], id: string) => mintId(kind, source, id);
  const isPublic = /^gp_[0-9a-z]{16}$/;
  const formerIds = new Map(
    records
      .filter((record) => record.record === "gp")
      .map((gp) => [
        gp.id,
        (gp.former_ids ?? []).map((id) => (isPublic.test(id) ? id : publicIdOf("gp", id))),
      ]),
  );
  const ids = records
    .filter(({ record }) => record === "gp")
    .slice(0, 20)
    .map(({ id }) => publicIdOf("gp", id));
  const questions = awkwardQueries(seed, records, questionCount, ids);
  const familiar = new Set(questions.map((question) => JSON.stringify(tidy(question))));
  const answers = new Map<string, ReferenceAnswer>();
  let strangers = 0;
  let compared = 0;
  const answerTo = (query: ReferenceQuery): ReferenceAnswer | null => {
    const key = JSON.stringify(query);
    if (!familiar.has(key) && ++strangers % (1 / strangersCompared) !== 0) return null;
    const known =
      answers.get(key) ??
      referenceAnswer(records, query, publicIdOf, (id) => formerIds.get(id) ?? []);
    if (familiar.has(key)) answers.set(key, known);
    return known;
  };
  return {
    records,
    questions,
    compared: () => compared,
    comparePage(question, { ids, total, hints }) {
      const right = answerTo(tidy(question));
      if (right === null) return null;
      compared++;
      const found = {
        total,
        ids,
        hints: hints?.map(({ code, parameter, suggestions }) => ({ code, parameter, suggestions })),
      };
      const wanted = {
        total: right.total,
        ids: right.ids,
        hints: hints === null ? undefined : right.hints,
      };
      const [is, should] = [JSON.stringify(found), JSON.stringify(wanted)];
      return is === should ? null : `is ${is.slice(0, 500)}, should be ${should.slice(0, 500)}`;
    },
  };
}

/** Values of one parameter are taken once each and in one order, so that one question has one spelling. */
function tidy({
  operation,
  gp_name: name,
  limit,
  offset,
  ...given
}: ReferenceQuery): ReferenceQuery {
  const valuesOf = (values: readonly string[] | undefined) =>
    values && [...new Set(values.map((value) => value.normalize()))].toSorted();
  return JSON.parse(
    JSON.stringify({
      operation,
      gp_name: name?.normalize().trim(),
      tag: valuesOf(given.tag),
      theme: valuesOf(given.theme),
      market: valuesOf(given.market),
      limit,
      offset,
    }),
  ) as ReferenceQuery;
}
