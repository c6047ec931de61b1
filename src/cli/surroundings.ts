/** What a command takes from the process around it, handed in so that tests can hand in their own. */

export interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** One or more whole lines to standard output, without the last line break. */
  readonly print: (text: string) => void;
  /** The same to standard error. */
  readonly complain: (text: string) => void;
}
