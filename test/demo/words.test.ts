/** The word tables: what the compiler cannot see in a data file. */
import assert from "node:assert/strict";
import { test } from "node:test";
import words from "#demo/words.json" with { type: "json" };
import { amountBases, principalRoles, propertyTypes } from "#records/vocabulary.ts";

test("property types, roles and bases of amounts are of the vocabulary", () => {
  const types = words.specialties.flatMap(({ main, also }) => [...main, ...also]);
  for (const type of [...types, ...words.letTypes])
    assert.ok(
      propertyTypes.some((one) => one === type),
      type,
    );
  for (const role of words.positions.flatMap(({ roles }) => roles))
    assert.ok(
      principalRoles.some((one) => one === role),
      role,
    );
  for (const story of [...words.gpStories, ...Object.values(words.projectStories)])
    if ("basis" in story)
      assert.ok(
        amountBases.some((one) => one === story.basis),
        story.basis,
      );
});

test("every property has a list of names, every story a headline and remarks", () => {
  for (const { names } of Object.values(words.properties))
    assert.ok(Object.hasOwn(words.buildingNames, names), names);
  const { gpStories, projectStories, marketStory } = words;
  for (const story of [...gpStories, marketStory, ...Object.values(projectStories)]) {
    assert.ok("counted" in story || "plain" in story, JSON.stringify(story));
    assert.ok(Object.hasOwn(words.remarks, story.voice), story.voice);
  }
});

test("no list has a word twice or one that is blank", () => {
  const { firstNames, lastNames, compoundHeads, compoundTails, lists } = words;
  for (const list of [
    firstNames,
    lastNames,
    compoundHeads,
    compoundTails,
    ...Object.values(lists),
  ]) {
    assert.equal(new Set(list).size, list.length);
    for (const word of list) assert.equal(word.trim() || "blank", word);
  }
});
