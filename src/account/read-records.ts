/** Pages that show records: what stands in their place where there is nothing to show, or nobody to show it to. */
import type { ReadModel } from "#search/read-model.ts";
import { framed } from "./components/frame.ts";
import { wordPage } from "./components/word.ts";
import { page, type Reply } from "./reply.ts";
import type { AccountVisit } from "./request.ts";

/** @param show makes the page from the records; it is not asked without records or for a suspended account. */
export async function readRecords(
  visit: AccountVisit,
  show: (model: ReadModel) => Reply | Promise<Reply>,
): Promise<Reply> {
  const model = visit.rooms.model();
  if (model === null) return nothingPublished(visit);
  if (visit.account.suspendedAt !== null) return suspended(visit);
  return show(model);
}

const noRecordsSeconds = 5;

function nothingPublished(visit: AccountVisit): Reply {
  const reply = page(
    wordPage(
      "No records yet",
      "Nothing has been published on this service. As soon as the operator imports records, they are here.",
      framed(visit),
    ),
    503,
  );
  return { ...reply, headers: [...reply.headers, ["retry-after", String(noRecordsSeconds)]] };
}

const suspended = (visit: AccountVisit): Reply =>
  page(
    wordPage(
      "This account is suspended",
      "Its keys and its pages show no records until the operator lifts that. Ask them why.",
      framed(visit),
    ),
    403,
  );
