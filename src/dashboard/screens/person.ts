/** The page of one person: their GPs, when they were named, the GPs' signals, colleagues, and others of the name. */
import { accountPage, wordReply } from "#dashboard/components/page.ts";
import {
  apiCall,
  bandText,
  card,
  provenanceBadge,
  recordHead,
  recordLink,
  recordsOfGp,
  rowsOf,
  shownOf,
  signalTable,
  titleOrRoles,
} from "#dashboard/components/record-page.ts";
import {
  asSeen,
  byPoints,
  cutText,
  hostOf,
  outside,
  place,
  provenanceWords,
  readRecords,
} from "#dashboard/components/records.ts";
import { type Given, type ReaderRequest, route, type Route } from "#dashboard/screen.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { hueOf, sparkline, timeline } from "#pages/plot.ts";
import { counted, dayElement, grouped, wordList } from "#pages/prose.ts";
import { factList } from "#pages/table.ts";
import { money, valueLabel } from "#pages/values.ts";
import { fold } from "#records/fold.ts";
import type { Gp } from "#records/gp.ts";
import type { Principal } from "#records/principal.ts";
import type { Signal } from "#records/signal.ts";
import { readDocuments } from "#search/dataset-parts.ts";
import { positionOfId } from "#search/name-index.ts";
import { prepareInTurns } from "#search/prepare-in-turns.ts";
import type { Filter, ReadModel } from "#search/read-model.ts";

export const personRoutes: readonly Route[] = [
  route("/browse/people/{id}", "reader", {
    GET: (request) => readRecords(request, (model) => showPerson(request, model)),
  }),
];

/** Largest number of records of each kind on the page. */
const shownMax = { gps: 10, signals: 10, people: 6, others: 10 } as const;

/** One of the person's GPs, with what the page says about it. */
interface OwnGp {
  gp: Gp;
  signals: Signal[];
  signalsTotal: number;
  people: Principal[];
}

async function showPerson(request: ReaderRequest, model: ReadModel): Promise<Given> {
  await prepareInTurns(model, "principal", { id: ["-"], crd: ["-"], name: "-" });
  const [found] = findPeople(model, { id: [request.names["id"]!] }, 1);
  if (found === undefined)
    return wordReply(
      request,
      404,
      "There is no such person",
      "Perhaps their records are no longer published, or the address was cut off.",
      { href: "/browse/people", label: "Browse people" },
    );
  const person = asSeen(request, found);
  const gps = person.gps.slice(0, shownMax.gps).map(({ id }) => readGp(model, id));
  return accountPage(request, {
    title: `${person.name} · Person`,
    main: html`<div class="record">
      ${recordHead({
        kind: "principal",
        market: person.markets[0] ?? null,
        model,
        name: person.name,
        badge: provenanceBadge(person.provenance),
        facts: [
          roleAt(person),
          place(person.city, person.state, person.country),
          person.ownership_band !== null && `owns ${bandText(person.ownership_band)}`,
        ],
        updatedAt: person.updated_at,
        now: request.now,
      })}
      <div class="beside">
        <div>
          ${gpsCard(person, gps)} ${timelineOf(person, gps, model.parts.updatedAt.slice(0, 10))}
          ${signalsCard(person, gps, model)} ${colleagues(person, gps)}
        </div>
        <div>
          ${facts(person)} ${sameCrd(person, model)} ${sameName(person, model)}
          ${apiCall(request, `/list-principals?id=${person.id}`)}
        </div>
      </div>
    </div>`,
  });
}

const findPeople = (model: ReadModel, filter: Filter, limit: number): Principal[] =>
  readDocuments(
    model.parts.documents.principal,
    model.select("principal", filter, { limit, offset: 0 }).positions,
  );

function readGp(model: ReadModel, id: string): OwnGp {
  const position = positionOfId(model.parts.ids, id);
  const [gp] = readDocuments<Gp>(model.parts.documents.gp, [position]);
  const { records: signals, total: signalsTotal } = recordsOfGp<Signal>(model, "signal", position);
  const { records: people } = recordsOfGp<Principal>(model, "principal", position);
  return { gp: gp!, signals, signalsTotal, people };
}

function roleAt({ title, roles, gps }: Principal): Part {
  const role = title ?? roles.slice(0, 1).map(valueLabel).join("");
  if (gps.length === 0) return role;
  const at = gps.length === 1 ? recordLink("gp", gps[0]!) : counted(gps.length, "GP");
  return role === "" ? at : [cutText(role, 80), " at ", at];
}

function gpsCard({ gps: all }: Principal, gps: readonly OwnGp[]): Part {
  const numbers = ["Assets", "Raised", "Signals"].map((label) => ({ label, isNumber: true }));
  const columns = ["GP", "Head office", "Strategy", ...numbers];
  const rows = gps.map(({ gp, signals, signalsTotal }) => [
    recordLink("gp", gp),
    place(gp.hq_city, gp.hq_state, gp.hq_country),
    gp.strategies.slice(0, 2).map(valueLabel).join(", "),
    money(gp.aum_usd),
    money(gp.raised_to_date_usd),
    [sparkline(byYear(signals)), " ", grouped(signalsTotal)],
  ]);
  return (
    gps.length > 0 &&
    card({
      title: counted(all.length, "GP"),
      aside: all.length > gps.length && shownOf(gps.length, all.length),
      body: rowsOf("named gps", { label: "GPs", columns, rows }),
    })
  );
}

/** Returns the number of signals in each of the last eight years that have any. */
function byYear(signals: readonly Signal[]): number[] {
  const years = signals.map(({ date }) => Number(date.slice(0, 4)));
  const last = Math.max(...years);
  return years.length === 0
    ? []
    : Array.from({ length: 8 }, (_, i) => years.filter((year) => year === last - 7 + i).length);
}

/** Returns when the person was named, above the signals of the GPs. A ring marks those that name the person. */
function timelineOf(person: Principal, gps: readonly OwnGp[], until: string): Part {
  const { name, start_date: start, first_seen_date: first, last_seen_date: last } = person;
  const isStated = start !== null && (first === null || start < first);
  const bars = [
    ...(isStated ? [{ from: start, until: first ?? until, isDashed: true }] : []),
    ...(first !== null && last !== null ? [{ from: first, until: last }] : []),
  ];
  const label = isStated ? "Named by sources; dashed: in post, as stated" : "Named by sources";
  const rows = gps.map(({ gp, signals }) => ({
    label: cutText(gp.name, 44),
    marks: signals.slice(0, marksMax).map(({ date, type, title }) => ({
      day: date,
      hue: hueOf(type),
      label: cutText(title, 60),
      isRinged: title.includes(name),
    })),
  }));
  const shown = [...(bars.length > 0 ? [{ label, bars, marks: [] }] : []), ...rows].filter(
    (row) => row.marks.length > 0 || "bars" in row,
  );
  if (shown.length === 0) return null;
  const naming = namingSignals(person, gps).length;
  const [from, to] = [first?.slice(0, 4), last?.slice(0, 4)];
  const when = from === to ? `in ${from}` : `from ${from} to ${to}`;
  return timeline({
    finding: [
      first !== null && last !== null ? `Named by sources ${when}` : "Signals of the GPs",
      naming > 0 && `${counted(naming, "signal")} by name`,
    ]
      .filter(Boolean)
      .join(", "),
    measure: "Signals of the GPs by date; a ring marks those that name this person",
    rows: shown,
    until,
  });
}

const marksMax = 40;

const namingSignals = ({ name }: Principal, gps: readonly OwnGp[]): Signal[] =>
  ofAll(gps).filter(({ title }) => title.includes(name));

/** Returns the signals of all GPs, newest first, each once. */
const ofAll = (gps: readonly OwnGp[]): Signal[] =>
  [...new Map(gps.flatMap(({ signals }) => signals.map((one) => [one.id, one]))).values()].toSorted(
    (a, b) => (a.date < b.date ? 1 : a.date > b.date ? -1 : 0),
  );

function signalsCard(person: Principal, gps: readonly OwnGp[], model: ReadModel): Part {
  const all = ofAll(gps);
  const naming = namingSignals(person, gps);
  if (all.length === 0) return null;
  const chosen = new Set([...naming, ...all].slice(0, shownMax.signals));
  const [only, ...others] = gps;
  return card({
    title: "Signals",
    aside: [
      naming.length > 0 && `${grouped(naming.length)} by name`,
      `${grouped(all.length)} of the ${others.length > 0 ? "GPs" : "GP"}`,
    ]
      .filter(Boolean)
      .join(", "),
    body: signalTable({
      label: "Signals",
      signals: all.filter((one) => chosen.has(one)),
      model,
      without: others.length === 0 ? [only!.gp.name] : [],
      marked: person.name,
    }),
  });
}

function colleagues(person: Principal, gps: readonly OwnGp[]): Part {
  const all = new Map(gps.flatMap(({ people }) => people.map((one) => [one.id, one])));
  all.delete(person.id);
  const others = [...all.values()].toSorted((a, b) =>
    (a.last_seen_date ?? "") < (b.last_seen_date ?? "") ? 1 : -1,
  );
  const isShared = ({ id }: { id: string }) => gps.some(({ gp }) => gp.id === id);
  const rows = others
    .slice(0, shownMax.people)
    .map((one) => [
      recordLink("principal", one),
      titleOrRoles(one),
      recordLink("gp", one.gps.find(isShared)!),
      one.last_seen_date !== null && dayElement(one.last_seen_date),
    ]);
  const label = "People at the same GPs";
  const columns = ["Name", "Title", "Shared GP", "Last named"];
  return (
    others.length > 0 &&
    card({
      title: label,
      aside: shownOf(rows.length, others.length),
      body: rowsOf("named", { label, columns, rows }),
    })
  );
}

/** E-mail address without spaces and without `?`, `&` and `%`, which are special in a `mailto:` link (RFC 6068). */
const plainAddress = /^[^\s@?&%]+@[^\s@?&%]+$/;

function facts(person: Principal): Html {
  const { email, linkedin_url: linkedIn, roles, external_ids: ids } = person;
  return card({
    title: "Facts",
    body: factList([
      ["Title", person.title],
      ["Roles", roles.map(valueLabel).join(", ")],
      ["Owns", person.ownership_band !== null && bandText(person.ownership_band)],
      ["Works in", place(person.city, person.state, person.country)],
      [
        "E-mail",
        email !== null &&
          (plainAddress.test(email) ? html`<a href="mailto:${email}">${email}</a>` : email),
      ],
      ["LinkedIn", linkedIn !== null && outside(linkedIn, hostOf(linkedIn))],
      ["In post since", person.start_date !== null && dayElement(person.start_date)],
      ["First named", person.first_seen_date !== null && dayElement(person.first_seen_date)],
      ["Last named", person.last_seen_date !== null && dayElement(person.last_seen_date)],
      ["CRD", wordList(ids.crd ?? [], "and")],
      ["Source", [provenanceWords(person.provenance), sourceLink(person.provenance.url)]],
      ["Person ID", html`<code>${person.id}</code>`],
    ]),
  });
}

const sourceLink = (url: string | null): Part => url !== null && [", ", outside(url, hostOf(url))];

/** Returns the other records of the individual: those with the same CRD number, which is one person's alone. */
function sameCrd(person: Principal, model: ReadModel): Part {
  const others = withCrdOf(person, model);
  return (
    others.length > 0 &&
    card({
      title: "Also at",
      aside: `same CRD number, ${wordList(person.external_ids.crd!, "and")}`,
      body: recordList(others),
    })
  );
}

const withCrdOf = ({ id, external_ids: { crd = [] } }: Principal, model: ReadModel) =>
  crd.length === 0
    ? []
    : findPeople(model, { crd }, shownMax.others + 1).filter((one) => one.id !== id);

/** Returns the records of people who have the name and nothing else in common with the person. */
function sameName(person: Principal, model: ReadModel): Part {
  const known = new Set([person, ...withCrdOf(person, model)].map(({ id }) => id));
  const others = findPeople(model, { name: person.name }, 100).filter(
    ({ id, name }) => !known.has(id) && fold(name) === fold(person.name),
  );
  return (
    others.length > 0 &&
    card({
      title: "Same name elsewhere",
      body: html`<p class="note">Not known to be the same person.</p>
        ${recordList(others.slice(0, shownMax.others))}`,
    })
  );
}

const recordList = (people: readonly Principal[]): Html =>
  html`<ul class="records">
    ${people.map(
      (one) =>
        html`<li>
          ${recordLink("principal", one)}
          <span class="note"
            >${byPoints([titleOrRoles(one), ...one.gps.slice(0, 3).map((gp) => recordLink("gp", gp)), place(one.city, one.state, one.country)])}</span
          >
        </li>`,
    )}
  </ul>`;
