/** What resident memory consists of right after the first answer: at two sizes, without records, and of a bare server. */
import { globSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Fixtures, Published } from "../fixtures.ts";
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
  /** From the start of the process to its first answer. */
  seconds: number;
}

const target = "/fetch-signals?limit=20";

/** @throws Error where there is no /proc. */
export async function profileMemory(fixtures: Fixtures): Promise<string> {
  if (!hasProc) throw new Error("--profile memory needs /proc, which only Linux has.");
  const [own] = fixtures.checkouts;
  const [usual, large] = [await fixtures.published(own!, 1), await fixtures.published(own!, 10)];
  const bareAnswers = [{ target, headers: [], bodyBytes: 1 }];
  // Their first start compiles, with the code that looks inside; operators' servers find all of it compiled.
  const watched = { settings: { NODE_COMPILE_CACHE: fixtures.emptyFolder() }, isWatched: true };
  const program = (dataDir: string) => () => fixtures.start(own!, { dataDir, ...watched });
  const servers: [string, () => Promise<RunningServer>][] = [
    ["650,000 records", program(fixtures.serverFolder(large))],
    ["65,000 records", program(fixtures.serverFolder(usual))],
    ["no records", program(fixtures.emptyFolder())],
    ["bare node:http", () => startBare(bareAnswers, watched)],
  ];
  const parts: Parts[] = [];
  for (const [, start] of servers) {
    await partsAfterFirstAnswer(start);
    parts.push(await partsAfterFirstAnswer(start));
  }
  const line = (name: string, bytesOf: (one: Parts) => number) => [
    name,
    ...parts.map(bytesOf).map(megabytes),
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
      ["its dataset's file", ...[large, usual].map(datasetBytes).map(megabytes)],
      [
        "until the first answer",
        ...parts.map(({ seconds }) => `${seconds.toFixed(2)} s`.padStart(9)),
      ],
    ]),
  ].join("\n\n");
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`.padStart(9);

/** Of the only dataset there. */
function datasetBytes({ dataDir }: Published): number {
  const [file] = globSync(join(dataDir, "datasets", "*.sqlite"));
  return statSync(file!).size;
}

async function partsAfterFirstAnswer(start: () => Promise<RunningServer>): Promise<Parts> {
  const begun = performance.now();
  const server = await start();
  await fetchOnce(server.port, target);
  const seconds = (performance.now() - begun) / 1000;
  const files = statusBytes(server, "RssFile");
  const resident = statusBytes(server, "VmRSS");
  const inside = await askInside<InsideMemory>(server, "memoryParts");
  await server.stop();
  return { files, resident, seconds, ...inside };
}
