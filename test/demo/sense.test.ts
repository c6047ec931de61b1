/** That members of one record, and records that belong together, do not contradict each other. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { metros } from "#demo/places.ts";
import { gps, principals, projects, records, signals } from "./invented.ts";

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

test("nothing leads to anybody: all hosts are examples, all numbers beyond those in use", () => {
  const text = JSON.stringify(records);
  for (const [link] of text.matchAll(/https?:\/\/[^/"]+/g))
    assert.match(link, /\/\/[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.example$/);
  for (const { external_ids = {} } of gps) {
    for (const cik of external_ids.cik ?? []) assert.match(cik, /^0009\d{6}$/);
    for (const crd of external_ids.crd ?? []) assert.match(crd, /^99\d{5}$/);
    for (const file of external_ids.form_d_file ?? []) assert.match(file, /^021-9\d{5}$/);
    for (const number of external_ids.sec_number ?? []) assert.match(number, /^80[12]-9\d{5}$/);
  }
});

test("no two GPs or projects have the same number", () => {
  const numbers = [...gps, ...projects].flatMap(({ external_ids = {} }) =>
    [external_ids.cik, external_ids.crd, external_ids.form_d_file, external_ids.hud_id].flatMap(
      (list) => list ?? [],
    ),
  );
  assert.equal(new Set(numbers).size, numbers.length);
});

test("a GP sits in its first market or abroad, a project lies in its market", () => {
  const citiesOf = new Map(
    metros.map(({ title, cities }) => [title, cities.map(({ name, state }) => `${name} ${state}`)]),
  );
  for (const { hq_city, hq_state, hq_country, markets: [first = ""] = [] } of gps)
    if (hq_country === "US") assert.ok(citiesOf.get(first)?.includes(`${hq_city} ${hq_state}`));
    else assert.equal(hq_state, null);
  for (const { city, state, market } of projects)
    assert.ok(citiesOf.get(market ?? "")?.includes(`${city} ${state}`));
});

test("tags say what the numbers say", () => {
  for (const { external_ids = {}, tags = [] } of gps) {
    const isAdviser = tags.some((tag) => tag.endsWith("_adviser"));
    assert.equal(external_ids.sec_number !== undefined, isAdviser);
    const files = external_ids.form_d_file?.length ?? 0;
    if (tags.includes("serial_filer")) assert.ok(files >= 4);
    if (tags.includes("first_time_filer")) assert.equal(files, 1);
    if (tags.includes("reg_d_506b")) assert.ok(files > 0);
  }
});

test("a name of a sector belongs to a GP of the sector", () => {
  for (const { name, property_types: types } of gps) {
    if (name.includes(" Self Storage ")) assert.ok(types?.includes("self_storage"), name);
    if (name.includes(" Logistics ")) assert.ok(types?.includes("industrial"), name);
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

test("parts of a project are not larger than the whole", () => {
  for (const project of projects) {
    const { units, affordable_units, total_amount_usd, raised_amount_usd } = project;
    if (affordable_units) assert.ok(affordable_units <= (units ?? 0), project.id);
    if (raised_amount_usd) assert.ok(raised_amount_usd <= (total_amount_usd ?? 0), project.id);
  }
});

test("dwellings are counted in units, sheds in square feet, land in neither", () => {
  for (const { property_type: type, units, square_feet: feet } of projects) {
    if (type === "multifamily" || type === "affordable_housing") assert.ok(units && !feet);
    if (type === "industrial" || type === "office") assert.ok(feet && !units);
    if (type === "land" || type === "farmland") assert.ok(!feet && !units);
  }
});

test("a project whose address is unknown takes its market from the issuer", () => {
  for (const { address, zip, latitude, market_basis: basis } of projects) {
    const isPlaced = basis === "property_address";
    assert.equal(address !== null, isPlaced);
    assert.equal(zip !== null && /^\d{5}$/.test(zip ?? ""), isPlaced);
    assert.equal(latitude !== null, isPlaced);
  }
});

test("a signal about a project has a GP of that project", () => {
  const gpsOf = new Map(projects.map((project) => [project.id, project.gps ?? []]));
  for (const signal of signals)
    for (const id of signal.project_ids ?? [])
      assert.ok(
        gpsOf.get(id)?.some((gp) => signal.gps?.includes(gp)),
        signal.id,
      );
});

test("no event of a project is told twice", () => {
  const told = signals
    .filter(({ project_ids, type }) => project_ids?.length === 1 && type !== "financing")
    .map(({ project_ids, type }) => `${project_ids?.[0]} ${type}`);
  assert.equal(new Set(told).size, told.length);
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

test("an amount has its basis, and only then", () => {
  for (const { id, amount_usd, amount_basis } of signals)
    assert.equal(amount_usd === null, amount_basis === null, id);
  assert.ok(signals.some(({ amount_usd }) => (amount_usd ?? 0) < 0));
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
