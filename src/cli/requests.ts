/** `gp-records requests`: looks into the request log. */
import { requireAccount } from "#accounts/accounts.ts";
import { jsonRow } from "#csv.ts";
import { DomainError } from "#store/domain-error.ts";
import {
  requestColumns,
  findRequests,
  type LoggedRequest,
  requestsInPages,
} from "#usage/request-log.ts";
import { readAccountColumns } from "./account-names.ts";
import { argument, type CliContext, command, family, neededOption, option } from "./command.ts";
import { withControl, withUsage } from "./data-dir.ts";
import { parseCount, parseMoment } from "./option-values.ts";
import { table, timeText } from "./output.ts";

const limitDefault = 100;

const options = {
  since: option("--since <time>", "not before this day or time, or how long ago", parseMoment),
  until: option("--until <time>", "before this day or time, or how long ago", parseMoment),
  limit: option("--limit <n>", `at most so many (default: ${limitDefault})`, parseCount),
};

/** Output of both commands. */
const shown = {
  json: ({ requests, columns }: Awaited<ReturnType<typeof withAccounts>>) =>
    requests.map((request) => jsonRow(columns, request)),
  text: ({ requests }: { requests: readonly LoggedRequest[] }) =>
    table(
      ["at", "request", "key", "operation", "status", "ms", "bytes", "problem"],
      requests.map((request) => [
        timeText(request.at),
        request.requestId,
        request.key,
        request.operation,
        String(request.status),
        request.milliseconds.toFixed(2),
        String(request.bytes),
        request.problem ?? "",
      ]),
      "No request of this account is in the log for this time.",
    ),
};

const find = command({
  name: "find",
  description: "show the requests with this id, newest first",
  args: { id: argument("<id>", "request_id of an answer") },
  options: {
    account: option("--account <account>", "only those of this account, by name or id"),
    ...options,
  },
  example: "requests find req_01JD4Z6T0V8M3Q5N7R9S1W2X4Y",
  run: async ({ id, account, since, until, limit = limitDefault }, context) => {
    const owner = account === undefined ? undefined : await numberOf(context, account);
    const [from, to] = [since, until].map((moment) => moment?.(context.now()));
    const filter = { requestId: id, since: from, until: to };
    const requests = await withUsage(context, (usage) =>
      findRequests(usage, { account: owner, filter, limit }),
    );
    if (requests.length === 0)
      throw new DomainError(
        "not_found",
        `There is no request '${id.slice(0, 100)}' in the log. It holds requests whose key was accepted, a second after their answer, for USAGE_LOG_DAYS.`,
      );
    return withAccounts(context, requests);
  },
  ...shown,
});

const list = command({
  name: "list",
  description: "show the requests of an account, newest first",
  options: { account: neededOption("--account <account>", "name or id"), ...options },
  example: "requests list --account Acme --since 24h",
  run: async ({ account: idOrName, since, until, limit = limitDefault }, context) => {
    const account = await numberOf(context, idOrName);
    const [from, to] = [since, until].map((moment) => moment?.(context.now()));
    const order = { account, filter: { since: from, until: to }, countMax: limit };
    const pages = await withUsage(context, (usage) =>
      Array.fromAsync(requestsInPages(usage, order)),
    );
    return withAccounts(context, pages.flat());
  },
  ...shown,
});

const numberOf = async (context: CliContext, account: string): Promise<number> =>
  withControl(context, async ({ database }) => (await requireAccount(database, account)).number);

/** Adds the columns of a request, those of its account first. */
async function withAccounts(context: CliContext, requests: readonly LoggedRequest[]) {
  const accounts = await readAccountColumns(context, ({ account }: LoggedRequest) => account);
  return { requests, columns: [...accounts, ...requestColumns] };
}

export const requestCommands = family(
  "requests",
  "show what was asked, as far as USAGE_LOG_DAYS goes back",
  [find, list],
);
