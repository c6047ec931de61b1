/** The plain reference against the examples of the published rules, so that it may judge the fast way. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { CanonicalGp, CanonicalRecord } from "#records/canonical.ts";
import { referenceAnswer, type ReferenceQuery } from "./reference.ts";
import { fold } from "./reference/fold.ts";
import { marketSpellings } from "./reference/markets.ts";

const formerIds: Record<string, string[]> = { "1": ["gp_old"] };
const page = { limit: 100, offset: 0 };

function gp(id: number, name: string, more: Partial<CanonicalGp> = {}): CanonicalGp {
  return { record: "gp", id: String(id), name, ...more };
}

function named(...names: string[]): CanonicalGp[] {
  return names.map((name, at) => gp(at, name));
}

function answer(records: CanonicalRecord[], query: Partial<ReferenceQuery>) {
  return referenceAnswer(
    records,
    { operation: "fetch-gp", ...page, ...query },
    (kind, id) => `${kind === "gp" ? "gp" : kind[0]}_${id}`,
    (id) => formerIds[id] ?? [],
  );
}

function found(records: CanonicalRecord[], query: Partial<ReferenceQuery>): string[] {
  return answer(records, query).ids;
}

function hints(records: CanonicalRecord[], query: Partial<ReferenceQuery>): string[] {
  return answer(records, query).hints.map(
    ({ code, parameter, suggestions }) => `${code} ${parameter} ${suggestions.join("|")}`,
  );
}

test("folding drops accents, width, dots, apostrophes and punctuation", () => {
  assert.equal(fold("Société Générale"), "societe generale");
  assert.equal(fold("Socie\u0301te\u0301"), "societe");
  assert.equal(fold("J.P. Morgan & Co."), "jp morgan co");
  assert.equal(fold("ＫＫＲ"), "kkr");
  assert.equal(fold("O'Brien O’Brien O‘Brien OʼBrien"), "obrien obrien obrien obrien");
  assert.equal(fold("ß æ œ ø đ ð ł þ ı ħ"), "ss ae oe o d d l th i h");
  assert.equal(fold("ẞ Æ Œ Ø Đ Ð Ł Þ I Ħ İ"), "ss ae oe o d d l th i h i");
  assert.equal(fold("ΟΔΟΣ οδός"), "οδοσ οδοσ");
  assert.equal(fold("  value_add--(fund)  "), "value add fund");
  assert.equal(fold('% _ * " ( ) : ^'), "");
});

test("folding twice changes nothing, whatever the code point", () => {
  for (let point = 0; point < 0x2ffff; point += 1) {
    const once = fold(`a${String.fromCodePoint(point)}b`);
    if (fold(once) !== once)
      assert.fail(`U+${point.toString(16)} gives ${once}, then ${fold(once)}`);
  }
});

test("a word of four or more letters may stand anywhere in a name", () => {
  assert.deepEqual(found(named("Blackstone", "Rock"), { gp_name: "stone" }), ["gp_0"]);
});

test("words are found in any order, each in the same name", () => {
  const gps = [...named("Capital Sequoia"), gp(1, "Sequoia", { aliases: ["Cap Rock"] })];
  assert.deepEqual(found(gps, { gp_name: "sequoia cap" }), ["gp_0"]);
});

test("a shorter word must begin a word of the name", () => {
  assert.deepEqual(found(named("Bankkern", "KKR"), { gp_name: "kk" }), ["gp_1"]);
  assert.deepEqual(found(named("Management", "GEM Realty"), { gp_name: "gem" }), ["gp_1"]);
});

test("a short word of a script without spaces may stand anywhere", () => {
  const gps = named("三菱地所", "サンタワー", "한국투자", "กรุงเทพ", "さくらひかり");
  for (const [at, gp_name] of ["地所", "ﾀﾜ", "투자", "เทพ", "ひか"].entries())
    assert.deepEqual(found(gps, { gp_name }), [`gp_${at}`]);
});

test("characters that mean something elsewhere mean nothing here", () => {
  const gps = named("Blackstone", "Rock");
  assert.deepEqual(found(gps, { gp_name: "st%ne" }), []);
  assert.deepEqual(found(gps, { gp_name: '*("stone"):^' }), ["gp_0"]);
});

test("legal names and aliases are searched like the name", () => {
  const gps = [gp(0, "A", { legal_name: "Northwind LLC" }), gp(1, "B", { aliases: ["Northwind"] })];
  assert.deepEqual(found(gps, { gp_name: "northwind" }), ["gp_1", "gp_0"]);
});

test("an id or a former id means that GP alone, anything near it is a name", () => {
  const gps = named("gp 1", "Rock", "gp_1 Rock");
  assert.deepEqual(found(gps, { gp_name: "gp_1" }), ["gp_1"]);
  assert.deepEqual(found(gps, { gp_name: "gp_old" }), ["gp_1"]);
  assert.deepEqual(found(gps, { gp_name: "GP_1" }), ["gp_0", "gp_2"]);
  assert.deepEqual(found(gps, { gp_name: "gp_1", tag: ["ai"] }), []);
  assert.deepEqual(hints(gps, { gp_name: "gp_9" }), ["no_match gp_name gp 1"]);
});

test("a tag is compared whole, with tags, strategies and property types", () => {
  const gps = [
    gp(0, "A", { tags: ["retail"] }),
    gp(1, "B", { tags: ["AI"], strategies: ["value_add"], property_types: ["multifamily"] }),
  ];
  for (const tag of ["ai", "value_add", "Value Add", "multifamily"])
    assert.deepEqual(found(gps, { gp_name: "a", tag: [tag] }), []);
  for (const tag of ["ai", "value_add", "Value Add", "multifamily"])
    assert.deepEqual(found(gps, { gp_name: "b", tag: [tag] }), ["gp_1"]);
});

test("a market answers to the part before the comma, to each city, to a city and a state", () => {
  const gps = [gp(0, "A", { markets: ["Dallas-Fort Worth-Arlington, TX"] })];
  const right = ["Dallas-Fort Worth-Arlington, TX", "dallas fort worth arlington", "dallas"];
  for (const market of [...right, "fort worth", "dallas tx", "Arlington, TX"])
    assert.deepEqual(found(gps, { gp_name: "a", market: [market] }), ["gp_0"], market);
  for (const market of ["dallas fort worth", "worth", "tx", "dallas ga", "dalla"])
    assert.deepEqual(found(gps, { gp_name: "a", market: [market] }), [], market);
});

test("a market of several states answers to each city with each state", () => {
  assert.deepEqual(marketSpellings("Kansas City-Olathe, MO-KS"), [
    "Kansas City-Olathe, MO-KS",
    "Kansas City-Olathe",
    "Kansas City",
    "Olathe",
    "Kansas City, MO",
    "Kansas City, KS",
    "Olathe, MO",
    "Olathe, KS",
  ]);
});

test("a city that carries a hyphen stays whole, and so does what is not of the form", () => {
  const cities = (title: string) =>
    marketSpellings(title)
      .slice(2)
      .filter((one) => !one.includes(","));
  assert.deepEqual(cities("Greensboro-Winston-Salem, NC"), ["Greensboro", "Winston-Salem"]);
  assert.deepEqual(cities("Scranton--Wilkes-Barre, PA"), ["Scranton", "Wilkes-Barre"]);
  assert.deepEqual(cities("Winston-Salemburg, NC"), ["Winston", "Salemburg"]);
  for (const title of ["Asia-Pacific", "Paris, France", "Fort Worth, TX, USA"])
    assert.deepEqual(marketSpellings(title), [title]);
});

test("different parameters are AND, repeats of one are OR, all of them for the same GP", () => {
  const gps = [
    gp(0, "A", { tags: ["x"], themes: ["t"] }),
    gp(1, "A", { tags: ["y"], themes: ["u"] }),
  ];
  assert.deepEqual(found(gps, { gp_name: "a", tag: ["x", "y"] }), ["gp_0", "gp_1"]);
  assert.deepEqual(found(gps, { gp_name: "a", tag: ["x", "y"], theme: ["u"] }), ["gp_1"]);
  const both: CanonicalRecord = { record: "principal", id: "0", name: "P", gps: ["0", "1"] };
  const query: Partial<ReferenceQuery> = { operation: "fetch-principals", tag: ["x"] };
  assert.deepEqual(found([...gps, both], { ...query, theme: ["u"] }), []);
  assert.deepEqual(found([...gps, both], { ...query, theme: ["t"] }), ["p_0"]);
});

test("without a condition the records of no GP are returned too", () => {
  const records: CanonicalRecord[] = [
    ...named("Rock"),
    { record: "project", id: "0", name: "B" },
    { record: "project", id: "1", name: "a", gps: ["0"] },
  ];
  assert.deepEqual(found(records, { operation: "fetch-projects" }), ["p_1", "p_0"]);
  assert.deepEqual(found(records, { operation: "fetch-projects", gp_name: "r" }), ["p_1"]);
});

test("GPs come by rank, then by the bytes of the folded name, then by id", () => {
  const byRank = named("X Bank Real", "Bank X Real Y", "Xreal Bank", "Real Bank Y", "Real Bank");
  const all = [...byRank, gp(5, "Unreal Bank"), gp(6, "X Real Bank"), gp(7, "REAL BANK")];
  const best = "gp_4 gp_7 gp_3 gp_6 gp_5 gp_2 gp_1 gp_0";
  assert.deepEqual(found(all, { gp_name: "real bank" }), best.split(" "));
  assert.deepEqual(found(named("Bank 𠮷", "Bank 﨑"), { gp_name: "bank" }), ["gp_1", "gp_0"]);
});

test("the rank of a GP is the best over those of its names that satisfy all words", () => {
  const gps = [gp(0, "A Northwind", { aliases: ["Northwind"] }), gp(1, "Northwind One")];
  assert.deepEqual(found(gps, { gp_name: "northwind" }), ["gp_0", "gp_1"]);
});

test("signals come newest first, a day after its month after its year, then by id", () => {
  const dates = ["2025-12-31", "2026", "2026-03", "2026-03-01", "2026-03"];
  const records = dates.map((date, at): CanonicalRecord => ({
    record: "signal",
    id: String(at),
    title: "t",
    date,
  }));
  const newest = ["s_3", "s_2", "s_4", "s_1", "s_0"];
  assert.deepEqual(found(records, { operation: "fetch-signals" }), newest);
});

test("a GP embeds at most 100 of each, by name or newest first, and says how many there are", () => {
  const records: CanonicalRecord[] = named("Rock");
  for (let at = 0; at < 101; at += 1)
    records.push({ record: "signal", id: String(at), title: "t", date: "2026", gps: ["0", "0"] });
  records.push({ record: "principal", id: "0", name: "b", gps: ["0"] });
  records.push({ record: "principal", id: "1", name: "Á", gps: ["0"] });
  const { embedded, hints: given } = answer(records, { gp_name: "rock" });
  assert.deepEqual(embedded?.[0]?.principals, ["p_1", "p_0"]);
  assert.equal(embedded?.[0]?.signals.length, 100);
  assert.equal(embedded?.[0]?.signals_total, 101);
  assert.deepEqual(given, [{ code: "embedded_list_cut", parameter: null, suggestions: [] }]);
});

test("a value without a letter or digit finds nothing, unless another of the parameter does", () => {
  const gps = [gp(0, "Rock", { tags: ["ai"] })];
  assert.deepEqual(found(gps, { gp_name: "%%" }), []);
  assert.deepEqual(hints(gps, { gp_name: "%%" }), ["no_searchable_character gp_name "]);
  const query = { gp_name: "rock", tag: ["--", "ai", "%"] };
  assert.deepEqual(found(gps, query), ["gp_0"]);
  assert.deepEqual(hints(gps, query), Array(2).fill("no_searchable_character tag "));
  assert.deepEqual(found(gps, { gp_name: "rock", tag: ["--"] }), []);
});

test("hints come by parameter and name what is most alike, as it is shown", () => {
  const gps = [
    gp(0, "Northwind", { tags: ["Value-Add", "VALUE ADD"], markets: ["Dallas-Fort Worth, TX"] }),
    gp(1, "Northwynd", { legal_name: "Northwind", themes: ["build_to_rent"] }),
  ];
  const query = { gp_name: "northwnd", tag: ["value ad"], theme: ["renting"], market: ["dalas"] };
  assert.deepEqual(hints(gps, query), [
    "no_match gp_name Northwind|Northwynd",
    "unknown_value tag VALUE ADD",
    "unknown_value theme ",
    "unknown_value market Dallas|Dallas, TX",
  ]);
});

test("a suggestion has at least two fifths of its trigrams in common, the first of equals is shown first", () => {
  const gps = named("abcxyzw", "zz", "abcxyz", "ABCDE", "abcde.");
  assert.deepEqual(hints(gps, { gp_name: "abcd" }), []);
  assert.deepEqual(hints(gps.slice(0, 3), { gp_name: "abcd" }), ["no_match gp_name abcxyz"]);
  assert.deepEqual(hints(gps, { gp_name: "xbcde" }), ["no_match gp_name ABCDE|abcde."]);
});

test("an offset at or past the end of something is told", () => {
  const gps = named("Rock");
  assert.deepEqual(hints(gps, { gp_name: "rock", offset: 1 }), ["past_the_end offset "]);
  assert.deepEqual(hints(gps, { gp_name: "rock", offset: 0 }), []);
  assert.deepEqual(hints([], { operation: "fetch-signals", offset: 5 }), []);
});
