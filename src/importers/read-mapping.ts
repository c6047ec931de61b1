/** Reads a mapping file, or says everything that is wrong with it. */
import { checkMapping } from "./check-mapping.ts";
import { ImportFault } from "./import-fault.ts";
import type { Mapping } from "./mapping.ts";
import { readBytes } from "./source-bytes.ts";
import { parseStrictJson } from "./strict-json.ts";
import { Unreadable } from "./unreadable.ts";
import { byteWords, firstInvalidUtf8 } from "./utf8.ts";

/**
 * @param path of a JSON file as examples/mappings/mapping.schema.json describes.
 * @throws ImportFault with every fault of the file and its path inside, such as `records[0].fields.status`.
 */
export async function readMapping(path: string): Promise<Mapping> {
  const bytes = Buffer.concat(await Array.fromAsync(readBytes(path)));
  const invalidAt = firstInvalidUtf8(bytes);
  if (invalidAt !== undefined)
    throw new ImportFault(path, null, `is not UTF-8 at ${byteWords(bytes, invalidAt)}`);
  const value = parseStrictJson(bytes.toString("utf8"));
  if (value instanceof Unreadable) throw new ImportFault(path, null, value.reason);
  const faults = checkMapping(value);
  if (faults.length > 0) throw new ImportFault(path, null, "is not a mapping", faults);
  return value as Mapping;
}
