/** One request, for whoever wants to know what is answered rather than how fast. */
import { Agent, get, type IncomingHttpHeaders } from "node:http";

export interface OneAnswer {
  status: number;
  bodyBytes: number;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

export function fetchOnce(
  port: number,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<OneAnswer> {
  return new Promise((resolve, reject) => {
    get({ agent, host: "127.0.0.1", port, path, headers }, (response) => {
      let bodyBytes = 0;
      response.on("data", (chunk: Buffer) => (bodyBytes += chunk.length));
      response.on("end", () =>
        resolve({
          status: response.statusCode!,
          bodyBytes,
          headers: response.headers,
          rawHeaders: response.rawHeaders,
        }),
      );
    }).on("error", reject);
  });
}
