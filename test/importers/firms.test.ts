import assert from "node:assert/strict";
import { test } from "node:test";
import { firmsIn, isCalledAfter, tradeNames } from "#importers/firms.ts";

const assertFirms = (cells: Record<string, string[]>) => {
  for (const [cell, firms] of Object.entries(cells)) assert.deepEqual(firmsIn(cell), firms, cell);
};

test("firms stand apart by slashes, semicolons, bars and line ends", () => {
  assertFirms({
    "Birch / Cedar Homes": ["Birch", "Cedar Homes"],
    "Birch Group/Reno Housing Authority": ["Birch Group", "Reno Housing Authority"],
    "Birch, L.L.C.; Cedar": ["Birch, L.L.C.", "Cedar"],
    "Birch | Cedar\nAlder w/ Fir": ["Birch", "Cedar", "Alder", "Fir"],
    "24/7 Homes c/o Birch": ["24/7 Homes"],
  });
});

test("behind a legal form a comma, and, & and + stand between firms, elsewhere in a name", () => {
  assertFirms({
    "Birch, LLC & Cedar Corporation": ["Birch, LLC", "Cedar Corporation"],
    "Birch Inc. and Cedar Partners": ["Birch Inc.", "Cedar Partners"],
    "Birch, Inc., Cedar Co., Inc., and Fir": ["Birch, Inc.", "Cedar Co., Inc.", "Fir"],
    "Hoppe & Son, LLC": ["Hoppe & Son, LLC"],
    "Hoppe Co. & Sons": ["Hoppe Co. & Sons"],
    "The D & F Development Group, LLC": ["The D & F Development Group, LLC"],
    "Housing and Health Corporation of Reno, NV": ["Housing and Health Corporation of Reno, NV"],
    "Birch Homes and Cedar Partners": ["Birch Homes and Cedar Partners"],
    "Birch Co., Reno, Nevada": ["Birch Co., Reno, Nevada"],
  });
});

test("roles, shares and descriptions are no part of a name", () => {
  assertFirms({
    "Birch (Co-Developer 50% Fee); Cedar (50% (of fee))": ["Birch", "Cedar"],
    "Developer: Birch / Co-Developer: Cedar": ["Birch", "Cedar"],
    "Birch - Lead Developer; Cedar, 10%": ["Birch", "Cedar"],
    "Birch, a Nevada limited partnership": ["Birch"],
    "Birch II LP, a Delaware limited": ["Birch II LP"],
    "Birch (90%": ["Birch"],
    "Access: Homes for Living Inc.": ["Access: Homes for Living Inc."],
    "Developers Guild": ["Developers Guild"],
  });
});

test("a text that says there is no firm names nobody", () => {
  const sentences = [
    "None", "none.", "N/A", "n/a", "NA", "—", "TBD", "To be determined", "Unknown", "Various", "No developer named",
    "Not Available", "Developer not yet selected", "No developer was listed in the award list", "See application",
    "The sponsor has not been disclosed", "Developer: TBD", "None / Not stated", "(see note)",
  ]; // oxfmt-ignore
  assertFirms(Object.fromEntries(sentences.map((sentence) => [sentence, []])));
  assertFirms({
    "Birch, LLC; co-developer not disclosed": ["Birch, LLC"],
    "Not-for-Profit Homes Corp.": ["Not-for-Profit Homes Corp."],
    "Noble Partners": ["Noble Partners"],
    "No Place Like Home": ["No Place Like Home"],
  });
});

test("a text too long for names is left whole, however it is made", () => {
  for (const piece of [" ", ", ", "x, LLC, ", "no "]) {
    const text = piece.repeat(250_000);
    assert.deepEqual(firmsIn(text), [text]);
  }
});

test("a trade name is told from the name before it", () => {
  for (const verb of [" dba", ", d/b/a", " DBA", " doing business as"])
    assert.deepEqual(tradeNames(`Birch Corp.${verb} Cedar Homes`), ["Birch Corp.", "Cedar Homes"]);
  assert.deepEqual(tradeNames("Birch Corp."), ["Birch Corp."]);
});

test("an owner is known by the name of its project", () => {
  const owners = [
    ["Ashford Gardens, Ltd.", "Ashford Gardens"],
    ["Ashford Gardens 2031, L.P.", "The Ashford Gardens Apartments (Phase II)"],
    ["Ashford Gardens Housing Partners III, LLLP", "Ashford Gardens III"],
    ["AB Ashford Gardens Developer, LLC", "Ashford Gardens"],
    ["The Landing @ 36N, LP", "The Landing at 36N"],
    ["Hilltop Apartments, LP", "The Hilltop"],
    ["QX Hilltop GP, LLC", "The Hilltop"],
    ["West Oak Village II, LP", "West Oak Village - Reno"],
    ["Ashford Gardens", "Ashford Gardens"],
  ];
  for (const [firm = "", project = ""] of owners)
    assert.ok(isCalledAfter(firm, project), `${firm} of ${project}`);
});

test("a firm that shares words with a project is a firm", () => {
  const firms = [
    ["Hilltop Investments, LLC", "Hilltop Tower 1"],
    ["Mercy Homes", "Mercy Village"],
    ["Ashford Housing Authority", "Ashford Gardens"],
    ["Lincoln Avenue Communities", "Lincoln Avenue Apartments"],
    ["Hilltop Housing Corporation", "Hilltop - East Street"],
    ["Birch, LLC", "Ashford Gardens"],
  ];
  for (const [firm = "", project = ""] of firms)
    assert.ok(!isCalledAfter(firm, project), `${firm} of ${project}`);
});
