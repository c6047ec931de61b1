/** The page of the browsers somebody is signed in with. */
import { html, type Html } from "#pages/html.ts";
import { table } from "#pages/table.ts";
import { doneNote } from "./done.ts";
import { hidden } from "./fields.ts";
import { accountPage, type Frame } from "./frame.ts";
import { relativeTime } from "./relative.ts";

interface SessionView {
  id: string;
  createdAt: string;
  seenAt: string;
  network: string;
  /** Such as `Firefox on Linux`. */
  browser: string;
  /** The browser that asks. */
  isOwn: boolean;
}

interface SessionsView {
  frame: Frame | null;
  /** Last seen first. */
  sessions: readonly SessionView[];
  done: string | null;
  /** Milliseconds since 1970. */
  now: number;
}

const sentences = { ended: "That browser is signed out." };

export function sessionsPage({ frame, sessions, done, now }: SessionsView): string {
  const count = sessions.length;
  return accountPage({
    title: "Signed-in browsers",
    frame,
    main: html`<h1>
        You are signed in with ${count === 1 ? "this browser alone" : `${count} browsers`}
      </h1>
      ${doneNote(sentences, done)}
      ${table({
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
          session.isOwn ? "this browser" : endForm(session.id),
        ]),
      })}
      <p>
        A browser is signed out by itself after 12 hours without a request, and after 7 days. If you
        do not know one of these, end it and
        <a href="/account/settings/password">change your password</a>.
      </p>
      <form method="post" action="/account/sign-out-everywhere">
        <button class="danger">Sign out everywhere</button>
      </form>`,
  });
}

const endForm = (id: string): Html =>
  html`<form method="post" action="/account/sessions">
    ${hidden("session", id)}<button class="quiet">Sign out</button>
  </form>`;
