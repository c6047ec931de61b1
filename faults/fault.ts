/** What each fault of the list says of itself, and what trying it has shown. */
import type { Work } from "./work.ts";

export interface Finding {
  /** What was done to it, with counts. */
  done: string;
  /** What was seen, in figures. */
  seen: string;
  /** Every way in which the promise was not kept; empty where it was. */
  broken: string[];
}

export interface Fault {
  name: string;
  promise: string;
  /** How often it is tried: in CI, and by hand. */
  tries: { quick: number; full: number };
  /** Why it cannot be tried here; null where it can. @throws Error in CI, where everything has to be tried. */
  whyNot?(): string | null;
  attempt(work: Work, tries: number): Promise<Finding>;
}
