import assert from "node:assert/strict";
import { test } from "node:test";
import type { FormD } from "#filings/rows.ts";
import { candidatesOf } from "#sponsors/candidates.ts";
import { statementOf } from "#sponsors/evidence.ts";
import { baseName } from "#sponsors/names.ts";
import { filingOf, person } from "./form-d.ts";

/** Names of the firms taken, the surest first. */
const named = (filing: FormD) => [
  ...new Set(candidatesOf(filing).flatMap(({ isTaken, firm }) => (isTaken ? baseName(firm) : []))),
];
const refusal = (filing: FormD, firm: string) =>
  candidatesOf(filing).find((candidate) => candidate.firm === firm && !candidate.isTaken)?.why;
const says = (...texts: string[]) =>
  filingOf({
    name: "Rosewood Apartments, LLC",
    persons: texts.map((text, i) => person("Ann", `Doe${i}`, text)),
  });

/** The firms taken from a filing by its related persons. */
const namedBy = (name: string, ...persons: ReturnType<typeof person>[]) =>
  named(filingOf({ name, persons }));
const entity = (firm: string, clarification?: string) => person("N/A", firm, clarification);

test("the sentence that names a firm is kept with the candidate", () => {
  const [first] = candidatesOf(says("President of Vale Capital Corp., the Manager of the Issuer"));
  assert.deepEqual(first, {
    basis: "sponsor_text",
    confidence: 0.9,
    field: "RELATIONSHIPCLARIFICATION",
    text: "President of Vale Capital Corp., the Manager of the Issuer",
    firm: "Vale Capital Corp.",
    stem: "vale capital",
    document: "0001000001-26-000001",
    isTaken: true,
    why: "the text states its role",
  });
});

test("a person's statement is the clarification, or else the ticked roles, in the field that has it", () => {
  const { field, text } = statementOf(person("Ann", "Doe", "Manager of the Issuer"));
  assert.deepEqual([field, text], ["RELATIONSHIPCLARIFICATION", "Ann Doe: Manager of the Issuer"]);
  const silent = { ...person("Ann", "Doe"), clarification: null, roles: ["director" as const] };
  assert.equal(statementOf(silent).field, "RELATEDPERSONS");
});

test("a text names a firm in whatever order it says role and name", () => {
  for (const text of [
    "Managing Member of B&W Lending DE GP LLC, the General Partner of the Issuer.",
    "Chief Executive Officer of the Issuer's sponsor, B&W Lending, LLC",
    "B&W Lending LLC, its Manager",
    "By: B&W Lending LLC, its Manager",
    "Executive Officer of B&W Lending, L.L.C. (the “Investment Manager”)",
    "CEO-B&W Lending LLC",
    "Jo Doe is an executive officer of B&W Lending Partners, sponsor of the issuer",
    "Manager of Issuer; Managing Member of B&W Lending LLC",
    "MANAGER OF B&W LENDING LLC THE MANAGER OF THE ISSUER",
    "Portfolio Analyst of B&W Lending LLC, the adviser",
    "Manager and CEO of the Issuer and of B&W Lending, LLC",
    "Officer of B&W Lending, L.P., a Delaware limited partnership, the General Partner",
    "President of the Manager of the Issuer, B&W Lending LLC",
    "Ann Doe is President of the Manager of the Issuer, B&W Lending LLC. She is President of Elm Inc.",
  ])
    assert.deepEqual(
      named(says(text)).map((name) => name.replace(" Partners", "")),
      ["B&W Lending"],
      text,
    );
  for (const text of [
    "Manager of Manager",
    "Managing Member of the General Partner",
    "Executive Vice President and Chief Financial Officer",
    "Managing Partner / Adams #1 Drilling Program",
    "Manager of Investment Manager, LLC",
    "Director of Rosewood Apartments, LLC",
  ])
    assert.deepEqual(named(says(text)), [], text);
});

test("a chain gives its outermost firm, and a signature block its last", () => {
  const chain =
    "President of Oak Capital, LLC, the manager of Birch GP, LLC, the general partner of the Issuer";
  assert.deepEqual(named(says(chain)), ["Oak Capital"]);
  assert.deepEqual(named(says(chain, chain, "Officer of Birch GP, LLC, the general partner")), [
    "Oak Capital",
  ]);
  const title = "By: Birch GP, LLC, its general partner; By: Oak Capital, LLC, its manager";
  const signed = filingOf({ name: "Elm Fund LP", signatures: [{ signer: "Ann Doe", title }] });
  assert.deepEqual(named(signed), ["Oak Capital"]);
});

test("where persons' chains differ, the firm counts in which they meet", () => {
  const [one, other] = ["Ash Family Ventures LLC", "Elm Holdings LLC"].map(
    (own) => `Manager of ${own}, a manager of Birch Partners LLC, the manager of the Issuer`,
  );
  const filing = says(one!, other!);
  assert.deepEqual(named(filing), ["Birch Partners"]);
  assert.match(refusal(filing, "Elm Holdings LLC")!, /other persons/);
});

test("where the chains meet in a firm of this deal, nobody is named", () => {
  const deal = "Rosewood Apartments Manager LLC, the manager of the Issuer";
  const owns = ["Ash Ventures LLC", "Elm Holdings LLC"];
  const filing = says(...owns.map((own) => `Manager of ${own}, a manager of ${deal}`));
  assert.deepEqual(named(filing), []);
  assert.match(refusal(filing, "Rosewood Apartments Manager LLC")!, /this deal/);
});

test("two managers without a chain between them are co-sponsors; two employers are nobody", () => {
  const employers = ["CEO of Ash Capital LLC", "CEO of Elm Capital LLC"];
  const sponsors = employers.map((one) => `${one}, the sponsor of the Issuer`);
  assert.deepEqual(named(says(...sponsors)), ["Ash Capital", "Elm Capital"]);
  assert.deepEqual(named(says(...employers)), []);
});

test("a sentence that says what its firm does goes before one that does not", () => {
  const filing = says("CEO of Ash Capital LLC, the sponsor", "Partner of Elm Realty LLC");
  assert.deepEqual(named(filing), ["Ash Capital"]);
});

test("a firm without a stated role is less sure, unless several texts name it", () => {
  const confidence = (...texts: string[]) => candidatesOf(says(...texts))[0]!.confidence;
  assert.equal(confidence("CEO of Ash Capital LLC"), 0.7);
  assert.equal(confidence("CEO of Ash Capital LLC", "President of Ash Capital, LLC"), 0.9);
});

test("a firm that only serves, sells or owns is refused", () => {
  const lawyers = says("Attorney at Doe & Poe LLP");
  assert.match(refusal(lawyers, "Doe & Poe LLP")!, /law or accounting firm/);
  const as = (role: string) => says(`Officer of Ash Group LLC, ${role}`);
  for (const [role, why] of [
    ["the administrative manager of the Issuer", /only provides a service/],
    ["as agent of the Issuer", /only provides a service: agent of Issuer$/],
    ["the property manager", /only provides a service/],
    ["a member of the Issuer", /only an owner/],
  ] as const) {
    assert.deepEqual(named(as(role)), [], role);
    assert.match(refusal(as(role), "Ash Group LLC")!, why);
  }
  assert.deepEqual(named(as("manager and agent of the Issuer")), ["Ash Group"]);
  const seller = filingOf({
    name: "Rosewood Apartments, LLC",
    persons: [person("N/A", "Ash Group, LLC", null, { roles: ["promoter"] })],
    recipients: [{ name: "ASH GROUP LLC", broker: null }],
  });
  assert.match(refusal(seller, "Ash Group, LLC")!, /Item 12/);
});

test("families' trusts, platforms and administrators are no sponsors", () => {
  for (const firm of [
    "The Doe Family Trust, LLC",
    "Fund GP, LLC",
    "Belltower Fund Group, Ltd.",
    "Sydecar LLC",
    "Citco Fund Services (USA) Inc.",
    "Corporation Service Company",
    "Waystone Governance Ltd.",
    "A5 REIT Services LLC",
  ])
    assert.deepEqual(namedBy("Elm Fund LP", entity(firm, "Manager")), [], firm);
  for (const firm of ["Vistra Homes LLC", "Carta Vale Realty LLC", "Apex Harbor Partners LLC"])
    assert.equal(namedBy("Elm Fund LP", entity(firm, "Manager")).length, 1, firm);
});

test("a manager or adviser goes before a general partner, in entities and in texts", () => {
  const partner = entity("Oak Fund II GP, LLC", "General Partner");
  const manager = entity("Oak Hill Capital Advisors, LLC", "Fund Manager");
  assert.deepEqual(namedBy("Oak Real Estate Fund II, LP", partner, manager), ["Oak Hill Capital"]);
  const text = person("Ann", "Doe", "President of Birch LLC, the general partner of the Issuer");
  const adviser = entity("Oak Advisors LLC", "Adviser");
  assert.deepEqual(namedBy("Elm Fund II, LP", text, adviser), ["Oak Advisors"]);
});

test("of general partners in a chain the shortest base name is meant", () => {
  const outer = "General Partner of the General Partner";
  const holdings = entity("Oak Harbor Fund III Holdings GP, LLC", outer);
  const partner = entity("Oak GP, LLC", "General Partner");
  assert.deepEqual(namedBy("Elm Fund III, LP", holdings, partner), ["Oak"]);
});

test("a firm that is officer or director without a clarification is probably the manager", () => {
  const filing = filingOf({
    name: "Sugarbush Residential, LLC",
    persons: [person("Dwellwood,", "LLC"), person("Ann", "Doe")],
  });
  const [first] = candidatesOf(filing);
  assert.deepEqual(
    [baseName(first!.firm), first!.confidence, first!.basis],
    ["Dwellwood", 0.7, "related_entity"],
  );
  const house = [entity("DW Manager, LLC"), entity("The Dwell Company LLC")];
  assert.deepEqual(namedBy("Sugarbush Residential, LLC", ...house), ["The Dwell"]);
});

test("a manager that bears the deal's name is shown and not taken", () => {
  const filing = filingOf({
    name: "Comax Glisten 16 Investors LLC",
    persons: [person("_", "Conax Glisten 16 MM LLC"), person("_", "Comax Properties LLC")],
  });
  assert.deepEqual(named(filing), ["Comax Properties"]);
  const deal = candidatesOf(filing).find(({ basis }) => basis === "related_entity_deal");
  assert.deepEqual(
    [deal!.firm, deal!.confidence, deal!.isTaken],
    ["Conax Glisten 16 MM LLC", 0.4, false],
  );
});

test("a c/o names the firm in whose care the issuer is", () => {
  for (const [name, street, firm, confidence] of [
    ["BRAXTON VALE INVESTOR TIC, LLC", "Braxton Manager, LLC", "Braxton", 0.9],
    ["Vale Flats LLC", "Braxton Homes LLC", "Braxton Homes", 0.7],
  ] as const) {
    const filing = filingOf({ name, street });
    assert.deepEqual([named(filing), candidatesOf(filing)[0]!.confidence], [[firm], confidence]);
  }
});

test("a c/o of the issuer, of lawyers, of a registered agent or of this deal names nobody", () => {
  for (const street of [
    "116 PROSPECT LLC",
    "116 PROSPECT MANAGEMENT LLC",
    "Doe & Poe LLP",
    "Registered Agents Inc.",
    "Citco Fund Services Ltd.",
    "Maples Fiduciary Services",
  ])
    assert.deepEqual(named(filingOf({ name: "116 Prospect LLC", street })), [], street);
});

test("addresses of persons in different firms' care name nobody", () => {
  const at = (firm: string) => person("Ann", "Doe", null, { firmInStreet: firm });
  const [ash, oak] = [at("Ash Realty LLC"), at("Oak Homes LLC")];
  assert.deepEqual(namedBy("Elm Flats LLC", ash), ["Ash Realty"]);
  assert.deepEqual(namedBy("Elm Flats LLC", ash, oak), []);
});

test("officers of co-issuers name no sponsor", () => {
  const filing = filingOf({
    name: "Elm Topco, Inc.",
    coIssuers: ["Elm Textiles, LLC"],
    persons: [person("Ann", "Doe", "Director of Elm Topco, Inc. and Elm Textiles, LLC")],
  });
  assert.deepEqual(named(filing), []);
});

test("a firm that signs is the manager that it calls itself, without a placeholder before it", () => {
  const signing = (signer: string) =>
    filingOf({ name: "Elm Flats LLC", signatures: [{ signer, title: "Manager" }] });
  const [first] = candidatesOf(signing("Ash Capital LLC"));
  assert.deepEqual(
    [baseName(first!.firm), first!.field, first!.confidence],
    ["Ash Capital", "NAMEOFSIGNER", 0.9],
  );
  assert.deepEqual(named(signing("N/A Ash Capital LLC")), ["Ash Capital"]);
  assert.deepEqual(named(signing("N/A Elm Flats Manager, LLC")), []);
});

test("the master of a series is named at 0.6, a platform's is not", () => {
  const name = "Elm Row, a series of Ash Realty Investments LLC";
  const [first] = candidatesOf(filingOf({ name }));
  assert.deepEqual(
    [first!.firm, first!.basis, first!.confidence],
    ["Ash Realty Investments LLC", "series_master", 0.6],
  );
  assert.deepEqual(named(filingOf({ name: "Elm Row, a series of AngelList Funds, LLC" })), []);
});

test("the issuer's own name is the last candidate and never taken", () => {
  const [own, ...others] = candidatesOf(filingOf({ name: "Elm Flats LLC" }));
  assert.deepEqual(others, []);
  assert.deepEqual([own!.basis, own!.confidence, own!.isTaken], ["issuer_stem", 0.3, false]);
});
