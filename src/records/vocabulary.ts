/** The closed lists of values a record may carry; another value is rejected at import with the list. */

export const signalTypes = [
  "new_offering",
  "offering_amended",
  "capital_raised",
  "first_sale",
  "fully_subscribed",
  "general_solicitation",
  "new_vehicle",
  "new_principal",
  "aum_change",
  "fund_reported",
  "acquisition",
  "disposition",
  "financing",
  "fund_close",
  "leadership_change",
  "project_announced",
  "permit_issued",
  "construction_started",
  "project_completed",
  "news",
  "other",
] as const;

export const amountBases = [
  "offering_total",
  "sold_to_date",
  "sold_delta",
  "regulatory_aum",
  "gross_assets",
  "price",
  "loan",
  "other",
] as const;

export const projectTypes = [
  "property_offering",
  "acquisition",
  "development",
  "rehabilitation",
  "adaptive_reuse",
  "affordable_housing",
  "other",
] as const;

export const projectStatuses = [
  "planned",
  "raising",
  "entitled",
  "under_construction",
  "completed",
  "closed",
  "on_hold",
  "cancelled",
  "unknown",
] as const;

export const marketBases = ["property_address", "issuer_address", "stated"] as const;

export const propertyTypes = [
  "multifamily",
  "single_family_rental",
  "build_to_rent",
  "student_housing",
  "senior_housing",
  "manufactured_housing",
  "affordable_housing",
  "residential_other",
  "industrial",
  "cold_storage",
  "industrial_outdoor_storage",
  "office",
  "medical_office",
  "life_science",
  "retail",
  "net_lease",
  "hospitality",
  "self_storage",
  "data_center",
  "land",
  "farmland",
  "parking",
  "marina",
  "mixed_use",
  "healthcare",
  "diversified",
  "unknown",
] as const;

export const strategies = [
  "core",
  "core_plus",
  "value_add",
  "opportunistic",
  "debt",
  "distressed",
  "development",
  "fund_of_funds",
  "secondaries",
  "co_investment",
] as const;

export const principalRoles = [
  "executive_officer",
  "director",
  "promoter",
  "general_partner",
  "managing_member",
  "control_person",
  "owner",
  "compliance",
  "signer",
  "other",
] as const;

export const ownershipBands = ["under_5", "5_10", "10_25", "25_50", "50_75", "over_75"] as const;

export const provenanceBases = [
  "stated",
  "adv_file_number",
  "adv_fund_name",
  "related_entity",
  "cluster",
  "series_master",
  "related_entity_deal",
  "issuer_stem",
  "named_sponsor",
] as const;

export const externalIdKeys = [
  "cik",
  "crd",
  "lei",
  "sec_number",
  "form_d_file",
  "adv_fund",
  "hud_id",
  "other",
] as const;
