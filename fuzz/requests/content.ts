/** The content of an answer as text, whatever it was compressed with. */
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import type { Answer } from "./read-answers.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

export function contentOf({ body, headers }: Answer): string | Error {
  if (body.length === 0) return "";
  const coding = headers.get("content-encoding");
  try {
    const bytes =
      coding === "br" ? brotliDecompressSync(body) : coding === "gzip" ? gunzipSync(body) : body;
    return utf8.decode(bytes);
  } catch (error) {
    return error as Error;
  }
}
