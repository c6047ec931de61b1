/** What may be answered to a request of the grammar, by the rules of the interface and their order. */
import { predictQuery } from "./predict-query.ts";
import { targetOf } from "./predict-target.ts";
import {
  bounds,
  formPath,
  messageBounds,
  messagesPath,
  messageType,
  promisedOperations,
} from "./promised.ts";
import { etagMark, valueOf, valuesOf, type FuzzRequest } from "./request.ts";
import {
  expectation,
  formatOk,
  framed,
  keyOk,
  lengthOk,
  malformed,
  methodOk,
  parsed,
  perhaps,
  problem,
  surely,
  type Outcome,
  type Stage,
} from "./stages.ts";

export interface World {
  /** Media types of the operations. */
  formats: readonly string[];
  /** Media types of each public document; none where nothing is negotiated. */
  documents: ReadonlyMap<string, readonly string[]>;
}

/** The request before this one in its conversation, and the tag its answer had. */
export interface Before {
  request: FuzzRequest;
  etag: string | undefined;
}

/** Any of these outcomes is right. */
export function predict(request: FuzzRequest, world: World, before: Before | null): Outcome[] {
  const outcomes: Outcome[] = [];
  for (const stage of stagesOf(request, world, before)) {
    outcomes.push(...stage.outcomes);
    if (stage.isFinal) break;
  }
  return outcomes;
}

function* stagesOf(request: FuzzRequest, world: World, before: Before | null): Generator<Stage> {
  yield parsed(request);
  yield expectation(request);
  const { path, query, isOdd } = targetOf(request.target);
  // What the router cannot read it refuses before anybody looks at the rest.
  if (path.includes("%")) yield perhaps(malformed);
  yield framed(request);
  if (isOdd) yield perhaps(malformed, problem(404, "unknown-path"), { status: 204 });
  yield lengthOk(request);
  if (path === formPath) return yield* formed(request);
  if (path === messagesPath) return yield* messaged(request);
  const document = world.documents.get(path);
  const operationPath = path.replace(/^\/v1(?=\/)/, "");
  const operation = promisedOperations[operationPath];
  if (document === undefined && operation === undefined) yield surely(problem(404, "unknown-path"));
  yield methodOk(request);
  if (document !== undefined) {
    if (document.length === 0) return yield surely({ status: 200 });
    yield formatOk(request, document);
    return yield* served(request, before, undefined);
  }
  yield keyOk(request);
  yield formatOk(request, world.formats);
  const predicted = predictQuery(query, operation!);
  if (predicted.faults.length > 0 || !predicted.isCertain) {
    const refused = {
      ...problem(400, "invalid-parameters"),
      ...(predicted.isCertain && { faults: predicted.faults.slice(0, bounds.faultsListed) }),
    };
    yield predicted.isCertain ? surely(refused) : perhaps(refused);
  }
  yield* served(
    request,
    before,
    predicted.isCertain ? { path: operationPath, query: predicted } : undefined,
  );
}

/** A form that no page of the account has sent: its type is looked at first, then where it comes from. */
function* formed(request: FuzzRequest): Generator<Stage> {
  const type = valueOf(request, "content-type");
  if (type !== undefined && !/^[-\w]+\/[-\w]+(?:;.*)?$/.test(type))
    return yield surely(problem(415, "unsupported-media-type"));
  yield surely({ status: 403 });
}

/** A message of MCP: where it comes from is looked at before its key, and what it is after that. */
function* messaged(request: FuzzRequest): Generator<Stage> {
  const { method, body } = request;
  if (method === "OPTIONS") return yield surely({ status: 204 });
  if (method !== "POST") return yield surely(problem(405, "method-not-allowed"));
  const type = valuesOf(request, "content-type")[0] ?? "";
  const unsupported = problem(415, "unsupported-media-type");
  const isMessageType = type.split(";")[0]!.trim().toLowerCase() === messageType;
  if (!isMessageType) yield perhaps(unsupported);
  if (valueOf(request, "origin") !== undefined) yield surely(problem(403, "access-denied"));
  const given = valueOf(request, "x-api-key") ?? "";
  const bearer = /^Bearer +(\S+)$/i.exec(valuesOf(request, "authorization")[0] ?? "")?.[1] ?? "";
  yield keyOk(request, given === "" ? bearer : given);
  // Messages that are no calls soon use up what an account may send of them.
  yield perhaps(problem(429, "quota-exceeded"));
  if (!isMessageType) yield surely(unsupported);
  if (!isMessage(body)) yield surely(malformed);
  yield surely({ status: 200 }, { status: 202 }, { status: 400 });
}

function isMessage(body: string): boolean {
  let message: unknown;
  try {
    message = JSON.parse(Buffer.from(body, "latin1").toString());
  } catch {
    return false;
  }
  const { id = null } = (message ?? {}) as { id?: unknown };
  return (
    !Array.isArray(message) &&
    isWithin(message, messageBounds.depth) &&
    JSON.stringify(id).length <= messageBounds.idLength
  );
}

const isWithin = (value: unknown, levels: number): boolean =>
  typeof value !== "object" ||
  value === null ||
  (levels > 0 && Object.values(value).every((one) => isWithin(one, levels - 1)));

function* served(
  request: FuzzRequest,
  before: Before | null,
  page: Outcome["page"],
): Generator<Stage> {
  const given = valueOf(request, "if-none-match");
  const whole: Outcome = { status: 200, ...(page && { page }) };
  if (given === "*") yield surely({ status: 304 });
  if (given?.includes(etagMark) && before?.etag !== undefined)
    yield isSameQuestion(request, before.request)
      ? surely({ status: 304 })
      : perhaps({ status: 304 });
  yield surely(whole);
}

function isSameQuestion(one: FuzzRequest, other: FuzzRequest): boolean {
  const questionOf = (request: FuzzRequest) => {
    const { path, query } = targetOf(request.target);
    return `${path.replace(/^\/v1(?=\/)/, "")}?${query}\n${valueOf(request, "accept") ?? ""}`;
  };
  return questionOf(one) === questionOf(other);
}
