/** Guards pages that show records: what is sent instead while none are published or the account is suspended. */
import type { ReadModel } from "#search/read-model.ts";
import { wordPage } from "./components/frame.ts";
import { page, type Reply, withHeader } from "./reply.ts";
import type { MemberRequest } from "./request.ts";

/** @param show makes the page from the records. */
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
  const markup = wordPage(
    request,
    "No records yet",
    "Nothing has been published on this service. As soon as the operator imports records, they are here.",
  );
  return withHeader(page(markup, 503), "retry-after", String(noRecordsSeconds));
}

const suspended = (request: MemberRequest): Reply =>
  page(
    wordPage(
      request,
      "This account is suspended",
      "Its keys and its pages show no records until the operator lifts that. Ask them why.",
    ),
    403,
  );
