/** Where the links that commands print lead to. */
import { readConfig } from "#config.ts";
import { CommandFault } from "./command-fault.ts";
import { exitCodes } from "./exit-codes.ts";
import type { Surroundings } from "./surroundings.ts";

/** `PUBLIC_URL`, or the address the service listens on. @throws CommandFault where the port is any free one. */
export function baseUrl({ environment }: Surroundings): string {
  const { publicUrl, host, port } = readConfig(environment);
  if (publicUrl !== null) return publicUrl;
  if (port === 0)
    throw new CommandFault(
      exitCodes.usage,
      "PORT is 0, so nobody can tell where the link leads. Set PUBLIC_URL, or PORT to the port of the server.",
    );
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
