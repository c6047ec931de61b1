/** What a check is: it looks at one thing, changes nothing, and says what it found and how to mend it. */
import type { Config } from "#config.ts";
import type { EnvironmentFile } from "#config/environment-file.ts";

export type Status = "ok" | "warn" | "fail";

export interface Finding {
  status: Status;
  /** What was found, naming the path, setting or process. */
  found: string;
  /** The command or step that puts it right; null where nothing has to be. */
  mend: string | null;
}

export interface Check {
  name: string;
  /** At least one finding. What it throws becomes one that failed. */
  look(examined: Examined): readonly Finding[] | Promise<readonly Finding[]>;
}

/** What all checks look at. */
export interface Examined {
  /** Absolute; it need not be there. */
  dataDir: string;
  environment: Readonly<Record<string, string | undefined>>;
  /** The file that some of the environment was read from; null where there is none. */
  environmentFile: EnvironmentFile | null;
  /** Null where a setting is wrong; `configFaults` names it. */
  config: Config | null;
  configFaults: readonly string[];
  /** Version of this program. */
  program: string;
  /** Milliseconds since 1970. */
  now: number;
  /** Whether to read every row of the databases, and every record and link of the datasets. */
  isThorough: boolean;
}

export const ok = (found: string): Finding => ({ status: "ok", found, mend: null });
export const warn = (found: string, mend: string): Finding => ({ status: "warn", found, mend });
export const fail = (found: string, mend: string): Finding => ({ status: "fail", found, mend });

/** The faults, or where there are none that all is well. */
export const faultsOr = (faults: readonly Finding[], well: string): readonly Finding[] =>
  faults.length > 0 ? faults : [ok(well)];
