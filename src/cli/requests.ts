/** `gp-records requests`: searches the request log. */
import { requireAccount } from "#accounts/accounts.ts";
import { DomainError } from "#store/domain-error.ts";
import {
  requestColumns,
  readRequests,
  type LoggedRequest,
  requestsInPages,
} from "#usage/request-log.ts";
import { argument, type CliContext, command, family, neededOption, option } from "./command.ts";
import { withControl, withUsage } from "./data-dir.ts";
import { parseCount, parseMoment } from "./option-values.ts";
import { table, timeText } from "./output.ts";
import { accountColumns, printRows, readAccountNames, rowOptions } from "./row-output.ts";

const limitDefault = 100;

const options = {
  since: option("--since <time>", "not before this day or time, or how long ago", parseMoment),
  until: option("--until <time>", "before this day or time, or how long ago", parseMoment),
  limit: option("--limit <n>", `at most this many (default: ${limitDefault})`, parseCount),
  ...rowOptions,
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
  run: async ({ id, account, since, until, limit = limitDefault, ...format }, context) => {
    const owner = account === undefined ? null : await numberOf(context, account);
    const output = await outputOf(context);
    const [from, to] = [since, until].map((moment) => moment?.(context.now()));
    const filter = { requestId: id, since: from, until: to };
    const { requests } = await withUsage(context, (usage) =>
      readRequests(usage, { account: owner, filter, limit }),
    );
    if (requests.length === 0)
      throw new DomainError(
        "not_found",
        `There is no request '${id.slice(0, 100)}' in the log. It holds requests whose key was accepted, from a second after their answer, for the days in USAGE_LOG_DAYS.`,
      );
    await printRows(context, format, output, [requests]);
  },
});

const list = command({
  name: "list",
  description: "show the requests of an account, newest first",
  options: { account: neededOption("--account <account>", "name or id"), ...options },
  example: "requests list --account Acme --since 24h",
  run: async ({ account: idOrName, since, until, limit, ...format }, context) => {
    const account = await numberOf(context, idOrName);
    const output = await outputOf(context);
    const [from, to] = [since, until].map((moment) => moment?.(context.now()));
    const order = { account, filter: { since: from, until: to }, countMax: limit ?? limitDefault };
    await withUsage(context, (usage) =>
      printRows(context, format, output, requestsInPages(usage, order)),
    );
  },
});

const numberOf = async (context: CliContext, account: string): Promise<number> =>
  withControl(context, async ({ database }) => (await requireAccount(database, account)).number);

async function outputOf(context: CliContext) {
  const namesOf = await readAccountNames(context);
  const columns = [
    ...accountColumns((request: LoggedRequest) => namesOf(request.account)),
    ...requestColumns,
  ];
  return { columns, text: requestTable };
}

const requestTable = (requests: readonly LoggedRequest[]): string =>
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
  );

export const requestCommands = family(
  "requests",
  "show what was asked, as far as USAGE_LOG_DAYS goes back",
  [find, list],
);
