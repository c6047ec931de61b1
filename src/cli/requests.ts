/** `gp-records requests`: looks into the request log. */
import type { Command } from "commander";
import { requireAccount } from "#accounts/find-account.ts";
import { DomainError } from "#store/domain-error.ts";
import type { UsageStore } from "#store/stores.ts";
import { requestColumns } from "#usage/columns.ts";
import { findRequests, type LoggedRequest, requestsInPages } from "#usage/request-log.ts";
import { CommandFault, exitCodes } from "./command-fault.ts";
import type { CliContext } from "./context.ts";
import { withControl, withUsage } from "./data-dir.ts";
import { momentParser, parseCount } from "./option-values.ts";
import { table, timeText } from "./output.ts";
import {
  accountColumns,
  printRows,
  readAccountNames,
  type RowOptions,
  withRowOptions,
} from "./row-output.ts";

interface RequestOptions extends RowOptions {
  account?: string;
  /** Milliseconds since 1970. */
  since?: number;
  until?: number;
  limit?: number;
}

const limitDefault = 100;

export function addRequestCommands(program: Command, context: CliContext): void {
  const requests = program
    .command("requests")
    .description("show what was asked, as far as USAGE_LOG_DAYS goes back");
  const find = requests
    .command("find")
    .description("show the requests with this id, or those of an account, newest first")
    .argument("[id]", "request_id of an answer")
    .option("--account <account>", "only those of this account, by name or id");
  withTimes(find, context).action((id: string | undefined, options: RequestOptions) =>
    show(context, id, options),
  );
  const list = requests
    .command("list")
    .description("show the requests of an account, newest first")
    .requiredOption("--account <account>", "name or id");
  withTimes(list, context).action((options: RequestOptions) => show(context, undefined, options));
}

function withTimes(command: Command, { now }: CliContext): Command {
  const parseMoment = momentParser(now);
  return withRowOptions(
    command
      .option("--since <time>", "not before this day or time, or how long ago", parseMoment)
      .option("--until <time>", "before this day or time, or how long ago", parseMoment)
      .option("--limit <n>", `at most so many (default: ${limitDefault})`, parseCount),
  );
}

async function show(
  context: CliContext,
  id: string | undefined,
  options: RequestOptions,
): Promise<void> {
  const { account } = options;
  if (id === undefined && account === undefined)
    throw new CommandFault(exitCodes.usage, "Give the id of a request, or --account ACCOUNT.");
  const owner =
    account === undefined
      ? undefined
      : await withControl(context, ({ database }) => requireAccount(database, account));
  const namesOf = await readAccountNames(context);
  const columns = [
    ...accountColumns((request: LoggedRequest) => namesOf(request.account)),
    ...requestColumns,
  ];
  await withUsage(context, (usage) => {
    const pages =
      id === undefined
        ? listed(usage, owner!.number, options)
        : found(usage, id, owner?.number, options);
    return printRows(context, options, { columns, text: requestTable }, pages);
  });
}

const listed = (usage: UsageStore, account: number, options: RequestOptions) =>
  requestsInPages(usage, {
    account,
    filter: { since: options.since, until: options.until },
    countMax: options.limit ?? limitDefault,
  });

async function* found(
  usage: UsageStore,
  id: string,
  account: number | undefined,
  { since, until, limit = limitDefault }: RequestOptions,
): AsyncGenerator<LoggedRequest[]> {
  const filter = { requestId: id, since, until };
  const requests = await findRequests(usage, { account, filter, limit });
  if (requests.length === 0)
    throw new DomainError(
      "not_found",
      `There is no request '${id.slice(0, 100)}' in the log. It holds requests whose key was accepted, a second after their answer, for USAGE_LOG_DAYS.`,
    );
  yield requests;
}

function requestTable(requests: readonly LoggedRequest[]): string {
  if (requests.length === 0) return "No request of this account is in the log for this time.";
  return table(
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
  );
}
