import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Compile } from "typebox/compile";
import { mappingSchema } from "../../packaging/mapping-schema.ts";

const folder = new URL("../../examples/mappings/", import.meta.url);
const published = JSON.parse(readFileSync(new URL("mapping.schema.json", folder), "utf8"));

test("the published schema of mappings is the one the importer goes by", () => {
  const write = `import { mappingSchema } from "./packaging/mapping-schema.ts"; console.log(JSON.stringify(mappingSchema(), null, 2))`;
  assert.deepEqual(
    published,
    mappingSchema(),
    `write it anew: node --input-type=module -e '${write}' > examples/mappings/mapping.schema.json`,
  );
});

test("the published schema accepts the shipped mappings and refuses their misspelt twins", () => {
  const validator = Compile(published);
  for (const name of ["san-francisco.json", "adviser-report.json"]) {
    const text = readFileSync(new URL(name, folder), "utf8");
    assert.equal(validator.Check(JSON.parse(text)), true, name);
    for (const [right, wrong] of [
      ['"column"', '"colum"'],
      ['"name"', '"nmae"'],
      ['"id"', '"ids"'],
    ] as const)
      assert.equal(
        validator.Check(JSON.parse(text.replace(right, wrong))),
        false,
        `${name} with ${wrong}`,
      );
  }
});
