/** A project: a property that is offered, bought, built or renovated. */
import { Type, type Static } from "./schema.ts";
import { ExternalIds, filterableCommon, gps, labels, onExternalIds, origin } from "./common.ts";
import { equality, type Filterable, onMembers } from "./filterable.ts";
import { date, decimal, id, oneOf, orNull, text, whole } from "./fields.ts";
import {
  marketBases,
  projectStatuses,
  projectTypes,
  propertyTypes,
  strategies,
} from "./vocabulary.ts";

const projectMembers = {
  id: id("project", "Stable id of the project."),
  name: text("Name of the project."),
  type: oneOf("Kind of project.", projectTypes),
  property_type: oneOf("Kind of property.", propertyTypes),
  status: oneOf("Status of the project.", projectStatuses),
  address: orNull(text("Address of the project: street and number.")),
  city: orNull(text("City of the project.", 200)),
  state: orNull(text("State of the project, two letters in the US.", 100)),
  zip: orNull(text("Postal code of the project.", 20)),
  country: orNull(text("Country of the project, normally an ISO 3166-1 code such as US.", 100)),
  market: orNull(text("Title of the metropolitan area.", 100)),
  market_basis: orNull(oneOf("How `market` was determined.", marketBases)),
  latitude: orNull(decimal("Latitude in degrees north.", -90, 90)),
  longitude: orNull(decimal("Longitude in degrees east.", -180, 180)),
  units: orNull(whole("Number of dwellings.")),
  affordable_units: orNull(whole("Number of dwellings let or sold below market.")),
  square_feet: orNull(whole("Floor area in square feet.")),
  total_amount_usd: orNull(whole("Total amount of the project, in whole US dollars.")),
  raised_amount_usd: orNull(
    whole(
      "Amount raised for the project so far, or reported sold in filings, in whole US dollars.",
    ),
  ),
  start_date: orNull(date("Date of the project's start, as precisely as known.")),
  completion_date: orNull(date("Date of completion, actual or planned.")),
  first_sale_date: orNull(date("Date of the first sale of a share.")),
  strategy: orNull(oneOf("How the project is meant to earn money.", strategies)),
  ...labels,
  external_ids: ExternalIds,
  ...origin,
};

export const Project = Type.Object({ ...projectMembers, gps }, { additionalProperties: false });
export type Project = Static<typeof Project>;

/** Conditions on a project. Market, tags, themes and property type are the project's own, not its GP's. */
const filterableProject = {
  name: { by: "name" },
  gp_id: { by: "gpId" },
  has_gp: { by: "hasGp" },
  ...onMembers(projectMembers, ["type", "status", "property_type", "strategy"]),
  market: equality<Project>(
    (project) => project.market,
    "The market of the project: its title, one of its cities, or a city and a state.",
    { as: "market" },
  ),
  ...onMembers(projectMembers, ["market_basis"]),
  tag: equality<Project>(
    ({ tags, property_type, strategy }) =>
      strategy === null ? [...tags, property_type] : [...tags, property_type, strategy],
    "A tag, strategy or property type of the project, as a whole value.",
  ),
  theme: equality<Project>(({ themes }) => themes, "A theme of the project, as a whole value."),
  ...onMembers(projectMembers, ["city", "state", "zip", "country"]),
  ...onExternalIds(["cik", "form_d_file", "hud_id"]),
  ...onMembers(projectMembers, [
    "units",
    "affordable_units",
    "square_feet",
    "total_amount_usd",
    "raised_amount_usd",
    "start_date",
    "completion_date",
    "first_sale_date",
  ]),
  id: { by: "id" },
  ...filterableCommon,
} satisfies Filterable<Project>;

export const projectDeclaration = {
  meaning: "A project is a property that is offered, bought, built or renovated.",
  members: projectMembers,
  schema: Project,
  filterable: filterableProject,
  absent: { type: "other", property_type: "unknown", status: "unknown" } satisfies Partial<Project>,
  brief: [
    "id",
    "name",
    "type",
    "property_type",
    "status",
    "city",
    "state",
    "market",
    "units",
    "total_amount_usd",
    "start_date",
    "completion_date",
    "gps",
  ] satisfies readonly (keyof Project)[],
};
