/** Cuts what a server sends into answers, as strictly as a server has to write them (RFC 9112). */

export interface Answer {
  status: number;
  /** Lower-case names. */
  headers: ReadonlyMap<string, string>;
  /** As sent, perhaps compressed. */
  body: Buffer;
  /** Was content announced that does not follow, as after HEAD? */
  isWithoutContent: boolean;
  /** What is wrong with the way it is written. */
  faults: readonly string[];
}

const headEnd = Buffer.from("\r\n\r\n");
const statusLine = /^HTTP\/1\.1 ([1-5][0-9]{2}) [\x20-\x7e]*$/;
const headerLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+): ([\t\x20-\x7e]*)$/;

/** @param methodOf method of the request that the answer with this index is to; null where nobody knows. */
export function readAnswers(methodOf: (index: number) => string | null) {
  let buffered: Buffer = Buffer.alloc(0);
  let index = 0;
  return {
    /** Returns the answers that are complete now. */
    push(chunk: Buffer): Answer[] {
      buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk]);
      const answers: Answer[] = [];
      for (;;) {
        const taken = takeAnswer(buffered, methodOf(index));
        if (taken === null) return answers;
        buffered = buffered.subarray(taken.length);
        answers.push(taken.answer);
        if (taken.answer.status >= 200) index++;
      }
    },
    /** Returns what has come and is no whole answer. */
    rest: () => buffered,
  };
}

function takeAnswer(bytes: Buffer, method: string | null) {
  const end = bytes.indexOf(headEnd);
  if (end === -1) return null;
  const head = readHead(bytes.toString("latin1", 0, end));
  const start = end + headEnd.length;
  const { status, headers } = head;
  const announced = Number(headers.get("content-length") ?? 0);
  const isEmptyByStatus = status < 200 || status === 204 || status === 304;
  const isWithoutContent =
    isEmptyByStatus ||
    (method === "HEAD" && !isFromParser(status, bytes, start)) ||
    (method === null && looksLikeHead(bytes, start, announced));
  const length = isWithoutContent ? 0 : announced;
  if (bytes.length < start + length) return null;
  const body = bytes.subarray(start, start + length);
  return { answer: { ...head, body, isWithoutContent }, length: start + length };
}

/** What could not be read may have been a HEAD, and nobody could know. */
const isFromParser = (status: number, bytes: Buffer, start: number) =>
  (status === 400 || status === 431) && bytes.toString("latin1", start, start + 1) === "{";

/** Of damaged bytes nobody knows the method: content that is not there, or another answer in its place. */
function looksLikeHead(bytes: Buffer, start: number, announced: number): boolean {
  if (announced === 0) return false;
  return bytes.length === start || bytes.toString("latin1", start, start + 9) === "HTTP/1.1 ";
}

function readHead(text: string) {
  const [first = "", ...lines] = text.split("\r\n");
  const faults: string[] = [];
  const [, status] = statusLine.exec(first) ?? [];
  if (status === undefined) faults.push(`status line '${first.slice(0, 80)}'`);
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name, value] = headerLine.exec(line) ?? [];
    if (name === undefined) faults.push(`header line '${line.slice(0, 80)}'`);
    else if (headers.has(name.toLowerCase())) faults.push(`header ${name} sent twice`);
    else headers.set(name.toLowerCase(), value!);
  }
  if (headers.has("transfer-encoding")) faults.push("sent in chunks");
  return { status: Number(status ?? 0), headers, faults };
}
