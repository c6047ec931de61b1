/** Asks the server once what it serves in which formats, as its own description has it. */
import type { World } from "./predict.ts";
import { formPath } from "./promised.ts";
import { publicPaths } from "./any-request.ts";

interface Description {
  paths: Record<
    string,
    { get?: { responses: Record<string, { content?: Record<string, unknown> }> } }
  >;
}

export async function learnWorld(port: number): Promise<World> {
  const origin = `http://127.0.0.1:${port}`;
  const answer = await fetch(`${origin}/openapi.json`);
  const { paths } = (await answer.json()) as Description;
  const formats = Object.keys(paths["/fetch-gp"]?.get?.responses["200"]?.content ?? {});
  const documents = new Map<string, readonly string[]>();
  // What reads forms starts when it is first asked for something, and takes memory from then on.
  await (await fetch(origin + formPath)).text();
  for (const path of publicPaths) documents.set(path, await typesOf(origin, path));
  return { formats, documents };
}

/** The start page has two forms; whether a process is alive is told to everybody. */
async function typesOf(origin: string, path: string): Promise<readonly string[]> {
  if (path === "/health" || path === "/ready") return [];
  if (path === "/") return ["text/html", "application/json"];
  const { headers } = await fetch(origin + path, { headers: { accept: "*/*" } });
  return [headers.get("content-type")!.split(";")[0]!];
}
