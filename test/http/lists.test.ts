import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { lists } from "#operations/lists.ts";
import { type EachKind, type RecordKind, recordKinds } from "#records/kinds.ts";
import { propertyTypes } from "#records/vocabulary.ts";
import { gp, principal, project, signal } from "../datasets/published.ts";
import { listed } from "../support/awkward/words.ts";
import { roomy } from "../support/own-process.ts";
import { type Answer, startService } from "../support/service.ts";

const dallas = "Dallas-Fort Worth-Arlington, TX";

/** Of each kind one record with a value of everything, one with a few, and one with none. */
const records = [
  gp("a", {
    name: "Alder Capital",
    aliases: ["Elm Holdings"],
    hq_city: "Dallas",
    hq_state: "TX",
    hq_country: "US",
    founded_year: 1999,
    aum_usd: 500,
    aum_as_of: "2026-03",
    raised_to_date_usd: 70,
    strategies: ["value_add"],
    property_types: ["multifamily"],
    tags: ["esg"],
    themes: ["Build to rent"],
    markets: [dallas],
    external_ids: {
      cik: ["0001912345"],
      crd: ["300123"],
      lei: ["5493001KJTIIGC8Y1R12"],
      sec_number: ["801-55"],
      form_d_file: ["021-441122"],
      adv_fund: ["805-0007"],
    },
    provenance: { basis: "related_entity", confidence: 0.8 },
    updated_at: "2026-10-02T22:10:05Z",
  }),
  gp("b", {
    name: "Birch Partners",
    former_ids: ["beech"],
    hq_city: "Saint-Étienne",
    founded_year: 2010,
    aum_usd: 900,
    aum_as_of: "2025",
    updated_at: "2026-11-01T00:00:00Z",
  }),
  gp("c", { name: "Cedar" }),
  principal("p", ["a"], {
    name: "Ana Ash",
    roles: ["executive_officer"],
    city: "Dallas",
    state: "TX",
    country: "US",
    ownership_band: "10_25",
    external_ids: { crd: ["77"] },
    start_date: "2020-05",
    first_seen_date: "2021-01-01",
    last_seen_date: "2026-01-01",
  }),
  principal("q", ["b"], { name: "Ben Beck", start_date: "2019" }),
  principal("r", [], { name: "Cleo" }),
  signal("s", {
    title: "One",
    type: "new_offering",
    date: "2026-08-23",
    published_at: "2026-08-24T10:00:00Z",
    amount_usd: 48,
    amount_basis: "offering_total",
    market: "Austin-Round Rock, TX",
    property_types: ["retail"],
    tags: ["esg"],
    themes: ["AI"],
    project_ids: ["m"],
    gps: ["a"],
  }),
  signal("t", { title: "Two", type: "fund_close", date: "2026-08-22", gps: ["a", "b"] }),
  signal("u", { title: "Three", date: "2026", amount_usd: -5 }),
  project("m", {
    name: "Maple Court",
    type: "development",
    status: "planned",
    property_type: "multifamily",
    strategy: "core",
    market: dallas,
    market_basis: "property_address",
    tags: ["esg"],
    themes: ["AI"],
    city: "Dallas",
    state: "TX",
    zip: "75201",
    country: "US",
    external_ids: { cik: ["0001912345"], form_d_file: ["021-1"], hud_id: ["HUD-1"] },
    units: 120,
    affordable_units: 20,
    square_feet: 1000,
    total_amount_usd: 5000,
    raised_amount_usd: 100,
    start_date: "2026-01",
    completion_date: "2027",
    first_sale_date: "2026-02-03",
    gps: ["a"],
  }),
  project("n", { name: "Oak Yard", units: 10, gps: ["b"] }),
  project("o", { name: "Pine Row" }),
];

const common = (all: string): [query: string, found: string][] => [
  ["", all],
  ["source=own", all],
  ["source=other", ""],
  ["basis=stated&basis=related_entity", all],
  ["confidence_min=0.9&basis=cluster", ""],
  ["confidence_max=1", all],
  ["confidence_min=1e-7", all],
  ["updated_at_from=2030", ""],
  ["updated_at_to=2030", all],
];

/** The titles that each query finds, in order; `{Cedar}` stands for the id of that record, `{beech}` for a former one. */
const found: EachKind<[query: string, found: string][]> = {
  gp: [
    ...common("Alder Capital, Birch Partners, Cedar"),
    ["gp_name=elm", "Alder Capital"],
    ["gp_name={beech}", "Birch Partners"],
    ["id={Cedar}&id={Alder Capital}", "Alder Capital, Cedar"],
    ["id={beech}", "Birch Partners"],
    ["basis=related_entity", "Alder Capital"],
    ["confidence_min=0.8&confidence_max=0.8", "Alder Capital"],
    ["updated_at_from=2026-11-01", "Birch Partners, Cedar"],
    ["updated_at_to=2026-10-02", "Alder Capital"],
    ["market=dallas", "Alder Capital"],
    ["market=nowhere&market=Fort+Worth+TX", "Alder Capital"],
    ["tag=ESG", "Alder Capital"],
    ["tag=value+add", "Alder Capital"],
    ["tag=multifamily", "Alder Capital"],
    ["theme=build-to-rent", "Alder Capital"],
    ["strategy=value_add", "Alder Capital"],
    ["property_type=multifamily&property_type=retail", "Alder Capital"],
    ["property_type=retail", ""],
    ["hq_city=saint+etienne&hq_city=dallas", "Alder Capital, Birch Partners"],
    ["hq_state=tx", "Alder Capital"],
    ["hq_country=US", "Alder Capital"],
    ["cik=1912345", "Alder Capital"],
    ["crd=300123", "Alder Capital"],
    ["lei=5493001kjtiigc8y1r12", "Alder Capital"],
    ["sec_number=80155", "Alder Capital"],
    ["form_d_file=21-441122", "Alder Capital"],
    ["adv_fund=805-0007", "Alder Capital"],
    ["aum_usd_min=500&aum_usd_max=899", "Alder Capital"],
    ["aum_as_of_from=2026", "Alder Capital"],
    ["aum_as_of_to=2025-06", "Birch Partners"],
    ["raised_to_date_usd_min=70", "Alder Capital"],
    ["raised_to_date_usd_max=69", ""],
    ["founded_year_min=2000", "Birch Partners"],
    ["founded_year_max=1999", "Alder Capital"],
    ["signal_type=new_offering", "Alder Capital"],
    ["signal_date_from=2026-08-23", "Alder Capital"],
    ["signal_date_to=2026-08-22", "Alder Capital, Birch Partners"],
    ["signal_type=new_offering&signal_date_to=2026-08-22", ""],
    ["signal_type=new_offering&signal_type=fund_close&signal_date_from=-90d", "Alder Capital"],
    ["signal_date_from=-91d", "Alder Capital, Birch Partners"],
    ["market=dallas&tag=esg&aum_usd_min=501", ""],
  ],
  principal: [
    ...common("Ana Ash, Ben Beck, Cleo"),
    ["name=as+an", "Ana Ash"],
    ["gp_name=birch", "Ben Beck"],
    ["id={Cleo}", "Cleo"],
    ["gp_id={Alder Capital}&gp_id={beech}", "Ana Ash, Ben Beck"],
    ["market=dallas", "Ana Ash"],
    ["tag=esg", "Ana Ash"],
    ["theme=build+to+rent&gp_name=birch", ""],
    ["theme=build+to+rent", "Ana Ash"],
    ["role=executive_officer&role=owner", "Ana Ash"],
    ["city=dallas", "Ana Ash"],
    ["state=TX", "Ana Ash"],
    ["country=us", "Ana Ash"],
    ["ownership_band=10_25", "Ana Ash"],
    ["crd=077", "Ana Ash"],
    ["start_date_from=2020", "Ana Ash"],
    ["start_date_to=2019-06", "Ben Beck"],
    ["first_seen_date_from=2021-01-01&first_seen_date_to=2021-01-01", "Ana Ash"],
    ["last_seen_date_from=2025-12&last_seen_date_to=2026", "Ana Ash"],
  ],
  signal: [
    ...common("One, Two, Three"),
    ["id={Two}", "Two"],
    ["gp_name=birch", "Two"],
    ["gp_id={beech}", "Two"],
    ["project_id={Maple Court}", "One"],
    ["has_gp=true", "One, Two"],
    ["has_gp=false", "Three"],
    ["type=other&type=fund_close", "Two, Three"],
    ["market=austin", "One"],
    ["market=dallas", ""],
    ["tag=retail", "One"],
    ["theme=ai", "One"],
    ["property_type=retail", "One"],
    ["date_from=-90d", "One, Three"],
    ["date_from=-91d", "One, Two, Three"],
    ["date_to=2026-08-22", "Two, Three"],
    ["published_at_from=2026-08-24&published_at_to=2026-08-24", "One"],
    ["amount_usd_max=0", "Three"],
    ["amount_usd_min=-5&amount_usd_max=48", "One, Three"],
    ["amount_basis=offering_total", "One"],
  ],
  project: [
    ...common("Maple Court, Oak Yard, Pine Row"),
    ["name=court", "Maple Court"],
    ["id={Pine Row}&id={Oak Yard}", "Oak Yard, Pine Row"],
    ["gp_name=alder", "Maple Court"],
    ["gp_id={Birch Partners}", "Oak Yard"],
    ["has_gp=false", "Pine Row"],
    ["type=development", "Maple Court"],
    ["status=planned", "Maple Court"],
    ["property_type=multifamily", "Maple Court"],
    ["strategy=core", "Maple Court"],
    ["market=arlington", "Maple Court"],
    ["market_basis=property_address", "Maple Court"],
    ["tag=core", "Maple Court"],
    ["theme=ai", "Maple Court"],
    ["city=dallas", "Maple Court"],
    ["state=tx", "Maple Court"],
    ["zip=75201", "Maple Court"],
    ["country=us", "Maple Court"],
    ["cik=0001912345", "Maple Court"],
    ["form_d_file=21-1", "Maple Court"],
    ["hud_id=hud+1", "Maple Court"],
    ["units_min=11", "Maple Court"],
    ["units_max=10", "Oak Yard"],
    ["affordable_units_min=20&affordable_units_max=20", "Maple Court"],
    ["square_feet_min=1000&square_feet_max=1000", "Maple Court"],
    ["total_amount_usd_min=5000&total_amount_usd_max=5000", "Maple Court"],
    ["raised_amount_usd_min=100&raised_amount_usd_max=100", "Maple Court"],
    ["start_date_from=2026-01-31", "Maple Court"],
    ["start_date_to=2025", ""],
    ["completion_date_from=2027-12&completion_date_to=2028", "Maple Court"],
    ["first_sale_date_from=2026-02&first_sale_date_to=2026-02-03", "Maple Court"],
  ],
};

const titleOf = ({ name, title }: any): string => name ?? title;
const contentOf = ({ text, headers }: Answer) => [text, headers.get("etag")];
const titlesOf = (data: readonly object[]) => data.map(titleOf).join(", ");

/** A service with the records above, and with a quota for many questions. */
async function startLists(t: TestContext) {
  const service = await startService(t, { records });
  const { key } = await service.newKey({ quotas: roomy });
  const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
    service.get(path, { "x-api-key": key, ...headers }, method);
  const ids = new Map<string, string>();
  for (const kind of recordKinds)
    for (const one of (await get(lists[kind].path)).body.data) {
      ids.set(titleOf(one), one.id);
      if (kind === "gp" && one.former_ids.length > 0) ids.set("beech", one.former_ids[0]);
    }
  /** The address of a list with the ids of the records that a query names. */
  const target = (kind: RecordKind, query: string) =>
    `${lists[kind].path}?${query.replaceAll(/\{([^}]+)\}/g, (_, title: string) => ids.get(title)!)}`;
  return { ...service, get, target };
}

for (const kind of recordKinds)
  test(`/list-${kind}s takes every filter of the contract, and finds what satisfies all of them`, async (t) => {
    const { get, target } = await startLists(t);
    const asked = new Set<string>();
    for (const [query, titles] of found[kind]) {
      const { status, body, headers } = await get(target(kind, query));
      assert.equal(status, 200, query);
      assert.equal(titlesOf(body.data), titles, query);
      assert.equal(headers.get("x-total-count"), String(body.data.length));
      for (const name of new URLSearchParams(query).keys()) asked.add(name);
    }
    const { filters } = lists[kind];
    assert.deepEqual(new Set(Object.keys(filters)).difference(asked), new Set());
  });

test("a GP comes as /fetch-gp gives it, without its principals and signals but with their totals", async (t) => {
  const { get } = await startLists(t);
  for (const gp of (await get("/list-gps")).body.data) {
    const [whole] = (await get(`/fetch-gp?gp_name=${gp.id}`)).body.data;
    const { principals, signals, ...rest } = whole;
    assert.deepEqual(gp, rest);
    assert.deepEqual([gp.principals_total, gp.signals_total], [principals.length, signals.length]);
  }
});

for (const kind of recordKinds)
  test(`/list-${kind}s sorts by every name both ways: null last, ties by id`, async (t) => {
    const { get } = await startLists(t);
    const { path, sorts } = lists[kind];
    const { body: signals } = await get("/list-signals?limit=100");
    const datesOf = ({ id }: any) =>
      signals.data
        .filter(({ gps }: any) => gps.some((one: any) => one.id === id))
        .map(({ date }: any) => date as string);
    const keyOf = (record: any, by: string) => {
      if (by === "signal_date") return datesOf(record).toSorted().at(-1) ?? null;
      return by === "confidence" ? record.provenance.confidence : record[by];
    };
    for (const sort of sorts!) {
      const { data } = (await get(`${path}?sort=${sort}&limit=100`)).body;
      const by = sort.replace("-", "");
      const keys = data.map((record: any) => keyOf(record, by));
      const known = keys.filter((key: unknown) => key !== null);
      assert.deepEqual(keys.slice(0, known.length), known, `${sort}: null last`);
      const [sign, ids] = [sort.startsWith("-") ? -1 : 1, data.map(({ id }: any) => id)];
      for (let i = 1; i < data.length; i++) {
        const isTie = keys[i - 1] === keys[i];
        if (isTie) assert.ok(ids[i - 1] < ids[i], `${sort}: ties by id`);
        else if (i < known.length) assert.ok(keys[i - 1] < keys[i] === (sign === 1), sort);
      }
    }
    const [usual] = sorts!;
    assert.deepEqual(contentOf(await get(`${path}?sort=${usual}`)), contentOf(await get(path)));
  });

test("GPs that are asked by gp_name come by rank, and backwards by their names alone", async (t) => {
  const names = ["Zeta Capital", "Capital", "Alpha Capital"];
  const service = await startService(t, { records: names.map((name) => gp(name, { name })) });
  const asked = async (query: string) =>
    titlesOf((await service.get(`/list-gps?gp_name=capital${query}`)).body.data);
  assert.equal(await asked(""), "Capital, Alpha Capital, Zeta Capital");
  assert.equal(await asked("&sort=name"), "Capital, Alpha Capital, Zeta Capital");
  assert.equal(await asked("&sort=-name"), "Zeta Capital, Capital, Alpha Capital");
});

test("each fault of a list is named with what is allowed, all of them at once", async (t) => {
  const { get, target } = await startLists(t);
  const dates = ["YYYY", "YYYY-MM", "YYYY-MM-DD", "-90d"];
  const faultsOf = async (kind: RecordKind, query: string) => {
    const { status, body } = await get(target(kind, query));
    assert.deepEqual([status, body.code], [400, "invalid-parameters"], query);
    return body.errors;
  };
  for (const [kind, query, ...expected] of [
    ["gp", "property_type=Multi-Family", "unknown_value", propertyTypes, "multifamily"],
    ["gp", "signal_type=funds_close", "unknown_value", lists.signal.filters["type"]!.values],
    ["gp", "sort=names", "unknown_value", lists.gp.sorts, "name"],
    ["gp", "sort=-name&sort=name", "repeated_parameter"],
    ["gp", "sort=", "empty_value", lists.gp.sorts],
    ["gp", "confidence_min=1.01", "out_of_range"],
    ["gp", "confidence_min=", "empty_value"],
    ["gp", "aum_usd_min=1e9", "not_an_integer"],
    ["gp", "aum_usd_min=1&aum_usd_min=2", "repeated_parameter"],
    ["gp", "founded_year_max=10000", "out_of_range"],
    ["gp", "market=", "empty_value"],
    ["gp", `market=${"x".repeat(101)}`, "too_long"],
    ["gp", "market=x&".repeat(11), "too_many_values"],
    ["principal", "id=x&".repeat(101), "too_many_values"],
    ["principal", "role=boss", "unknown_value", lists.principal.filters["role"]!.values],
    ["principal", "name=a&name=b", "repeated_parameter"],
    ["signal", "has_gp=yes", "unknown_value", ["false", "true"]],
    ["signal", "has_gp=", "empty_value", ["false", "true"]],
    ["signal", "date_from=", "empty_value", dates],
    ["signal", "date_from=%00", "invalid_encoding"],
    ["project", "units_min=-1", "not_an_integer"],
    ["project", "units_min=1.5", "not_an_integer"],
  ] as const) {
    const [{ code, allowed, suggestion }] = await faultsOf(kind, query);
    const [wanted, wantedAllowed, wantedSuggestion = suggestion] = expected;
    assert.deepEqual([code, allowed], [wanted, wantedAllowed], query);
    assert.equal(suggestion, wantedSuggestion);
  }
  for (const date of listed(`
    2026-02-30 1900-02-29 2026-13 2026-1 26 yesterday -90 -90D 90d --90d -100000d 2026-01-01T00:00:00Z +2026
  `)) {
    const [{ code, allowed }] = await faultsOf("signal", `date_to=${encodeURIComponent(date)}`);
    assert.deepEqual([code, allowed], ["unknown_value", dates], date);
  }
  for (const [kind, from, to, detail] of [
    ["signal", "date_from=2026-03-02", "date_to=2026-03-01", "after"],
    ["signal", "date_from=2026-04", "date_to=2026-03-31", "after"],
    ["principal", "start_date_from=2026", "start_date_to=2025-12", "after"],
    ["signal", "date_from=-7d", "date_to=-8d", "after"],
    ["signal", "date_from=2026-11-15", "date_to=-7d", "after"],
    ["gp", "signal_date_from=2027", "signal_date_to=2026-12", "after"],
    ["project", "units_min=3", "units_max=2", "more than"],
    ["principal", "confidence_min=0.9", "confidence_max=0.85", "more than"],
  ] as const) {
    const [first, last] = [from.split("="), to.split("=")];
    for (const query of [`${from}&${to}`, `${to}&${from}`])
      assert.deepEqual(await faultsOf(kind, query), [
        {
          parameter: first[0],
          code: "out_of_order",
          detail: `Must not be ${detail} '${last[0]}', but ${first[1]} is ${detail} ${last[1]}.`,
        },
      ]);
  }
  for (const query of [
    "date_from=2026-11-14&date_to=-7d",
    "date_from=2026-03-31&date_to=2026-03",
    "date_from=2026-03-01&date_to=2026-03-01",
    "date_from=2026&date_to=2026-01-01",
    ...["0000", "2024-02-29", "9999-12-31", "-0d"].map((date) => `date_from=${date}`),
  ])
    assert.equal((await get(`/list-signals?${query}`)).status, 200, query);
  const all = await faultsOf("project", "status=planed&units_min=x&colour=red&limit=0");
  assert.deepEqual(
    all.map(({ parameter, code }: any) => `${parameter} ${code}`),
    [
      "status unknown_value",
      "units_min not_an_integer",
      "colour unknown_parameter",
      "limit out_of_range",
    ],
  );
  const hundred = Array.from({ length: 100 }, (_, i) => `id=gp_${String(i).padStart(16, "0")}`);
  assert.equal((await get(`/list-gps?${hundred.join("&")}`)).status, 200);
});

test("a filter that an operation does not know names the list that does", async (t) => {
  const service = await startService(t);
  const allLists = recordKinds.map((kind) => lists[kind].path);
  const ofGps = ["/fetch-gp", "/fetch-principals", ...allLists];
  for (const [path, name, allowedOn, list] of [
    ["/fetch-projects", "units_min", ["/list-projects"], "/list-projects"],
    ["/v1/fetch-gp", "aum_usd_min", ["/list-gps"], "/list-gps"],
    ["/fetch-signals", "has_gp", ["/list-signals", "/list-projects"], "/list-signals"],
    ["/fetch-signals", "tag", ofGps, "/list-signals"],
    ["/fetch-signals", "theme", ofGps, "/list-signals"],
    ["/fetch-signals", "market", ofGps, "/list-signals"],
    ["/fetch-principals", "sort", allLists, "/list-principals"],
    ["/list-signals", "units_min", ["/list-projects"], null],
    ["/vocabulary", "units_min", ["/list-projects"], null],
  ] as const) {
    const { status, body } = await service.get(`${path}?gp_name=north&${name}=1`);
    assert.equal(status, 400);
    const own = path.replace("/v1", "");
    const also = list === null ? "" : `, but of ${list}`;
    const fault = body.errors.find(({ parameter }: any) => parameter === name);
    assert.deepEqual([fault.code, fault.allowed_on], ["unknown_parameter", allowedOn]);
    assert.equal(fault.detail, `Not a parameter of ${own}${also}.`);
    assert.ok(body.detail.includes(`'${name}' is not a parameter of ${own}${also}`), body.detail);
  }
});

test("a value that no record carries is an empty page with a hint", async (t) => {
  const { get, target } = await startLists(t);
  for (const [kind, query, code, suggestion] of [
    ["gp", "market=dalas+fort+worth+arlington+tx", "unknown_value", dallas],
    ["project", "city=Dalas", "unknown_value", "Dallas"],
    ["signal", "theme=%25%25", "no_searchable_character", undefined],
    ["gp", "crd=abc", "unknown_value", undefined],
    ["gp", "crd=%3F", "no_searchable_character", undefined],
    ["principal", "gp_name=aldr+capital", "no_match", "Alder Capital"],
    ["gp", "signal_type=permit_issued", "unknown_value", undefined],
    ["signal", "offset=3", "past_the_end", undefined],
  ] as const) {
    const { status, body } = await get(target(kind, query));
    assert.deepEqual([status, body.data], [200, []], query);
    const [hint] = body.meta.hints;
    assert.deepEqual([hint.code, hint.suggestions[0]], [code, suggestion], query);
  }
});

test("a city of the greatest length is found by its whole name", async (t) => {
  const [city, owner] = ["y".repeat(200), gp("a", { hq_city: "y".repeat(200) })];
  const records = [owner, principal("p", ["a"], { city }), project("j", { city })];
  const service = await startService(t, { records });
  const { key } = await service.newKey({ quotas: roomy });
  for (const path of ["/list-gps?hq_city", "/list-principals?city", "/list-projects?city"]) {
    const { body } = await service.get(`${path}=${city}`, { "x-api-key": key });
    assert.equal(body.pagination?.total, 1, body.detail);
  }
});

test("days before the dataset are counted from its day, however late it is, so that the tag stays true", async (t) => {
  const { get, clock } = await startLists(t);
  const path = "/list-signals?date_from=-90d";
  const first = await get(path);
  assert.equal(titlesOf(first.body.data), "One, Three");
  assert.ok(first.body.meta.dataset_updated_at.startsWith("2026-11-21"));
  clock.advance(40 * 86_400);
  const later = await get(path);
  assert.deepEqual(contentOf(later), contentOf(first));
  const known = { "if-none-match": first.headers.get("etag")! };
  assert.equal((await get(path, known)).status, 304);
});

test("equal queries have one answer with one tag, whoever asks, and every filter, sort, page and format another; the tag is one under /v1", async (t) => {
  const { get, newKey } = await startLists(t);
  const tagOf = async (query: string, headers = {}) => {
    const { status, headers: sent } = await get(query, headers);
    assert.equal(status, 200, query);
    assert.match(sent.get("etag")!, new RegExp(`^W/"${sent.get("dataset-version")}-[\\w-]+"$`));
    return sent.get("etag")!;
  };
  const same = [
    "/list-gps?market=dallas&market=austin&aum_usd_min=5&sort=-aum_usd",
    "/list-gps?sort=-aum_usd&aum_usd_min=005&market=austin&market=dallas&market=austin&limit=20",
    "/v1/list-gps?&market=austin&offset=0&aum%5Fusd_min=5&&market=dallas&sort=%2Daum_usd",
  ];
  assert.equal(new Set(await Promise.all(same.map((one) => tagOf(one)))).size, 1);
  const another = { "x-api-key": (await newKey()).key, "x-request-id": "other" };
  assert.deepEqual(contentOf(await get(same[1]!, another)), contentOf(await get(same[0]!)));
  const others = listed(`
    /list-gps /list-principals /list-gps?market=dallas /list-gps?market=austin /list-gps?tag=dallas
    /list-gps?sort=-name /list-gps?sort=-aum_usd /list-gps?limit=2 /list-gps?offset=1
    /list-gps?aum_usd_min=5 /list-gps?aum_usd_max=5 /list-gps?signal_date_from=2026
    /list-gps?updated_at_from=2026 /fetch-principals /list-gps?signal_date_from=-90d
  `);
  const tags = await Promise.all(others.map((one) => tagOf(one)));
  tags.push(await tagOf("/list-gps", { accept: "text/csv" }));
  tags.push(await tagOf("/list-gps", { accept: "application/x-ndjson" }));
  assert.equal(new Set(tags).size, others.length + 2);
});

test("Link leads through all pages with the same filters and order", async (t) => {
  const { get, target } = await startLists(t);
  for (const kind of recordKinds) {
    const query = "basis=stated&basis=related_entity&updated_at_to=2030&sort=-updated_at";
    const whole = await get(target(kind, query));
    const titles: string[] = [];
    let next: string | undefined = target(kind, `${query}&limit=1`);
    while (next !== undefined) {
      const page = await get(next);
      titles.push(titlesOf(page.body.data));
      const { searchParams } = new URL(next, "http://x");
      assert.deepEqual(searchParams.getAll("basis").toSorted(), ["related_entity", "stated"]);
      assert.deepEqual(searchParams.getAll("sort"), ["-updated_at"]);
      assert.equal(page.headers.get("x-total-count"), "3");
      next = /<([^>]+)>; rel="next"/.exec(page.headers.get("link")!)?.[1];
    }
    assert.equal(titles.join(", "), titlesOf(whole.body.data));
  }
});

test("each list of a dataset without records of its kind is empty, whatever it is asked by", async (t) => {
  for (const kind of recordKinds) {
    const records = [kind === "gp" ? signal("s") : gp("a")];
    const service = await startService(t, { records });
    const { key } = await service.newKey({ quotas: roomy });
    const { path, sorts } = lists[kind];
    const asked = ["", "source=own", "confidence_min=0.5", "name=x", "id=x", "has_gp=false"];
    for (const query of [...asked, ...sorts!.map((sort) => `sort=${sort}`)]) {
      const { status, body } = await service.get(`${path}?${query}`, { "x-api-key": key });
      if (status === 200) assert.deepEqual(body.data, [], query);
      else assert.equal(body.errors[0].code, "unknown_parameter", query);
    }
  }
});
