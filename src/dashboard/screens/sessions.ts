/** Sessions: lists the browsers that a person is signed in with, signs them out, and switches between accounts. */
import { sessionDays } from "#accounts/kept-days.ts";
import { endAllSessions, endSession, listSessions, switchAccount } from "#accounts/sessions.ts";
import { headedPage, hidden, postForm } from "#dashboard/components/page.ts";
import { endFormer, signedOut } from "#dashboard/cookies.ts";
import {
  type AccountRequest,
  type Reply,
  type Route,
  route,
  seeOther,
  type SignedInRequest,
} from "#dashboard/screen.ts";
import { html, table } from "#pages/html.ts";
import { counted, relativeTime } from "#pages/prose.ts";

export const sessionRoutes: readonly Route[] = [
  route("/account/sessions", "person", { GET: show, POST: end }),
  route("/account/sign-out", "anyone", { POST: signOut }),
  route("/account/sign-out-everywhere", "person", {
    POST: async (request) => {
      const { services, signedIn, now } = request;
      await endAllSessions(services.control, { person: signedIn.person.id, now });
      return signedOut(request, "/account/sign-in?done=everywhere");
    },
  }),
  route("/account/switch", "person", { POST: switchTo }),
];

async function end({ services, signedIn, form, now }: SignedInRequest): Promise<Reply> {
  const { session, person } = signedIn;
  const id = form.get("session") ?? "";
  await endSession(services.control, { person: person.id, id, own: session, now });
  return seeOther("/account/sessions?done=ended");
}

/** Signs the browser out. Works even if it is signed out already, for instance in a second tab. */
async function signOut(request: AccountRequest): Promise<Reply> {
  await endFormer(request);
  return signedOut(request, "/account/sign-in?done=out");
}

async function switchTo({ services, signedIn, form }: SignedInRequest): Promise<Reply> {
  const accountId = form.get("account") ?? "";
  const { person, session } = signedIn;
  await switchAccount(services.control, { person: person.id, session, accountId });
  return seeOther("/account/keys");
}

async function show(request: SignedInRequest): Promise<string> {
  const { services, signedIn, now } = request;
  const sessions = await listSessions(services.control.database, signedIn.person.id, now);
  const count = sessions.length;
  return headedPage(request, {
    title: "Signed-in browsers",
    heading: `You are signed in with ${count === 1 ? "this browser only" : `${count} browsers`}`,
    done: { ended: "That browser is signed out." },
    main: html`${table({
        label: "Signed-in browsers",
        columns: [
          "Browser",
          "Network",
          "Signed in",
          "Last seen",
          { label: "Action", isPlain: true },
        ],
        rows: sessions.map((session) => [
          session.browser,
          html`<span class="mono">${session.network}</span>`,
          relativeTime(session.createdAt, now),
          relativeTime(session.seenAt, now),
          session.id === signedIn.session
            ? "this browser"
            : postForm("/account/sessions", "Sign out", hidden("session", session.id), "quiet"),
        ]),
      })}
      <p>
        A browser is signed out automatically after 12 hours without a request, or after
        ${counted(sessionDays, "day")}. If you do not recognize one of these browsers, sign it out
        and
        <a href="/account/settings/password">change your password</a>.
      </p>
      ${postForm("/account/sign-out-everywhere", "Sign out everywhere", null, "danger")}`,
  });
}
