/** The page at `/privacy`: what the service keeps about people. docs/privacy.md is for operators. */
import { isInvented, type Sources } from "#records/common.ts";
import { declarations, membersOf } from "#records/declarations.ts";
import { html, type Html, type Part, table } from "./html.ts";
import { layout, type Site } from "./layout.ts";
import { codes, counted, exactTime, grouped } from "./prose.ts";

/** Facts about a server. Numbers of days say how long something is kept. */
export interface PrivacyFacts {
  site: Site;
  /** Sources of the records; empty without a dataset. */
  sources: Sources;
  /** Days that the request log is kept; 0 if there is no request log. */
  usageLogDays: number;
  usageLogParameters: boolean;
  totalsDays: number;
  /** Days that entries of the audit log are kept; 0 to keep them forever. */
  auditDays: number;
  /** Number of published datasets that are kept; 0 for all. */
  datasetsKeep: number;
  changesDays: number;
  sessionDays: number;
  knownBrowserDays: number;
  /** Days that a mailed link is kept after it has expired. */
  endedLinkDays: number;
}

export function privacyPage(facts: PrivacyFacts): string {
  const { site, sources } = facts;
  const isDemo = sources.length > 0 && isInvented(sources);
  return layout({
    site,
    title: "Privacy",
    description: `What ${site.name} keeps about people, where it comes from, and how to object.`,
    path: "/privacy",
    main: html`<h1>Privacy</h1>
      <p class="lede">
        What ${site.name} keeps about people in its records and about people who use it, and how to
        object to it, correct it or have it removed.
      </p>
      <section>
        <h2 id="records">People in the records</h2>
        ${isDemo ? invented : recordsSections(facts)}
      </section>
      <section>
        <h2 id="users">People who use the service</h2>
        <p>
          The service passes none of this on, except that mail to you goes through the operator's
          mail server, and no page loads anything from another host. Members of your account see
          your e-mail address. People who do not sign in get no cookie. The server's log has no
          addresses and no searches.
        </p>
        ${table({
          label: "What is kept about people who use the service",
          columns: ["What", "How long"],
          rows: usersRows(facts),
        })}
        <p>
          <a href="/account/settings">Settings</a> has a download of what is kept about you, and a
          button that deletes your login. For anything else, write to ${recipient(site.contact)}.
        </p>
      </section>`,
  });
}

const invented = html`<p>
  All records of this service are invented. If a name is also that of a real person, that is a
  coincidence.
</p>`;

const recordsSections = (facts: PrivacyFacts): Html =>
  html`<h3 id="what">What is kept</h3>
    <p>
      The records are about people who run, direct or own a real-estate firm, or whom a filing
      names. A record has what is in this table, as far as its source states it. Titles and texts of
      other records may name them too, and so may the words of filings that explain a record.
    </p>
    ${table({
      label: "What a record of a person has",
      columns: ["Member", { label: "What it is", isPlain: true }],
      rows: membersOf(declarations.principal.schema).map(([name, { description }]) => [
        codes([name]),
        description,
      ]),
    })}
    <h3 id="whence">Where it comes from</h3>
    ${
      facts.sources.length > 0 &&
      table({
        label: "Sources of the records",
        columns: ["Source", "Last change"],
        rows: facts.sources.map(([name, importedAt]) => [
          codes([name]),
          html`<time datetime="${importedAt}">${exactTime(importedAt)}</time>`,
        ]),
      })
    }
    <p>
      Every record states its source, its basis and its certainty, and links to the page of the
      source if that is known. Data from filings was reported to the SEC, which does not review it.
    </p>
    <h3 id="why">Why, and who sees it</h3>
    <p>
      The records tell people who do business in real estate who runs a firm and what it does.
      ${
        facts.site.browse === "everyone"
          ? "Everybody can read the pages of records, without e-mail addresses and LinkedIn pages. These are shown"
          : "Records are shown"
      }
      to people who sign in and to programs with a key. Search engines are told not to list pages of
      people. The records are not for decisions about anybody's credit, employment or tenancy.
    </p>
    <h3 id="object">Object, correct, remove</h3>
    <p>
      Write to ${recipient(facts.site.contact)}. Name the person and the address of the page. The
      operator corrects or removes the record, and the next publication shows that.
      ${remains(facts)}
    </p>`;

const recipient = (contact: string | null): Part =>
  contact === null ? "the operator of this service" : contactLink(contact);

/** Returns a link to an e-mail address or https URL. @param subject subject of the mail. */
export function contactLink(contact: string, label = contact, subject = ""): Html {
  const asked = subject && `?subject=${encodeURIComponent(subject)}`;
  const href = contact.startsWith("https://") ? contact : `mailto:${contact}${asked}`;
  return html`<a href="${href}">${label}</a>`;
}

const remains = ({ datasetsKeep, changesDays }: PrivacyFacts): Part => [
  datasetsKeep === 0
    ? "All earlier datasets are kept, but no longer shown. "
    : `The newest ${grouped(datasetsKeep)} published datasets are kept, and those that the operator pins; only the current one is shown. `,
  changesDays > 0 &&
    `The changes between datasets are kept for ${counted(changesDays, "day")}; they contain the whole record if it was added, and only its id if it was removed. `,
  "Backups keep what was stored when they were made.",
];

function usersRows(facts: PrivacyFacts): string[][] {
  const { auditDays, usageLogDays, totalsDays, usageLogParameters } = facts;
  const parameters = usageLogParameters ? ", parameters" : "";
  return [
    [
      "Your e-mail address, argon2id hash of your password, time of sign-up",
      "Until you delete your login",
    ],
    ["The accounts you are a member of, and your role", "Until you leave or the account closes"],
    [
      "A session: hash, times, browser, IPv4 address or IPv6 /64",
      `Until it ends, ${counted(facts.sessionDays, "day")} at most`,
    ],
    ["A browser you have signed in with: hash, last use", counted(facts.knownBrowserDays, "day")],
    [
      "A link mailed to you: hash, kind, your address, times",
      `${counted(facts.endedLinkDays, "day")} after it expires`,
    ],
    ["Failed sign-ins: their number, by hash of address or network", "A day after the last wait"],
    ["Your keys: hash, first 8 characters, name, times, your id", "For good"],
    ["A view you follow: hash of its secret, filters, time, your id", "Until its feed stops"],
    ["The last use of a key: time, IPv4 /24 or IPv6 /48", "Until its next use"],
    ["The audit log: what you changed, by your id", daysOr(auditDays, "For good")],
    [
      `Each request with a key: time, key, operation, status, duration, size${parameters}`,
      daysOr(usageLogDays, "Not kept"),
    ],
    ["Hourly totals of requests with a key", daysOr(totalsDays, "Not kept")],
    ["The log: time, kind of page, status, duration, id of a key", "As the operator sets it"],
    [
      "How many pages you viewed: by your id or, while signed out, IPv4 address or IPv6 /64 and /48",
      "Until a restart at most, in memory only",
    ],
  ];
}

const daysOr = (days: number, none: string): string => (days === 0 ? none : counted(days, "day"));
