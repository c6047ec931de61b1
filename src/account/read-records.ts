/** Pages that show records: what stands in their place where there is nothing to show, or nobody to show it to. */
import type { ReadModel } from "#search/read-model.ts";
import { framed } from "./components/frame.ts";
import { wordPage } from "./components/word.ts";
import { page, type Reply } from "./reply.ts";
import type { MemberRequest } from "./request.ts";

/** @param show makes the page from the records; it is not asked without records or for a suspended account. */
export async function readRecords(
  request: MemberRequest,
  show: (model: ReadModel) => Reply | Promise<Reply>,
): Promise<Reply> {
  const model = request.services.model();
  if (model === null) return nothingPublished(request);
  if (request.account.suspendedAt !== null) return suspended(request);
  return show(model);
}

const noRecordsSeconds = 5;

function nothingPublished(request: MemberRequest): Reply {
  const reply = page(
    wordPage(
      "No records yet",
      "Nothing has been published on this service. As soon as the operator imports records, they are here.",
      framed(request),
    ),
    503,
  );
  return { ...reply, headers: [...reply.headers, ["retry-after", String(noRecordsSeconds)]] };
}

const suspended = (request: MemberRequest): Reply =>
  page(
    wordPage(
      "This account is suspended",
      "Its keys and its pages show no records until the operator lifts that. Ask them why.",
      framed(request),
    ),
    403,
  );
