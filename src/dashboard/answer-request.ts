/** One request to the account pages, from its headers to its response. */
import { findSession } from "#accounts/sessions.ts";
import { ownOrigin } from "#config.ts";
import { html } from "#pages/html.ts";
import { exactTime, grouped } from "#pages/prose.ts";
import { problemKinds } from "#problems/kinds.ts";
import { DomainError, StoreFault } from "#store/store-fault.ts";
import { accountField, laterReply, wordPage, wordReply } from "./components/page.ts";
import { readCookie } from "./cookies.ts";
import { formType, type PageAnswer, type PageRequest } from "./messages.ts";
import {
  type AccountRequest,
  type AccountServices,
  findRoute,
  homePath,
  type MemberRequest,
  page,
  refusal,
  type Reply,
  type Route,
  type Serve,
  unauthorized,
  withHeader,
  withQuery,
  wordsFor,
} from "./screen.ts";
import { signInPage } from "./screens/sign-in.ts";

/** Pattern of the paths of people and of searches, which search engines must not list. */
const unlisted = /^\/(?:search|browse\/people)(?:\/|$)/;

/** Answers a request. Never rejects: every error is answered with a page. Store faults and bugs are also reported. */
export async function answerRequest(
  services: AccountServices,
  routes: readonly Route[],
  sent: PageRequest,
): Promise<PageAnswer> {
  const reply = await answerListed(services, routes, sent);
  return unlisted.test(sent.path) ? withHeader(reply, "x-robots-tag", "noindex") : reply;
}

async function answerListed(
  services: AccountServices,
  routes: readonly Route[],
  sent: PageRequest,
): Promise<Reply> {
  try {
    const request = await receive(services, routes, sent);
    if (request !== null) return await serve(request, sent);
    const text =
      "These pages are served only at the https address in the setting PUBLIC_URL, or on the machine that runs the service. Ask the operator of this service for that address.";
    return wordReply({ services }, 403, "Not at this address", text);
  } catch (error) {
    // The route's path, because the request's own may contain a secret.
    const where = `${sent.method} ${findRoute(routes, sent.path)?.found.path ?? "(no such page)"}`;
    if (error instanceof StoreFault) {
      services.reportError(`${where}: ${error.message}`);
      return refusal(error, wordPage({ services }, "This cannot be done now", wordsFor(error)));
    }
    services.reportError(`${where}: ${(error as Error).stack}`);
    const next = sent.method === "POST" ? "Check what was changed." : "Try again in a moment.";
    const text = `The service failed, and its log says why. ${next} If it fails again, tell the operator of this service.`;
    return wordReply({ services }, 500, "Something went wrong", text);
  }
}

async function receive(
  services: AccountServices,
  routes: readonly Route[],
  sent: PageRequest,
): Promise<AccountRequest | null> {
  const { cookie, host } = sent.headers;
  const own = ownOrigin(services.settings.publicUrl, host);
  if (own === null) return null;
  const token = readCookie(cookie, "session", own.isSecure);
  const signedIn = token === null ? null : await findSession(services.control, token, sent.now);
  return {
    services,
    method: sent.method === "POST" ? "POST" : "GET",
    path: sent.path,
    names: {},
    query: new URLSearchParams(sent.query),
    form: new URLSearchParams(),
    file: null,
    client: {
      address: sent.address,
      userAgent: sent.headers["user-agent"] ?? "",
      browserToken: readCookie(cookie, "browser", own.isSecure),
    },
    own,
    routes,
    signedIn: signedIn ?? null,
    now: sent.now,
    monotonicMicroseconds: sent.monotonicMicroseconds,
  };
}

async function serve(request: AccountRequest, sent: PageRequest): Promise<Reply> {
  const known = findRoute(request.routes, request.path);
  if (known === undefined)
    return wordReply(request, 404, "There is no such page", "The address may be incomplete.");
  const { [request.method]: act, GET, POST } = known.found;
  const methods = [...(GET ? ["GET", "HEAD"] : []), ...(POST ? ["POST"] : [])];
  if (act === undefined || !methods.includes(sent.method)) {
    const all = methods.join(", ");
    const text = `Nothing was changed. This address takes only the methods ${all}. Go back to the page you came from.`;
    return withHeader(wordReply(request, 405, "Method not allowed", text), "allow", all);
  }
  if (request.method === "POST" && !isSameOrigin(sent, request.own.origin)) {
    const text = "Nothing was changed. Open the page here, and send the form from that page.";
    return wordReply(request, 403, "This form was not sent from this site", text);
  }
  const refused = refuse(known.found, request) ?? countRequest(known.found, request);
  if (refused !== null) return refused;
  const sentForm = request.method === "POST" ? await readForm(request, sent) : null;
  if (sentForm !== null && "status" in sentForm) return sentForm;
  const account = request.signedIn?.account ?? null;
  const received = { ...request, ...sentForm, names: known.names, account };
  return refuseOther(known.found, received) ?? run(act, received as MemberRequest);
}

/** Refuses a form that was made for another account than the one shown now. Returns null for any other. */
function refuseOther({ access }: Route, request: AccountRequest): Reply | null {
  const { form, signedIn } = request;
  const made = form.get(accountField);
  form.delete(accountField);
  if (made === null || access === "anyone" || access === "person") return null;
  if (!signedIn?.account || made === signedIn.account.id) return null;
  const former = signedIn.accounts.find(({ id }) => id === made)?.name;
  const text = `Nothing was done. The form was made for ${former ?? "an account that you are not a member of"}, but this browser now shows ${signedIn.account.name}. Switch accounts, or open the page again.`;
  return wordReply(request, 409, "Another account is shown now", text);
}

/** Returns the fields of a form and the file it sends, or a reply that says why they cannot be read. */
async function readForm(
  request: AccountRequest,
  { body, bodyType, headers }: PageRequest,
): Promise<Pick<AccountRequest, "form" | "file"> | Reply> {
  const { "content-type": type = "" } = headers;
  if (type.split(";")[0]!.trim().toLowerCase() !== bodyType)
    return wordReply(
      request,
      415,
      problemKinds["unsupported-media-type"].title,
      `Nothing was changed. Send the form with the content type ${bodyType}.`,
    );
  if (bodyType === formType)
    return { form: new URLSearchParams(Buffer.from(body).toString()), file: null };
  const sent = new Response(body as Uint8Array<ArrayBuffer>, { headers: { "content-type": type } });
  const data = await sent.formData().catch(() => null);
  if (data === null)
    return wordReply(request, 400, "This form cannot be read", "Nothing was done. Send it again.");
  const form = new URLSearchParams();
  let file: AccountRequest["file"] = null;
  for (const [name, value] of data)
    if (typeof value === "string") form.append(name, value);
    else if (value.size > 0)
      file = { name: value.name, bytes: Buffer.from(await value.arrayBuffer()) };
  return { form, file };
}

/** Returns the sign-in page, or a page that says why the person may not use the route. Returns null if they may. */
function refuse({ access, GET }: Route, request: AccountRequest): Reply | null {
  const { signedIn, services } = request;
  if (access === "anyone" || (access === "reader" && services.browse() === "everyone")) return null;
  if (signedIn === null) {
    // Outside pages of records, the query may name a finished action, which must not be announced again.
    const shown = access === "reader" ? withQuery(request.path, request.query) : request.path;
    const next = GET === undefined ? homePath : shown;
    const blank = new URLSearchParams();
    return unauthorized(signInPage({ ...request, query: blank, form: blank }, next));
  }
  if (access === "person") return null;
  if (signedIn.account === null)
    return wordReply(
      request,
      403,
      "You are not a member of any account",
      "Ask an owner of an account to invite you, or ask the operator of this service for an account of your own.",
    );
  const { role, name } = signedIn.account;
  if (access === "owner" && role !== "owner")
    return wordReply(request, 403, "Only owners may do this", `Ask an owner of ${name}.`);
  return null;
}

const countedWords = { view: "pages", form: "forms", background: "suggestions" };

/**
 * Counts a request against the limits of its person, or of its network if nobody is signed in. Returns a refusal if a
 * limit is reached, otherwise null. Skips routes for anyone: sign-in, mailed links and feeds have their own limits.
 */
function countRequest({ access, isBackground }: Route, request: AccountRequest): Reply | null {
  const { services, method, signedIn, client, monotonicMicroseconds } = request;
  if (access === "anyone") return null;
  const kind = method === "POST" ? "form" : isBackground === true ? "background" : "view";
  const { personLimiter: limiter } = services;
  const isAnonymous = signedIn === null;
  const tooMany = isAnonymous
    ? limiter.takeAnonymous(client.address, kind, monotonicMicroseconds)
    : limiter.take(signedIn.person.id, kind, monotonicMicroseconds);
  if (tooMany === null) return null;
  const { name, quota, retryAfterSeconds } = tooMany;
  const what = isAnonymous && kind === "form" ? "pages" : countedWords[kind];
  const who = isAnonymous
    ? "Together, people on your network who are not signed in get"
    : "You get";
  const freeAt = new Date(request.now + retryAfterSeconds * 1000).toISOString();
  const text = html`${who} ${grouped(quota)} ${what} a ${name}, and all of these are used up. You
    can try again at <time datetime="${freeAt}">${exactTime(freeAt)}</time>.
    ${kind === "form" && "Nothing was changed."}
    ${isAnonymous ? "If you sign in, a limit of your own applies." : "API calls are counted separately, so your keys keep working."}`;
  const again = { href: withQuery(request.path, request.query), label: "Try again" };
  const next = kind === "form" ? undefined : again;
  return laterReply(wordPage(request, `Too many ${what}`, text, next), 429, retryAfterSeconds);
}

/** Runs a screen's function. Turns a DomainError other than a StoreFault into a page that gives the reason. */
async function run(act: Serve, request: MemberRequest): Promise<Reply> {
  try {
    const given = await act(request);
    return typeof given === "string" ? page(given) : given;
  } catch (fault) {
    // Other errors get a page without navigation, because the navigation's data may be unreadable.
    if (!(fault instanceof DomainError) || fault instanceof StoreFault) throw fault;
    return refusal(fault, wordPage(request, "This could not be done", fault.message));
  }
}

/**
 * Reports whether a form comes from our own pages. Browsers say so in the headers `Origin` and `Sec-Fetch-Site`, and no
 * page can set the latter (W3C Fetch Metadata). At least one must be sent, and each that is sent must match. An
 * `Origin` of `null` is accepted only beside a matching `Sec-Fetch-Site`. @param own this service's origin.
 */
export function isSameOrigin({ headers }: Pick<PageRequest, "headers">, own: string): boolean {
  const { "sec-fetch-site": site, origin } = headers;
  if (site === undefined) return origin === own;
  // Our pages send no referrer, so their forms are sent with the origin `null` (Fetch Standard).
  return site === "same-origin" && (origin === undefined || origin === "null" || origin === own);
}
