/** Judges what became of an import: taken with its sums right, or refused in words; nothing else. */
import { DatasetFault } from "#datasets/dataset-fault.ts";
import { ImportFault } from "#importers/import-fault.ts";
import type { SourceEntry } from "#records/canonical.ts";
import type { Violation } from "../run.ts";
import type { FuzzFolder } from "./any-folder.ts";
import type { FuzzImport } from "./any-import.ts";
import type { Taken, Workshop } from "./workshop.ts";

/** Where a stack, an object or a missing value has got into a sentence. */
const notWords = /\[object |\bundefined\b(?! entity)|\n\s+at |\bNaN\b is|^\s*$/;
const replacement = "\ufffd";
const secondsMax = 5;

export function judgeTaken(
  one: FuzzImport,
  { tablePath }: Workshop,
  { collected, documents }: Taken,
  unfitLines: readonly number[],
): Violation[] {
  const { read, accepted, rejections } = collected;
  const violations: Violation[] = [];
  const said = (rule: string, detail: string) => void violations.push({ rule, detail });
  if (read !== accepted + rejections.count || accepted < 0)
    said("read is not accepted plus rejected", `${read} ${accepted} ${rejections.count}`);
  if (rejections.count > 0 && rejections.listed.length === 0) said("a rejection says nothing", "");
  if (one.mapping === null && read !== linesIn(one.table))
    said("not all lines were read", `${read} of ${linesIn(one.table)}`);
  const lines = one.table.toString("latin1").split(/\r\n|\r|\n/).length;
  for (const { file, line, field, reason } of rejections.listed) {
    if (file !== tablePath || !(line >= 1 && line <= lines))
      said("a rejection elsewhere", `${file}:${line}`);
    if (notWords.test(reason) || /undefined|\[object/.test(field))
      said("a rejection not in words", `${field}: ${reason}`);
  }
  if (one.isControl && rejections.count > 0)
    said("a sound file was rejected", JSON.stringify(rejections.listed.slice(0, 2)));
  for (const line of unfitLines)
    if (!rejections.listed.some((rejection) => rejection.line === line))
      said("a value that is none was taken", `line ${line}`);
  for (const document of documents) violations.push(...judgeDocument(one, document));
  return violations;
}

/** Lines with anything in them, after the byte order mark. */
function linesIn(table: Buffer): number {
  const text = table.toString("utf8").replace(/^\ufeff/, "");
  return text.split("\n").filter((line) => line.trim() !== "").length;
}

function judgeDocument({ table, mapping }: FuzzImport, document: string): Violation[] {
  if (!isJson(document)) return [{ rule: "a document is no JSON", detail: document }];
  if (!document.includes(replacement) || holdsReplacement(table) || holdsReplacement(mapping))
    return [];
  return [{ rule: "U+FFFD was stored", detail: document }];
}

function isJson(document: string): boolean {
  try {
    JSON.parse(document);
    return true;
  } catch {
    return false;
  }
}

/** Judges what became of a folder: every record that filings gave is one that an import takes. */
export function judgeFolderTaken(
  { isControl }: FuzzFolder,
  { collected, documents }: Taken,
): Violation[] {
  const { read, accepted, rejections } = collected;
  const violations: Violation[] = [];
  const said = (rule: string, detail: string) => void violations.push({ rule, detail });
  if (read !== accepted)
    said("a record of filings was rejected", JSON.stringify(rejections.listed));
  if (isControl && read === 0) said("a sound folder gave nothing", "");
  for (const document of documents) if (!isJson(document)) said("a document is no JSON", document);
  return violations;
}

/** An e-mail address, and a phone number. */
const contacts = [/[\w.+-]+@[\w-]+\.\w+/, /(?<![\d-])\(?\d{3}\)?[\s.-]\d{3}[\s.-]\d{4}(?![\d-])/];
/** Control characters, and what turns a text around. */
const obeyed = [/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/];

/** Returns what an entry of filings must not hold, in a record or in its evidence. */
export function findForbidden(
  { mayHoldContacts }: FuzzFolder,
  { records, claims, evidence }: SourceEntry,
): string | null {
  const forbidden = mayHoldContacts ? obeyed : [...obeyed, ...contacts];
  const found: string[] = [];
  const look = (value: unknown): void => {
    if (typeof value === "string") {
      if (!value.isWellFormed() || forbidden.some((shape) => shape.test(value))) found.push(value);
    } else if (typeof value === "object" && value !== null) Object.values(value).forEach(look);
    else if (typeof value === "number" && !Number.isFinite(value)) found.push(String(value));
  };
  look([records, claims, evidence]);
  return found[0] ?? null;
}

/** Then somebody else has put it there, and it is a character like others. */
const holdsReplacement = (bytes: Buffer | null) =>
  bytes !== null && /\xef\xbf\xbd|\\ufffd/i.test(bytes.toString("latin1"));

/** Does a line hold what must not get into a dataset: a number or a text that is none, or a character that was lost? */
export function isUnfit({ table, mapping }: FuzzImport, entry: SourceEntry): boolean {
  if (entry.faults.length > 0) return false;
  const mayBeReplacement = holdsReplacement(table) || holdsReplacement(mapping);
  const isBad = (value: unknown): boolean => {
    if (typeof value === "number") return !Number.isFinite(value);
    if (typeof value === "string")
      return !value.isWellFormed() || (value.includes(replacement) && !mayBeReplacement);
    return typeof value === "object" && value !== null && Object.values(value).some(isBad);
  };
  return [...entry.records, ...entry.namedGps].some(isBad);
}

/** A refusal of the whole file has to name it, and the line if one is to blame. */
export function judgeRefusal(
  one: Pick<FuzzImport, "isControl">,
  shop: Workshop,
  error: unknown,
): Violation[] {
  if (one.isControl) return [{ rule: "a sound file was refused", detail: String(error) }];
  // Ids that contradict each other are found when all records are there.
  if (error instanceof DatasetFault)
    return notWords.test(error.message)
      ? [{ rule: "a refusal not in words", detail: error.message }]
      : [];
  if (!(error instanceof ImportFault))
    return [{ rule: "an exception", detail: (error as Error).stack ?? String(error) }];
  const { message } = error;
  const isNamed =
    [shop.tablePath, shop.mappingPath].some(
      (path) => message.startsWith(path) && /^(?::[1-9]\d*)?: /.test(message.slice(path.length)),
    ) ||
    (message.startsWith(shop.filingsPath) &&
      /^\/[^:!]+(?:![^\n]*?)?(?::[1-9]\d*)?: \w/.test(message.slice(shop.filingsPath.length)));
  return [
    ...(isNamed ? [] : [{ rule: "a refusal without its file", detail: message }]),
    ...(notWords.test(message) ? [{ rule: "a refusal not in words", detail: message }] : []),
  ];
}

/** What every import leaves behind, whatever became of it. */
export function judgeTraces({ litter }: Workshop, seconds: number): Violation[] {
  const violations: Violation[] = [];
  const left = litter();
  if (left.length > 0)
    violations.push({ rule: "the folder is not as it was", detail: left.join() });
  if (seconds > secondsMax) violations.push({ rule: "slow", detail: `${seconds.toFixed(1)} s` });
  if (Object.keys(Object.prototype).length > 0 || "polluted" in {})
    violations.push({
      rule: "a prototype was changed",
      detail: Object.keys(Object.prototype).join(),
    });
  // Or everything that is tried afterwards would break this rule, too.
  for (const name of Object.keys(Object.prototype)) Reflect.deleteProperty(Object.prototype, name);
  return violations;
}
