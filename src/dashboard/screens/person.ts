/**
 * The page of a person: their GPs, a timeline of when sources named the person, the GPs' signals, colleagues, other
 * people with the same name, and other records with the same CRD number.
 */
import {
  card,
  factsCard,
  findRecords,
  type Found,
  latestFirst,
  personCells,
  recordRoute,
  type Records,
  recordsCard,
  recordsOfGps,
  signalCells,
} from "#dashboard/components/record-page.ts";
import {
  asSeen,
  byPoints,
  cutText,
  day,
  inBrowse,
  linkTo,
  place,
  probableGps,
  probably,
  recordLink,
  roleOf,
} from "#dashboard/components/records.ts";
import { html, type Html, type Part } from "#pages/html.ts";
import { hueOf, timeline } from "#pages/plot.ts";
import { counted, grouped, wordList } from "#pages/prose.ts";
import { valueLabel } from "#pages/values.ts";
import type { GpLink } from "#records/common.ts";
import { isFiled } from "#records/explanation.ts";
import { fold } from "#records/fold.ts";
import type { Gp } from "#records/gp.ts";
import type { Principal } from "#records/principal.ts";
import type { Signal } from "#records/signal.ts";
import type { Filter, ReadModel } from "#search/read-model.ts";

export const personPage = recordRoute("principal", showPerson);

const gpsMax = 10;
const othersMax = 10;

interface Around {
  gps: Gp[];
  signals: Records<Signal>;
  people: Records<Principal>;
}

async function showPerson({ record, model, request, today }: Found<Principal>) {
  const person = asSeen(request, record);
  const { id, name } = person;
  const ids = person.gps.slice(0, gpsMax).map((gp) => gp.id);
  const { records: gps } = await findRecords<Gp>(model, "gp", { id: ids }, gpsMax);
  gps.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
  const signals = await recordsOfGps<Signal>(model, "signal", ids);
  const people = await recordsOfGps<Principal>(model, "principal", ids);
  const around = { gps, signals, people };
  const { crd = [] } = person.external_ids;
  const others = async (filter: Filter, max: number) => {
    const { records } = await findRecords<Principal>(model, "principal", filter, max);
    return records.filter((one) => one.id !== id);
  };
  // A CRD number belongs to one individual only.
  const same = await others({ crd }, othersMax + 1);
  const known = new Set(same.map((one) => one.id));
  const namesakes = (await others({ name }, 100)).filter(
    (one) => !known.has(one.id) && fold(one.name) === fold(name),
  );
  return {
    market: person.markets[0] ?? null,
    facts: [
      roleAt(person),
      place(person.city, person.state, person.country),
      person.ownership_band && `owns ${valueLabel(person.ownership_band).toLowerCase()}`,
    ],
    left: [
      gpsCard(person, around, model),
      timelineOf(person, around, today),
      signalsCard(person, around, model),
      colleagues(person, around, model),
    ],
    right: [
      facts(person),
      othersCard("Also at", `same CRD number, ${wordList(crd, "and")}`, same),
      othersCard("Same name elsewhere", "not known to be the same person", namesakes),
    ],
    call: `/list-principals?id=${id}`,
  };
}

/** Returns the person's role and GP, and the filing and day of the last mention if the record is from a filing. */
function roleAt(person: Principal): Part {
  const { title, roles, gps, provenance, last_seen_date: last } = person;
  const role = cutText(title ?? roles.slice(0, 1).map(valueLabel).join(""), 160);
  const at = gps.length === 1 ? recordLink("gp", gps[0]!) : counted(gps.length, "GP");
  if (isFiled(person))
    return [
      role && `${role}, `,
      ["named in ", linkTo(provenance.url, "a filing") ?? "a filing"],
      gps.length > 0 && [probably(person), " of ", at],
      last && [", last ", /-\d\d-/.test(last) ? "on " : "in ", day(last)],
    ];
  if (gps.length === 0) return role;
  return role === "" ? at : [role, probably(person), " at ", at];
}

const signalsOf = ({ id }: Gp, { signals }: Around): Signal[] =>
  signals.records.filter((signal) => signal.gps.some((gp) => gp.id === id));

function gpsCard(of: Principal, { gps: records }: Around, model: ReadModel): Part {
  const { name, place, strategy, assets, raised, signals } = inBrowse.gp.columns;
  return recordsCard<Gp>(model, {
    title: "GPs",
    layout: "gps",
    list: { records, total: of.gps.length },
    of,
    columns: [name, place, strategy, assets, raised, signals],
  });
}

const marksMax = 40;

/**
 * Returns a timeline of when the person was named, above the signals of the GPs. A ring marks signals that name the
 * person. Returns false if there is nothing to show.
 */
function timelineOf(person: Principal, around: Around, until: string): Part {
  const { name, start_date: start, first_seen_date: first, last_seen_date: last } = person;
  const isStated = start !== null && (first === null || start < first);
  const bars = [
    ...(isStated ? [{ from: start, until: first ?? until, isDashed: true }] : []),
    ...(first !== null && last !== null ? [{ from: first, until: last }] : []),
  ];
  const ofGps = around.gps.map((gp) => ({
    label: cutText(gp.name, 44),
    bars: [],
    marks: signalsOf(gp, around)
      .slice(0, marksMax)
      .map(({ date, type, title }) => ({
        day: date,
        hue: hueOf(type),
        label: cutText(title, 60),
        isRinged: title.includes(name),
      })),
  }));
  const by = isFiled(person) ? "Named in filings" : "Named by sources";
  const named = isStated ? `${by}; dashed: in post, as stated` : by;
  const rows = [{ label: named, bars, marks: [] }, ...ofGps].filter(
    (row) => row.bars.length + row.marks.length > 0,
  );
  const [from, to] = [first?.slice(0, 4), last?.slice(0, 4)];
  const when = from === to ? `in ${from}` : `from ${from} to ${to}`;
  return (
    rows.length > 0 &&
    timeline({
      finding: from && to ? `${by} ${when}` : "Signals of the GPs",
      measure: `Signals of the GPs by date, the latest ${marksMax} of each at most; a ring marks those that name this person`,
      rows,
      until,
    })
  );
}

/** Returns a card of up to ten signals of the GPs, newest first. Prefers signals that name the person. */
function signalsCard(of: Principal, { gps, signals }: Around, model: ReadModel): Part {
  const naming = signals.records.filter(({ title }) => title.includes(of.name));
  const chosen = [...new Set([...naming, ...signals.records])].slice(0, 10);
  return recordsCard(model, {
    layout: "signals",
    list: { ...signals, records: signals.records.filter((one) => chosen.includes(one)) },
    of,
    aside: naming.length > 0 ? `, this person named in ${grouped(naming.length)}` : "",
    columns: signalCells(gps.length === 1 ? gps[0]!.name : undefined, of.name),
  });
}

function colleagues(of: Principal, { gps, people }: Around, model: ReadModel): Part {
  const records = people.records
    .filter((one) => one.id !== of.id)
    .toSorted((a, b) => latestFirst(a.last_seen_date, b.last_seen_date));
  const isShared = (gp: GpLink) => gps.some((one) => one.id === gp.id);
  return recordsCard(model, {
    title: "People at the same GPs",
    layout: "people",
    list: { records, total: people.total - 1 },
    of,
    max: 6,
    columns: personCells(records, "Shared GP", (one) => one.gps.filter(isShared)),
  });
}

function facts(person: Principal): Html {
  const { email } = person;
  const [by, since] = isFiled(person) ? [" in a filing", ", as reported"] : ["", ""];
  // `?`, `&` and `%` are special in a `mailto:` link (RFC 6068).
  const isPlain = email !== null && /^[^\s@?&%]+@[^\s@?&%]+$/.test(email);
  return factsCard("principal", person, [
    ["Title", person.title],
    ["Roles", person.roles.map(valueLabel).join(", ")],
    ["Owns", person.ownership_band && valueLabel(person.ownership_band)],
    ["Works in", place(person.city, person.state, person.country)],
    ["E-mail", isPlain ? html`<a href="mailto:${email}">${email}</a>` : email],
    ["LinkedIn", linkTo(person.linkedin_url)],
    [`In post since${since}`, day(person.start_date)],
    [`First named${by}`, day(person.first_seen_date)],
    [`Last named${by}`, day(person.last_seen_date)],
  ]);
}

function othersCard(title: string, aside: string, people: readonly Principal[]): Part {
  const items = people.slice(0, othersMax).map((one) => {
    const gps = probableGps(one, 3);
    const about = byPoints([roleOf(one), gps, place(one.city, one.state, one.country)]);
    return html`<li>${recordLink("principal", one)} <span class="note">${about}</span></li>`;
  });
  const body = html`<ul class="records">
    ${items}
  </ul>`;
  return items.length > 0 && card({ title, aside, body });
}
