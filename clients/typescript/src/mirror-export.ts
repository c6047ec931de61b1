/** Reads all records from the files of an export, which a mirror begins from where the service offers them. */
import { GpRecordsError, isProblem, NetworkError } from "./errors.ts";
import { type Kind, lineOf, type Lines } from "./mirror-records.ts";
import { openSha256, type Sha256 } from "./sha256.ts";
import type { FileSink, RequestOptions, Transport } from "./transport.ts";

/** What is offered of the dataset that is served. */
export interface Offer {
  version: string;
  /** Records of each kind. */
  records: Record<Kind, number>;
  requestId: string;
}

/** A file on its way: what came of it is gone on from. */
export interface Download {
  version: string;
  kind: Kind;
  sink: RecordSink;
}

/** Undefined where the service offers no export. @throws as the transport does where it cannot be asked, or the quota is used up. */
export async function findOffer(
  transport: Transport,
  options: RequestOptions,
): Promise<Offer | undefined> {
  const found = await unlessRefused(() => transport.getList("/exports", options));
  const entries = (found?.data ?? []) as Partial<Listed>[];
  const current = entries.find((one) => one?.is_current === true);
  const { version, files } = current ?? {};
  if (typeof version !== "string" || !/^[\w-]{1,100}$/.test(version) || !Array.isArray(files))
    return undefined;
  const ofKind = (kind: Kind) =>
    files.find((one) => one?.kind === kind && one.format === "ndjson")?.records;
  const records = {
    gp: ofKind("gp"),
    principal: ofKind("principal"),
    signal: ofKind("signal"),
    project: ofKind("project"),
  };
  const isWhole = Object.values(records).every((count) => Number.isSafeInteger(count));
  if (found === undefined || !isWhole) return undefined;
  const { requestId } = found;
  return { version, records: records as Offer["records"], requestId };
}

interface Listed {
  version: string;
  is_current: boolean;
  files: { kind: string; format: string; records: number }[];
}

/** A file whose hash is wrong, or that changed while it was read, is read once more. */
const triesMax = 2;

/**
 * The records of a kind.
 * @param begun what an update that failed had of it; undefined where none had.
 * @param onBegin told of each download: what came of it is in there.
 * @returns undefined where the file is not to be had, or never is what the service says it is.
 * @throws as the transport does where the quota is used up or there is no connection.
 */
export async function readFile(
  transport: Transport,
  { version, records }: Offer,
  kind: Kind,
  begun: Download | undefined,
  onBegin: (download: Download) => void,
  options: RequestOptions,
): Promise<Lines[Kind] | undefined> {
  const isSame = begun?.version === version && begun.kind === kind;
  for (let tried = 0; tried < triesMax; tried++) {
    const sink = isSame && tried === 0 ? begun.sink : openRecordSink(kind, records[kind]);
    onBegin({ version, kind, sink });
    const path = `/exports/${version}/${kind}.ndjson`;
    const isOver = await unlessRefused(async () => {
      await transport.getFile(path, sink, options);
      return true;
    });
    // A connection may have been lost at the very end, after which there is nothing to ask for.
    const lines = sink.finish();
    if (lines !== undefined || isOver === undefined) return lines;
  }
  return undefined;
}

/** Undefined where the service does not give it: then pages are read, which say it if there is more to say. */
async function unlessRefused<Given>(ask: () => Promise<Given>): Promise<Given | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof GpRecordsError)) throw error;
    if (error instanceof NetworkError || isProblem(error, "quota-exceeded")) throw error;
    return undefined;
  }
}

interface RecordSink extends FileSink {
  /** Undefined where it is not the file that its entity tag names. */
  finish(): Lines[Kind] | undefined;
}

/** No record is as long. */
const lineBytesMax = 64 * 1024 * 1024;
const newline = 10;

function openRecordSink(kind: Kind, count: number): RecordSink {
  const decoder = new TextDecoder();
  let bytes: number;
  let bytesMost = 0;
  let lines: Lines[Kind];
  let hash: Sha256;
  /** The beginning of a line. */
  let rest: Uint8Array[];
  let restBytes: number;
  let tag: string | null;
  let isSound: boolean;
  const reset = () => {
    bytes = 0;
    lines = new Map();
    hash = openSha256();
    rest = [];
    restBytes = 0;
    tag = null;
    isSound = true;
  };
  reset();

  function takeLines(whole: Uint8Array): void {
    for (const line of decoder.decode(whole).split("\n")) {
      const record = JSON.parse(line);
      if (typeof record.id !== "string") throw new TypeError("A record has no id.");
      lines.set(record.id, lineOf(kind, record));
    }
  }

  return {
    get bytes() {
      return bytes;
    },
    get bytesMost() {
      return bytesMost;
    },
    begin(etag, isWhole) {
      if (isWhole) reset();
      // The beginning of the SHA-256; a proxy that compresses makes the tag a weak one.
      const given = /^(?:W\/)?"([0-9a-f]{32})"$/.exec(etag ?? "")?.[1] ?? null;
      if (bytes === 0) tag = given;
      isSound &&= given !== null && given === tag;
      return isSound;
    },
    write(piece) {
      hash.add(piece);
      bytes += piece.length;
      bytesMost = Math.max(bytesMost, bytes);
      const end = piece.lastIndexOf(newline);
      if (end === -1) {
        rest.push(piece);
        restBytes += piece.length;
      } else {
        try {
          takeLines(joined([...rest, piece.subarray(0, end)]));
        } catch {
          isSound = false;
        }
        // A copy, which does not keep the whole piece in memory.
        rest = [piece.slice(end + 1)];
        restBytes = rest[0]!.length;
      }
      isSound &&= restBytes <= lineBytesMax && lines.size <= count;
      return isSound;
    },
    finish() {
      const isWhole = isSound && restBytes === 0 && lines.size === count;
      return isWhole && hash.digest().slice(0, 32) === tag ? lines : undefined;
    },
  };
}

function joined(pieces: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
