/** Which formats an `Accept` header takes, for the headers the grammar writes (RFC 9110 §12.5.1). */
import { bounds } from "./promised.ts";

/**
 * Those of the best quality, of which the server may send any; none where all are refused. Undefined where the header is not
 * well formed, so that it may mean anything.
 */
export function preferredOf(
  accept: string | undefined,
  available: readonly string[],
): readonly string[] | undefined {
  if (accept === undefined || accept.trim() === "*/*") return available.slice(0, 1);
  const isCut = accept.length > bounds.acceptLength;
  const read = isCut ? accept.slice(0, accept.lastIndexOf(",", bounds.acceptLength)) : accept;
  const ranges = read.split(",").map((one) => readRange(one.trim().toLowerCase()));
  if (ranges.some((range) => range === undefined)) return undefined;
  const qualities = available.map((type) => qualityOf(type, ranges as Range[]));
  const best = Math.max(0, ...qualities);
  return best === 0 ? [] : available.filter((_, i) => qualities[i] === best);
}

interface Range {
  type: string;
  quality: number;
}

function readRange(text: string): Range | undefined {
  const [, type, parameters = ""] =
    /^([a-z-]+\/(?:[a-z+-]+|\*)|\*\/\*)((?:\s*;\s*[a-z]+=[a-z0-9.-]+)*)$/.exec(text) ?? [];
  if (type === undefined) return undefined;
  let quality = 1;
  for (const [, name, value = ""] of parameters.matchAll(/;\s*([a-z]+)=([a-z0-9.-]+)/g))
    if (name === "q" && /^(0(\.[0-9]{0,3})?|1(\.0{0,3})?)$/.test(value)) quality = Number(value);
    else if (name !== "charset" && !(name === "header" && value === "present")) return undefined;
  return { type, quality };
}

/** The most specific range decides. */
function qualityOf(type: string, ranges: readonly Range[]): number {
  const [group] = type.split("/");
  for (const wanted of [type, `${group}/*`, "*/*"]) {
    const found = ranges.filter((range) => range.type === wanted);
    if (found.length > 0) return Math.max(...found.map(({ quality }) => quality));
  }
  return 0;
}
