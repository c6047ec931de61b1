/** What a signal tells: its headlines, and what its amount counts. */
import type { amountBases, signalTypes } from "#records/vocabulary.ts";
import { phrases } from "./lists.ts";
import { template, type Template } from "./templates.ts";

export type SignalType = (typeof signalTypes)[number];
type AmountBasis = (typeof amountBases)[number];

/** Who says so: a notice of an offering, an adviser's report, or the press about a deal, a site, people, a market. */
type Voice = "offering" | "adviser" | "deal" | "site" | "people" | "market";

export interface Story {
  type: SignalType;
  voice: Voice;
  basis: AmountBasis | null;
  /** The amount as a share of what the GP manages or the project costs. */
  share: number;
  /** Headlines that name the amount, and those that do not; one list may be empty. */
  counted: readonly Template[];
  plain: readonly Template[];
}

export const headlines = (text: string) => (text === "" ? [] : phrases(text).map(template));

/** An entry of a table of stories by type. */
export function story(
  type: SignalType,
  voice: Voice,
  basis: AmountBasis | null,
  share: number,
  counted: string,
  plain: string,
): readonly [SignalType, Story] {
  return [
    type,
    { type, voice, basis, share, counted: headlines(counted), plain: headlines(plain) },
  ];
}

/** What happens to a whole market, whoever owns there. */
export const marketStory: Story = {
  type: "news",
  voice: "market",
  basis: null,
  share: 0,
  counted: [],
  plain: headlines(`
    Asking rents for {property} in {city} rise {percent}% over the year
    Vacancy of {property} in {city} falls to {percent}%
    Completions of {property} in {city} fall by {percent}%
    Sales of {property} in {city} grow {percent}% in the quarter
    {city} council passes new rules for {property}
  `),
};

/** A second sentence for a summary, by voice. */
export const remarks: Readonly<Record<Voice, readonly string[]>> = {
  offering: [
    "The notice was reported to the SEC.",
    "The minimum investment is $50,000.",
    "The filing names no placement agent.",
    "A notice is not proof that the money was raised.",
  ],
  adviser: ["The figure is from its latest Form ADV.", "The report covers all private funds."],
  deal: [
    "The seller was not named.",
    "The property was 94% leased.",
    "The buyer plans to renew interiors and common areas.",
    "A regional bank provided the debt.",
  ],
  site: [
    "Completion is expected within two years.",
    "The general contractor was chosen by tender.",
    "The site had stood empty for a decade.",
  ],
  people: ["The change takes effect at once.", "The position is new."],
  market: ["Brokers expect the same for the next quarter.", "The figures cover the last quarter."],
};
