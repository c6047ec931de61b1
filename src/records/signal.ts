/** A market signal: something that happened on a date, such as an offering, a sale or a fund close. */
import { Type, type Static } from "./schema.ts";
import { filterableCommon, gps, labels, origin } from "./common.ts";
import { equality, type Filterable, onMembers } from "./filterable.ts";
import { date, dateOrTime, id, link, list, oneOf, orNull, text, whole } from "./fields.ts";
import { amountBases, propertyTypes, signalTypes } from "./vocabulary.ts";

export const signalMembers = {
  id: id("signal", "Stable id of the signal."),
  type: oneOf("What happened.", signalTypes),
  title: text("Title of the signal, in one line."),
  summary: orNull(text("Summary of the signal, in one paragraph.", 10_000)),
  date: date("Date of the event, as precisely as known."),
  published_at: orNull(dateOrTime("When the event was published, as precisely as known.")),
  amount_usd: orNull(
    whole("Amount in whole US dollars; negative for a decrease.", -Number.MAX_SAFE_INTEGER),
  ),
  amount_basis: orNull(oneOf("What `amount_usd` measures.", amountBases)),
  market: orNull(text("Title of the metropolitan area concerned.", 100)),
  property_types: list("Property types concerned.", oneOf("A property type.", propertyTypes)),
  project_ids: list("Ids of the projects concerned.", id("project", "Id of a project.")),
  url: orNull(link("Page with more about the event.")),
  ...labels,
  ...origin,
};

export const Signal = Type.Object({ ...signalMembers, gps }, { additionalProperties: false });
export type Signal = Static<typeof Signal>;

/** Conditions on a signal. Market, tags, themes and property types are the signal's own, not its GP's. */
const filterableSignal = {
  gp_id: { by: "gpId" },
  project_id: equality<Signal>(
    (signal) => signal.project_ids,
    "Id of a project that the signal concerns.",
    { as: "id" },
  ),
  has_gp: { by: "hasGp" },
  ...onMembers(signalMembers, ["type"]),
  market: equality<Signal>(
    (signal) => signal.market,
    "The market of the signal: its title, one of its cities, or a city and a state.",
    { as: "market" },
  ),
  tag: equality<Signal>(
    ({ tags, property_types }) => [...tags, ...property_types],
    "A tag or property type of the signal, as a whole value.",
  ),
  theme: equality<Signal>((signal) => signal.themes, "A theme of the signal, as a whole value."),
  property_type: equality<Signal>((signal) => signal.property_types, "Property type concerned.", {
    values: propertyTypes,
  }),
  ...onMembers(signalMembers, ["date", "published_at", "amount_usd", "amount_basis"]),
  id: { by: "id" },
  ...filterableCommon,
} satisfies Filterable<Signal>;

export const signalDeclaration = {
  meaning: "A signal is something that happened on a date.",
  members: signalMembers,
  schema: Signal,
  filterable: filterableSignal,
  absent: { type: "other" } satisfies Partial<Signal>,
  brief: [
    "id",
    "type",
    "title",
    "date",
    "amount_usd",
    "market",
    "property_types",
    "gps",
  ] satisfies readonly (keyof Signal)[],
};
