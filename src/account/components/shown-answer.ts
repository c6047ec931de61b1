/** An answer of the API as the explorer shows it: status, headers, and as much of the body as fits the page. */
import type { ApiAnswer } from "#account/messages.ts";
import { jsonText } from "#pages/code-block.ts";
import { bodyText } from "#pages/html.ts";
import type { ParameterFault } from "#problems.ts";

// An `import` of the whole module would load all that its names lead to.
const { STATUS_CODES } = process.getBuiltinModule("node:http");

export interface ShownAnswer {
  /** Such as `200 OK`. */
  status: string;
  /** Only those worth showing. */
  headers: readonly (readonly [name: string, value: string])[];
  /** JSON. */
  text: string;
  /** Bytes of the whole body if only a part is shown, else null. */
  cutFromBytes: number | null;
  /** What is wrong with the parameters. */
  fault: string | undefined;
}

/** Spelled as in the docs, in the order in which they are shown. */
const shownHeaders = [
  "RateLimit-Policy",
  "RateLimit",
  "Retry-After",
  "Dataset-Version",
  "X-Total-Count",
  "Deprecation",
  "Sunset",
  "X-Request-Id",
];

/** What the explorer shows of an answer, and the errors it names for each parameter. */
export function shownAnswer({ status, headers, body }: ApiAnswer): {
  answer: ShownAnswer;
  faults: readonly ParameterFault[];
} {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const head = {
    status: `${status} ${STATUS_CODES[status]}`,
    headers: shownHeaders.flatMap((name) => {
      const value = headers[name.toLowerCase()];
      return value === undefined ? [] : [[name, value] as const];
    }),
  };
  if (status === 200)
    return { answer: { ...head, ...shownPage(bytes), fault: undefined }, faults: [] };
  const problem = JSON.parse(bytes.toString()) as ShownProblem;
  const { detail, errors = [] } = problem;
  return {
    answer: { ...head, text: jsonText(problem), cutFromBytes: null, fault: detail },
    faults: errors,
  };
}

interface ShownProblem {
  detail: string;
  errors?: readonly ParameterFault[];
}

/** A longer body is not parsed as a whole just to show its beginning. */
const readBytesMax = 1_000_000;

function shownPage(body: Buffer): Pick<ShownAnswer, "text" | "cutFromBytes"> {
  // Inside a JSON string these quotes would be escaped.
  const endAt = body.lastIndexOf('],"pagination":');
  const recordsAt = '{"data":['.length;
  const records =
    body.length <= readBytesMax
      ? body.toString("utf8", recordsAt, endAt)
      : body.toString("utf8", recordsAt, endOfFirst(body, recordsAt));
  const whole = `{"data":[${records}${body.toString("utf8", endAt)}`;
  const { text, isCut } = cutAnswer(JSON.parse(whole) as AnswerBody);
  return { text, cutFromBytes: isCut ? body.length : null };
}

/** The end of the object that begins at `start`: its closing brace, not counting braces in strings. */
function endOfFirst(body: Buffer, start: number): number {
  const [quote, backslash, open, close] = Buffer.from('"\\{}');
  let depth = 0;
  let isText = false;
  for (let at = start; at < body.length; at++) {
    const byte = body[at];
    if (isText) {
      if (byte === backslash) at++;
      else if (byte === quote) isText = false;
    } else if (byte === quote) isText = true;
    else if (byte === open) depth++;
    else if (byte === close && --depth === 0) return at + 1;
  }
  return start;
}

/** The members of every successful answer (operations/page.ts). */
interface AnswerBody {
  data: readonly unknown[];
  pagination: { returned: number };
  meta: unknown;
}

/** Bytes of markup: of the whole text, and of its end after the records. */
const bytesMax = { all: 22_000, end: 5000 } as const;

/** Cuts a long answer between lines and keeps its end. @param body its `data` may lack all but the first records. */
export function cutAnswer(body: AnswerBody): { text: string; isCut: boolean } {
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
