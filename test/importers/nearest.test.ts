import assert from "node:assert/strict";
import { test } from "node:test";
import { nearest } from "#importers/nearest.ts";

test("the most similar names come first, and none where none is similar", () => {
  const names = ["Project Status", "Project Name", "Zip Code", "Status", "Address"];
  assert.deepEqual(nearest("Project  status", names), ["Project Status", "Project Name", "Status"]);
  assert.deepEqual(nearest("Latitude", names), []);
});

test("letters that changed places are forgiven", () => {
  assert.deepEqual(nearest("stauts", ["state", "status"])[0], "status");
  assert.deepEqual(nearest("valeus", ["missing", "values"])[0], "values");
});
