import assert from "node:assert/strict";
import { test } from "node:test";
import { modelOf } from "../support/dataset.ts";
import { readDocuments } from "#search/dataset-parts.ts";
import type { GpFilter } from "#search/gp-search.ts";
import { nameOfMarket } from "#search/market-spellings.ts";
import { openNameSearch } from "#search/match-names.ts";
import { indexNames } from "#search/name-index.ts";
import { holds, packTexts } from "#search/packed-texts.ts";
import type { ReadModel } from "#search/read-model.ts";

const gp = (name: string, rest: object = {}) => ({ record: "gp", id: name, name, ...rest });

/** Names of the GPs that satisfy the filter, in the order they are served. */
function find(model: ReadModel, filter: GpFilter): string[] {
  const { positions } = model.select("gp", filter, { limit: 100, offset: 0 });
  return readDocuments<{ name: string }>(model.parts.documents.gp, positions).map(
    ({ name }) => name,
  );
}

test("a word of four or more letters may stand anywhere in a name", async (t) => {
  const model = await modelOf(t, [gp("Blackstone"), gp("Stone Harbor"), gp("Sto Ne")]);
  assert.deepEqual(find(model, { gp_name: "stone" }), ["Stone Harbor", "Blackstone"]);
});

test("a shorter word must begin a word of the name", async (t) => {
  const model = await modelOf(t, [gp("KKR"), gp("Bankkern"), gp("GEM Realty"), gp("Management")]);
  assert.deepEqual(find(model, { gp_name: "kk" }), ["KKR"]);
  assert.deepEqual(find(model, { gp_name: "gem" }), ["GEM Realty"]);
  assert.deepEqual(find(model, { gp_name: "geme" }), ["Management"]);
});

test("people and projects are found by the rules for GPs, the best match first", async (t) => {
  const names = ["Stone Harbor", "Blackstone Ridge", "Harbor Stone", "Stone", "KKR", "Bankkern"];
  const kinds = ["gp", "principal", "project"] as const;
  const model = await modelOf(
    t,
    kinds.flatMap((record) => names.map((name) => ({ record, id: name, name }))),
  );
  for (const [query, expected] of [
    ["stone", ["Stone", "Stone Harbor", "Harbor Stone", "Blackstone Ridge"]],
    ["harbor stone", ["Harbor Stone", "Stone Harbor"]],
    ["kk", ["KKR"]],
    ["%", []],
  ] as const)
    for (const kind of kinds) {
      const { total, positions } = model.search(kind, query, { limit: 100, offset: 0 });
      const found = readDocuments<{ name: string }>(model.parts.documents[kind], positions);
      assert.deepEqual(
        found.map(({ name }) => name),
        expected,
        `${kind} ${query}`,
      );
      assert.equal(total, expected.length);
    }
  assert.deepEqual(model.similarNames("principal", "Harbur  Stone"), ["harbor stone"]);
  assert.deepEqual(model.similarNames("project", "Harbor Bankkern"), []);
});

test("a short word of a script without spaces may stand anywhere", async (t) => {
  const model = await modelOf(t, [gp("三井不動産"), gp("タワー"), gp("서울투자"), gp("กรุงเทพ")]);
  for (const [query, name] of [
    ["不", "三井不動産"],
    ["ワ", "タワー"],
    ["투자", "서울투자"],
    ["เทพ", "กรุงเทพ"],
  ])
    assert.deepEqual(find(model, { gp_name: query }), [name]);
});

test("all words must stand in the same name, in any order", async (t) => {
  const model = await modelOf(t, [
    gp("Capital Sequoia"),
    gp("Sequoia", { aliases: ["Old Capital"] }),
  ]);
  assert.deepEqual(find(model, { gp_name: "sequoia cap" }), ["Capital Sequoia"]);
});

test("the same GPs have a rare word and a common one, whether few or many GPs have the rare one", async (t) => {
  const rare = [
    gp("Zephyr Capital"),
    gp("Blue Zephyr Capital"),
    gp("Capital Zephyr"),
    gp("Zephyrine Quill Capital"),
    gp("Zephyr Holdings", { aliases: ["Capital Hill"] }),
  ];
  for (const others of [0, 1000]) {
    const model = await modelOf(t, [
      ...rare,
      ...Array.from({ length: others }, (_, i) => gp(i % 2 === 0 ? `Capital ${i}` : `Quill ${i}`)),
    ]);
    for (const [query, expected] of [
      [
        "zephyr capital",
        ["Zephyr Capital", "Blue Zephyr Capital", "Capital Zephyr", "Zephyrine Quill Capital"],
      ],
      [
        "capital zephyr",
        ["Capital Zephyr", "Blue Zephyr Capital", "Zephyr Capital", "Zephyrine Quill Capital"],
      ],
      ["quill zephyr", ["Zephyrine Quill Capital"]],
      ["ephyr hill", []],
    ] as const)
      assert.deepEqual(find(model, { gp_name: query }), expected, `${query} beside ${others}`);
  }
});

test("name, legal name and aliases are searched", async (t) => {
  const model = await modelOf(t, [
    gp("One", { legal_name: "Meridian LLC", aliases: ["Zephyr GP"] }),
  ]);
  for (const name of ["one", "meridian", "zephyr"])
    assert.deepEqual(find(model, { gp_name: name }), ["One"]);
});

test("a market answers to its title, the part before the comma, each city, and a city with a state", async (t) => {
  const model = await modelOf(t, [
    gp("D", { markets: ["Dallas-Fort Worth-Arlington, TX"] }),
    gp("N", { markets: ["New York-Newark-Jersey City, NY-NJ-PA"] }),
  ]);
  for (const market of [
    "dallas",
    "fort worth",
    "dallas tx",
    "Arlington, TX",
    "dallas-fort worth-arlington",
    "Dallas-Fort Worth-Arlington, TX",
  ])
    assert.deepEqual(find(model, { market: [market] }), ["D"], market);
  for (const market of ["newark nj", "jersey city pa"])
    assert.deepEqual(find(model, { market: [market] }), ["N"]);
  for (const market of ["worth", "tx", "dallas nj", "dallas fort"])
    assert.deepEqual(find(model, { market: [market] }), [], market);
});

test("a city with a hyphen of its own is one city, and other values are matched whole", async (t) => {
  const model = await modelOf(t, [
    gp("W", { markets: ["Winston-Salem, NC"] }),
    gp("P", { markets: ["Asia-Pacific", "Paris, France"] }),
    gp("S", { markets: ["Scranton--Wilkes-Barre, PA", "Greensboro-Winston-Salemburg, NC"] }),
  ]);
  for (const market of ["winston salem", "Winston-Salem NC"])
    assert.deepEqual(find(model, { market: [market] }), ["W"]);
  for (const market of ["scranton", "wilkes-barre", "Wilkes-Barre, PA", "salemburg nc"])
    assert.deepEqual(find(model, { market: [market] }), ["S"], market);
  assert.deepEqual(find(model, { market: ["winston"] }), ["S"]);
  assert.deepEqual(find(model, { market: ["asia pacific"] }), ["P"]);
  for (const market of ["asia", "paris", "wilkes", "barre"])
    assert.deepEqual(find(model, { market: [market] }), [], market);
});

test("GPs come by rank: equal, begins, at a word, inside a word, apart; then by folded name", async (t) => {
  const inOrder = [
    "North Star",
    "North Starling",
    "Great North Star",
    "Greatnorth Star",
    "Star North",
    "Star of the North",
  ];
  const model = await modelOf(
    t,
    inOrder.toReversed().map((name) => gp(name)),
  );
  assert.deepEqual(find(model, { gp_name: "north star" }), inOrder);
});

test("the best of the names that satisfy the query gives the rank", async (t) => {
  const model = await modelOf(t, [
    gp("Zeta", { aliases: ["Harbor"] }),
    gp("Alpha Harbor"),
    gp("Harbor House"),
  ]);
  assert.deepEqual(find(model, { gp_name: "harbor" }), ["Zeta", "Harbor House", "Alpha Harbor"]);
});

test("nothing searchable finds nothing, unless another value of the parameter does", async (t) => {
  const model = await modelOf(t, [gp("A", { tags: ["x"] })]);
  for (const filter of [{ gp_name: "%%" }, { tag: ["%%"] }, { theme: ["--"] }, { market: ["…"] }])
    assert.deepEqual(find(model, filter), []);
  assert.deepEqual(find(model, { tag: ["--", "x", "%"] }), ["A"]);
});

test("a suggestion has at least two fifths of its trigrams in common, the first of equals is shown first", async (t) => {
  for (const [names, folded, suggestions] of [
    [["abcxyzw", "zz", "abcxyz"], "abcd", ["abcxyz"]],
    [["zz", "ABCDE", "abcde."], "xbcde", ["ABCDE", "abcde."]],
  ] as const) {
    const model = await modelOf(
      t,
      names.map((name) => gp(name)),
    );
    const miss = { kind: "gp", parameter: "gp_name", value: folded, folded } as const;
    assert.deepEqual(model.suggestionsFor(miss), suggestions);
  }
});

test("a market is called by its first city and state, unless another answers to them too", async (t) => {
  const titles = [
    "Nashville-Davidson--Murfreesboro--Franklin, TN",
    "Columbus-Auburn, GA-AL",
    "Columbus, GA-AL",
    "Louisville/Jefferson County, KY-IN",
    "Winston-Salem, NC",
    "Asia-Pacific",
  ];
  const ofProject = "Dallas-Fort Worth-Arlington, TX";
  const model = await modelOf(t, [
    ...titles.map((title) => gp(title, { markets: [title] })),
    { record: "project", id: "p", name: "Elm Street", market: ofProject },
  ]);
  const names = [...titles, ofProject].map((title) => nameOfMarket(model, title));
  assert.deepEqual(names, [
    "Nashville, TN",
    "Columbus-Auburn, GA-AL",
    "Columbus, GA-AL",
    "Louisville/Jefferson County, KY",
    "Winston-Salem, NC",
    "Asia-Pacific",
    "Dallas, TX",
  ]);
});

test("a text holds a part wherever all of its bytes follow each other, and not where only their pieces occur", () => {
  const texts = ["abcd", "xxabcd", "abcxbcd", "ababcd", "abc", "dabc", "müller", ""];
  const packed = packTexts(texts);
  for (const part of ["abcd", "a", "d", "ül", "abab", "xabcd", "cdm"])
    for (const [index, text] of texts.entries())
      assert.equal(
        holds(packed, index, Buffer.from(part)),
        text.includes(part),
        `${part} in ${text}`,
      );
});

test("a word that is asked many times costs no more than once", () => {
  const names = Array.from({ length: 1000 }, () => "capital partners llc");
  const index = indexNames(names, Uint32Array.from(names.keys()), names.length);
  let reads = 0;
  const get = (all: Uint32Array, at: string) => (reads++, Reflect.get(all, at));
  const items = new Proxy(index.wordsOfName.items, { get } as ProxyHandler<Uint32Array>);
  const { starts } = index.wordsOfName;
  const search = openNameSearch({ ...index, wordsOfName: { starts, items } }, names.length);
  search("c p l");
  const once = reads;
  search("c p l ".repeat(33).trim());
  assert.ok(reads <= 2 * once, `${once}, then ${reads - once}`);
});
