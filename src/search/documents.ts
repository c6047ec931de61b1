/** The finished JSON of all records of one kind, in display order, in one array of bytes. */
import { bufferOver } from "./packed-texts.ts";
import { sharedBytes, sharedNumbers } from "./shared-arrays.ts";

export interface Documents {
  bytes: Uint8Array;
  /** Document i begins at `starts[i]` and ends before `starts[i + 1]`; not 32 bits, since all may exceed 4 GiB. */
  starts: Float64Array;
  /** Bytes of document i before what it leaves out inside a GP: its `gps`, and for a principal what it inherits. */
  ownLengths: Uint32Array;
}

export const documentCount = ({ ownLengths }: Documents) => ownLengths.length;

/**
 * @param count how many documents follow.
 * @param byteLength how many bytes of UTF-8 they are together.
 */
export function packDocuments(
  count: number,
  byteLength: number,
  documents: Iterable<{ json: string; ownLength: number }>,
): Documents {
  const bytes = sharedBytes(byteLength);
  const target = bufferOver(bytes);
  const starts = new Float64Array(new SharedArrayBuffer((count + 1) * 8));
  const ownLengths = sharedNumbers(count);
  let i = 0;
  let end = 0;
  for (const { json, ownLength } of documents) {
    end += target.write(json, end);
    starts[i + 1] = end;
    ownLengths[i] = ownLength;
    i++;
  }
  return { bytes, starts, ownLengths };
}
