/** The tools that list GPs, signals and projects by their own values, in any combination. */
import { setImmediate } from "node:timers/promises";
import type { Caller, Found, Outcome } from "#gateway/gateway.ts";
import { served } from "#gateway/reads.ts";
import { hintsFor } from "#operations/hints.ts";
import { filters, type Operation, parameterBounds } from "#operations/operation.ts";
import { datePattern } from "#records/fields.ts";
import { Gp } from "#records/gp.ts";
import { Project } from "#records/project.ts";
import { Signal } from "#records/signal.ts";
import { projectStatuses, projectTypes, propertyTypes, signalTypes } from "#records/vocabulary.ts";
import {
  type ListedKind,
  type Listing,
  type Listings,
  openListings,
  projectDates,
} from "#search/listings.ts";
import type { ReadModel } from "#search/read-model.ts";
import type { ArgumentsSchema } from "./arguments.ts";
import {
  answerFrom,
  makeTool,
  recordSchema,
  type Tool,
  type ToolAnswer,
  type ToolDependencies,
  type ArgumentValues,
} from "./tool.ts";
import { type Detail, writeAnswer } from "./write-answer.ts";

export function listTools(dependencies: ToolDependencies): Tool[] {
  const listings = openListingsOf(dependencies.model);
  return lists.map((list) =>
    makeTool(dependencies, {
      ...list,
      item: recordSchema(list),
      required: [],
      hasDetail: true,
      answer: (caller, values) => askList(dependencies.gateway, listings, list, caller, values),
    }),
  );
}

const texts = (description: string) =>
  ({
    type: "array",
    description: `${description} With several, any of them matches.`,
    items: { type: "string", minLength: 1, maxLength: filters.tag.lengthMax },
    maxItems: parameterBounds.valuesMax,
  }) as const;

const chosen = (description: string, values: readonly string[]) =>
  ({
    type: "array",
    description: `${description} With several, any of them matches.`,
    items: { type: "string", enum: values },
    maxItems: parameterBounds.valuesMax,
  }) as const;

const date = (description: string) =>
  ({ type: "string", description, pattern: datePattern }) as const;

const gpName = {
  type: "string",
  description: filters.gp_name.meaning,
  minLength: 1,
  maxLength: filters.gp_name.lengthMax,
} as const;

interface List {
  name: string;
  kind: ListedKind;
  record: Operation["record"];
  title: string;
  description: string;
  properties: ArgumentsSchema["properties"];
}

const lists: readonly List[] = [
  {
    name: "list_gps",
    kind: "gp",
    record: Gp,
    title: "General Partners by market, tag, theme, property type or activity",
    description:
      "GPs that satisfy all given arguments, in any combination; without arguments, all GPs. By name, in the order of fetch_gp.",
    properties: {
      gp_name: gpName,
      market: texts("A market of the GP: its title, one of its cities, or a city and a state."),
      tag: texts("A tag, strategy or property type of the GP, as a whole value."),
      theme: texts("A theme of the GP, as a whole value."),
      property_type: chosen("Property type the GP invests in.", propertyTypes),
      since: date("First day: the GP has a signal on or after it. YYYY, YYYY-MM or YYYY-MM-DD."),
      until: date("Last day of such a signal."),
    },
  },
  {
    name: "list_signals",
    kind: "signal",
    record: Signal,
    title: "Market signals by market, tag, theme, property type, kind or date",
    description:
      "Signals that satisfy all given arguments, in any combination, newest first. Market, tags, themes and property types are the signal's own, not its GP's.",
    properties: {
      gp_name: gpName,
      market: texts(
        "The market of the signal: its title, one of its cities, or a city and a state.",
      ),
      tag: texts("A tag or property type of the signal, as a whole value."),
      theme: texts("A theme of the signal, as a whole value."),
      property_type: chosen("Property type concerned.", propertyTypes),
      type: chosen("What happened.", signalTypes),
      since: date("First day. YYYY, YYYY-MM or YYYY-MM-DD."),
      until: date("Last day."),
    },
  },
  {
    name: "list_projects",
    kind: "project",
    record: Project,
    title: "Projects by market, tag, theme, property type, status or date",
    description:
      "Projects that satisfy all given arguments, in any combination, by name. Market, tags, themes and property type are the project's own, not its GP's.",
    properties: {
      gp_name: gpName,
      market: texts(
        "The market of the project: its title, one of its cities, or a city and a state.",
      ),
      tag: texts("A tag, strategy or property type of the project, as a whole value."),
      theme: texts("A theme of the project, as a whole value."),
      property_type: chosen("Kind of property.", propertyTypes),
      type: chosen("Kind of project.", projectTypes),
      status: chosen("Status of the project.", projectStatuses),
      date: {
        type: "string",
        description: "Date of the project that since and until refer to.",
        enum: projectDates,
        default: projectDates[0],
      },
      since: date("First day. YYYY, YYYY-MM or YYYY-MM-DD."),
      until: date("Last day."),
    },
  },
];

async function askList(
  gateway: ToolDependencies["gateway"],
  listings: ListingsOf,
  { name, kind }: List,
  caller: Caller,
  values: ArgumentValues,
): Promise<Outcome<ToolAnswer>> {
  const outcome = await gateway.counted({ caller }, (): Found<null> => ({
    kind: "answer",
    answer: null,
  }));
  return answerFrom(outcome, async () => {
    const { limit, offset, detail, ...filter } = values as unknown as ListValues;
    const { gp_name, property_type, type, status, date, since, until } = filter;
    if (since !== undefined && until !== undefined && isAfter(since, until))
      return wrongOrder(since, until);
    const { model, listing } = await listings(kind);
    const selection = listing.select(
      {
        ...filter,
        name: gp_name?.trim(),
        propertyTypes: property_type,
        types: type,
        statuses: status,
        dateOf: date,
      },
      { limit, offset },
    );
    const hints = hintsFor(listing, { offset }, selection, false, kind === "gp" ? "GP" : kind);
    const found = { kind, ...selection, limit, offset, hints };
    const content = writeAnswer(model, found, detail, name);
    return { datasetVersion: model.parts.version, content };
  });
}

/** Reports whether a date is after another. A day is not after the month or year that contains it. */
function isAfter(date: string, other: string): boolean {
  const length = Math.min(date.length, other.length);
  return date.slice(0, length) > other.slice(0, length);
}

const wrongOrder = (since: string, until: string): ToolAnswer => ({
  datasetVersion: null,
  faults: [
    {
      parameter: "since",
      code: "out_of_order",
      detail: `Must not be after 'until', but ${since} is after ${until}. The first day is 'since', the last one 'until'.`,
    },
  ],
});

/** Arguments of all lists. */
interface ListValues {
  gp_name?: string;
  market?: readonly string[];
  tag?: readonly string[];
  theme?: readonly string[];
  property_type?: readonly string[];
  type?: readonly string[];
  status?: readonly string[];
  date?: (typeof projectDates)[number];
  since?: string;
  until?: string;
  limit: number;
  offset: number;
  detail: Detail;
}

/** Returns the listing of a kind in the current dataset, and that dataset. @throws Problem if there is none. */
type ListingsOf = (kind: ListedKind) => Promise<{ model: ReadModel; listing: Listing }>;

/** Longest pause for other requests while the first listing reads a dataset, in ms. */
const sliceMilliseconds = 2;

function openListingsOf(current: ToolDependencies["model"]): ListingsOf {
  const opened = new WeakMap<ReadModel, Promise<Listings>>();
  const open = (model: ReadModel) => {
    let begun = performance.now();
    return openListings(model.parts, async () => {
      if (performance.now() - begun < sliceMilliseconds) return;
      await setImmediate();
      if (current() !== model) throw new Error("The dataset was replaced.");
      begun = performance.now();
    });
  };
  return async (kind) => {
    for (;;) {
      const model = served({ model: current });
      let listings = opened.get(model);
      if (listings === undefined) opened.set(model, (listings = open(model)));
      try {
        const { [kind]: listing } = await listings;
        if (current() === model) return { model, listing };
      } catch (error) {
        // A replaced dataset is no longer wanted, and neither are its errors.
        if (current() === model) throw error;
      }
    }
  };
}
