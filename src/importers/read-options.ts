/** What the reader of a file is told beside its name. */
import type { Encoding } from "./encoding.ts";

export interface ReadOptions {
  /** How the files are encoded; undefined where the operator did not say. */
  encoding?: Encoding | undefined;
  /** Lets a file be without any record; it is refused else, because most often something went wrong on its way. */
  allowsEmpty?: boolean;
}
