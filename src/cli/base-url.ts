/** Where the links that commands print lead to. */
import { isLoopback, localUrl, readConfig } from "#config.ts";
import { CommandFault } from "./command-fault.ts";
import { exitCodes } from "./exit-codes.ts";
import type { Surroundings } from "./surroundings.ts";

/** `PUBLIC_URL`, or where this machine reaches the service. @throws CommandFault where no page can be said to be served. */
export function baseUrl({ environment }: Surroundings): string {
  const { publicUrl, host, port } = readConfig(environment);
  if (publicUrl !== null) return publicUrl;
  if (port === 0)
    throw new CommandFault(
      exitCodes.usage,
      "PORT is 0, so nobody can tell where the link leads. Set PUBLIC_URL, or PORT to the port of the server.",
    );
  const url = localUrl(host, port);
  if (!isLoopback(URL.parse(url)?.hostname ?? ""))
    throw new CommandFault(
      exitCodes.usage,
      `HOST is ${host}, where no account page is served over plain http. Set PUBLIC_URL to the https address of the service.`,
    );
  return url;
}
