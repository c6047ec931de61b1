/** An answer of the API as text that a page has room for: its head cut where it is too long, its end kept. */
import { bodyText } from "#pages/html.ts";
import { jsonText } from "#pages/code-block.ts";

/** The members of every answer (operations/page.ts). */
export interface AnswerBody {
  data: readonly unknown[];
  pagination: { returned: number };
  meta: unknown;
}

interface CutAnswer {
  text: string;
  isCut: boolean;
}

/** Bytes of markup. */
const bytesMax = { all: 22_000, end: 5000 } as const;

/** @param body its `data` may hold only the first of the records. */
export function cutAnswer(body: AnswerBody): CutAnswer {
  const { data, pagination, meta } = body;
  const whole = jsonText(body);
  if (data.length === pagination.returned && bytesOf(whole) <= bytesMax.all)
    return { text: whole, isCut: false };
  const records = jsonText({ data }).split("\n").slice(0, -2);
  const end = jsonText({ pagination, meta }).split("\n").slice(1);
  const shown = linesWithin(records, bytesMax.all - bytesMax.end);
  const lines = [...shown, "    …", "  ],", ...linesWithin(end, bytesMax.end)];
  return { text: lines.join("\n"), isCut: true };
}

const bytesOf = (text: string): number => Buffer.byteLength(bodyText(text).markup) + 1;

function linesWithin(lines: readonly string[], bytes: number): string[] {
  let used = 0;
  const first = lines.findIndex((line) => (used += bytesOf(line)) > bytes);
  return first === -1 ? [...lines] : lines.slice(0, first);
}
