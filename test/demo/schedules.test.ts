/** What has happened in a project, read from its schedule. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { InventedProject, ProjectType, Schedule } from "#demo/cast.ts";
import { dayOf, lastDay } from "#demo/dates.ts";
import { metros } from "#demo/places.ts";
import { startRandom } from "#demo/random.ts";
import { eventsOf, inventSchedule } from "#demo/schedules.ts";

const random = startRandom(1, "test");
const [metro] = metros as [(typeof metros)[number]];

function project(type: ProjectType, dated: Partial<Schedule> = {}): InventedProject {
  const schedule = { ...inventSchedule(random, type), ...dated };
  return {
    record: {
      record: "project",
      id: "project-1",
      name: "The Alder",
      type,
      property_type: "multifamily",
      status: schedule.status,
      tags: [],
      themes: [],
      external_ids: {},
    },
    gps: [],
    metro,
    city: metro.cities[0]!,
    schedule,
    amountUsd: 1_000_000,
  };
}

test("events lie in the past, in order, each once", () => {
  for (const type of ["property_offering", "acquisition", "development"] as const)
    for (let count = 0; count < 1000; count++) {
      const events = eventsOf(random, project(type));
      const days = events.map(({ day }) => day);
      assert.deepEqual(
        days,
        days.toSorted((a, b) => a - b),
      );
      assert.ok(days.every((day) => day <= lastDay));
      assert.equal(new Set(events.map((event) => event.type)).size, events.length);
    }
});

test("a finished building was announced, permitted, begun, financed and completed", () => {
  const [startDay, completionDay] = [dayOf(2022, 3, 1), dayOf(2024, 5, 1)];
  const finished = project("development", { status: "completed", startDay, completionDay });
  assert.deepEqual(
    eventsOf(random, finished).map(({ type }) => type),
    [
      "project_announced",
      "permit_issued",
      "construction_started",
      "financing",
      "project_completed",
    ],
  );
});

test("a building not begun has no start of construction", () => {
  const planned = project("development", { status: "entitled", startDay: lastDay + 30 });
  const types = eventsOf(random, planned).map(({ type }) => type);
  assert.ok(!types.includes("construction_started") && !types.includes("project_completed"));
});
