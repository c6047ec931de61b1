/** The API's types, written by clients/write-types.ts from openapi.json: change them there. */

export type Strategy =
  | "core"
  | "core_plus"
  | "value_add"
  | "opportunistic"
  | "debt"
  | "distressed"
  | "development"
  | "fund_of_funds"
  | "secondaries"
  | "co_investment"
  | (string & {});

export type PropertyType =
  | "multifamily"
  | "single_family_rental"
  | "build_to_rent"
  | "student_housing"
  | "senior_housing"
  | "manufactured_housing"
  | "affordable_housing"
  | "residential_other"
  | "industrial"
  | "cold_storage"
  | "industrial_outdoor_storage"
  | "office"
  | "medical_office"
  | "life_science"
  | "retail"
  | "net_lease"
  | "hospitality"
  | "self_storage"
  | "data_center"
  | "land"
  | "farmland"
  | "parking"
  | "marina"
  | "mixed_use"
  | "healthcare"
  | "diversified"
  | "unknown"
  | (string & {});

/** Ids in other registers and systems, by kind of id. */
export interface ExternalIds {
  cik?: string[];
  crd?: string[];
  lei?: string[];
  sec_number?: string[];
  form_d_file?: string[];
  adv_fund?: string[];
  hud_id?: string[];
  other?: string[];
}

export type FundStructure =
  | "master"
  | "feeder"
  | (string & {});

export interface Fund {
  /** Name of the fund. */
  name: string;
  /** Type of the fund, in the words of the filing. */
  type: string | null;
  /**
   * Whether the fund is a master or a feeder fund.
   *
   * - `master`: It invests what its feeder funds collect from investors.
   * - `feeder`: It invests in a master fund, which reports the same money.
   */
  structure: FundStructure | null;
  /** Gross assets, in whole US dollars. */
  gross_assets_usd: number | null;
  /** Date of the filing that reports `gross_assets_usd`. */
  as_of: string | null;
  /** Total amount offered to investors, in whole US dollars. */
  offered_usd: number | null;
  /** Part of the offering reported sold, in whole US dollars. */
  sold_usd: number | null;
  /** Date of the first sale. */
  first_sale_date: string | null;
  /** Ids in other registers and systems, by kind of id. */
  external_ids: ExternalIds;
}

export type ProvenanceBasis =
  | "stated"
  | "adv_file_number"
  | "sponsor_text"
  | "adv_fund_name"
  | "related_entity"
  | "cluster"
  | "series_master"
  | "related_entity_deal"
  | "issuer_stem"
  | "named_sponsor"
  | "corrected"
  | (string & {});

/** Where the record comes from and how certain it is. */
export interface Provenance {
  /** Name of the import that brought the record. */
  source: string;
  /**
   * What the record is based on.
   *
   * - `stated`: The source states it.
   * - `adv_file_number`: The GP reports the file number of the offering in its Form ADV.
   * - `sponsor_text`: A firm is named in the text of the filing, such as the signer's title.
   * - `adv_fund_name`: The GP reports a fund of that name in its Form ADV.
   * - `related_entity`: The filing names the firm among its related persons.
   * - `cluster`: Several filings share people and addresses.
   * - `series_master`: The issuer's name says that it is a series of the GP.
   * - `related_entity_deal`: The filing names a related entity that exists for this deal alone.
   * - `issuer_stem`: Only the issuer's name points to the GP.
   * - `named_sponsor`: A public register names the sponsor.
   * - `corrected`: The operator corrected what the source says.
   */
  basis: ProvenanceBasis;
  /** Confidence that the record is right, from 0 to 1. */
  confidence: number;
  /** Page of the source that the record comes from. */
  url: string | null;
}

export type Role =
  | "executive_officer"
  | "director"
  | "promoter"
  | "general_partner"
  | "managing_member"
  | "control_person"
  | "owner"
  | "compliance"
  | "signer"
  | "other"
  | (string & {});

export type OwnershipBand =
  | "under_5"
  | "5_10"
  | "10_25"
  | "25_50"
  | "50_75"
  | "over_75"
  | (string & {});

export interface GpPrincipal {
  /** Stable id of the principal. */
  id: string;
  /** Full name of the person. */
  name: string;
  /** First name. */
  first_name: string | null;
  /** Middle name. */
  middle_name: string | null;
  /** Last name. */
  last_name: string | null;
  /** Job title, as the source writes it. */
  title: string | null;
  /** Roles of the person at the GP or at one of its vehicles. */
  roles: Role[];
  /** City of the office. */
  city: string | null;
  /** State of the office. */
  state: string | null;
  /** Country of the office, normally an ISO 3166-1 alpha-2 code such as US. */
  country: string | null;
  /** Business email address. */
  email: string | null;
  /** LinkedIn page of the person. */
  linkedin_url: string | null;
  /**
   * Share of the GP owned, in per cent.
   *
   * - `under_5`: Less than 5 %.
   * - `5_10`: 5 % or more, less than 10 %.
   * - `10_25`: 10 % or more, less than 25 %.
   * - `25_50`: 25 % or more, less than 50 %.
   * - `50_75`: 50 % or more, less than 75 %.
   * - `over_75`: 75 % or more.
   */
  ownership_band: OwnershipBand | null;
  /** Date when the person started at the GP, as precisely as known. */
  start_date: string | null;
  /** Date when the source first named the person. */
  first_seen_date: string | null;
  /** Date when the source last named the person. */
  last_seen_date: string | null;
  /** Ids in other registers and systems, by kind of id. */
  external_ids: ExternalIds;
  /** Where the record comes from and how certain it is. */
  provenance: Provenance;
  /** Time when the content last changed, in UTC. */
  updated_at: string;
}

export type SignalType =
  | "new_offering"
  | "offering_amended"
  | "capital_raised"
  | "first_sale"
  | "fully_subscribed"
  | "general_solicitation"
  | "new_vehicle"
  | "new_principal"
  | "aum_change"
  | "fund_reported"
  | "acquisition"
  | "disposition"
  | "financing"
  | "fund_close"
  | "leadership_change"
  | "project_announced"
  | "permit_issued"
  | "construction_started"
  | "project_completed"
  | "news"
  | "other"
  | (string & {});

export type AmountBasis =
  | "offering_total"
  | "sold_to_date"
  | "sold_delta"
  | "regulatory_aum"
  | "gross_assets"
  | "price"
  | "loan"
  | "other"
  | (string & {});

export interface GpSignal {
  /** Stable id of the signal. */
  id: string;
  /**
   * What happened.
   *
   * - `new_offering`: An offering of securities was filed for the first time.
   * - `offering_amended`: A filed offering was changed, such as its size or its people.
   * - `capital_raised`: More of an offering is reported sold than in its last filing.
   * - `first_sale`: The first sale of an offering is reported.
   * - `fully_subscribed`: The whole offering is reported sold.
   * - `general_solicitation`: An offering is advertised to the public, as Regulation D allows under Rule 506(c).
   * - `new_vehicle`: The GP formed a fund or company that was not known before.
   * - `new_principal`: A person is named among the GP's people for the first time.
   * - `aum_change`: The reported assets under management rose or fell.
   * - `fund_reported`: A fund appears in the GP's own report to its regulator.
   * - `acquisition`: A property or portfolio was bought.
   * - `disposition`: A property or portfolio was sold.
   * - `financing`: A loan or other financing was agreed.
   * - `fund_close`: A fund held its first, an interim or its final close.
   * - `leadership_change`: A leader of the GP joined, left or changed roles.
   * - `project_announced`: A project was made public.
   * - `permit_issued`: An authority permitted construction.
   * - `construction_started`: Work on the site began.
   * - `project_completed`: A project was finished.
   * - `news`: The GP was in the news for a reason that no other type covers.
   * - `other`: Something else happened.
   */
  type: SignalType;
  /** Title of the signal, in one line. */
  title: string;
  /** Summary of the signal, in one paragraph. */
  summary: string | null;
  /** Date of the event, as precisely as known. */
  date: string;
  /** When the event was published, as precisely as known. */
  published_at: string | null;
  /** Amount in whole US dollars; negative for a decrease. */
  amount_usd: number | null;
  /**
   * What `amount_usd` measures.
   *
   * - `offering_total`: The size of the whole offering, sold or not.
   * - `sold_to_date`: The part of an offering reported sold so far.
   * - `sold_delta`: The part of an offering reported sold since its last filing.
   * - `regulatory_aum`: Regulatory assets under management, as Form ADV defines them.
   * - `gross_assets`: The gross assets of a fund.
   * - `price`: The price paid for a property or portfolio.
   * - `loan`: The principal of a loan.
   * - `other`: Some other amount; the title or summary says which.
   */
  amount_basis: AmountBasis | null;
  /** Title of the metropolitan area concerned. */
  market: string | null;
  /** Property types concerned. */
  property_types: PropertyType[];
  /** Ids of the projects concerned. */
  project_ids: string[];
  /** Page with more about the event. */
  url: string | null;
  /** Facts such as `reg_d_506c`, from an open vocabulary. */
  tags: string[];
  /** Investment themes such as `opportunity_zones`, from an open vocabulary. */
  themes: string[];
  /** Where the record comes from and how certain it is. */
  provenance: Provenance;
  /** Time when the content last changed, in UTC. */
  updated_at: string;
}

export interface Gp {
  /** Stable id of the GP. */
  id: string;
  /** Former ids: those of GPs that turned out to be this GP. */
  former_ids: string[];
  /** Name by which the GP is known. */
  name: string;
  /** Legal name, as registered. */
  legal_name: string | null;
  /** Other names of the GP, which a search also finds. */
  aliases: string[];
  /** What the GP does. */
  description: string | null;
  /** Website of the GP. */
  website: string | null;
  /** City of the head office. */
  hq_city: string | null;
  /** State of the head office, two letters in the US. */
  hq_state: string | null;
  /** Country of the head office, normally an ISO 3166-1 alpha-2 code such as US. */
  hq_country: string | null;
  /** Year in which the GP was founded. */
  founded_year: number | null;
  /** Assets under management, in whole US dollars. */
  aum_usd: number | null;
  /** Date of `aum_usd`. */
  aum_as_of: string | null;
  /** Capital raised so far, or reported sold in filings, in whole US dollars. */
  raised_to_date_usd: number | null;
  /** How the GP invests. */
  strategies: Strategy[];
  /** What the GP invests in. */
  property_types: PropertyType[];
  /** Facts such as `reg_d_506c`, from an open vocabulary. */
  tags: string[];
  /** Investment themes such as `opportunity_zones`, from an open vocabulary. */
  themes: string[];
  /** Metropolitan areas by title, such as `Austin-Round Rock, TX`. */
  markets: string[];
  /** Ids in other registers and systems, by kind of id. */
  external_ids: ExternalIds;
  /** Funds of the GP, largest first, at most 100. */
  funds: Fund[];
  /** Total number of the GP's funds. */
  funds_total: number;
  /** Where the record comes from and how certain it is. */
  provenance: Provenance;
  /** Time when the content last changed, in UTC. */
  updated_at: string;
  /** Principals of the GP by name, at most 100, without `gps`, `tags`, `themes`, `markets`. */
  principals: GpPrincipal[];
  /** Total number of the GP's principals. */
  principals_total: number;
  /** Signals of the GP, newest first, at most 100, without `gps`. */
  signals: GpSignal[];
  /** Total number of the GP's signals. */
  signals_total: number;
}

export interface LinkedGp {
  /** Id of the GP. */
  id: string;
  /** Name of the GP. */
  name: string;
}

export interface Principal extends GpPrincipal {
  /** Facts such as `reg_d_506c`, from an open vocabulary. */
  tags: string[];
  /** Investment themes such as `opportunity_zones`, from an open vocabulary. */
  themes: string[];
  /** Metropolitan areas by title, such as `Austin-Round Rock, TX`. */
  markets: string[];
  /** GPs that this record belongs to; may be empty. */
  gps: LinkedGp[];
}

export interface Signal extends GpSignal {
  /** GPs that this record belongs to; may be empty. */
  gps: LinkedGp[];
}

export type ProjectType =
  | "property_offering"
  | "acquisition"
  | "development"
  | "rehabilitation"
  | "adaptive_reuse"
  | "affordable_housing"
  | "other"
  | (string & {});

export type ProjectStatus =
  | "planned"
  | "raising"
  | "entitled"
  | "under_construction"
  | "completed"
  | "closed"
  | "on_hold"
  | "cancelled"
  | "unknown"
  | (string & {});

export type MarketBasis =
  | "property_address"
  | "issuer_address"
  | "stated"
  | (string & {});

export interface Project {
  /** Stable id of the project. */
  id: string;
  /** Name of the project. */
  name: string;
  /**
   * Kind of project.
   *
   * - `property_offering`: Securities are sold to pay for one property.
   * - `acquisition`: A property is bought as it stands.
   * - `development`: Something new is built.
   * - `rehabilitation`: A building is renovated and keeps its use.
   * - `adaptive_reuse`: A building is converted to another use.
   * - `affordable_housing`: Dwellings are built or kept to be let or sold below market.
   * - `other`: A project of another kind.
   */
  type: ProjectType;
  /**
   * Kind of property.
   *
   * - `multifamily`: Apartment buildings.
   * - `single_family_rental`: Houses for one family, bought to be let.
   * - `build_to_rent`: Houses or communities built to be let.
   * - `student_housing`: Homes for students.
   * - `senior_housing`: Homes for older people, with or without care.
   * - `manufactured_housing`: Parks for manufactured homes.
   * - `affordable_housing`: Homes let or sold below market.
   * - `residential_other`: Homes of another kind, or of several kinds.
   * - `industrial`: Warehouses, logistics and production.
   * - `cold_storage`: Refrigerated warehouses.
   * - `industrial_outdoor_storage`: Yards for vehicles, containers and material.
   * - `office`: Buildings for business and administration, other than medical ones.
   * - `medical_office`: Medical practices and clinics.
   * - `life_science`: Laboratories and the space that goes with them.
   * - `retail`: Shops and shopping centres.
   * - `net_lease`: Buildings whose tenant bears taxes, insurance and upkeep.
   * - `hospitality`: Hotels and other lodging.
   * - `self_storage`: Storage space let to the public.
   * - `data_center`: Buildings for computers.
   * - `land`: Land without buildings, other than farmland.
   * - `farmland`: Land for crops, livestock or timber.
   * - `parking`: Garages and parking lots.
   * - `marina`: Berths for boats.
   * - `mixed_use`: Several uses in one building or project.
   * - `healthcare`: Hospitals and other buildings for care, except medical practices.
   * - `diversified`: Many property types at once.
   * - `unknown`: The source does not say.
   */
  property_type: PropertyType;
  /**
   * Status of the project.
   *
   * - `planned`: Announced, and not yet permitted or financed.
   * - `raising`: Its capital is being raised; in records from filings, the latest filing on one of its offerings reports an unsold amount or an indefinite total.
   * - `entitled`: Its use of the land is approved, and work has not begun.
   * - `under_construction`: Work on the site is in progress.
   * - `completed`: Construction or renovation is finished.
   * - `closed`: The purchase or the offering is closed; in records from filings, all its offerings are reported as fully sold.
   * - `on_hold`: Work or planning has stopped for now.
   * - `cancelled`: The project was given up.
   * - `unknown`: The source does not say.
   */
  status: ProjectStatus;
  /** Address of the project: street and number. */
  address: string | null;
  /** City of the project. */
  city: string | null;
  /** State of the project, two letters in the US. */
  state: string | null;
  /** Postal code of the project. */
  zip: string | null;
  /** Country of the project, normally an ISO 3166-1 code such as US. */
  country: string | null;
  /** Title of the metropolitan area. */
  market: string | null;
  /**
   * How `market` was determined.
   *
   * - `property_address`: The market of the property's own address.
   * - `issuer_address`: The market of the issuer's address, since the source names no property; the property may be elsewhere.
   * - `stated`: The market that the source names.
   */
  market_basis: MarketBasis | null;
  /** Latitude in degrees north. */
  latitude: number | null;
  /** Longitude in degrees east. */
  longitude: number | null;
  /** Number of dwellings. */
  units: number | null;
  /** Number of dwellings let or sold below market. */
  affordable_units: number | null;
  /** Floor area in square feet. */
  square_feet: number | null;
  /** Total amount of the project, in whole US dollars. */
  total_amount_usd: number | null;
  /** Amount raised for the project so far, or reported sold in filings, in whole US dollars. */
  raised_amount_usd: number | null;
  /** Date of the project's start, as precisely as known. */
  start_date: string | null;
  /** Date of completion, actual or planned. */
  completion_date: string | null;
  /** Date of the first sale of a share. */
  first_sale_date: string | null;
  /**
   * How the project is meant to earn money.
   *
   * - `core`: Stable, leased property, held for income with little debt.
   * - `core_plus`: Stable property whose income can still be raised a little.
   * - `value_add`: Property that is improved, re-let or better managed before it is sold.
   * - `opportunistic`: High risk for high return, such as development or turnarounds.
   * - `debt`: Loans and other debt secured by property.
   * - `distressed`: Property or debt in difficulty, bought at a discount.
   * - `development`: New buildings.
   * - `fund_of_funds`: Interests in the funds of others.
   * - `secondaries`: Interests in funds or deals bought from earlier investors.
   * - `co_investment`: Single deals made alongside another sponsor or fund.
   */
  strategy: Strategy | null;
  /** Facts such as `reg_d_506c`, from an open vocabulary. */
  tags: string[];
  /** Investment themes such as `opportunity_zones`, from an open vocabulary. */
  themes: string[];
  /** Ids in other registers and systems, by kind of id. */
  external_ids: ExternalIds;
  /** Where the record comes from and how certain it is. */
  provenance: Provenance;
  /** Time when the content last changed, in UTC. */
  updated_at: string;
  /** GPs that this record belongs to; may be empty. */
  gps: LinkedGp[];
}

export interface ListedGp {
  /** Stable id of the GP. */
  id: string;
  /** Former ids: those of GPs that turned out to be this GP. */
  former_ids: string[];
  /** Name by which the GP is known. */
  name: string;
  /** Legal name, as registered. */
  legal_name: string | null;
  /** Other names of the GP, which a search also finds. */
  aliases: string[];
  /** What the GP does. */
  description: string | null;
  /** Website of the GP. */
  website: string | null;
  /** City of the head office. */
  hq_city: string | null;
  /** State of the head office, two letters in the US. */
  hq_state: string | null;
  /** Country of the head office, normally an ISO 3166-1 alpha-2 code such as US. */
  hq_country: string | null;
  /** Year in which the GP was founded. */
  founded_year: number | null;
  /** Assets under management, in whole US dollars. */
  aum_usd: number | null;
  /** Date of `aum_usd`. */
  aum_as_of: string | null;
  /** Capital raised so far, or reported sold in filings, in whole US dollars. */
  raised_to_date_usd: number | null;
  /** How the GP invests. */
  strategies: Strategy[];
  /** What the GP invests in. */
  property_types: PropertyType[];
  /** Facts such as `reg_d_506c`, from an open vocabulary. */
  tags: string[];
  /** Investment themes such as `opportunity_zones`, from an open vocabulary. */
  themes: string[];
  /** Metropolitan areas by title, such as `Austin-Round Rock, TX`. */
  markets: string[];
  /** Ids in other registers and systems, by kind of id. */
  external_ids: ExternalIds;
  /** Funds of the GP, largest first, at most 100. */
  funds: Fund[];
  /** Total number of the GP's funds. */
  funds_total: number;
  /** Where the record comes from and how certain it is. */
  provenance: Provenance;
  /** Time when the content last changed, in UTC. */
  updated_at: string;
  /** Total number of the GP's principals. */
  principals_total: number;
  /** Total number of the GP's signals. */
  signals_total: number;
}

export type Kind =
  | "gp"
  | "principal"
  | "project"
  | (string & {});

export interface EvidenceDocument {
  /** Kind of document, such as `Form D/A`. */
  form: string;
  /** Number of the document, unique in its source. */
  number: string;
  /** Name of the filer. */
  filer: string | null;
  /** Date of the filing. */
  filed_on: string | null;
  /** Page of the document. */
  url: string | null;
}

export interface Evidence {
  document: EvidenceDocument;
  /** Field of the document, as the document names it. */
  field: string;
  /** Sentence or name as filed. */
  text: string;
  /** Firm that it names, as filed. */
  firm: string | null;
  /**
   * Rule that found it.
   *
   * - `stated`: The source states it.
   * - `adv_file_number`: The GP reports the file number of the offering in its Form ADV.
   * - `sponsor_text`: A firm is named in the text of the filing, such as the signer's title.
   * - `adv_fund_name`: The GP reports a fund of that name in its Form ADV.
   * - `related_entity`: The filing names the firm among its related persons.
   * - `cluster`: Several filings share people and addresses.
   * - `series_master`: The issuer's name says that it is a series of the GP.
   * - `related_entity_deal`: The filing names a related entity that exists for this deal alone.
   * - `issuer_stem`: Only the issuer's name points to the GP.
   * - `named_sponsor`: A public register names the sponsor.
   * - `corrected`: The operator corrected what the source says.
   */
  basis: ProvenanceBasis;
  /** How far `basis` can be trusted for this quotation, from 0 to 1. */
  confidence: number;
  /** Whether it was taken. Otherwise it was refused. */
  taken: boolean;
  /** Reason for taking or refusing it, as a clause that follows "because". */
  why: string;
}

export interface Explanation {
  /** Id of the record. */
  id: string;
  /** Kind of the record. */
  kind: Kind;
  /** Name of the record. */
  name: string;
  /** Who is named and how sure that is, or that nobody is named. */
  statement: string;
  /** Where the record comes from and how certain it is. */
  provenance: Provenance;
  /** GPs that this record belongs to; may be empty. */
  gps: LinkedGp[];
  /** Quotations from documents, at most 20; those taken come first. */
  evidence: Evidence[];
  /** Number of further documents, which are not quoted. */
  documents_left_out: number;
}

export type ExportedFileKind =
  | "gp"
  | "principal"
  | "signal"
  | "project"
  | (string & {});

export type ExportFormat =
  | "ndjson"
  | "csv"
  | "parquet"
  | (string & {});

export interface ExportedFile {
  /** Path of the file. */
  path: string;
  /** Kind of record in the file. */
  kind: ExportedFileKind;
  /** Format of the file. */
  format: ExportFormat;
  /** Number of records in the file. */
  records: number;
  /** Size in bytes; `null` until the file is first requested and made. */
  bytes: number | null;
  /** SHA-256 of the file in hexadecimal; `null` until the file is made. */
  sha256: string | null;
}

export interface ExportedDataset {
  /** Version of the dataset, as in `meta.dataset_version`. */
  version: string;
  /** Whether the operations answer from this dataset. */
  is_current: boolean;
  /** Time when the dataset was built. */
  built_at: string;
  /** Files of the dataset, one for each kind of record and each format. */
  files: ExportedFile[];
}

export interface Pagination {
  /** Maximum number of entries on a page. */
  limit: number;
  /** Number of entries before this page. */
  offset: number;
  /** Number of entries on this page. */
  returned: number;
  /** Exact number of entries on all pages. */
  total: number;
  /** Whether entries follow this page. */
  has_more: boolean;
  /** Value of `offset` for the next page; `null` on the last one. */
  next_offset: number | null;
}

export interface Meta {
  /** Minor version of the API. */
  api_version: string;
  /** Version of the dataset that the answer was made from. While it stays the same, pages neither repeat nor skip records; if it changes between two pages, start again at offset 0. */
  dataset_version: string;
  /** Time when the dataset was last updated. */
  dataset_updated_at: string;
  /** Hints about the query and its answer: values that match nothing, an offset beyond the end, embedded lists that are truncated. */
  hints: Hint[];
}

export type HintCode =
  | "no_match"
  | "unknown_value"
  | "no_searchable_character"
  | "past_the_end"
  | "embedded_list_cut"
  | (string & {});

export interface Hint {
  /** Kind of hint, for programs to read. */
  code: HintCode;
  /** Parameter that the hint concerns, or `null`. */
  parameter: string | null;
  /** The hint in words, for people to read. */
  message: string;
  /** Similar values that exist. */
  suggestions: string[];
}

export interface KindCounts {
  /** Number of records added. */
  added: number;
  /** Number of records changed. */
  changed: number;
  /** Number of records removed. */
  removed: number;
  /** Number of records merged. */
  merged: number;
}

/** Numbers of changes by kind of record. */
export interface Counts {
  gp: KindCounts;
  principal: KindCounts;
  signal: KindCounts;
  project: KindCounts;
}

export interface PublishedChange {
  /** Version of the dataset that was published. */
  version: string;
  /** Time of the publication. */
  published_at: string;
  /** Version that was served before; `null` if it is unknown. */
  from: string | null;
  /** Hash of the dataset, as the guide to changes defines it; `null` while it is unknown. */
  hash: string | null;
  /** Path of the step from `from` to `version`; `null` if there is none. */
  step: string | null;
  /** Number of changes in the step; `null` without a step. */
  changes: number | null;
  /** Numbers of changes by kind of record. */
  counts: Counts | null;
}

export type Change =
  | "added"
  | "changed"
  | "removed"
  | "merged"
  | (string & {});

export type RecordChangeKind =
  | "gp"
  | "principal"
  | "signal"
  | "project"
  | (string & {});

export interface RecordChange {
  /** What happened to the record. */
  change: Change;
  /** Kind of the record. */
  kind: RecordChangeKind;
  /** Id of the record. */
  id: string;
  /** The whole record, if it was added or its set of members is different now. */
  record?: Record<string, unknown>;
  /** Old values of the changed members. */
  before?: Record<string, unknown>;
  /** New values of the changed members. */
  after?: Record<string, unknown>;
  /** Id of the GP that the record was merged into. */
  into?: string;
}

export type ParameterFaultCode =
  | "missing"
  | "too_short"
  | "too_long"
  | "empty_value"
  | "not_an_integer"
  | "out_of_range"
  | "unknown_parameter"
  | "repeated_parameter"
  | "too_many_values"
  | "invalid_encoding"
  | "unknown_value"
  | "out_of_order"
  | (string & {});

export interface ParameterFault {
  /** Name of the parameter as it was sent, cut to 50 characters. */
  parameter: string;
  /** Kind of fault, for programs to read. */
  code: ParameterFaultCode;
  /** The fault in words, for people to read. */
  detail: string;
  /** Parameter or value that was probably meant. */
  suggestion?: string;
  /** Smallest value or length accepted. */
  minimum?: number;
  /** Largest value, length or count accepted. */
  maximum?: number;
  /** Parameters that the path takes, or values that the parameter takes. */
  allowed?: string[];
  /** Paths of operations that take the parameter. */
  allowed_on?: string[];
}

export type QuotaName =
  | "minute"
  | "hour"
  | "day"
  | "failed-keys"
  | "mcp-messages"
  | (string & {});

export interface QuotaPolicy {
  /** Name of the quota. */
  name: QuotaName;
  /** Number of requests that each window admits. */
  quota: number;
  /** Length of the window in seconds. */
  window: number;
  /** Number of requests that the current window still admits. */
  remaining: number;
  /** Seconds until more requests are admitted. */
  reset: number;
}

export type ProblemCode =
  | "invalid-parameters"
  | "malformed-request"
  | "api-key-missing"
  | "api-key-invalid"
  | "api-key-expired"
  | "api-key-revoked"
  | "access-denied"
  | "unknown-path"
  | "method-not-allowed"
  | "not-acceptable"
  | "request-timeout"
  | "content-too-large"
  | "uri-too-long"
  | "unsupported-media-type"
  | "range-not-satisfiable"
  | "expectation-failed"
  | "quota-exceeded"
  | "headers-too-large"
  | "internal-error"
  | "unavailable"
  | (string & {});

/** An error of the service; `code` tells which, and which other members it has. */
export interface Problem {
  /** URI reference that identifies the kind of error. */
  type: string;
  /** The error in one line; the same for every error of this code. */
  title: string;
  /** The HTTP status, as in the status line. */
  status: number;
  /** What went wrong this time, for people to read. */
  detail: string;
  /** Kind of error, for programs to read. The codes never change. */
  code: ProblemCode;
  /** Id of the request, as in the header `X-Request-Id`. Quote the id when you ask the operator about the error. */
  request_id: string;
  /** The faults in the order of the query, missing parameters last; at most 20 of them. */
  errors?: ParameterFault[];
  [member: string]: unknown;
}

/** Parameters of `/fetch-gp`. */
export interface FetchGpQuery {
  /** Part of a name of the GP: all words must occur in the same name (name, legal name or alias). A word of fewer than 4 characters must begin a word. The id of a GP means only that GP. */
  gp_name: string;
  /** A tag, strategy or property type of the GP, as a whole value. Give several values to match any. */
  tag?: string | readonly string[];
  /** A theme of the GP, as a whole value. Give several values to match any. */
  theme?: string | readonly string[];
  /** A market of the GP: its title, one of its cities, or a city and a state. Give several values to match any. */
  market?: string | readonly string[];
  /** Maximum number of records on a page. */
  limit?: number;
  /** Number of records to skip before the first one on the page. */
  offset?: number;
}

/** General Partners by name, with their principals and signals. */
export interface FetchGpAnswer {
  data: Gp[];
  pagination: Pagination;
  meta: Meta;
}

/** Parameters of `/fetch-principals`. */
export interface FetchPrincipalsQuery {
  /** Part of a name of the GP: all words must occur in the same name (name, legal name or alias). A word of fewer than 4 characters must begin a word. The id of a GP means only that GP. */
  gp_name?: string;
  /** A tag, strategy or property type of the GP, as a whole value. Give several values to match any. */
  tag?: string | readonly string[];
  /** A theme of the GP, as a whole value. Give several values to match any. */
  theme?: string | readonly string[];
  /** A market of the GP: its title, one of its cities, or a city and a state. Give several values to match any. */
  market?: string | readonly string[];
  /** Maximum number of records on a page. */
  limit?: number;
  /** Number of records to skip before the first one on the page. */
  offset?: number;
}

/** Principals of General Partners, by name. */
export interface FetchPrincipalsAnswer {
  data: Principal[];
  pagination: Pagination;
  meta: Meta;
}

/** Parameters of `/fetch-signals`. */
export interface FetchSignalsQuery {
  /** Part of a name of the GP: all words must occur in the same name (name, legal name or alias). A word of fewer than 4 characters must begin a word. The id of a GP means only that GP. */
  gp_name?: string;
  /** Maximum number of records on a page. */
  limit?: number;
  /** Number of records to skip before the first one on the page. */
  offset?: number;
}

/** Market signals, newest first. */
export interface FetchSignalsAnswer {
  data: Signal[];
  pagination: Pagination;
  meta: Meta;
}

/** Parameters of `/fetch-projects`. */
export interface FetchProjectsQuery {
  /** Part of a name of the GP: all words must occur in the same name (name, legal name or alias). A word of fewer than 4 characters must begin a word. The id of a GP means only that GP. */
  gp_name?: string;
  /** Maximum number of records on a page. */
  limit?: number;
  /** Number of records to skip before the first one on the page. */
  offset?: number;
}

/** Projects, by name. */
export interface FetchProjectsAnswer {
  data: Project[];
  pagination: Pagination;
  meta: Meta;
}

export type GpSort =
  | "name"
  | "-name"
  | "aum_usd"
  | "-aum_usd"
  | "raised_to_date_usd"
  | "-raised_to_date_usd"
  | "founded_year"
  | "-founded_year"
  | "confidence"
  | "-confidence"
  | "updated_at"
  | "-updated_at"
  | "signal_date"
  | "-signal_date"
  | (string & {});

/** Parameters of `/list-gps`. */
export interface ListGpsQuery {
  /** Part of a name of the GP: all words must occur in the same name (name, legal name or alias). A word of fewer than 4 characters must begin a word. The id of a GP means only that GP. */
  gp_name?: string;
  /** A market of the GP: its title, one of its cities, or a city and a state. Give several values to match any. */
  market?: string | readonly string[];
  /** A tag, strategy or property type of the GP, as a whole value. Give several values to match any. */
  tag?: string | readonly string[];
  /** A theme of the GP, as a whole value. Give several values to match any. */
  theme?: string | readonly string[];
  /** How the GP invests. Give several values to match any. */
  strategy?: Strategy | readonly Strategy[];
  /** Property type the GP invests in. Give several values to match any. */
  property_type?: PropertyType | readonly PropertyType[];
  /** City of the head office. Give several values to match any. */
  hq_city?: string | readonly string[];
  /** State of the head office, two letters in the US. Give several values to match any. */
  hq_state?: string | readonly string[];
  /** Country of the head office, normally an ISO 3166-1 alpha-2 code such as US. Give several values to match any. */
  hq_country?: string | readonly string[];
  /** Central Index Key (CIK) that the SEC assigns. Give several values to match any. */
  cik?: string | readonly string[];
  /** Number in the Central Registration Depository (CRD) of FINRA. Give several values to match any. */
  crd?: string | readonly string[];
  /** Legal Entity Identifier (ISO 17442). Give several values to match any. */
  lei?: string | readonly string[];
  /** Number that the SEC gives to an investment adviser, such as `801-12345`. Give several values to match any. */
  sec_number?: string | readonly string[];
  /** File number of a Form D offering, such as `021-441122`. Give several values to match any. */
  form_d_file?: string | readonly string[];
  /** Number of a private fund in Form ADV, such as `805-1234567890`. Give several values to match any. */
  adv_fund?: string | readonly string[];
  /** Assets under management, in whole US dollars. At least this number. */
  aum_usd_min?: number;
  /** Assets under management, in whole US dollars. At most this number. */
  aum_usd_max?: number;
  /** Capital raised so far, or reported sold in filings, in whole US dollars. At least this number. */
  raised_to_date_usd_min?: number;
  /** Capital raised so far, or reported sold in filings, in whole US dollars. At most this number. */
  raised_to_date_usd_max?: number;
  /** Year in which the GP was founded. At least this number. */
  founded_year_min?: number;
  /** Year in which the GP was founded. At most this number. */
  founded_year_max?: number;
  /** Date of `aum_usd`. On this day or later. */
  aum_as_of_from?: string;
  /** Date of `aum_usd`. On this day or before. */
  aum_as_of_to?: string;
  /** For one signal of the GP: what happened. Give several values to match any. */
  signal_type?: SignalType | readonly SignalType[];
  /** For one signal of the GP: date of the event, as precisely as known. On this day or later. */
  signal_date_from?: string;
  /** For one signal of the GP: date of the event, as precisely as known. On this day or before. */
  signal_date_to?: string;
  /** Id of the record. Give several values to match any. */
  id?: string | readonly string[];
  /** Name of the import that brought the record. Give several values to match any. */
  source?: string | readonly string[];
  /** What the record is based on. Give several values to match any. */
  basis?: ProvenanceBasis | readonly ProvenanceBasis[];
  /** Confidence that the record is right, from 0 to 1. At least this number. */
  confidence_min?: number;
  /** Confidence that the record is right, from 0 to 1. At most this number. */
  confidence_max?: number;
  /** Time when the content last changed, in UTC. On this day or later. */
  updated_at_from?: string;
  /** Time when the content last changed, in UTC. On this day or before. */
  updated_at_to?: string;
  /** Order of the records. A minus sign stands for the descending order; records with the same value are in the order of their ids. */
  sort?: GpSort;
  /** Maximum number of records on a page. */
  limit?: number;
  /** Number of records to skip before the first one on the page. */
  offset?: number;
}

/** General Partners by any of their values, in any order. */
export interface ListGpsAnswer {
  data: ListedGp[];
  pagination: Pagination;
  meta: Meta;
}

export type PrincipalSort =
  | "name"
  | "-name"
  | "start_date"
  | "-start_date"
  | "first_seen_date"
  | "-first_seen_date"
  | "last_seen_date"
  | "-last_seen_date"
  | "confidence"
  | "-confidence"
  | "updated_at"
  | "-updated_at"
  | (string & {});

/** Parameters of `/list-principals`. */
export interface ListPrincipalsQuery {
  /** Part of a name of the GP: all words must occur in the same name (name, legal name or alias). A word of fewer than 4 characters must begin a word. The id of a GP means only that GP. */
  gp_name?: string;
  /** Part of the name: all words must occur in it, as for `gp_name`. */
  name?: string;
  /** Id of a GP that the record belongs to. Give several values to match any. */
  gp_id?: string | readonly string[];
  /** A market of the GP: its title, one of its cities, or a city and a state. Give several values to match any. */
  market?: string | readonly string[];
  /** A tag, strategy or property type of the GP, as a whole value. Give several values to match any. */
  tag?: string | readonly string[];
  /** A theme of the GP, as a whole value. Give several values to match any. */
  theme?: string | readonly string[];
  /** A role of the person. Give several values to match any. */
  role?: Role | readonly Role[];
  /** City of the office. Give several values to match any. */
  city?: string | readonly string[];
  /** State of the office. Give several values to match any. */
  state?: string | readonly string[];
  /** Country of the office, normally an ISO 3166-1 alpha-2 code such as US. Give several values to match any. */
  country?: string | readonly string[];
  /** Share of the GP owned, in per cent. Give several values to match any. */
  ownership_band?: OwnershipBand | readonly OwnershipBand[];
  /** Number in the Central Registration Depository (CRD) of FINRA. Give several values to match any. */
  crd?: string | readonly string[];
  /** Date when the person started at the GP, as precisely as known. On this day or later. */
  start_date_from?: string;
  /** Date when the person started at the GP, as precisely as known. On this day or before. */
  start_date_to?: string;
  /** Date when the source first named the person. On this day or later. */
  first_seen_date_from?: string;
  /** Date when the source first named the person. On this day or before. */
  first_seen_date_to?: string;
  /** Date when the source last named the person. On this day or later. */
  last_seen_date_from?: string;
  /** Date when the source last named the person. On this day or before. */
  last_seen_date_to?: string;
  /** Id of the record. Give several values to match any. */
  id?: string | readonly string[];
  /** Name of the import that brought the record. Give several values to match any. */
  source?: string | readonly string[];
  /** What the record is based on. Give several values to match any. */
  basis?: ProvenanceBasis | readonly ProvenanceBasis[];
  /** Confidence that the record is right, from 0 to 1. At least this number. */
  confidence_min?: number;
  /** Confidence that the record is right, from 0 to 1. At most this number. */
  confidence_max?: number;
  /** Time when the content last changed, in UTC. On this day or later. */
  updated_at_from?: string;
  /** Time when the content last changed, in UTC. On this day or before. */
  updated_at_to?: string;
  /** Order of the records. A minus sign stands for the descending order; records with the same value are in the order of their ids. */
  sort?: PrincipalSort;
  /** Maximum number of records on a page. */
  limit?: number;
  /** Number of records to skip before the first one on the page. */
  offset?: number;
}

/** Principals by any of their values, in any order. */
export interface ListPrincipalsAnswer {
  data: Principal[];
  pagination: Pagination;
  meta: Meta;
}

export type SignalSort =
  | "-date"
  | "date"
  | "published_at"
  | "-published_at"
  | "amount_usd"
  | "-amount_usd"
  | "confidence"
  | "-confidence"
  | "updated_at"
  | "-updated_at"
  | (string & {});

/** Parameters of `/list-signals`. */
export interface ListSignalsQuery {
  /** Part of a name of the GP: all words must occur in the same name (name, legal name or alias). A word of fewer than 4 characters must begin a word. The id of a GP means only that GP. */
  gp_name?: string;
  /** Id of a GP that the record belongs to. Give several values to match any. */
  gp_id?: string | readonly string[];
  /** Id of a project that the signal concerns. Give several values to match any. */
  project_id?: string | readonly string[];
  /** Whether the record belongs to a GP. */
  has_gp?: boolean;
  /** What happened. Give several values to match any. */
  type?: SignalType | readonly SignalType[];
  /** The market of the signal: its title, one of its cities, or a city and a state. Give several values to match any. */
  market?: string | readonly string[];
  /** A tag or property type of the signal, as a whole value. Give several values to match any. */
  tag?: string | readonly string[];
  /** A theme of the signal, as a whole value. Give several values to match any. */
  theme?: string | readonly string[];
  /** Property type concerned. Give several values to match any. */
  property_type?: PropertyType | readonly PropertyType[];
  /** Date of the event, as precisely as known. On this day or later. */
  date_from?: string;
  /** Date of the event, as precisely as known. On this day or before. */
  date_to?: string;
  /** When the event was published, as precisely as known. On this day or later. */
  published_at_from?: string;
  /** When the event was published, as precisely as known. On this day or before. */
  published_at_to?: string;
  /** Amount in whole US dollars; negative for a decrease. At least this number. */
  amount_usd_min?: number;
  /** Amount in whole US dollars; negative for a decrease. At most this number. */
  amount_usd_max?: number;
  /** What `amount_usd` measures. Give several values to match any. */
  amount_basis?: AmountBasis | readonly AmountBasis[];
  /** Id of the record. Give several values to match any. */
  id?: string | readonly string[];
  /** Name of the import that brought the record. Give several values to match any. */
  source?: string | readonly string[];
  /** What the record is based on. Give several values to match any. */
  basis?: ProvenanceBasis | readonly ProvenanceBasis[];
  /** Confidence that the record is right, from 0 to 1. At least this number. */
  confidence_min?: number;
  /** Confidence that the record is right, from 0 to 1. At most this number. */
  confidence_max?: number;
  /** Time when the content last changed, in UTC. On this day or later. */
  updated_at_from?: string;
  /** Time when the content last changed, in UTC. On this day or before. */
  updated_at_to?: string;
  /** Order of the records. A minus sign stands for the descending order; records with the same value are in the order of their ids. */
  sort?: SignalSort;
  /** Maximum number of records on a page. */
  limit?: number;
  /** Number of records to skip before the first one on the page. */
  offset?: number;
}

/** Signals by any of their values, in any order. */
export interface ListSignalsAnswer {
  data: Signal[];
  pagination: Pagination;
  meta: Meta;
}

export type ProjectSort =
  | "name"
  | "-name"
  | "units"
  | "-units"
  | "affordable_units"
  | "-affordable_units"
  | "square_feet"
  | "-square_feet"
  | "total_amount_usd"
  | "-total_amount_usd"
  | "raised_amount_usd"
  | "-raised_amount_usd"
  | "start_date"
  | "-start_date"
  | "completion_date"
  | "-completion_date"
  | "first_sale_date"
  | "-first_sale_date"
  | "confidence"
  | "-confidence"
  | "updated_at"
  | "-updated_at"
  | (string & {});

/** Parameters of `/list-projects`. */
export interface ListProjectsQuery {
  /** Part of a name of the GP: all words must occur in the same name (name, legal name or alias). A word of fewer than 4 characters must begin a word. The id of a GP means only that GP. */
  gp_name?: string;
  /** Part of the name: all words must occur in it, as for `gp_name`. */
  name?: string;
  /** Id of a GP that the record belongs to. Give several values to match any. */
  gp_id?: string | readonly string[];
  /** Whether the record belongs to a GP. */
  has_gp?: boolean;
  /** Kind of project. Give several values to match any. */
  type?: ProjectType | readonly ProjectType[];
  /** Status of the project. Give several values to match any. */
  status?: ProjectStatus | readonly ProjectStatus[];
  /** Kind of property. Give several values to match any. */
  property_type?: PropertyType | readonly PropertyType[];
  /** How the project is meant to earn money. Give several values to match any. */
  strategy?: Strategy | readonly Strategy[];
  /** The market of the project: its title, one of its cities, or a city and a state. Give several values to match any. */
  market?: string | readonly string[];
  /** How `market` was determined. Give several values to match any. */
  market_basis?: MarketBasis | readonly MarketBasis[];
  /** A tag, strategy or property type of the project, as a whole value. Give several values to match any. */
  tag?: string | readonly string[];
  /** A theme of the project, as a whole value. Give several values to match any. */
  theme?: string | readonly string[];
  /** City of the project. Give several values to match any. */
  city?: string | readonly string[];
  /** State of the project, two letters in the US. Give several values to match any. */
  state?: string | readonly string[];
  /** Postal code of the project. Give several values to match any. */
  zip?: string | readonly string[];
  /** Country of the project, normally an ISO 3166-1 code such as US. Give several values to match any. */
  country?: string | readonly string[];
  /** Central Index Key (CIK) that the SEC assigns. Give several values to match any. */
  cik?: string | readonly string[];
  /** File number of a Form D offering, such as `021-441122`. Give several values to match any. */
  form_d_file?: string | readonly string[];
  /** Number that HUD, the US housing department, gives to a low-income project. Give several values to match any. */
  hud_id?: string | readonly string[];
  /** Number of dwellings. At least this number. */
  units_min?: number;
  /** Number of dwellings. At most this number. */
  units_max?: number;
  /** Number of dwellings let or sold below market. At least this number. */
  affordable_units_min?: number;
  /** Number of dwellings let or sold below market. At most this number. */
  affordable_units_max?: number;
  /** Floor area in square feet. At least this number. */
  square_feet_min?: number;
  /** Floor area in square feet. At most this number. */
  square_feet_max?: number;
  /** Total amount of the project, in whole US dollars. At least this number. */
  total_amount_usd_min?: number;
  /** Total amount of the project, in whole US dollars. At most this number. */
  total_amount_usd_max?: number;
  /** Amount raised for the project so far, or reported sold in filings, in whole US dollars. At least this number. */
  raised_amount_usd_min?: number;
  /** Amount raised for the project so far, or reported sold in filings, in whole US dollars. At most this number. */
  raised_amount_usd_max?: number;
  /** Date of the project's start, as precisely as known. On this day or later. */
  start_date_from?: string;
  /** Date of the project's start, as precisely as known. On this day or before. */
  start_date_to?: string;
  /** Date of completion, actual or planned. On this day or later. */
  completion_date_from?: string;
  /** Date of completion, actual or planned. On this day or before. */
  completion_date_to?: string;
  /** Date of the first sale of a share. On this day or later. */
  first_sale_date_from?: string;
  /** Date of the first sale of a share. On this day or before. */
  first_sale_date_to?: string;
  /** Id of the record. Give several values to match any. */
  id?: string | readonly string[];
  /** Name of the import that brought the record. Give several values to match any. */
  source?: string | readonly string[];
  /** What the record is based on. Give several values to match any. */
  basis?: ProvenanceBasis | readonly ProvenanceBasis[];
  /** Confidence that the record is right, from 0 to 1. At least this number. */
  confidence_min?: number;
  /** Confidence that the record is right, from 0 to 1. At most this number. */
  confidence_max?: number;
  /** Time when the content last changed, in UTC. On this day or later. */
  updated_at_from?: string;
  /** Time when the content last changed, in UTC. On this day or before. */
  updated_at_to?: string;
  /** Order of the records. A minus sign stands for the descending order; records with the same value are in the order of their ids. */
  sort?: ProjectSort;
  /** Maximum number of records on a page. */
  limit?: number;
  /** Number of records to skip before the first one on the page. */
  offset?: number;
}

/** Projects by any of their values, in any order. */
export interface ListProjectsAnswer {
  data: Project[];
  pagination: Pagination;
  meta: Meta;
}

/** Parameters of `/changes`. */
export interface ChangesQuery {
  /** Maximum number of records on a page. */
  limit?: number;
  /** Number of records to skip before the first one on the page. */
  offset?: number;
}

/** The publications of datasets, and what each of them changed. */
export interface ChangesAnswer {
  data: PublishedChange[];
  pagination: Pagination;
  meta: Meta;
}

/** Query and answer of each operation, by its path. */
export interface Operations {
  "/fetch-gp": { query: FetchGpQuery; answer: FetchGpAnswer };
  "/fetch-principals": { query: FetchPrincipalsQuery; answer: FetchPrincipalsAnswer };
  "/fetch-signals": { query: FetchSignalsQuery; answer: FetchSignalsAnswer };
  "/fetch-projects": { query: FetchProjectsQuery; answer: FetchProjectsAnswer };
  "/list-gps": { query: ListGpsQuery; answer: ListGpsAnswer };
  "/list-principals": { query: ListPrincipalsQuery; answer: ListPrincipalsAnswer };
  "/list-signals": { query: ListSignalsQuery; answer: ListSignalsAnswer };
  "/list-projects": { query: ListProjectsQuery; answer: ListProjectsAnswer };
  "/changes": { query: ChangesQuery; answer: ChangesAnswer };
}
