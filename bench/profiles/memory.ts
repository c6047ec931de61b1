/** What resident memory consists of right after the first answer, beside a server without records and a bare one. */
import { askInside } from "../ask-inside.ts";
import { fetchOnce } from "../fetch-once.ts";
import type { Ground } from "../ground.ts";
import { hasProc, statusBytes } from "../process-cost.ts";
import { type RunningServer, startBare, startProgram } from "../servers.ts";
import { asText } from "../table.ts";

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

/** @throws Error where there is no /proc. */
export async function profileMemory(ground: Ground): Promise<string> {
  if (!hasProc) throw new Error("--profile memory needs /proc, which only Linux has.");
  const published = await ground.published(ground.checkouts[0]!, 1);
  const { root } = ground.checkouts[0]!;
  const bareOrder = { bodyBytes: [1], order: [0], headerBytes: 1 };
  // Their first start compiles, with the code that looks inside; operators' servers find all of it compiled.
  const watched = { settings: { NODE_COMPILE_CACHE: ground.emptyFolder() }, isWatched: true };
  const program = (dataDir: string) => () => startProgram({ root, dataDir, ...watched });
  const servers: [string, () => Promise<RunningServer>][] = [
    ["65,000 records", program(ground.serverFolder(published))],
    ["no records", program(ground.emptyFolder())],
    ["bare node:http", () => startBare(bareOrder, watched)],
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
  await fetchOnce(server.port, "/fetch-signals?limit=20");
  const files = statusBytes(server, "RssFile");
  const resident = statusBytes(server, "VmRSS");
  const inside = await askInside<InsideMemory>(server, "memoryParts");
  await server.stop();
  return { files, resident, ...inside };
}
