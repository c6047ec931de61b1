/** A General Partner: the firm that raises and runs the money. */
import type { embeddedKinds } from "./kinds.ts";
import { Type, type Static, type TSchema } from "./schema.ts";
import { ExternalIds, filterableCommon, labels, markets, onExternalIds, origin } from "./common.ts";
import { date, id, link, list, oneOf, orNull, text, whole } from "./fields.ts";
import { equality, type Filterable, onMembers, range } from "./filterable.ts";
import { principalMembers } from "./principal.ts";
import { signalMembers } from "./signal.ts";
import { fundStructures, propertyTypes, strategies } from "./vocabulary.ts";

/** A fund of a GP, as regulatory filings report it. */
export const Fund = Type.Object(
  {
    name: text("Name of the fund."),
    type: orNull(text("Type of the fund, in the words of the filing.")),
    structure: orNull(oneOf("Whether the fund is a master or a feeder fund.", fundStructures)),
    gross_assets_usd: orNull(whole("Gross assets, in whole US dollars.")),
    as_of: orNull(date("Date of the filing that reports `gross_assets_usd`.")),
    offered_usd: orNull(whole("Total amount offered to investors, in whole US dollars.")),
    sold_usd: orNull(whole("Part of the offering reported sold, in whole US dollars.")),
    first_sale_date: orNull(date("Date of the first sale.")),
    external_ids: ExternalIds,
  },
  { additionalProperties: false },
);
export type Fund = Static<typeof Fund>;

/** Maximum number of funds of a GP that are published. */
export const fundsMax = 100;

const sizeOf = ({ gross_assets_usd, sold_usd }: Fund) => gross_assets_usd ?? sold_usd ?? -1;

/** Compares funds by gross assets, largest first, and then by name. The amount sold stands in for unknown assets. */
export const largestFirst = (a: Fund, b: Fund): number =>
  sizeOf(b) - sizeOf(a) || (a.name < b.name ? -1 : Number(a.name > b.name));

/** Members of a GP as stored. Its principals and signals are embedded when it is served. */
export const gpMembers = {
  id: id("gp", "Stable id of the GP."),
  former_ids: list("Former ids: those of GPs that turned out to be this GP.", Type.String()),
  name: text("Name by which the GP is known."),
  legal_name: orNull(text("Legal name, as registered.")),
  aliases: list("Other names of the GP, which a search also finds.", text("An alias.")),
  description: orNull(text("What the GP does.", 10_000)),
  website: orNull(link("Website of the GP.")),
  hq_city: orNull(text("City of the head office.", 200)),
  hq_state: orNull(text("State of the head office, two letters in the US.", 100)),
  hq_country: orNull(
    text("Country of the head office, normally an ISO 3166-1 alpha-2 code such as US.", 100),
  ),
  founded_year: orNull(whole("Year in which the GP was founded.", 1600, 2200)),
  aum_usd: orNull(whole("Assets under management, in whole US dollars.")),
  aum_as_of: orNull(date("Date of `aum_usd`.")),
  raised_to_date_usd: orNull(
    whole("Capital raised so far, or reported sold in filings, in whole US dollars."),
  ),
  strategies: list("How the GP invests.", oneOf("A strategy.", strategies)),
  property_types: list("What the GP invests in.", oneOf("A property type.", propertyTypes)),
  ...labels,
  markets,
  external_ids: ExternalIds,
  funds: list("Funds of the GP, largest first, at most 100.", Fund),
  funds_total: whole("Total number of the GP's funds."),
  ...origin,
};

type EmbeddedKind = (typeof embeddedKinds)[number];

const embedded = {
  principals: list(
    "Principals of the GP by name, at most 100, without `gps`, `tags`, `themes`, `markets`.",
    Type.Object(principalMembers, { additionalProperties: false }),
  ),
  principals_total: whole("Total number of the GP's principals."),
  signals: list(
    "Signals of the GP, newest first, at most 100, without `gps`.",
    Type.Object(signalMembers, { additionalProperties: false }),
  ),
  signals_total: whole("Total number of the GP's signals."),
} satisfies Record<`${EmbeddedKind}s` | `${EmbeddedKind}s_total`, TSchema>;

export const Gp = Type.Object({ ...gpMembers, ...embedded }, { additionalProperties: false });
export type Gp = Static<typeof Gp>;

const { principals: _principals, signals: _signals, ...totals } = embedded;

/** A GP in a list, without its principals and signals. */
export const ListedGp = Type.Object({ ...gpMembers, ...totals }, { additionalProperties: false });

export const filterableGp = {
  market: equality<Gp>(
    (gp) => gp.markets,
    "A market of the GP: its title, one of its cities, or a city and a state.",
    { as: "market" },
  ),
  tag: equality<Gp>(
    ({ tags, strategies, property_types }) => [...tags, ...strategies, ...property_types],
    "A tag, strategy or property type of the GP, as a whole value.",
  ),
  theme: equality<Gp>((gp) => gp.themes, "A theme of the GP, as a whole value."),
  strategy: equality<Gp>((gp) => gp.strategies, "How the GP invests.", { values: strategies }),
  property_type: equality<Gp>((gp) => gp.property_types, "Property type the GP invests in.", {
    values: propertyTypes,
  }),
  ...onMembers(gpMembers, ["hq_city", "hq_state", "hq_country"]),
  ...onExternalIds(["cik", "crd", "lei", "sec_number", "form_d_file", "adv_fund"]),
  ...onMembers(gpMembers, ["aum_usd", "raised_to_date_usd", "founded_year"]),
  aum_as_of: range<Gp>((gp) => gp.aum_as_of, "Date of `aum_usd`.", { isSortable: false }),
  signal: { by: "someSignal" },
  id: { by: "id" },
  ...filterableCommon,
} satisfies Filterable<Gp>;

export const gpDeclaration = {
  meaning: "A GP (General Partner) raises and runs money in real estate.",
  members: gpMembers,
  schema: Gp,
  filterable: filterableGp,
  absent: { funds_total: 0 },
  brief: [
    "id",
    "name",
    "hq_city",
    "hq_state",
    "aum_usd",
    "strategies",
    "property_types",
    "markets",
    "principals_total",
    "signals_total",
  ] satisfies readonly (keyof Gp)[],
};
