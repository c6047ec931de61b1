import assert from "node:assert/strict";
import { test } from "node:test";
import { demoSize, type DemoSize, inventRecords } from "#demo/invent.ts";
import { metros } from "#demo/world.ts";
import type { CanonicalGp, CanonicalRecord } from "#records/canonical.ts";
import { checkRecord } from "#records/check-record.ts";
import { fold } from "#records/fold.ts";

/** The whole demo, invented once for the tests that look at it. */
const entries = [...inventRecords(demoSize)];
const records: readonly CanonicalRecord[] = entries.flatMap((entry) => entry.records);

const gps = records.filter((one) => one.record === "gp");
const principals = records.filter((one) => one.record === "principal");
const projects = records.filter((one) => one.record === "project");
const signals = records.filter((one) => one.record === "signal");

/** How often each value comes up. */
function tally<T>(values: Iterable<T>): Map<T, number> {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** The part of a list, from 0 to 1, for which something is true. */
const share = <T>(list: readonly T[], isSo: (value: T) => boolean): number =>
  list.filter(isSo).length / list.length;

const small: DemoSize = { seed: 7, gps: 300, principals: 500, signals: 400, projects: 200 };

test("the demo has 12,000 GPs, 25,000 principals, 8,000 projects and 20,000 signals, each an entry without a fault", () => {
  const lengths = [gps, principals, projects, signals, records].map(({ length }) => length);
  assert.deepEqual(lengths, [12_000, 25_000, 8_000, 20_000, 65_000]);
  entries.forEach((entry, at) => {
    assert.equal(entry.file, "demo");
    assert.equal(entry.line, at + 1);
    assert.equal(entry.records.length, 1);
    assert.deepEqual(entry.namedGps, []);
    assert.deepEqual(entry.faults, []);
  });
});

test("the same seed invents the same records, also when they are invented in turns, and another seed others", () => {
  const alone = [...inventRecords(small)];
  const first = inventRecords(small);
  const second = inventRecords(small);
  for (const entry of alone) {
    assert.deepEqual(first.next().value, entry);
    assert.deepEqual(second.next().value, entry);
  }
  assert.notDeepEqual([...inventRecords({ ...small, seed: 8 })], alone);
});

test("a larger demo begins with the GPs of a smaller one", () => {
  const larger = inventRecords({ ...small, gps: 400, signals: 10 });
  const expected = [...inventRecords(small)].slice(0, small.gps);
  for (const entry of expected) assert.deepEqual(larger.next().value, entry);
});

test("without GPs the other records stand alone, one GP alone gets all of them and is never its own neighbour", () => {
  const alone = [...inventRecords({ ...small, gps: 0 })].flatMap((entry) => entry.records);
  assert.equal(alone.length, 1100);
  for (const record of alone) {
    assert.deepEqual(checkRecord(record), []);
    if (record.record !== "gp") assert.deepEqual(record.gps, []);
  }
  const [gp, ...others] = [...inventRecords({ ...small, gps: 1 })].flatMap((one) => one.records);
  for (const record of others)
    if (record.record !== "gp" && record.gps?.length !== 0) assert.deepEqual(record.gps, [gp?.id]);
});

test("every area has a title of its own and lies in the United States, and its cities in the states of the title", () => {
  assert.equal(new Set(metros.map(({ title }) => title)).size, metros.length);
  for (const { title, cities, latitude, longitude } of metros) {
    assert.match(title, /^\D+, [A-Z]{2}(-[A-Z]{2})*$/);
    assert.ok(latitude >= 21 && latitude <= 49, `${title}: ${latitude}`);
    assert.ok(longitude >= -158 && longitude <= -70, `${title}: ${longitude}`);
    assert.ok(cities.length > 0, title);
    const states = title.slice(title.lastIndexOf(",") + 2).split("-");
    for (const { name, state, country, zipStart } of cities) {
      assert.ok(states.includes(state ?? ""), `${name} ${state} is not in ${title}`);
      assert.match(zipStart, /^\d{3}$/);
      assert.equal(country, "US");
    }
  }
});

const moreThan = (counts: ReadonlyMap<string, number>, count: number) =>
  [...counts.values()].filter((one) => one > count).length;

const namesOf = ({ name, legal_name, aliases }: CanonicalGp): string[] =>
  [name, legal_name ?? "", ...(aliases ?? [])].map(fold);

test("how often something is so is as in real records, skewed where those are", () => {
  const named = (pattern: RegExp) => share(gps, ({ name }) => pattern.test(name));
  const isCapital = (gp: CanonicalGp) => namesOf(gp).some((name) => name.includes("capital"));
  const told = gps.flatMap(({ aum_usd }) => aum_usd ?? []).toSorted((a, b) => a - b);
  const assetsAt = (part: number) => told[Math.floor(part * told.length)] ?? 0;
  const signalsOf = tally(signals.flatMap((signal) => signal.gps ?? []));
  const namesakes = [...tally(gps.map(({ name }) => name)).values()].filter((count) => count > 1);
  const gpsOf = (list: readonly { gps?: readonly string[] }[], count: number) =>
    share(list, (one) => (one.gps?.length ?? 0) === count);
  const { title, cities } = metros[0]!;
  const inFirstArea = projects.filter(({ market }) => market === title);
  const inFirstCity = share(inFirstArea, ({ city }) => city === cities[0]!.name);
  for (const [what, value, low, high] of [
    ["GPs answer to `capital`", share(gps, isCapital), 0.08, 0.12],
    ["names with a genitive", named(/'s /), 0.003, 0.2],
    ["names with an Irish prefix", named(/O'/), 0.003, 0.2],
    ["names with an ampersand", named(/ & /), 0.003, 0.2],
    ["names with a number", named(/\d/), 0.003, 0.2],
    ["names with initials", named(/^[A-Z]\.[A-Z]\. /), 0.003, 0.2],
    ["names shared by GPs", namesakes.length, 1, 30],
    ["most GPs of one name", Math.max(...namesakes), 2, 2],
    ["GPs tell their assets", told.length / gps.length, 0.55, 0.65],
    ["assets of the GP in the middle", assetsAt(0.5), 100e6, 400e6],
    ["assets of a small GP", assetsAt(0.05), 0, assetsAt(0.5) / 5],
    ["assets of a large GP", assetsAt(0.95), assetsAt(0.5) * 5, Infinity],
    ["principals of several GPs", share(principals, (one) => one.gps!.length > 1), 0.12, 0.18],
    ["principals of three GPs", gpsOf(principals, 3), Number.EPSILON, 1],
    ["principals of no GP", gpsOf(principals, 0), 0.005, 0.03],
    ["principals with an address", share(principals, ({ email }) => email !== null), 0.15, 0.25],
    ["GPs with more than 100 signals", moreThan(signalsOf, 100), 3, 30],
    ["GPs without a signal", 1 - signalsOf.size / gps.length, 0.25, 0.5],
    ["signals of no GP", gpsOf(signals, 0), 0.02, 0.05],
    ["signals of two GPs", gpsOf(signals, 2), 0.03, 0.1],
    ["signals of the last year", share(signals, ({ date }) => date >= "2025-11-20"), 0.4, 0.7],
    ["projects of two GPs", gpsOf(projects, 2), 0.08, 0.15],
    ["projects of no GP", gpsOf(projects, 0), 0.001, 0.02],
    ["projects in the first city of the first area", inFirstCity, 0.3, 0.6],
  ] as const)
    assert.ok(value >= low && value <= high, `${what}: ${value} is not between ${low} and ${high}`);
  const types = tally(signals.map(({ type }) => type));
  assert.equal(types.size, 21);
  assert.ok((types.get("new_offering") ?? 0) > 10 * (types.get("general_solicitation") ?? 0));
  const starts = tally(principals.flatMap(({ start_date }) => start_date?.length ?? []));
  for (const length of [4, 7, 10]) assert.ok((starts.get(length) ?? 0) > 2000);
  const [[first, most] = ["", 0], ...markets] = [
    ...tally(gps.flatMap(({ markets: all }) => all ?? [])),
  ].toSorted((a, b) => b[1] - a[1]);
  assert.equal(first, "New York-Newark-Jersey City, NY-NJ-PA");
  assert.ok(most > 10 * markets[29]![1]);
  assert.equal(1 + markets.length, metros.length);
});

test("names are as the documentation has them, and of several scripts; one of another has others in Latin letters", () => {
  const northwind = gps.filter(({ name }) => fold(name).startsWith("northwind"));
  assert.ok(northwind.some((gp) => gp.property_types?.includes("multifamily")));
  for (const pattern of [/[äöüé]/i, /å/i, /ã/, /ł/i, /\p{Script=Han}/u, /\p{Script=Katakana}/u])
    assert.ok(
      gps.some(({ name }) => pattern.test(name)),
      String(pattern),
    );
  for (const { aliases, legal_name } of gps.filter(({ name }) => /\p{Script=Han}/u.test(name))) {
    assert.match(aliases?.[0] ?? "", /^[A-Z][a-z]+ [A-Z]/);
    assert.match(legal_name ?? "A b, LLC", /^[A-Z][A-Za-z .,]+$/);
  }
});

const lastDay = "2026-11-20";
/** The later of two dates as far as both are known. */
const isNotAfter = (a: string, b: string): boolean => {
  const length = Math.min(a.length, b.length);
  return a.slice(0, length) <= b.slice(0, length);
};

test("nothing has happened after 20 November 2026", () => {
  for (const record of records) assert.ok(isNotAfter(record.updated_at ?? "", lastDay), record.id);
  for (const signal of signals) assert.ok(isNotAfter(signal.date, lastDay), signal.id);
  for (const signal of signals) assert.ok(isNotAfter(signal.published_at ?? "", lastDay));
  for (const one of principals) assert.ok(isNotAfter(one.last_seen_date ?? "", lastDay), one.id);
  for (const one of projects) assert.ok(isNotAfter(one.first_sale_date ?? "", lastDay), one.id);
});

test("nothing leads to anybody: hosts of pages and mail are examples, all numbers beyond those in use", () => {
  const text = JSON.stringify(records);
  for (const [link] of text.matchAll(/https?:\/\/[^/"]+/g))
    assert.match(link, /\/\/[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.example$/);
  for (const { email } of principals) assert.match(email ?? "@.example", /@[a-z0-9-]*\.example$/);
  for (const { external_ids = {} } of gps) {
    for (const cik of external_ids.cik ?? []) assert.match(cik, /^0009\d{6}$/);
    for (const crd of external_ids.crd ?? []) assert.match(crd, /^99\d{5}$/);
    for (const file of external_ids.form_d_file ?? []) assert.match(file, /^021-9\d{5}$/);
    for (const number of external_ids.sec_number ?? []) assert.match(number, /^80[12]-9\d{5}$/);
  }
});

test("no two GPs or projects have the same number, and no record names one GP twice", () => {
  for (const { gps: links = [] } of [...principals, ...projects, ...signals])
    assert.equal(new Set(links).size, links.length);
  const numbers = [...gps, ...projects].flatMap(({ external_ids = {} }) =>
    [external_ids.cik, external_ids.crd, external_ids.form_d_file, external_ids.hud_id].flatMap(
      (list) => list ?? [],
    ),
  );
  assert.equal(new Set(numbers).size, numbers.length);
});

test("a GP sits in its first market or abroad, a project lies in its market, which is the issuer's where its address is unknown", () => {
  const citiesOf = new Map(
    metros.map(({ title, cities }) => [title, cities.map(({ name, state }) => `${name} ${state}`)]),
  );
  for (const { hq_city, hq_state, hq_country, markets: [first = ""] = [] } of gps)
    if (hq_country === "US") assert.ok(citiesOf.get(first)?.includes(`${hq_city} ${hq_state}`));
    else assert.equal(hq_state, null);
  for (const { city, state, market, address, zip, latitude, market_basis: basis } of projects) {
    assert.ok(citiesOf.get(market ?? "")?.includes(`${city} ${state}`));
    const isPlaced = basis === "property_address";
    assert.equal(address !== null, isPlaced);
    assert.equal(zip !== null && /^\d{5}$/.test(zip ?? ""), isPlaced);
    assert.equal(latitude !== null, isPlaced);
  }
});

test("tags of a GP say what its numbers say, and a name of a sector belongs to one of the sector", () => {
  for (const { name, property_types: types, external_ids = {}, tags = [] } of gps) {
    if (name.includes(" Self Storage ")) assert.ok(types?.includes("self_storage"), name);
    if (name.includes(" Logistics ")) assert.ok(types?.includes("industrial"), name);
    const isAdviser = tags.some((tag) => tag.endsWith("_adviser"));
    assert.equal(external_ids.sec_number !== undefined, isAdviser);
    const files = external_ids.form_d_file?.length ?? 0;
    if (tags.includes("serial_filer")) assert.ok(files >= 4);
    if (tags.includes("first_time_filer")) assert.equal(files, 1);
    if (tags.includes("reg_d_506b")) assert.ok(files > 0);
  }
});

test("a principal is first seen before it is last seen, and owners alone have a share", () => {
  for (const { first_seen_date, last_seen_date, ownership_band, roles } of principals) {
    assert.ok((first_seen_date ?? "") <= (last_seen_date ?? ""));
    if (ownership_band) assert.ok(roles?.some((role) => /owner|partner|member/.test(role)));
  }
});

test("a project ends after it begins, and its status agrees with its dates", () => {
  for (const { id, status, start_date: start, completion_date: end } of projects) {
    if (start && end) assert.ok(isNotAfter(start, end), id);
    if (status === "completed" || status === "closed")
      assert.ok(isNotAfter(end ?? "9", lastDay), id);
    if (status === "under_construction") {
      assert.ok(isNotAfter(start ?? "9", lastDay), id);
      assert.ok(isNotAfter(lastDay, end ?? ""), id);
    }
    if (status === "planned" && start) assert.ok(isNotAfter(lastDay, start), id);
  }
});

test("dwellings are counted in units, sheds in square feet, land in neither, and no part is larger than the whole", () => {
  for (const project of projects) {
    const { property_type: type, units, square_feet: feet, affordable_units } = project;
    const { total_amount_usd, raised_amount_usd } = project;
    if (affordable_units) assert.ok(affordable_units <= (units ?? 0), project.id);
    if (raised_amount_usd) assert.ok(raised_amount_usd <= (total_amount_usd ?? 0), project.id);
    if (type === "multifamily" || type === "affordable_housing") assert.ok(units && !feet);
    if (type === "industrial" || type === "office") assert.ok(feet && !units);
    if (type === "land" || type === "farmland") assert.ok(!feet && !units);
  }
});

test("a signal about a project has a GP of that project, and no event of one is told twice", () => {
  const gpsOf = new Map(projects.map((project) => [project.id, project.gps ?? []]));
  for (const signal of signals)
    for (const id of signal.project_ids ?? [])
      assert.ok(
        gpsOf.get(id)?.some((gp) => signal.gps?.includes(gp)),
        signal.id,
      );
  const told = signals
    .filter(({ project_ids, type }) => project_ids?.length === 1 && type !== "financing")
    .map(({ project_ids, type }) => `${project_ids?.[0]} ${type}`);
  assert.equal(new Set(told).size, told.length);
});

test("a finished building was announced, permitted, begun, financed and completed", () => {
  const finished = new Set(
    projects.filter(({ status }) => status === "completed").map(({ id }) => id),
  );
  const told = Map.groupBy(signals, ({ project_ids: [id = ""] = [] }) => id);
  const courses = [...told]
    .filter(([id]) => finished.has(id))
    .map(([, all]) => new Set(all.map(({ type }) => type)))
    // Signals begin with the latest event, so nothing of these is left to tell.
    .filter((types) => types.has("project_announced"));
  assert.ok(courses.length > 0);
  const whole = ["announced", "completed"].map((what) => `project_${what}`);
  whole.push("permit_issued", "construction_started", "financing");
  for (const types of courses) assert.deepEqual(types, new Set(whole));
});

test("what is told of a project comes in its course, and a building is begun that is told to be", () => {
  const courses = [
    ["project_announced", "permit_issued", "construction_started", "project_completed"],
    ["new_offering", "first_sale", "fully_subscribed"],
    ["acquisition", "disposition"],
  ];
  const ofOne = signals.filter(({ project_ids }) => project_ids?.length === 1);
  for (const told of Map.groupBy(ofOne, ({ project_ids }) => project_ids![0]).values())
    for (const course of courses) {
      const dates = course.flatMap((type) => told.find((one) => one.type === type)?.date ?? []);
      for (const [at, date] of dates.entries()) assert.ok(isNotAfter(dates[at - 1] ?? "", date));
    }
  const statusOf = new Map(projects.map(({ id, status }) => [id, status]));
  for (const { type, project_ids } of ofOne)
    if (type === "construction_started")
      assert.match(statusOf.get(project_ids![0]!)!, /^(?:under_construction|completed|closed)$/);
});

test("an amount has its basis, assets their date, several GPs of a project its tag, and only then", () => {
  for (const { id, amount_usd, amount_basis } of signals)
    assert.equal(amount_usd === null, amount_basis === null, id);
  for (const { aum_usd, aum_as_of } of gps) assert.equal(aum_usd === null, aum_as_of === null);
  assert.ok(signals.some(({ amount_usd }) => (amount_usd ?? 0) < 0));
  for (const { id, tags = [], gps: links = [] } of projects)
    assert.equal(tags.includes("joint_venture"), links.length > 1, id);
});

test("a signal of no GP is at least of a market, and most others are, too", () => {
  const [ofNone, ofSome] = [false, true].map((isOfSome) =>
    signals.filter(({ gps: links = [] }) => links.length > 0 === isOfSome),
  );
  const hasMarket = ({ market }: { market?: string | null }) => market !== null;
  assert.equal(share(ofNone!, hasMarket), 1);
  const ofMarket = share(ofSome!, hasMarket);
  assert.ok(ofMarket > 0.8 && ofMarket < 0.9, `${ofMarket}`);
});

test("a headline names its GP and its amount, and leaves no gap open", () => {
  const names = new Map(gps.map(({ id, name }) => [id, name]));
  for (const { title, type, gps: [gp] = [] } of signals) {
    assert.doesNotMatch(title, /[{}]|undefined|null| {2}|NaN/);
    if (gp && type === "news") assert.ok(title.includes(names.get(gp) ?? "?"), title);
  }
  const units = { thousand: 1, million: 1e6, billion: 1e9 };
  for (const { title, amount_usd } of signals)
    if (amount_usd) {
      const [, digits = "", unit = "thousand"] = /\$([\d.,]+)(?: ([mb]illion))?/.exec(title)!;
      const said = Number(digits.replaceAll(",", "")) * units[unit as keyof typeof units];
      assert.ok(Math.abs(said - Math.abs(amount_usd)) <= said / 50, `${amount_usd}: ${title}`);
      assert.match(String(amount_usd), /^-?\d{1,3}0*$/);
    }
});
