/** Cuts a stream of bytes into lines, in bounded memory however long a line is. */
import type { Encoding } from "./encoding.ts";
import { readBytes } from "./source-bytes.ts";

export interface SourceLine {
  /** From 1, blank lines counted. */
  number: number;
  /** Without its line end; null where the line is longer than allowed and was dropped. */
  bytes: Buffer | null;
  /** False for a last line without a line end: the file may have been cut off there. */
  ended: boolean;
}

const newline = 0x0a;
const carriageReturn = 0x0d;

/** The lines of a file, a list for each chunk read: one promise a chunk and not one a line. */
export async function* readLines(
  file: string,
  lineBytesMax: number,
  encoding: Encoding,
): AsyncGenerator<SourceLine[]> {
  const splitter = createLineSplitter(lineBytesMax);
  for await (const chunk of readBytes(file, encoding)) yield splitter.push(chunk);
  yield splitter.end();
}

function createLineSplitter(lineBytesMax: number) {
  let number = 1;
  let pieces: Buffer[] = [];
  let size = 0;

  const keep = (piece: Buffer) => {
    size += piece.length;
    if (size > lineBytesMax + 1) pieces = [];
    else pieces.push(piece);
  };
  const take = (ended: boolean): SourceLine => {
    const whole = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces);
    const bytes = whole.at(-1) === carriageReturn ? whole.subarray(0, -1) : whole;
    const dropped = size > lineBytesMax + 1 || bytes.length > lineBytesMax;
    pieces = [];
    size = 0;
    return { number: number++, bytes: dropped ? null : bytes, ended };
  };

  return {
    push(chunk: Buffer): SourceLine[] {
      const lines: SourceLine[] = [];
      let start = 0;
      for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
        keep(chunk.subarray(start, end));
        lines.push(take(true));
        start = end + 1;
      }
      if (start < chunk.length) keep(chunk.subarray(start));
      return lines;
    },
    end: (): SourceLine[] => (size > 0 ? [take(false)] : []),
  };
}
