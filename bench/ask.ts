/** Clients of a server under attempt: one question, and a steady stream of them that keeps its own books. */
import { Agent, get } from "node:http";
import { setTimeout as wait } from "node:timers/promises";

export interface Asked {
  /** Null where no answer began. */
  status: number | null;
  headers: Record<string, string | string[] | undefined>;
  /** Names and values in turn, as they were sent. */
  rawHeaders: readonly string[];
  body: string;
  /** An answer that began and did not end. */
  isCut: boolean;
  milliseconds: number;
}

export interface Question {
  port: number;
  path: string;
  key?: string;
  headers?: Readonly<Record<string, string>>;
  agent?: Agent;
}

/** Never rejects: a refused or broken connection is an outcome like any other. */
export function ask({ port, path, key, agent, ...question }: Question): Promise<Asked> {
  const startedAt = performance.now();
  const headers = { ...(key !== undefined && { "x-api-key": key }), ...question.headers };
  return new Promise((resolve) => {
    let body = "";
    let answer: Pick<Asked, "status" | "headers" | "rawHeaders"> = {
      status: null,
      headers: {},
      rawHeaders: [],
    };
    const settle = (isCut: boolean) =>
      resolve({ ...answer, body, isCut, milliseconds: performance.now() - startedAt });
    const request = get({ host: "127.0.0.1", port, path, headers, agent }, (response) => {
      const { statusCode, headers, rawHeaders } = response;
      answer = { status: statusCode!, headers, rawHeaders };
      response.setEncoding("utf8");
      response.on("data", (text: string) => (body += text));
      response.on("end", () => settle(!response.complete));
      response.on("error", () => settle(true));
    });
    request.on("error", () => settle(answer.status !== null));
  });
}

export interface Books {
  sent: number;
  /** Answers by status. */
  statuses: Map<number, number>;
  /** Connections that were refused or broke before an answer began. */
  unanswered: number;
  cut: number;
  milliseconds: number[];
}

export interface Stream {
  books: Books;
  /** Sends no more, and waits for what is under way. */
  end(): Promise<Books>;
}

/** Sends `perSecond` questions a second over keep-alive connections until it is ended, to several servers in turn. */
export function stream(
  { port, ...question }: Omit<Question, "agent" | "port"> & { port: number | readonly number[] },
  perSecond: number,
): Stream {
  const ports = [port].flat();
  const agent = new Agent({ keepAlive: true, maxSockets: 50 });
  const books: Books = { sent: 0, statuses: new Map(), unanswered: 0, cut: 0, milliseconds: [] };
  const underWay = new Set<Promise<void>>();
  const enter = ({ status, isCut, milliseconds }: Asked) => {
    if (isCut) books.cut++;
    else if (status === null) books.unanswered++;
    else {
      books.statuses.set(status, (books.statuses.get(status) ?? 0) + 1);
      books.milliseconds.push(milliseconds);
    }
  };
  let isOver = false;
  const sending = (async () => {
    const startedAt = performance.now();
    while (!isOver) {
      const due = ((performance.now() - startedAt) / 1000) * perSecond;
      for (; books.sent < due; books.sent++) {
        const order = { ...question, port: ports[books.sent % ports.length]!, agent };
        const asked: Promise<void> = ask(order)
          .then(enter)
          .finally(() => underWay.delete(asked));
        underWay.add(asked);
      }
      await wait(5);
    }
  })();
  return {
    books,
    async end() {
      isOver = true;
      await sending;
      await Promise.all(underWay);
      agent.destroy();
      return books;
    },
  };
}

const warmingSeconds = 3;
const warmingPerSecond = 1000;

/** The first answers of a process, and the first that this one asks for, wait for code to be compiled. */
export async function warmUp(question: Omit<Question, "agent">): Promise<void> {
  const unmeasured = stream(question, warmingPerSecond);
  await wait(warmingSeconds * 1000);
  await unmeasured.end();
}

/** Answers that were not 200, as text; empty where there were none. */
export function othersThan200({ statuses, cut, unanswered }: Books): string {
  const others = [...statuses].filter(([status]) => status !== 200);
  const parts = others.map(([status, count]) => `${count} × ${status}`);
  if (cut > 0) parts.push(`${cut} cut off`);
  if (unanswered > 0) parts.push(`${unanswered} unanswered`);
  return parts.join(", ");
}
