/** One invented record of each kind, and what an answer says of its dataset, for the reference. */
import { apiVersion } from "#operations/versions.ts";
import type { RecordOf } from "#records/declarations.ts";
import type { Explanation } from "#records/explanation.ts";
import type { RecordKind } from "#records/kinds.ts";

const gps = [{ id: "gp_4n8w2c6t0y5k1r7d", name: "Harrow Lane Residential Partners" }];
const provenance = {
  source: "example",
  basis: "related_entity",
  confidence: 0.8,
  url: "https://source.example/filings/7041",
} as const;
const updatedAt = "2026-10-02T22:10:05Z";

const principal: RecordOf<"principal"> = {
  id: "pr_9b3h7m1x5q0z4f8j",
  name: "Marisol A. Quintero-Blake",
  first_name: "Marisol",
  middle_name: "A.",
  last_name: "Quintero-Blake",
  title: "Managing Partner",
  roles: ["executive_officer"],
  city: "Austin",
  state: "TX",
  country: "US",
  email: null,
  linkedin_url: null,
  ownership_band: "25_50",
  start_date: "2014-06",
  first_seen_date: "2019-02-11",
  last_seen_date: "2026-10-02",
  external_ids: {},
  provenance,
  updated_at: updatedAt,
  tags: ["reg_d_506c"],
  themes: ["build_to_rent"],
  markets: ["Austin-Round Rock, TX"],
  gps,
};

const signal: RecordOf<"signal"> = {
  id: "sg_2k6v0s4e8a1p5g9n",
  type: "new_offering",
  title: "Harrow Lane Residential Partners offers Juniper Row, LP",
  summary: null,
  date: "2026-09-28",
  published_at: "2026-10-02T22:10:05Z",
  amount_usd: 24_500_000,
  amount_basis: "offering_total",
  market: "Austin-Round Rock, TX",
  property_types: ["build_to_rent"],
  project_ids: ["pj_7r1d5y9t3w6c0m4h"],
  url: "https://source.example/filings/7041",
  tags: ["reg_d_506c"],
  themes: ["build_to_rent"],
  provenance,
  updated_at: updatedAt,
  gps,
};

const project: RecordOf<"project"> = {
  id: "pj_7r1d5y9t3w6c0m4h",
  name: "Juniper Row",
  type: "property_offering",
  property_type: "build_to_rent",
  status: "raising",
  address: null,
  city: "Round Rock",
  state: "TX",
  zip: null,
  country: "US",
  market: "Austin-Round Rock, TX",
  market_basis: "issuer_address",
  latitude: null,
  longitude: null,
  units: 148,
  affordable_units: null,
  square_feet: null,
  total_amount_usd: 24_500_000,
  raised_amount_usd: 9_100_000,
  start_date: "2026",
  completion_date: null,
  first_sale_date: "2026-09-28",
  strategy: "development",
  tags: ["reg_d_506c"],
  themes: ["build_to_rent"],
  external_ids: { form_d_file: ["021-000000"] },
  provenance,
  updated_at: updatedAt,
  gps,
};

const gp: RecordOf<"gp"> = {
  id: gps[0]!.id,
  former_ids: [],
  name: gps[0]!.name,
  legal_name: "Harrow Lane Residential Partners, LLC",
  aliases: ["Harrow Lane Residential GP III, LLC"],
  description: null,
  website: "https://harrowlane.example",
  hq_city: "Austin",
  hq_state: "TX",
  hq_country: "US",
  founded_year: 2014,
  aum_usd: 612_000_000,
  aum_as_of: "2026-03-31",
  raised_to_date_usd: 187_250_000,
  strategies: ["value_add", "development"],
  property_types: ["multifamily", "build_to_rent"],
  tags: ["reg_d_506c"],
  themes: ["build_to_rent"],
  markets: ["Austin-Round Rock, TX"],
  external_ids: { cik: ["0000000000"] },
  funds: [
    {
      name: "Harrow Lane Residential Fund III, LP",
      type: "Real Estate Fund",
      structure: null,
      gross_assets_usd: 243_000_000,
      as_of: "2026-03-31",
      offered_usd: 250_000_000,
      sold_usd: 187_250_000,
      first_sale_date: "2024-06-14",
      external_ids: { form_d_file: ["021-000000"] },
    },
  ],
  funds_total: 1,
  provenance,
  updated_at: updatedAt,
  principals: [],
  principals_total: 0,
  signals: [],
  signals_total: 0,
};

export const exampleRecords: { [K in RecordKind]: RecordOf<K> } = {
  gp,
  principal,
  signal,
  project,
};

export const exampleExplanation: Explanation = {
  id: project.id,
  kind: "project",
  name: project.name,
  statement: `${gp.name}: named among the related persons of a filing, confidence 80 %.`,
  provenance,
  gps,
  evidence: [
    {
      document: {
        form: "Form D",
        number: "0000000000-26-007041",
        filer: "Juniper Row, LP",
        filed_on: "2026-09-28",
        url: provenance.url,
      },
      field: "RELATEDPERSONNAME",
      text: "Harrow Lane Residential GP III, LLC",
      firm: "Harrow Lane Residential GP III, LLC",
      basis: provenance.basis,
      confidence: provenance.confidence,
      taken: true,
      why: "it manages other issuers, too",
    },
  ],
  documents_left_out: 0,
};

export const exampleMeta = {
  api_version: apiVersion,
  dataset_version: "20261120T030000Z-9f3c2a7e",
  dataset_updated_at: "2026-11-20T03:00:00Z",
  hints: [],
};
