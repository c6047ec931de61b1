/** A person with a browser, without the browser: keeps cookies, reads forms out of pages and sends them. */
import assert from "node:assert/strict";
import { openPasswords } from "#accounts/passwords.ts";
import { completeSignUp } from "#accounts/credentials.ts";
import { inviteToSignUp } from "#accounts/invitations.ts";
import { useControl } from "./control.ts";
import type { TestService } from "./service.ts";

export type Page = Awaited<ReturnType<TestUser["get"]>>;

export type TestUser = ReturnType<typeof openUser>;

type Fields = Readonly<Record<string, string>>;

export function openUser({ url }: Pick<TestService, "url">) {
  const cookies = new Map<string, string>();
  const send = async (path: string, method: string, body: string | null, headers: Headers) => {
    if (cookies.size > 0)
      headers.set("cookie", Array.from(cookies, ([name, value]) => `${name}=${value}`).join("; "));
    const answer = await fetch(url + path, { method, headers, body, redirect: "manual" });
    for (const cookie of answer.headers.getSetCookie()) keep(cookies, cookie);
    // Where a redirect leads.
    const location = answer.headers.get("location");
    return { status: answer.status, headers: answer.headers, location, text: await answer.text() };
  };
  const get = (path: string, headers: Record<string, string> = {}) =>
    send(path, "GET", null, new Headers(headers));
  /** What a browser would send from one of our own pages, unless `headers` say otherwise. */
  const post = (path: string, fields: Fields, headers: Record<string, string> = {}) => {
    const own = {
      "sec-fetch-site": "same-origin",
      "content-type": "application/x-www-form-urlencoded",
    };
    const body = new URLSearchParams(fields).toString();
    return send(path, "POST", body, new Headers({ ...own, ...headers }));
  };
  /** Sends a body of another type, as a browser would from one of our own pages. */
  const sendBody = (path: string, body: string, headers: Record<string, string>) =>
    send(path, "POST", body, new Headers({ "sec-fetch-site": "same-origin", ...headers }));
  /** Fetches the page, fills in its form with that action, hidden fields included, and sends it. */
  const submit = async (path: string, action: string, fields: Fields = {}) => {
    const { text } = await get(path);
    return post(action, { ...hiddenFields(text, action), ...fields });
  };
  return { cookies, get, post, sendBody, submit };
}

function keep(cookies: Map<string, string>, cookie: string): void {
  const [pair = "", ...attributes] = cookie.split("; ");
  const name = pair.slice(0, pair.indexOf("="));
  if (attributes.includes("Max-Age=0")) cookies.delete(name);
  else cookies.set(name, pair.slice(pair.indexOf("=") + 1));
}

/** Names and values of the hidden fields of the form that is sent to `action`. */
export function hiddenFields(text: string, action: string): Record<string, string> {
  const forms = [...text.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)];
  const found = forms.find(([, attributes = ""]) => attributes.includes(`action="${action}"`));
  assert.ok(found, `the page has no form for ${action}`);
  const inputs = [...found[2]!.matchAll(/<input\b([^>]*)>/g)].map(
    ([, attributes = ""]) => attributes,
  );
  return Object.fromEntries(
    inputs
      .filter((attributes) => attributes.includes('type="hidden"'))
      .map((attributes) => [attributeOf(attributes, "name"), attributeOf(attributes, "value")]),
  );
}

const attributeOf = (attributes: string, name: string): string =>
  new RegExp(`\\b${name}="([^"]*)"`).exec(attributes)?.[1] ?? "";

export const testPassword = "correct horse battery staple";

/** Somebody with an account of their own, signed in through the sign-in form. */
export async function signedIn(
  service: TestService,
  {
    email = "ada@example.org",
    accountName = null,
  }: { email?: string; accountName?: string | null } = {},
): Promise<TestUser> {
  await makePerson(service, email, accountName);
  const user = openUser(service);
  const { status } = await user.post("/account/sign-in", { email, password: testPassword });
  assert.equal(status, 303);
  return user;
}

/** Made straight in the store, with a password that is quick to check. */
const makePerson = (
  { place, clock }: TestService,
  email: string,
  accountName: string | null,
): Promise<unknown> =>
  useControl(place, async (control) => {
    const now = clock.now();
    const { token } = await inviteToSignUp(control, { address: email, now });
    const client = { address: "127.0.0.1", userAgent: "", browserToken: null };
    const passwords = openPasswords({ memoryKiB: 8, passes: 1 });
    const order = { token, password: testPassword, accountName, client, now };
    return completeSignUp(control, passwords, order);
  });
