/** Closed lists of values in records, with their meanings. An import rejects other values and shows the list. */

/** Meanings by value, one sentence each, as every reference shows them. Backticks mark code. */
type Meanings = Readonly<Record<string, string>>;

export const closedLists = {
  signalTypes: {
    new_offering: "An offering of securities was filed for the first time.",
    offering_amended: "A filed offering was changed, such as its size or its people.",
    capital_raised: "More of an offering is reported sold than in its last filing.",
    first_sale: "The first sale of an offering is reported.",
    fully_subscribed: "The whole offering is reported sold.",
    general_solicitation:
      "An offering is advertised to the public, as Regulation D allows under Rule 506(c).",
    new_vehicle: "The GP formed a fund or company that was not known before.",
    new_principal: "A person is named among the GP's people for the first time.",
    aum_change: "The reported assets under management rose or fell.",
    fund_reported: "A fund appears in the GP's own report to its regulator.",
    acquisition: "A property or portfolio was bought.",
    disposition: "A property or portfolio was sold.",
    financing: "A loan or other financing was agreed.",
    fund_close: "A fund held its first, an interim or its final close.",
    leadership_change: "A leader of the GP joined, left or changed roles.",
    project_announced: "A project was made public.",
    permit_issued: "An authority permitted construction.",
    construction_started: "Work on the site began.",
    project_completed: "A project was finished.",
    news: "The GP was in the news for a reason that no other type covers.",
    other: "Something else happened.",
  },
  amountBases: {
    offering_total: "The size of the whole offering, sold or not.",
    sold_to_date: "The part of an offering reported sold so far.",
    sold_delta: "The part of an offering reported sold since its last filing.",
    regulatory_aum: "Regulatory assets under management, as Form ADV defines them.",
    gross_assets: "The gross assets of a fund.",
    price: "The price paid for a property or portfolio.",
    loan: "The principal of a loan.",
    other: "Some other amount; the title or summary says which.",
  },
  projectTypes: {
    property_offering: "Securities are sold to pay for one property.",
    acquisition: "A property is bought as it stands.",
    development: "Something new is built.",
    rehabilitation: "A building is renovated and keeps its use.",
    adaptive_reuse: "A building is converted to another use.",
    affordable_housing: "Dwellings are built or kept to be let or sold below market.",
    other: "A project of another kind.",
  },
  projectStatuses: {
    planned: "Announced, and not yet permitted or financed.",
    raising:
      "Its capital is being raised; in records from filings, the latest filing on one of its offerings reports an unsold amount or an indefinite total.",
    entitled: "Its use of the land is approved, and work has not begun.",
    under_construction: "Work on the site is in progress.",
    completed: "Construction or renovation is finished.",
    closed:
      "The purchase or the offering is closed; in records from filings, all its offerings are reported as fully sold.",
    on_hold: "Work or planning has stopped for now.",
    cancelled: "The project was given up.",
    unknown: "The source does not say.",
  },
  marketBases: {
    property_address: "The market of the property's own address.",
    issuer_address:
      "The market of the issuer's address, since the source names no property; the property may be elsewhere.",
    stated: "The market that the source names.",
  },
  fundStructures: {
    master: "It invests what its feeder funds collect from investors.",
    feeder: "It invests in a master fund, which reports the same money.",
  },
  propertyTypes: {
    multifamily: "Apartment buildings.",
    single_family_rental: "Houses for one family, bought to be let.",
    build_to_rent: "Houses or communities built to be let.",
    student_housing: "Homes for students.",
    senior_housing: "Homes for older people, with or without care.",
    manufactured_housing: "Parks for manufactured homes.",
    affordable_housing: "Homes let or sold below market.",
    residential_other: "Homes of another kind, or of several kinds.",
    industrial: "Warehouses, logistics and production.",
    cold_storage: "Refrigerated warehouses.",
    industrial_outdoor_storage: "Yards for vehicles, containers and material.",
    office: "Buildings for business and administration, other than medical ones.",
    medical_office: "Medical practices and clinics.",
    life_science: "Laboratories and the space that goes with them.",
    retail: "Shops and shopping centres.",
    net_lease: "Buildings whose tenant bears taxes, insurance and upkeep.",
    hospitality: "Hotels and other lodging.",
    self_storage: "Storage space let to the public.",
    data_center: "Buildings for computers.",
    land: "Land without buildings, other than farmland.",
    farmland: "Land for crops, livestock or timber.",
    parking: "Garages and parking lots.",
    marina: "Berths for boats.",
    mixed_use: "Several uses in one building or project.",
    healthcare: "Hospitals and other buildings for care, except medical practices.",
    diversified: "Many property types at once.",
    unknown: "The source does not say.",
  },
  strategies: {
    core: "Stable, leased property, held for income with little debt.",
    core_plus: "Stable property whose income can still be raised a little.",
    value_add: "Property that is improved, re-let or better managed before it is sold.",
    opportunistic: "High risk for high return, such as development or turnarounds.",
    debt: "Loans and other debt secured by property.",
    distressed: "Property or debt in difficulty, bought at a discount.",
    development: "New buildings.",
    fund_of_funds: "Interests in the funds of others.",
    secondaries: "Interests in funds or deals bought from earlier investors.",
    co_investment: "Single deals made alongside another sponsor or fund.",
  },
  principalRoles: {
    executive_officer: "An executive officer, according to a filing or an adviser's report.",
    director: "A director or trustee.",
    promoter: "A promoter: on Form D, a person who founded or organised the issuer.",
    general_partner: "A person who is a general partner.",
    managing_member: "A managing member or manager.",
    control_person: "Somebody who controls the firm, as Form ADV defines it.",
    owner: "An owner.",
    compliance: "In charge of compliance.",
    signer: "Signed a filing.",
    other: "A role of another kind; `title` may say which.",
  },
  ownershipBands: {
    under_5: "Less than 5 %.",
    "5_10": "5 % or more, less than 10 %.",
    "10_25": "10 % or more, less than 25 %.",
    "25_50": "25 % or more, less than 50 %.",
    "50_75": "50 % or more, less than 75 %.",
    over_75: "75 % or more.",
  },
  provenanceBases: {
    stated: "The source states it.",
    adv_file_number: "The GP reports the file number of the offering in its Form ADV.",
    sponsor_text: "A firm is named in the text of the filing, such as the signer's title.",
    adv_fund_name: "The GP reports a fund of that name in its Form ADV.",
    related_entity: "The filing names the firm among its related persons.",
    cluster: "Several filings share people and addresses.",
    series_master: "The issuer's name says that it is a series of the GP.",
    related_entity_deal: "The filing names a related entity that exists for this deal alone.",
    issuer_stem: "Only the issuer's name points to the GP.",
    named_sponsor: "A public register names the sponsor.",
    corrected: "The operator corrected what the source says.",
  },
  externalIdKeys: {
    cik: "Central Index Key (CIK) that the SEC assigns.",
    crd: "Number in the Central Registration Depository (CRD) of FINRA.",
    lei: "Legal Entity Identifier (ISO 17442).",
    sec_number: "Number that the SEC gives to an investment adviser, such as `801-12345`.",
    form_d_file: "File number of a Form D offering, such as `021-441122`.",
    adv_fund: "Number of a private fund in Form ADV, such as `805-1234567890`.",
    hud_id: "Number that HUD, the US housing department, gives to a low-income project.",
    other: "Id of any other kind.",
  },
} as const satisfies Record<string, Meanings>;

const valuesOf = <M extends Meanings>(meanings: M) =>
  Object.keys(meanings) as readonly (keyof M & string)[];

export const signalTypes = valuesOf(closedLists.signalTypes);
export const amountBases = valuesOf(closedLists.amountBases);
export const projectTypes = valuesOf(closedLists.projectTypes);
export const projectStatuses = valuesOf(closedLists.projectStatuses);
export const marketBases = valuesOf(closedLists.marketBases);
export const fundStructures = valuesOf(closedLists.fundStructures);
export const propertyTypes = valuesOf(closedLists.propertyTypes);
export const strategies = valuesOf(closedLists.strategies);
export const principalRoles = valuesOf(closedLists.principalRoles);
export const ownershipBands = valuesOf(closedLists.ownershipBands);
export const provenanceBases = valuesOf(closedLists.provenanceBases);

/** Words for a record's basis, as part of a sentence. */
export const basisWords: Readonly<Record<(typeof provenanceBases)[number], string>> = {
  stated: "stated",
  adv_file_number: "identified by a file number in Form ADV",
  sponsor_text: "named in the text of a filing",
  adv_fund_name: "identified by the name of a fund in Form ADV",
  related_entity: "named among the related persons of a filing",
  cluster: "identified from people and addresses shared by several filings",
  series_master: "identified as the company that issues the series",
  related_entity_deal: "identified by a related entity formed for this deal alone",
  issuer_stem: "identified by the issuer's name alone",
  named_sponsor: "named in a public register",
  corrected: "corrected by the operator",
};

/** Minimum confidence of a link to a GP that is stated without "probably". */
export const sureFrom = 0.8;

export const externalIdMeanings = closedLists.externalIdKeys;
export const externalIdKeys = valuesOf(externalIdMeanings);

const meaningsByList: ReadonlyMap<string, Meanings> = new Map(
  Object.values(closedLists).map((meanings) => [Object.keys(meanings).join(), meanings]),
);

/** Returns the meanings of a closed list's values; undefined for other lists. @param values from a member's schema. */
export const meaningsOf = (values: readonly string[]): Meanings | undefined =>
  meaningsByList.get(values.join());
