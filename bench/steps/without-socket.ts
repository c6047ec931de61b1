/** A request and its answer as Node's HTTP objects, without a socket: what a handler costs, the system calls left out. */
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";

/** Takes what is written and keeps nothing. */
class Sink extends Socket {
  override readonly remoteAddress = "127.0.0.1";
  override _write(_chunk: unknown, _encoding: unknown, done: () => void): void {
    done();
  }
  override _writev(_chunks: unknown, done: () => void): void {
    done();
  }
}

const sink = new Sink();

/** Hands one GET to the handler; resolves to the status when the answer is finished. */
export function handle(
  handler: (request: IncomingMessage, response: ServerResponse) => void,
  { url, headers }: { url: string; headers: Readonly<Record<string, string>> },
): Promise<number> {
  const request = new IncomingMessage(sink);
  request.method = "GET";
  request.url = url;
  request.httpVersion = "1.1";
  request.httpVersionMajor = 1;
  request.httpVersionMinor = 1;
  for (const [name, value] of Object.entries(headers)) {
    request.headers[name] = value;
    request.rawHeaders.push(name, value);
  }
  request.push(null);
  const response = new ServerResponse(request);
  response.assignSocket(sink);
  return new Promise((resolve) => {
    response.once("finish", () => {
      response.detachSocket(sink);
      resolve(response.statusCode);
    });
    handler(request, response);
  });
}
