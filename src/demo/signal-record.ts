/** Turns an occasion into the record of a signal: headline, summary, amount, dates, address. */
import type { CanonicalSignal } from "#records/canonical.ts";
import { amountWords, roundAmount } from "./amounts.ts";
import type { InventedGp } from "./cast.ts";
import { dayText, lastDay, roughDay, someTime } from "./dates.ts";
import type { Occasion } from "./occasions.ts";
import { propertyWords } from "./property-words.ts";
import { chance, logNormal, pick, whole, type Random } from "./random.ts";
import { remarks } from "./stories.ts";
import { fill } from "./templates.ts";
import { inventVehicle } from "./vehicles.ts";

export function signalOf(random: Random, number: number, occasion: Occasion): CanonicalSignal {
  const { story, day, gps, projects } = occasion;
  const amountUsd = someAmount(random, occasion);
  const title = headline(random, occasion, amountUsd);
  const publishedDay = Math.min(lastDay, day + whole(random, 0, 6));
  const updatedAt = someTime(random, publishedDay);
  return {
    record: "signal",
    id: `signal-${number}`,
    type: story.type,
    title,
    summary: chance(random, 0.4) ? `${title}. ${pick(random, remarks[story.voice])}` : null,
    date: chance(random, 0.97) ? dayText(day) : roughDay(random, day),
    published_at: somePublishedAt(random, publishedDay, updatedAt),
    amount_usd: amountUsd,
    amount_basis: amountUsd === null ? null : story.basis,
    market: chance(random, 0.85) || gps.length === 0 ? occasion.metro.title : null,
    property_types: occasion.propertyTypes,
    project_ids: projects.map(({ id }) => id),
    url: chance(random, 0.7) ? someUrl(random, number, occasion) : null,
    tags: someTags(occasion),
    themes: occasion.themes,
    gps: gps.map(({ id }) => id),
    updated_at: updatedAt,
  };
}

/** Null where the event has no amount, or none was told. */
function someAmount(random: Random, { story, baseUsd }: Occasion): number | null {
  if (story.counted.length === 0) return null;
  if (story.plain.length > 0 && chance(random, 0.2)) return null;
  const size = baseUsd * Math.abs(story.share) * logNormal(random, 1, 0.4);
  return Math.sign(story.share) * roundAmount(Math.max(25_000, size));
}

function headline(random: Random, occasion: Occasion, amountUsd: number | null): string {
  const { story, gps, projects } = occasion;
  const person = gps[0] && gps[0].people.length > 0 ? pick(random, gps[0].people) : undefined;
  const say = (gap: string): string => {
    switch (gap) {
      case "gp":
        return gpNames(gps);
      case "amount":
        return amountWords(Math.abs(amountUsd ?? 0));
      case "vehicle":
        return inventVehicle(random, gps[0]?.stem ?? "");
      case "person":
        return person?.name ?? "";
      case "title":
        return person?.title ?? "";
      case "project":
        return projects[0]?.name ?? "";
      case "property":
        return propertyWords[occasion.propertyTypes[0] ?? "unknown"];
      case "city":
        return occasion.city;
      default:
        return `${whole(random, 5, 95) / 10}`;
    }
  };
  const title = fill(pick(random, amountUsd === null ? story.plain : story.counted), say);
  return title.charAt(0).toUpperCase() + title.slice(1);
}

/** `Northwind Partners (with Hale Realty)`: one subject, so that the verb agrees. */
function gpNames([first, ...others]: readonly InventedGp[]): string {
  if (first === undefined) return "A private owner";
  if (others.length === 0) return first.name;
  return `${first.name} (with ${others.map(({ name }) => name).join(" and ")})`;
}

function somePublishedAt(random: Random, day: number, time: string): string | null {
  const draw = random();
  if (draw < 0.15) return null;
  return draw < 0.6 ? dayText(day) : time;
}

function someUrl(random: Random, number: number, occasion: Occasion): string {
  const { story, day, gps, projects } = occasion;
  const isFiling = story.voice === "offering" || story.voice === "adviser";
  if (!isFiling) return `https://news.example/${dayText(day).replaceAll("-", "/")}/${number}`;
  const files = story.voice === "offering" ? (gps[0]?.formDFiles ?? []) : [];
  const file = projects[0]?.formDFile ?? (files.length > 0 ? pick(random, files) : "adv");
  return `https://filings.example/${file}/${number}`;
}

function someTags({ story, gps, projects }: Occasion): string[] {
  if (story.voice === "market" && gps.length === 0) return ["market_report"];
  if (story.voice !== "offering") return [];
  if (story.type === "general_solicitation") return ["reg_d_506c"];
  const rules = (projects[0] ?? gps[0])?.tags.filter((tag) => tag.startsWith("reg_d_")) ?? [];
  return story.type === "offering_amended" ? [...rules, "amended"] : rules;
}
