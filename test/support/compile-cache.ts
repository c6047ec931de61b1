/** Loaded before each test file: what one process has compiled, the others need not compile again. */
import { enableCompileCache } from "node:module";
import { join } from "node:path";

const folder = join(import.meta.dirname, "../../node_modules/.cache/compiled");
enableCompileCache(folder);
// For the commands and servers that tests start.
process.env["NODE_COMPILE_CACHE"] = folder;
