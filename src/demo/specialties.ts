/** What kinds of GP there are: what one buys, how it earns, and the words its name may carry. */
import type { propertyTypes, strategies } from "#records/vocabulary.ts";
import { phrases, words } from "./lists.ts";
import { weighted } from "./random.ts";

export type PropertyType = (typeof propertyTypes)[number];
export type Strategy = (typeof strategies)[number];

export interface Specialty {
  /** What all GPs of the kind buy, and what some of them buy too. */
  main: readonly PropertyType[];
  also: readonly PropertyType[];
  /** Words a name may carry; none for GPs of no sector. */
  nameWords: readonly string[];
  themes: readonly string[];
  lends: boolean;
}

function specialty(
  weight: number,
  main: readonly PropertyType[],
  also: readonly PropertyType[],
  nameWords: string,
  themes: string,
  lends = false,
): readonly [Specialty, number] {
  const sectorWords = nameWords === "" ? [] : phrases(nameWords);
  return [{ main, also, nameWords: sectorWords, themes: words(themes), lends }, weight];
}

export const someSpecialty = weighted([
  specialty(
    25,
    ["multifamily"],
    ["build_to_rent", "mixed_use", "student_housing", "affordable_housing", "residential_other"],
    "Residential | Multifamily | Apartment | Living | Communities",
    "workforce_housing sunbelt_growth build_to_rent opportunity_zones",
  ),
  specialty(
    6,
    ["single_family_rental"],
    ["build_to_rent", "residential_other", "land"],
    "Home | Rental Home | Residential",
    "build_to_rent sunbelt_growth workforce_housing",
  ),
  specialty(
    3,
    ["build_to_rent"],
    ["single_family_rental", "land"],
    "Communities | Home",
    "build_to_rent sunbelt_growth",
  ),
  specialty(3, ["student_housing"], ["multifamily"], "Student Living | Campus", "student_housing"),
  specialty(
    3,
    ["senior_housing"],
    ["healthcare", "medical_office"],
    "Senior Living | Senior Housing",
    "senior_living medical",
  ),
  specialty(
    5,
    ["affordable_housing"],
    ["multifamily", "senior_housing", "mixed_use"],
    "Community | Housing | Affordable Housing",
    "affordable_housing workforce_housing opportunity_zones sustainability",
  ),
  specialty(
    2,
    ["manufactured_housing"],
    ["residential_other", "land"],
    "Communities | Home Park",
    "workforce_housing",
  ),
  specialty(
    11,
    ["industrial"],
    ["cold_storage", "industrial_outdoor_storage", "land", "office"],
    "Industrial | Logistics",
    "industrial_logistics sunbelt_growth net_lease_income",
  ),
  specialty(
    1.5,
    ["industrial_outdoor_storage"],
    ["industrial", "land", "parking"],
    "Yard | Terminal",
    "industrial_logistics",
  ),
  specialty(6, ["office"], ["mixed_use", "retail"], "Office", "adaptive_reuse distressed_debt"),
  specialty(
    4,
    ["medical_office"],
    ["healthcare", "life_science", "senior_housing"],
    "Medical | Healthcare",
    "medical net_lease_income",
  ),
  specialty(
    1.5,
    ["life_science"],
    ["office", "medical_office"],
    "Life Science | Lab",
    "life_science adaptive_reuse",
  ),
  specialty(
    7,
    ["retail"],
    ["net_lease", "mixed_use", "parking"],
    "Retail | Shopping Center",
    "net_lease_income adaptive_reuse",
  ),
  specialty(
    4,
    ["net_lease"],
    ["retail", "industrial", "medical_office"],
    "Net Lease",
    "net_lease_income 1031_exchange_dst",
  ),
  specialty(
    5,
    ["hospitality"],
    ["marina", "mixed_use"],
    "Hospitality | Hotel | Lodging",
    "hospitality_recovery opportunity_zones",
  ),
  specialty(4, ["self_storage"], ["industrial"], "Storage | Self Storage", "sunbelt_growth"),
  specialty(1.5, ["data_center"], ["industrial", "land"], "Digital | Data Center", "data_centers"),
  specialty(1.5, ["land"], ["build_to_rent", "residential_other"], "Land", "sunbelt_growth"),
  specialty(1.5, ["farmland"], ["land"], "Farmland | Agricultural", "farmland sustainability"),
  specialty(0.5, ["marina"], ["hospitality", "land"], "Marina | Harbor", "hospitality_recovery"),
  specialty(
    4,
    ["mixed_use"],
    ["multifamily", "retail", "office", "parking"],
    "Urban | City",
    "opportunity_zones adaptive_reuse sustainability",
  ),
  specialty(
    12,
    ["diversified"],
    ["multifamily", "industrial", "office", "retail", "hospitality", "mixed_use"],
    "",
    "sunbelt_growth opportunity_zones 1031_exchange_dst distressed_debt sustainability",
  ),
  specialty(
    4,
    ["diversified"],
    ["multifamily", "office", "industrial", "hospitality"],
    "Credit | Mortgage | Lending | Real Estate Credit",
    "private_credit distressed_debt",
    true,
  ),
]);
