/** What resident memory consists of right after the first answer, beside a server without records and a bare one. */
import type { Fixtures } from "../fixtures.ts";
import { asText } from "../report.ts";
import { fetchOnce } from "../requests.ts";
import { askInside, hasProc, type RunningServer, startBare, statusBytes } from "../servers.ts";

/** What only the process itself knows; bytes. */
export interface InsideMemory {
  /** Pages of V8's heaps that are in memory. */
  heap: number;
  /** Arrays and buffers, which lie beside the heap. */
  arrays: number;
}

interface Parts extends InsideMemory {
  /** Pages of files: Node and the libraries of the system. */
  files: number;
  resident: number;
}

const target = "/fetch-signals?limit=20";

/** @throws Error where there is no /proc. */
export async function profileMemory(fixtures: Fixtures): Promise<string> {
  if (!hasProc) throw new Error("--profile memory needs /proc, which only Linux has.");
  const published = await fixtures.published(fixtures.checkouts[0]!, 1);
  const bareAnswers = [{ target, headers: [], bodyBytes: 1 }];
  // Their first start compiles, with the code that looks inside; operators' servers find all of it compiled.
  const watched = { settings: { NODE_COMPILE_CACHE: fixtures.emptyFolder() }, isWatched: true };
  const program = (dataDir: string) => () =>
    fixtures.start(fixtures.checkouts[0]!, { dataDir, ...watched });
  const servers: [string, () => Promise<RunningServer>][] = [
    ["65,000 records", program(fixtures.serverFolder(published))],
    ["no records", program(fixtures.emptyFolder())],
    ["bare node:http", () => startBare(bareAnswers, watched)],
  ];
  const parts: Parts[] = [];
  for (const [, start] of servers) {
    await partsAfterFirstAnswer(await start());
    parts.push(await partsAfterFirstAnswer(await start()));
  }
  const line = (name: string, bytesOf: (one: Parts) => number) => [
    name,
    ...parts.map((one) => `${(bytesOf(one) / 1e6).toFixed(1)} MB`.padStart(9)),
  ];
  return [
    "Resident memory right after the first answer.",
    asText([
      ["", ...servers.map(([name]) => name)],
      line("files: Node and the system's libraries", ({ files }) => files),
      line("V8's heap: objects, code, room for new ones", ({ heap }) => heap),
      line("arrays beside it: documents and index", ({ arrays }) => arrays),
      line(
        "all else: C++, SQLite, stacks, ended threads",
        ({ files, heap, arrays, resident }) => resident - files - heap - arrays,
      ),
      line("together", ({ resident }) => resident),
    ]),
  ].join("\n\n");
}

async function partsAfterFirstAnswer(server: RunningServer): Promise<Parts> {
  await fetchOnce(server.port, target);
  const files = statusBytes(server, "RssFile");
  const resident = statusBytes(server, "VmRSS");
  const inside = await askInside<InsideMemory>(server, "memoryParts");
  await server.stop();
  return { files, resident, ...inside };
}
