/** What a command takes from its process, passed in so that tests can pass their own. */
import type { EnvironmentFile } from "#config/environment-file.ts";

export interface CliContext {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The file that some of the environment was read from, if there is one. */
  readonly environmentFile?: EnvironmentFile | null;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** One or more whole lines to standard output, without the last line break. */
  readonly print: (text: string) => void;
  /** The same to standard error. */
  readonly reportError: (text: string) => void;
}
