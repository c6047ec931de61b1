/** The files of counts there are, each with its state or why it cannot be read. */
import { join } from "node:path";
import { inspectSegment, type SegmentState } from "./inspect-segment.ts";
import { namesIn } from "./kept-files.ts";

export interface InspectedSegment {
  path: string;
  state: SegmentState | null;
  /** Why there is no state. */
  fault: string;
}

export function inspectSegments(dataDir: string): InspectedSegment[] {
  const folder = join(dataDir, "counts");
  return namesIn(folder)
    .filter((name) => name.endsWith(".counts"))
    .map((name) => inspected(join(folder, name)))
    .filter((one) => one !== null);
}

/** Null for a file that the server deleted meanwhile. */
function inspected(path: string): InspectedSegment | null {
  try {
    return { path, state: inspectSegment(path), fault: "" };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === "ENOENT" ? null : { path, state: null, fault: message };
  }
}
