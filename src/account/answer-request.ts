/** One request to the account pages from its headers to its answer. */
import { findSession } from "#accounts/sessions.ts";
import { html } from "#pages/html.ts";
import { grouped } from "#pages/prose.ts";
import { problemKinds } from "#problems.ts";
import { StoreFault } from "#store/domain-error.ts";
import { framed } from "./components/frame.ts";
import { exactTime } from "./components/relative.ts";
import { wordPage } from "./components/word.ts";
import { readCookie } from "./cookies.ts";
import { formType, type OfficeAnswer, type OfficeRequest } from "./messages.ts";
import type { PersonRequest, TooMany } from "./person-limits.ts";
import { refusal } from "./refusal.ts";
import { page, type Reply, unauthorized } from "./reply.ts";
import { type AccountVisit, ownOrigin, type Rooms, type Visit } from "./request.ts";
import { findRoute, type Route, type Serve } from "./route.ts";
import { signInPage } from "./screens/sign-in.ts";

/** Never rejects: whatever goes wrong has a page. */
export async function answerVisit(
  rooms: Rooms,
  routes: readonly Route[],
  request: OfficeRequest,
): Promise<OfficeAnswer> {
  try {
    const visit = await receive(rooms, request);
    return visit === null ? notHere() : await serve(visit, routes, request);
  } catch (error) {
    rooms.complain(`${request.method} ${request.path}: ${(error as Error).stack}`);
    return page(wordPage("This went wrong", "It is logged. Try again in a moment."), 500);
  }
}

async function receive(rooms: Rooms, request: OfficeRequest): Promise<Visit | null> {
  const own = ownOrigin(rooms.settings, request);
  if (own === null) return null;
  const { cookie } = request.headers;
  const token = readCookie(cookie, "session", own.isSecure);
  const visitor = token === null ? null : await findSession(rooms.control, token, request.now);
  return {
    rooms,
    method: request.method === "POST" ? "POST" : "GET",
    path: request.path,
    names: {},
    query: new URLSearchParams(request.query),
    form: new URLSearchParams(request.form),
    client: {
      address: request.address,
      userAgent: request.headers["user-agent"] ?? "",
      browserToken: readCookie(cookie, "browser", own.isSecure),
    },
    own,
    visitor: visitor ?? null,
    now: request.now,
  };
}

const notHere = (): Reply =>
  page(
    wordPage(
      "Not at this address",
      "The account pages are served over https at PUBLIC_URL, or on the machine itself. Ask the operator for the address.",
    ),
    403,
  );

async function serve(
  visit: Visit,
  routes: readonly Route[],
  request: OfficeRequest,
): Promise<Reply> {
  const known = findRoute(routes, visit.path);
  if (known === undefined)
    return word(visit, 404, "There is no such page", "Perhaps the address was cut off.");
  const { methods } = known.found;
  const act = methods[visit.method];
  if (act === undefined) {
    const reply = word(visit, 405, "This does not work that way", "Go back and try again.");
    return { ...reply, headers: [...reply.headers, ["allow", allowed(known.found)]] };
  }
  if (visit.method === "POST") {
    if (!isSameOrigin(request, visit.own.origin))
      return word(visit, 403, "This form came from elsewhere", "Nothing was changed.");
    const { "content-type": type = "" } = request.headers;
    if (type.split(";")[0]!.trim().toLowerCase() !== formType)
      return word(
        visit,
        415,
        problemKinds["unsupported-media-type"].title,
        `Nothing was changed. Send ${formType}, as a form does.`,
      );
  }
  const keptOut = refuse(known.found, visit) ?? countRequest(known.found, visit, request);
  if (keptOut !== null) return keptOut;
  const received = { ...visit, names: known.names, account: visit.visitor?.account };
  return withFaults(received as AccountVisit, act);
}

const allowed = ({ methods }: Route): string =>
  [...(methods.GET === undefined ? [] : ["GET", "HEAD"]), ...(methods.POST ? ["POST"] : [])].join(
    ", ",
  );

/** What keeps the visitor out, or null. */
function refuse({ access, methods }: Route, visit: Visit): Reply | null {
  if (access === "anyone") return null;
  const { visitor } = visit;
  if (visitor === null) {
    const next = methods.GET === undefined ? "/account" : visit.path;
    return unauthorized(signInPage({ next, signUp: visit.rooms.settings.signUp }));
  }
  if (access === "person") return null;
  if (visitor.account === null)
    return word(
      visit,
      403,
      "You are in no account",
      "Ask an owner of an account to invite you, or the operator for one of your own.",
    );
  if (access === "owner" && visitor.account.role !== "owner")
    return word(visit, 403, "Only owners may do this", "Ask an owner of the account.");
  return null;
}

/** Public pages are not counted: what matters on them is bounded by the address it concerns. */
function countRequest({ access, isBackground }: Route, visit: Visit, request: OfficeRequest) {
  const { rooms, method, visitor } = visit;
  if (visitor === null || access === "anyone") return null;
  const kind = method === "POST" ? "form" : isBackground ? "background" : "view";
  const now = request.monotonicMicroseconds;
  const tooMany = rooms.personLimiter.take(visitor.person.id, kind, now);
  return tooMany === null ? null : tooManyPage(visit, request, kind, tooMany);
}

const tooManyWords: Readonly<Record<PersonRequest, { title: string; what: string }>> = {
  view: { title: "Too many pages", what: "pages a person may look at" },
  form: { title: "Too many forms", what: "forms a person may send" },
  background: { title: "Too many lookups", what: "lookups a page may make for a person" },
};

function tooManyPage(
  visit: Visit,
  { path, query }: OfficeRequest,
  kind: PersonRequest,
  { name, quota, retryAfterSeconds }: TooMany,
): Reply {
  const { title, what } = tooManyWords[kind];
  const freeAt = new Date(visit.now + retryAfterSeconds * 1000).toISOString();
  const text = html`All ${grouped(quota)} ${what} in a ${name} are used up. The next one is free at
    <time datetime="${freeAt}">${exactTime(freeAt)}</time>.
    ${kind === "form" && "Nothing was changed."} Calls of the API are counted by themselves, so your
    keys go on working.`;
  const again = { href: query === "" ? path : `${path}?${query}`, label: "Try again" };
  const next = kind === "form" ? undefined : again;
  const reply = page(wordPage(title, text, framed(visit), next), 429);
  return { ...reply, headers: [...reply.headers, ["retry-after", String(retryAfterSeconds)]] };
}

async function withFaults(visit: AccountVisit, act: Serve): Promise<Reply> {
  try {
    return await act(visit);
  } catch (fault) {
    if (!(fault instanceof StoreFault)) throw fault;
    return refusal(fault, wordPage("This could not be done", fault.message, framed(visit)));
  }
}

const word = (visit: Visit, status: number, title: string, text: string): Reply =>
  page(wordPage(title, text, framed(visit)), status);

/**
 * Browsers say so in `Sec-Fetch-Site`, which no page can set (W3C Fetch Metadata); those that do not yet, in
 * `Origin`. Where neither speaks, the answer is no.
 * @param origin our own.
 */
export function isSameOrigin({ headers }: Pick<OfficeRequest, "headers">, origin: string): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin";
  return headers.origin === origin;
}
