/** Writes one request into the usage store of a folder, and dies without closing. */
import { openWriter } from "#usage/writer.ts";
import { noon } from "./control.ts";
import { chunkOf, request } from "./usage.ts";

const writer = openWriter({ dataDir: process.argv[2]!, onFault() {} });
writer.write({ kind: "requests", rows: chunkOf([request()]), now: noon });
await writer.settled();
process.kill(process.pid, "SIGKILL");
