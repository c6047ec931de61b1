import assert from "node:assert/strict";
import { test } from "node:test";
import { fillTemplate, parseTemplate } from "#importers/template.ts";

const fill = (text: string, cells: Record<string, string>) =>
  fillTemplate(parseTemplate(text) ?? [], ({ column }) => cells[column]);

test("columns in braces are filled in and the spaces around what is left out are tidied", () => {
  const template = "{First} {Middle?} {Last}";
  assert.equal(fill(template, { First: "Ada", Middle: "B.", Last: "Moss" }), "Ada B. Moss");
  assert.equal(fill(template, { First: "Ada", Last: "Moss" }), "Ada Moss");
});

test("a template is missing where a column it needs is", () => {
  assert.equal(fill("{First} {Middle?} {Last}", { Last: "Moss" }), "");
  assert.equal(fill("Permit: {Name}", {}), "");
});

test("a template without columns or with braces that do not pair is none", () => {
  for (const text of ["Reno", "{", "}", "{A", "A}", "{}", "{A}}", "{{A}}"])
    assert.equal(parseTemplate(text), undefined, text);
});
