/** The line of a request, put together as text: to hand it over as an object costs four times as much. */
import { symbols, type Logger } from "pino";

/** None of these can hold a character that JSON escapes, so none is escaped. */
interface RequestLine {
  /** Of `[A-Za-z0-9._-]`, also where the client chose it. */
  requestId: string;
  /** One that Node's parser knows. */
  method: string;
  /** As it is known here, never as it was sent: that could hold a key. */
  path: string;
  status: number;
  milliseconds: number;
  bodyBytes: number;
  keyId: string | null;
  problemCode: string | null;
}

/** Where pino writes its own lines, each in one piece. */
interface LogStream {
  write(line: string): void;
}

export function openRequestLog(log: Logger): (line: RequestLine) => void {
  const stream = (log as unknown as Record<symbol, LogStream>)[symbols.streamSym]!;
  const level = log.levels.values["info"]!;
  return (line) => {
    if (!log.isLevelEnabled("info")) return;
    const { requestId, method, path, status, bodyBytes, keyId, problemCode } = line;
    const hundredths = Math.round(line.milliseconds * 100) / 100;
    const key = keyId === null ? "" : `,"key":"${keyId}"`;
    const problem = problemCode === null ? "" : `,"problem":"${problemCode}"`;
    stream.write(
      `{"level":${level},"time":"${timeText()}","request_id":"${requestId}","method":"${method}","path":"${path}","status":${status},"ms":${hundredths},"bytes":${bodyBytes}${key}${problem},"msg":"request"}\n`,
    );
  };
}

let textMilliseconds = 0;
let text = "";

/** Many requests share a millisecond. */
function timeText(): string {
  const now = Date.now();
  if (now !== textMilliseconds) {
    textMilliseconds = now;
    text = new Date(now).toISOString();
  }
  return text;
}
