"""
Client of gp-records: records of real-estate General Partners (GPs), their principals, market signals and projects.

One file without dependencies, for Python 3.11 or newer. It waits if the service asks it to, tells errors apart by
their code, and notices if the dataset changes between two pages. The API's reference explains each operation.

    client = Client("https://records.example.org", key)
    for signal in client.signals(gp_name="northwind"):
        print(signal["date"], signal["title"])
"""

from __future__ import annotations

import gzip
import http.client
import json
import random
import re
import secrets
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Generic, Literal, NotRequired, TypedDict, TypeVar, Unpack, cast

__version__ = "0.1.0"

__all__ = [
    "CachedAnswer",
    "Client",
    "GpRecordsError",
    "Listing",
    "NetworkError",
    "Page",
    "ProblemError",
    "Step",
    "Stopped",
    "UnexpectedAnswerError",
    "VersionChangedError",
    "Wait",
]

# The API's types, written by clients/write-types.ts from openapi.json: change them there.


Strategy = str | Literal[
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
]


PropertyType = str | Literal[
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
]


class ExternalIds(TypedDict):
    """Ids in other registers and systems, by kind of id."""

    cik: NotRequired[list[str]]
    crd: NotRequired[list[str]]
    lei: NotRequired[list[str]]
    sec_number: NotRequired[list[str]]
    form_d_file: NotRequired[list[str]]
    adv_fund: NotRequired[list[str]]
    hud_id: NotRequired[list[str]]
    other: NotRequired[list[str]]


FundStructure = str | Literal[
    "master",
    "feeder",
]


class Fund(TypedDict):
    # Name of the fund.
    name: str
    # Type of the fund, in the words of the filing.
    type: str | None
    # Whether the fund is a master or a feeder fund.
    #
    # - `master`: It invests what its feeder funds collect from investors.
    # - `feeder`: It invests in a master fund, which reports the same money.
    structure: FundStructure | None
    # Gross assets, in whole US dollars.
    gross_assets_usd: int | None
    # Date of the filing that reports `gross_assets_usd`.
    as_of: str | None
    # Total amount offered to investors, in whole US dollars.
    offered_usd: int | None
    # Part of the offering reported sold, in whole US dollars.
    sold_usd: int | None
    # Date of the first sale.
    first_sale_date: str | None
    # Ids in other registers and systems, by kind of id.
    external_ids: ExternalIds


ProvenanceBasis = str | Literal[
    "stated",
    "adv_file_number",
    "sponsor_text",
    "adv_fund_name",
    "related_entity",
    "cluster",
    "series_master",
    "related_entity_deal",
    "issuer_stem",
    "named_sponsor",
    "corrected",
]


class Provenance(TypedDict):
    """Where the record comes from and how certain it is."""

    # Name of the import that brought the record.
    source: str
    # What the record is based on.
    #
    # - `stated`: The source states it.
    # - `adv_file_number`: The GP reports the file number of the offering in its Form ADV.
    # - `sponsor_text`: A firm is named in the text of the filing, such as the signer's title.
    # - `adv_fund_name`: The GP reports a fund of that name in its Form ADV.
    # - `related_entity`: The filing names the firm among its related persons.
    # - `cluster`: Several filings share people and addresses.
    # - `series_master`: The issuer's name says that it is a series of the GP.
    # - `related_entity_deal`: The filing names a related entity that exists for this deal alone.
    # - `issuer_stem`: Only the issuer's name points to the GP.
    # - `named_sponsor`: A public register names the sponsor.
    # - `corrected`: The operator corrected what the source says.
    basis: ProvenanceBasis
    # Confidence that the record is right, from 0 to 1.
    confidence: float
    # Page of the source that the record comes from.
    url: str | None


Role = str | Literal[
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
]


OwnershipBand = str | Literal[
    "under_5",
    "5_10",
    "10_25",
    "25_50",
    "50_75",
    "over_75",
]


class GpPrincipal(TypedDict):
    # Stable id of the principal.
    id: str
    # Full name of the person.
    name: str
    # First name.
    first_name: str | None
    # Middle name.
    middle_name: str | None
    # Last name.
    last_name: str | None
    # Job title, as the source writes it.
    title: str | None
    # Roles of the person at the GP or at one of its vehicles.
    roles: list[Role]
    # City of the office.
    city: str | None
    # State of the office.
    state: str | None
    # Country of the office, normally an ISO 3166-1 alpha-2 code such as US.
    country: str | None
    # Business email address.
    email: str | None
    # LinkedIn page of the person.
    linkedin_url: str | None
    # Share of the GP owned, in per cent.
    #
    # - `under_5`: Less than 5 %.
    # - `5_10`: 5 % or more, less than 10 %.
    # - `10_25`: 10 % or more, less than 25 %.
    # - `25_50`: 25 % or more, less than 50 %.
    # - `50_75`: 50 % or more, less than 75 %.
    # - `over_75`: 75 % or more.
    ownership_band: OwnershipBand | None
    # Date when the person started at the GP, as precisely as known.
    start_date: str | None
    # Date when the source first named the person.
    first_seen_date: str | None
    # Date when the source last named the person.
    last_seen_date: str | None
    # Ids in other registers and systems, by kind of id.
    external_ids: ExternalIds
    # Where the record comes from and how certain it is.
    provenance: Provenance
    # Time when the content last changed, in UTC.
    updated_at: str


SignalType = str | Literal[
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
]


AmountBasis = str | Literal[
    "offering_total",
    "sold_to_date",
    "sold_delta",
    "regulatory_aum",
    "gross_assets",
    "price",
    "loan",
    "other",
]


class GpSignal(TypedDict):
    # Stable id of the signal.
    id: str
    # What happened.
    #
    # - `new_offering`: An offering of securities was filed for the first time.
    # - `offering_amended`: A filed offering was changed, such as its size or its people.
    # - `capital_raised`: More of an offering is reported sold than in its last filing.
    # - `first_sale`: The first sale of an offering is reported.
    # - `fully_subscribed`: The whole offering is reported sold.
    # - `general_solicitation`: An offering is advertised to the public, as Regulation D allows under Rule 506(c).
    # - `new_vehicle`: The GP formed a fund or company that was not known before.
    # - `new_principal`: A person is named among the GP's people for the first time.
    # - `aum_change`: The reported assets under management rose or fell.
    # - `fund_reported`: A fund appears in the GP's own report to its regulator.
    # - `acquisition`: A property or portfolio was bought.
    # - `disposition`: A property or portfolio was sold.
    # - `financing`: A loan or other financing was agreed.
    # - `fund_close`: A fund held its first, an interim or its final close.
    # - `leadership_change`: A leader of the GP joined, left or changed roles.
    # - `project_announced`: A project was made public.
    # - `permit_issued`: An authority permitted construction.
    # - `construction_started`: Work on the site began.
    # - `project_completed`: A project was finished.
    # - `news`: The GP was in the news for a reason that no other type covers.
    # - `other`: Something else happened.
    type: SignalType
    # Title of the signal, in one line.
    title: str
    # Summary of the signal, in one paragraph.
    summary: str | None
    # Date of the event, as precisely as known.
    date: str
    # When the event was published, as precisely as known.
    published_at: str | None
    # Amount in whole US dollars; negative for a decrease.
    amount_usd: int | None
    # What `amount_usd` measures.
    #
    # - `offering_total`: The size of the whole offering, sold or not.
    # - `sold_to_date`: The part of an offering reported sold so far.
    # - `sold_delta`: The part of an offering reported sold since its last filing.
    # - `regulatory_aum`: Regulatory assets under management, as Form ADV defines them.
    # - `gross_assets`: The gross assets of a fund.
    # - `price`: The price paid for a property or portfolio.
    # - `loan`: The principal of a loan.
    # - `other`: Some other amount; the title or summary says which.
    amount_basis: AmountBasis | None
    # Title of the metropolitan area concerned.
    market: str | None
    # Property types concerned.
    property_types: list[PropertyType]
    # Ids of the projects concerned.
    project_ids: list[str]
    # Page with more about the event.
    url: str | None
    # Facts such as `reg_d_506c`, from an open vocabulary.
    tags: list[str]
    # Investment themes such as `opportunity_zones`, from an open vocabulary.
    themes: list[str]
    # Where the record comes from and how certain it is.
    provenance: Provenance
    # Time when the content last changed, in UTC.
    updated_at: str


class Gp(TypedDict):
    # Stable id of the GP.
    id: str
    # Former ids: those of GPs that turned out to be this GP.
    former_ids: list[str]
    # Name by which the GP is known.
    name: str
    # Legal name, as registered.
    legal_name: str | None
    # Other names of the GP, which a search also finds.
    aliases: list[str]
    # What the GP does.
    description: str | None
    # Website of the GP.
    website: str | None
    # City of the head office.
    hq_city: str | None
    # State of the head office, two letters in the US.
    hq_state: str | None
    # Country of the head office, normally an ISO 3166-1 alpha-2 code such as US.
    hq_country: str | None
    # Year in which the GP was founded.
    founded_year: int | None
    # Assets under management, in whole US dollars.
    aum_usd: int | None
    # Date of `aum_usd`.
    aum_as_of: str | None
    # Capital raised so far, or reported sold in filings, in whole US dollars.
    raised_to_date_usd: int | None
    # How the GP invests.
    strategies: list[Strategy]
    # What the GP invests in.
    property_types: list[PropertyType]
    # Facts such as `reg_d_506c`, from an open vocabulary.
    tags: list[str]
    # Investment themes such as `opportunity_zones`, from an open vocabulary.
    themes: list[str]
    # Metropolitan areas by title, such as `Austin-Round Rock, TX`.
    markets: list[str]
    # Ids in other registers and systems, by kind of id.
    external_ids: ExternalIds
    # Funds of the GP, largest first, at most 100.
    funds: list[Fund]
    # Total number of the GP's funds.
    funds_total: int
    # Where the record comes from and how certain it is.
    provenance: Provenance
    # Time when the content last changed, in UTC.
    updated_at: str
    # Principals of the GP by name, at most 100, without `gps`, `tags`, `themes`, `markets`.
    principals: list[GpPrincipal]
    # Total number of the GP's principals.
    principals_total: int
    # Signals of the GP, newest first, at most 100, without `gps`.
    signals: list[GpSignal]
    # Total number of the GP's signals.
    signals_total: int


class LinkedGp(TypedDict):
    # Id of the GP.
    id: str
    # Name of the GP.
    name: str


class Principal(TypedDict):
    # Stable id of the principal.
    id: str
    # Full name of the person.
    name: str
    # First name.
    first_name: str | None
    # Middle name.
    middle_name: str | None
    # Last name.
    last_name: str | None
    # Job title, as the source writes it.
    title: str | None
    # Roles of the person at the GP or at one of its vehicles.
    roles: list[Role]
    # City of the office.
    city: str | None
    # State of the office.
    state: str | None
    # Country of the office, normally an ISO 3166-1 alpha-2 code such as US.
    country: str | None
    # Business email address.
    email: str | None
    # LinkedIn page of the person.
    linkedin_url: str | None
    # Share of the GP owned, in per cent.
    #
    # - `under_5`: Less than 5 %.
    # - `5_10`: 5 % or more, less than 10 %.
    # - `10_25`: 10 % or more, less than 25 %.
    # - `25_50`: 25 % or more, less than 50 %.
    # - `50_75`: 50 % or more, less than 75 %.
    # - `over_75`: 75 % or more.
    ownership_band: OwnershipBand | None
    # Date when the person started at the GP, as precisely as known.
    start_date: str | None
    # Date when the source first named the person.
    first_seen_date: str | None
    # Date when the source last named the person.
    last_seen_date: str | None
    # Ids in other registers and systems, by kind of id.
    external_ids: ExternalIds
    # Where the record comes from and how certain it is.
    provenance: Provenance
    # Time when the content last changed, in UTC.
    updated_at: str
    # Facts such as `reg_d_506c`, from an open vocabulary.
    tags: list[str]
    # Investment themes such as `opportunity_zones`, from an open vocabulary.
    themes: list[str]
    # Metropolitan areas by title, such as `Austin-Round Rock, TX`.
    markets: list[str]
    # GPs that this record belongs to; may be empty.
    gps: list[LinkedGp]


class Signal(TypedDict):
    # Stable id of the signal.
    id: str
    # What happened.
    #
    # - `new_offering`: An offering of securities was filed for the first time.
    # - `offering_amended`: A filed offering was changed, such as its size or its people.
    # - `capital_raised`: More of an offering is reported sold than in its last filing.
    # - `first_sale`: The first sale of an offering is reported.
    # - `fully_subscribed`: The whole offering is reported sold.
    # - `general_solicitation`: An offering is advertised to the public, as Regulation D allows under Rule 506(c).
    # - `new_vehicle`: The GP formed a fund or company that was not known before.
    # - `new_principal`: A person is named among the GP's people for the first time.
    # - `aum_change`: The reported assets under management rose or fell.
    # - `fund_reported`: A fund appears in the GP's own report to its regulator.
    # - `acquisition`: A property or portfolio was bought.
    # - `disposition`: A property or portfolio was sold.
    # - `financing`: A loan or other financing was agreed.
    # - `fund_close`: A fund held its first, an interim or its final close.
    # - `leadership_change`: A leader of the GP joined, left or changed roles.
    # - `project_announced`: A project was made public.
    # - `permit_issued`: An authority permitted construction.
    # - `construction_started`: Work on the site began.
    # - `project_completed`: A project was finished.
    # - `news`: The GP was in the news for a reason that no other type covers.
    # - `other`: Something else happened.
    type: SignalType
    # Title of the signal, in one line.
    title: str
    # Summary of the signal, in one paragraph.
    summary: str | None
    # Date of the event, as precisely as known.
    date: str
    # When the event was published, as precisely as known.
    published_at: str | None
    # Amount in whole US dollars; negative for a decrease.
    amount_usd: int | None
    # What `amount_usd` measures.
    #
    # - `offering_total`: The size of the whole offering, sold or not.
    # - `sold_to_date`: The part of an offering reported sold so far.
    # - `sold_delta`: The part of an offering reported sold since its last filing.
    # - `regulatory_aum`: Regulatory assets under management, as Form ADV defines them.
    # - `gross_assets`: The gross assets of a fund.
    # - `price`: The price paid for a property or portfolio.
    # - `loan`: The principal of a loan.
    # - `other`: Some other amount; the title or summary says which.
    amount_basis: AmountBasis | None
    # Title of the metropolitan area concerned.
    market: str | None
    # Property types concerned.
    property_types: list[PropertyType]
    # Ids of the projects concerned.
    project_ids: list[str]
    # Page with more about the event.
    url: str | None
    # Facts such as `reg_d_506c`, from an open vocabulary.
    tags: list[str]
    # Investment themes such as `opportunity_zones`, from an open vocabulary.
    themes: list[str]
    # Where the record comes from and how certain it is.
    provenance: Provenance
    # Time when the content last changed, in UTC.
    updated_at: str
    # GPs that this record belongs to; may be empty.
    gps: list[LinkedGp]


ProjectType = str | Literal[
    "property_offering",
    "acquisition",
    "development",
    "rehabilitation",
    "adaptive_reuse",
    "affordable_housing",
    "other",
]


ProjectStatus = str | Literal[
    "planned",
    "raising",
    "entitled",
    "under_construction",
    "completed",
    "closed",
    "on_hold",
    "cancelled",
    "unknown",
]


MarketBasis = str | Literal[
    "property_address",
    "issuer_address",
    "stated",
]


class Project(TypedDict):
    # Stable id of the project.
    id: str
    # Name of the project.
    name: str
    # Kind of project.
    #
    # - `property_offering`: Securities are sold to pay for one property.
    # - `acquisition`: A property is bought as it stands.
    # - `development`: Something new is built.
    # - `rehabilitation`: A building is renovated and keeps its use.
    # - `adaptive_reuse`: A building is converted to another use.
    # - `affordable_housing`: Dwellings are built or kept to be let or sold below market.
    # - `other`: A project of another kind.
    type: ProjectType
    # Kind of property.
    #
    # - `multifamily`: Apartment buildings.
    # - `single_family_rental`: Houses for one family, bought to be let.
    # - `build_to_rent`: Houses or communities built to be let.
    # - `student_housing`: Homes for students.
    # - `senior_housing`: Homes for older people, with or without care.
    # - `manufactured_housing`: Parks for manufactured homes.
    # - `affordable_housing`: Homes let or sold below market.
    # - `residential_other`: Homes of another kind, or of several kinds.
    # - `industrial`: Warehouses, logistics and production.
    # - `cold_storage`: Refrigerated warehouses.
    # - `industrial_outdoor_storage`: Yards for vehicles, containers and material.
    # - `office`: Buildings for business and administration, other than medical ones.
    # - `medical_office`: Medical practices and clinics.
    # - `life_science`: Laboratories and the space that goes with them.
    # - `retail`: Shops and shopping centres.
    # - `net_lease`: Buildings whose tenant bears taxes, insurance and upkeep.
    # - `hospitality`: Hotels and other lodging.
    # - `self_storage`: Storage space let to the public.
    # - `data_center`: Buildings for computers.
    # - `land`: Land without buildings, other than farmland.
    # - `farmland`: Land for crops, livestock or timber.
    # - `parking`: Garages and parking lots.
    # - `marina`: Berths for boats.
    # - `mixed_use`: Several uses in one building or project.
    # - `healthcare`: Hospitals and other buildings for care, except medical practices.
    # - `diversified`: Many property types at once.
    # - `unknown`: The source does not say.
    property_type: PropertyType
    # Status of the project.
    #
    # - `planned`: Announced, and not yet permitted or financed.
    # - `raising`: Its capital is being raised; in records from filings, the latest filing on one of its offerings reports an unsold amount or an indefinite total.
    # - `entitled`: Its use of the land is approved, and work has not begun.
    # - `under_construction`: Work on the site is in progress.
    # - `completed`: Construction or renovation is finished.
    # - `closed`: The purchase or the offering is closed; in records from filings, all its offerings are reported as fully sold.
    # - `on_hold`: Work or planning has stopped for now.
    # - `cancelled`: The project was given up.
    # - `unknown`: The source does not say.
    status: ProjectStatus
    # Address of the project: street and number.
    address: str | None
    # City of the project.
    city: str | None
    # State of the project, two letters in the US.
    state: str | None
    # Postal code of the project.
    zip: str | None
    # Country of the project, normally an ISO 3166-1 code such as US.
    country: str | None
    # Title of the metropolitan area.
    market: str | None
    # How `market` was determined.
    #
    # - `property_address`: The market of the property's own address.
    # - `issuer_address`: The market of the issuer's address, since the source names no property; the property may be elsewhere.
    # - `stated`: The market that the source names.
    market_basis: MarketBasis | None
    # Latitude in degrees north.
    latitude: float | None
    # Longitude in degrees east.
    longitude: float | None
    # Number of dwellings.
    units: int | None
    # Number of dwellings let or sold below market.
    affordable_units: int | None
    # Floor area in square feet.
    square_feet: int | None
    # Total amount of the project, in whole US dollars.
    total_amount_usd: int | None
    # Amount raised for the project so far, or reported sold in filings, in whole US dollars.
    raised_amount_usd: int | None
    # Date of the project's start, as precisely as known.
    start_date: str | None
    # Date of completion, actual or planned.
    completion_date: str | None
    # Date of the first sale of a share.
    first_sale_date: str | None
    # How the project is meant to earn money.
    #
    # - `core`: Stable, leased property, held for income with little debt.
    # - `core_plus`: Stable property whose income can still be raised a little.
    # - `value_add`: Property that is improved, re-let or better managed before it is sold.
    # - `opportunistic`: High risk for high return, such as development or turnarounds.
    # - `debt`: Loans and other debt secured by property.
    # - `distressed`: Property or debt in difficulty, bought at a discount.
    # - `development`: New buildings.
    # - `fund_of_funds`: Interests in the funds of others.
    # - `secondaries`: Interests in funds or deals bought from earlier investors.
    # - `co_investment`: Single deals made alongside another sponsor or fund.
    strategy: Strategy | None
    # Facts such as `reg_d_506c`, from an open vocabulary.
    tags: list[str]
    # Investment themes such as `opportunity_zones`, from an open vocabulary.
    themes: list[str]
    # Ids in other registers and systems, by kind of id.
    external_ids: ExternalIds
    # Where the record comes from and how certain it is.
    provenance: Provenance
    # Time when the content last changed, in UTC.
    updated_at: str
    # GPs that this record belongs to; may be empty.
    gps: list[LinkedGp]


class ListedGp(TypedDict):
    # Stable id of the GP.
    id: str
    # Former ids: those of GPs that turned out to be this GP.
    former_ids: list[str]
    # Name by which the GP is known.
    name: str
    # Legal name, as registered.
    legal_name: str | None
    # Other names of the GP, which a search also finds.
    aliases: list[str]
    # What the GP does.
    description: str | None
    # Website of the GP.
    website: str | None
    # City of the head office.
    hq_city: str | None
    # State of the head office, two letters in the US.
    hq_state: str | None
    # Country of the head office, normally an ISO 3166-1 alpha-2 code such as US.
    hq_country: str | None
    # Year in which the GP was founded.
    founded_year: int | None
    # Assets under management, in whole US dollars.
    aum_usd: int | None
    # Date of `aum_usd`.
    aum_as_of: str | None
    # Capital raised so far, or reported sold in filings, in whole US dollars.
    raised_to_date_usd: int | None
    # How the GP invests.
    strategies: list[Strategy]
    # What the GP invests in.
    property_types: list[PropertyType]
    # Facts such as `reg_d_506c`, from an open vocabulary.
    tags: list[str]
    # Investment themes such as `opportunity_zones`, from an open vocabulary.
    themes: list[str]
    # Metropolitan areas by title, such as `Austin-Round Rock, TX`.
    markets: list[str]
    # Ids in other registers and systems, by kind of id.
    external_ids: ExternalIds
    # Funds of the GP, largest first, at most 100.
    funds: list[Fund]
    # Total number of the GP's funds.
    funds_total: int
    # Where the record comes from and how certain it is.
    provenance: Provenance
    # Time when the content last changed, in UTC.
    updated_at: str
    # Total number of the GP's principals.
    principals_total: int
    # Total number of the GP's signals.
    signals_total: int


Kind = str | Literal[
    "gp",
    "principal",
    "project",
]


class EvidenceDocument(TypedDict):
    # Kind of document, such as `Form D/A`.
    form: str
    # Number of the document, unique in its source.
    number: str
    # Name of the filer.
    filer: str | None
    # Date of the filing.
    filed_on: str | None
    # Page of the document.
    url: str | None


class Evidence(TypedDict):
    document: EvidenceDocument
    # Field of the document, as the document names it.
    field: str
    # Sentence or name as filed.
    text: str
    # Firm that it names, as filed.
    firm: str | None
    # Rule that found it.
    #
    # - `stated`: The source states it.
    # - `adv_file_number`: The GP reports the file number of the offering in its Form ADV.
    # - `sponsor_text`: A firm is named in the text of the filing, such as the signer's title.
    # - `adv_fund_name`: The GP reports a fund of that name in its Form ADV.
    # - `related_entity`: The filing names the firm among its related persons.
    # - `cluster`: Several filings share people and addresses.
    # - `series_master`: The issuer's name says that it is a series of the GP.
    # - `related_entity_deal`: The filing names a related entity that exists for this deal alone.
    # - `issuer_stem`: Only the issuer's name points to the GP.
    # - `named_sponsor`: A public register names the sponsor.
    # - `corrected`: The operator corrected what the source says.
    basis: ProvenanceBasis
    # How far `basis` can be trusted for this quotation, from 0 to 1.
    confidence: float
    # Whether it was taken. Otherwise it was refused.
    taken: bool
    # Reason for taking or refusing it, as a clause that follows "because".
    why: str


class Explanation(TypedDict):
    # Id of the record.
    id: str
    # Kind of the record.
    kind: Kind
    # Name of the record.
    name: str
    # Who is named and how sure that is, or that nobody is named.
    statement: str
    # Where the record comes from and how certain it is.
    provenance: Provenance
    # GPs that this record belongs to; may be empty.
    gps: list[LinkedGp]
    # Quotations from documents, at most 20; those taken come first.
    evidence: list[Evidence]
    # Number of further documents, which are not quoted.
    documents_left_out: int


ExportedFileKind = str | Literal[
    "gp",
    "principal",
    "signal",
    "project",
]


ExportFormat = str | Literal[
    "ndjson",
    "csv",
    "parquet",
]


class ExportedFile(TypedDict):
    # Path of the file.
    path: str
    # Kind of record in the file.
    kind: ExportedFileKind
    # Format of the file.
    format: ExportFormat
    # Number of records in the file.
    records: int
    # Size in bytes; `null` until the file is first requested and made.
    bytes: int | None
    # SHA-256 of the file in hexadecimal; `null` until the file is made.
    sha256: str | None


class ExportedDataset(TypedDict):
    # Version of the dataset, as in `meta.dataset_version`.
    version: str
    # Whether the operations answer from this dataset.
    is_current: bool
    # Time when the dataset was built.
    built_at: str
    # Files of the dataset, one for each kind of record and each format.
    files: list[ExportedFile]


class Pagination(TypedDict):
    # Maximum number of entries on a page.
    limit: int
    # Number of entries before this page.
    offset: int
    # Number of entries on this page.
    returned: int
    # Exact number of entries on all pages.
    total: int
    # Whether entries follow this page.
    has_more: bool
    # Value of `offset` for the next page; `null` on the last one.
    next_offset: int | None


HintCode = str | Literal[
    "no_match",
    "unknown_value",
    "no_searchable_character",
    "past_the_end",
    "embedded_list_cut",
]


class Hint(TypedDict):
    # Kind of hint, for programs to read.
    code: HintCode
    # Parameter that the hint concerns, or `null`.
    parameter: str | None
    # The hint in words, for people to read.
    message: str
    # Similar values that exist.
    suggestions: list[str]


class Meta(TypedDict):
    # Minor version of the API.
    api_version: str
    # Version of the dataset that the answer was made from. While it stays the same, pages neither repeat nor skip records; if it changes between two pages, start again at offset 0.
    dataset_version: str
    # Time when the dataset was last updated.
    dataset_updated_at: str
    # Hints about the query and its answer: values that match nothing, an offset beyond the end, embedded lists that are truncated.
    hints: list[Hint]


class KindCounts(TypedDict):
    # Number of records added.
    added: int
    # Number of records changed.
    changed: int
    # Number of records removed.
    removed: int
    # Number of records merged.
    merged: int


class Counts(TypedDict):
    """Numbers of changes by kind of record."""

    gp: KindCounts
    principal: KindCounts
    signal: KindCounts
    project: KindCounts


PublishedChange = TypedDict(
    "PublishedChange",
    {
        # Version of the dataset that was published.
        "version": str,
        # Time of the publication.
        "published_at": str,
        # Version that was served before; `null` if it is unknown.
        "from": str | None,
        # Hash of the dataset, as the guide to changes defines it; `null` while it is unknown.
        "hash": str | None,
        # Path of the step from `from` to `version`; `null` if there is none.
        "step": str | None,
        # Number of changes in the step; `null` without a step.
        "changes": int | None,
        # Numbers of changes by kind of record.
        "counts": Counts | None,
    },
)


Change = str | Literal[
    "added",
    "changed",
    "removed",
    "merged",
]


RecordChangeKind = str | Literal[
    "gp",
    "principal",
    "signal",
    "project",
]


class RecordChange(TypedDict):
    # What happened to the record.
    change: Change
    # Kind of the record.
    kind: RecordChangeKind
    # Id of the record.
    id: str
    # The whole record, if it was added or its set of members is different now.
    record: NotRequired[dict[str, Any]]
    # Old values of the changed members.
    before: NotRequired[dict[str, Any]]
    # New values of the changed members.
    after: NotRequired[dict[str, Any]]
    # Id of the GP that the record was merged into.
    into: NotRequired[str]


ParameterFaultCode = str | Literal[
    "missing",
    "too_short",
    "too_long",
    "empty_value",
    "not_an_integer",
    "out_of_range",
    "unknown_parameter",
    "repeated_parameter",
    "too_many_values",
    "invalid_encoding",
    "unknown_value",
    "out_of_order",
]


class ParameterFault(TypedDict):
    # Name of the parameter as it was sent, cut to 50 characters.
    parameter: str
    # Kind of fault, for programs to read.
    code: ParameterFaultCode
    # The fault in words, for people to read.
    detail: str
    # Parameter or value that was probably meant.
    suggestion: NotRequired[str]
    # Smallest value or length accepted.
    minimum: NotRequired[int]
    # Largest value, length or count accepted.
    maximum: NotRequired[int]
    # Parameters that the path takes, or values that the parameter takes.
    allowed: NotRequired[list[str]]
    # Paths of operations that take the parameter.
    allowed_on: NotRequired[list[str]]


QuotaName = str | Literal[
    "minute",
    "hour",
    "day",
    "failed-keys",
    "mcp-messages",
]


class QuotaPolicy(TypedDict):
    # Name of the quota.
    name: QuotaName
    # Number of requests that each window admits.
    quota: int
    # Length of the window in seconds.
    window: int
    # Number of requests that the current window still admits.
    remaining: int
    # Seconds until more requests are admitted.
    reset: int


ProblemCode = str | Literal[
    "invalid-parameters",
    "malformed-request",
    "api-key-missing",
    "api-key-invalid",
    "api-key-expired",
    "api-key-revoked",
    "access-denied",
    "unknown-path",
    "method-not-allowed",
    "not-acceptable",
    "request-timeout",
    "content-too-large",
    "uri-too-long",
    "unsupported-media-type",
    "range-not-satisfiable",
    "expectation-failed",
    "quota-exceeded",
    "headers-too-large",
    "internal-error",
    "unavailable",
]


# An error of the service; `code` tells which, and which other members it has.
Problem = dict[str, Any]


class FetchGpQuery(TypedDict):
    """Parameters of `/fetch-gp`."""

    # Part of a name of the GP: all words must occur in the same name (name, legal name or alias). A word of fewer than 4 characters must begin a word. The id of a GP means only that GP.
    gp_name: str
    # A tag, strategy or property type of the GP, as a whole value. Give several values to match any.
    tag: NotRequired[str | Sequence[str]]
    # A theme of the GP, as a whole value. Give several values to match any.
    theme: NotRequired[str | Sequence[str]]
    # A market of the GP: its title, one of its cities, or a city and a state. Give several values to match any.
    market: NotRequired[str | Sequence[str]]
    # Maximum number of records on a page.
    limit: NotRequired[int]
    # Number of records to skip before the first one on the page.
    offset: NotRequired[int]


class FetchPrincipalsQuery(TypedDict):
    """Parameters of `/fetch-principals`."""

    # Part of a name of the GP: all words must occur in the same name (name, legal name or alias). A word of fewer than 4 characters must begin a word. The id of a GP means only that GP.
    gp_name: NotRequired[str]
    # A tag, strategy or property type of the GP, as a whole value. Give several values to match any.
    tag: NotRequired[str | Sequence[str]]
    # A theme of the GP, as a whole value. Give several values to match any.
    theme: NotRequired[str | Sequence[str]]
    # A market of the GP: its title, one of its cities, or a city and a state. Give several values to match any.
    market: NotRequired[str | Sequence[str]]
    # Maximum number of records on a page.
    limit: NotRequired[int]
    # Number of records to skip before the first one on the page.
    offset: NotRequired[int]


class FetchSignalsQuery(TypedDict):
    """Parameters of `/fetch-signals`."""

    # Part of a name of the GP: all words must occur in the same name (name, legal name or alias). A word of fewer than 4 characters must begin a word. The id of a GP means only that GP.
    gp_name: NotRequired[str]
    # Maximum number of records on a page.
    limit: NotRequired[int]
    # Number of records to skip before the first one on the page.
    offset: NotRequired[int]


class FetchProjectsQuery(TypedDict):
    """Parameters of `/fetch-projects`."""

    # Part of a name of the GP: all words must occur in the same name (name, legal name or alias). A word of fewer than 4 characters must begin a word. The id of a GP means only that GP.
    gp_name: NotRequired[str]
    # Maximum number of records on a page.
    limit: NotRequired[int]
    # Number of records to skip before the first one on the page.
    offset: NotRequired[int]


GpSort = str | Literal[
    "name",
    "-name",
    "aum_usd",
    "-aum_usd",
    "raised_to_date_usd",
    "-raised_to_date_usd",
    "founded_year",
    "-founded_year",
    "confidence",
    "-confidence",
    "updated_at",
    "-updated_at",
    "signal_date",
    "-signal_date",
]


class ListGpsQuery(TypedDict):
    """Parameters of `/list-gps`."""

    # Part of a name of the GP: all words must occur in the same name (name, legal name or alias). A word of fewer than 4 characters must begin a word. The id of a GP means only that GP.
    gp_name: NotRequired[str]
    # A market of the GP: its title, one of its cities, or a city and a state. Give several values to match any.
    market: NotRequired[str | Sequence[str]]
    # A tag, strategy or property type of the GP, as a whole value. Give several values to match any.
    tag: NotRequired[str | Sequence[str]]
    # A theme of the GP, as a whole value. Give several values to match any.
    theme: NotRequired[str | Sequence[str]]
    # How the GP invests. Give several values to match any.
    strategy: NotRequired[Strategy | Sequence[Strategy]]
    # Property type the GP invests in. Give several values to match any.
    property_type: NotRequired[PropertyType | Sequence[PropertyType]]
    # City of the head office. Give several values to match any.
    hq_city: NotRequired[str | Sequence[str]]
    # State of the head office, two letters in the US. Give several values to match any.
    hq_state: NotRequired[str | Sequence[str]]
    # Country of the head office, normally an ISO 3166-1 alpha-2 code such as US. Give several values to match any.
    hq_country: NotRequired[str | Sequence[str]]
    # Central Index Key (CIK) that the SEC assigns. Give several values to match any.
    cik: NotRequired[str | Sequence[str]]
    # Number in the Central Registration Depository (CRD) of FINRA. Give several values to match any.
    crd: NotRequired[str | Sequence[str]]
    # Legal Entity Identifier (ISO 17442). Give several values to match any.
    lei: NotRequired[str | Sequence[str]]
    # Number that the SEC gives to an investment adviser, such as `801-12345`. Give several values to match any.
    sec_number: NotRequired[str | Sequence[str]]
    # File number of a Form D offering, such as `021-441122`. Give several values to match any.
    form_d_file: NotRequired[str | Sequence[str]]
    # Number of a private fund in Form ADV, such as `805-1234567890`. Give several values to match any.
    adv_fund: NotRequired[str | Sequence[str]]
    # Assets under management, in whole US dollars. At least this number.
    aum_usd_min: NotRequired[int]
    # Assets under management, in whole US dollars. At most this number.
    aum_usd_max: NotRequired[int]
    # Capital raised so far, or reported sold in filings, in whole US dollars. At least this number.
    raised_to_date_usd_min: NotRequired[int]
    # Capital raised so far, or reported sold in filings, in whole US dollars. At most this number.
    raised_to_date_usd_max: NotRequired[int]
    # Year in which the GP was founded. At least this number.
    founded_year_min: NotRequired[int]
    # Year in which the GP was founded. At most this number.
    founded_year_max: NotRequired[int]
    # Date of `aum_usd`. On this day or later.
    aum_as_of_from: NotRequired[str]
    # Date of `aum_usd`. On this day or before.
    aum_as_of_to: NotRequired[str]
    # For one signal of the GP: what happened. Give several values to match any.
    signal_type: NotRequired[SignalType | Sequence[SignalType]]
    # For one signal of the GP: date of the event, as precisely as known. On this day or later.
    signal_date_from: NotRequired[str]
    # For one signal of the GP: date of the event, as precisely as known. On this day or before.
    signal_date_to: NotRequired[str]
    # Id of the record. Give several values to match any.
    id: NotRequired[str | Sequence[str]]
    # Name of the import that brought the record. Give several values to match any.
    source: NotRequired[str | Sequence[str]]
    # What the record is based on. Give several values to match any.
    basis: NotRequired[ProvenanceBasis | Sequence[ProvenanceBasis]]
    # Confidence that the record is right, from 0 to 1. At least this number.
    confidence_min: NotRequired[float]
    # Confidence that the record is right, from 0 to 1. At most this number.
    confidence_max: NotRequired[float]
    # Time when the content last changed, in UTC. On this day or later.
    updated_at_from: NotRequired[str]
    # Time when the content last changed, in UTC. On this day or before.
    updated_at_to: NotRequired[str]
    # Order of the records. A minus sign stands for the descending order; records with the same value are in the order of their ids.
    sort: NotRequired[GpSort]
    # Maximum number of records on a page.
    limit: NotRequired[int]
    # Number of records to skip before the first one on the page.
    offset: NotRequired[int]


PrincipalSort = str | Literal[
    "name",
    "-name",
    "start_date",
    "-start_date",
    "first_seen_date",
    "-first_seen_date",
    "last_seen_date",
    "-last_seen_date",
    "confidence",
    "-confidence",
    "updated_at",
    "-updated_at",
]


class ListPrincipalsQuery(TypedDict):
    """Parameters of `/list-principals`."""

    # Part of a name of the GP: all words must occur in the same name (name, legal name or alias). A word of fewer than 4 characters must begin a word. The id of a GP means only that GP.
    gp_name: NotRequired[str]
    # Part of the name: all words must occur in it, as for `gp_name`.
    name: NotRequired[str]
    # Id of a GP that the record belongs to. Give several values to match any.
    gp_id: NotRequired[str | Sequence[str]]
    # A market of the GP: its title, one of its cities, or a city and a state. Give several values to match any.
    market: NotRequired[str | Sequence[str]]
    # A tag, strategy or property type of the GP, as a whole value. Give several values to match any.
    tag: NotRequired[str | Sequence[str]]
    # A theme of the GP, as a whole value. Give several values to match any.
    theme: NotRequired[str | Sequence[str]]
    # A role of the person. Give several values to match any.
    role: NotRequired[Role | Sequence[Role]]
    # City of the office. Give several values to match any.
    city: NotRequired[str | Sequence[str]]
    # State of the office. Give several values to match any.
    state: NotRequired[str | Sequence[str]]
    # Country of the office, normally an ISO 3166-1 alpha-2 code such as US. Give several values to match any.
    country: NotRequired[str | Sequence[str]]
    # Share of the GP owned, in per cent. Give several values to match any.
    ownership_band: NotRequired[OwnershipBand | Sequence[OwnershipBand]]
    # Number in the Central Registration Depository (CRD) of FINRA. Give several values to match any.
    crd: NotRequired[str | Sequence[str]]
    # Date when the person started at the GP, as precisely as known. On this day or later.
    start_date_from: NotRequired[str]
    # Date when the person started at the GP, as precisely as known. On this day or before.
    start_date_to: NotRequired[str]
    # Date when the source first named the person. On this day or later.
    first_seen_date_from: NotRequired[str]
    # Date when the source first named the person. On this day or before.
    first_seen_date_to: NotRequired[str]
    # Date when the source last named the person. On this day or later.
    last_seen_date_from: NotRequired[str]
    # Date when the source last named the person. On this day or before.
    last_seen_date_to: NotRequired[str]
    # Id of the record. Give several values to match any.
    id: NotRequired[str | Sequence[str]]
    # Name of the import that brought the record. Give several values to match any.
    source: NotRequired[str | Sequence[str]]
    # What the record is based on. Give several values to match any.
    basis: NotRequired[ProvenanceBasis | Sequence[ProvenanceBasis]]
    # Confidence that the record is right, from 0 to 1. At least this number.
    confidence_min: NotRequired[float]
    # Confidence that the record is right, from 0 to 1. At most this number.
    confidence_max: NotRequired[float]
    # Time when the content last changed, in UTC. On this day or later.
    updated_at_from: NotRequired[str]
    # Time when the content last changed, in UTC. On this day or before.
    updated_at_to: NotRequired[str]
    # Order of the records. A minus sign stands for the descending order; records with the same value are in the order of their ids.
    sort: NotRequired[PrincipalSort]
    # Maximum number of records on a page.
    limit: NotRequired[int]
    # Number of records to skip before the first one on the page.
    offset: NotRequired[int]


SignalSort = str | Literal[
    "-date",
    "date",
    "published_at",
    "-published_at",
    "amount_usd",
    "-amount_usd",
    "confidence",
    "-confidence",
    "updated_at",
    "-updated_at",
]


class ListSignalsQuery(TypedDict):
    """Parameters of `/list-signals`."""

    # Part of a name of the GP: all words must occur in the same name (name, legal name or alias). A word of fewer than 4 characters must begin a word. The id of a GP means only that GP.
    gp_name: NotRequired[str]
    # Id of a GP that the record belongs to. Give several values to match any.
    gp_id: NotRequired[str | Sequence[str]]
    # Id of a project that the signal concerns. Give several values to match any.
    project_id: NotRequired[str | Sequence[str]]
    # Whether the record belongs to a GP.
    has_gp: NotRequired[bool]
    # What happened. Give several values to match any.
    type: NotRequired[SignalType | Sequence[SignalType]]
    # The market of the signal: its title, one of its cities, or a city and a state. Give several values to match any.
    market: NotRequired[str | Sequence[str]]
    # A tag or property type of the signal, as a whole value. Give several values to match any.
    tag: NotRequired[str | Sequence[str]]
    # A theme of the signal, as a whole value. Give several values to match any.
    theme: NotRequired[str | Sequence[str]]
    # Property type concerned. Give several values to match any.
    property_type: NotRequired[PropertyType | Sequence[PropertyType]]
    # Date of the event, as precisely as known. On this day or later.
    date_from: NotRequired[str]
    # Date of the event, as precisely as known. On this day or before.
    date_to: NotRequired[str]
    # When the event was published, as precisely as known. On this day or later.
    published_at_from: NotRequired[str]
    # When the event was published, as precisely as known. On this day or before.
    published_at_to: NotRequired[str]
    # Amount in whole US dollars; negative for a decrease. At least this number.
    amount_usd_min: NotRequired[int]
    # Amount in whole US dollars; negative for a decrease. At most this number.
    amount_usd_max: NotRequired[int]
    # What `amount_usd` measures. Give several values to match any.
    amount_basis: NotRequired[AmountBasis | Sequence[AmountBasis]]
    # Id of the record. Give several values to match any.
    id: NotRequired[str | Sequence[str]]
    # Name of the import that brought the record. Give several values to match any.
    source: NotRequired[str | Sequence[str]]
    # What the record is based on. Give several values to match any.
    basis: NotRequired[ProvenanceBasis | Sequence[ProvenanceBasis]]
    # Confidence that the record is right, from 0 to 1. At least this number.
    confidence_min: NotRequired[float]
    # Confidence that the record is right, from 0 to 1. At most this number.
    confidence_max: NotRequired[float]
    # Time when the content last changed, in UTC. On this day or later.
    updated_at_from: NotRequired[str]
    # Time when the content last changed, in UTC. On this day or before.
    updated_at_to: NotRequired[str]
    # Order of the records. A minus sign stands for the descending order; records with the same value are in the order of their ids.
    sort: NotRequired[SignalSort]
    # Maximum number of records on a page.
    limit: NotRequired[int]
    # Number of records to skip before the first one on the page.
    offset: NotRequired[int]


ProjectSort = str | Literal[
    "name",
    "-name",
    "units",
    "-units",
    "affordable_units",
    "-affordable_units",
    "square_feet",
    "-square_feet",
    "total_amount_usd",
    "-total_amount_usd",
    "raised_amount_usd",
    "-raised_amount_usd",
    "start_date",
    "-start_date",
    "completion_date",
    "-completion_date",
    "first_sale_date",
    "-first_sale_date",
    "confidence",
    "-confidence",
    "updated_at",
    "-updated_at",
]


class ListProjectsQuery(TypedDict):
    """Parameters of `/list-projects`."""

    # Part of a name of the GP: all words must occur in the same name (name, legal name or alias). A word of fewer than 4 characters must begin a word. The id of a GP means only that GP.
    gp_name: NotRequired[str]
    # Part of the name: all words must occur in it, as for `gp_name`.
    name: NotRequired[str]
    # Id of a GP that the record belongs to. Give several values to match any.
    gp_id: NotRequired[str | Sequence[str]]
    # Whether the record belongs to a GP.
    has_gp: NotRequired[bool]
    # Kind of project. Give several values to match any.
    type: NotRequired[ProjectType | Sequence[ProjectType]]
    # Status of the project. Give several values to match any.
    status: NotRequired[ProjectStatus | Sequence[ProjectStatus]]
    # Kind of property. Give several values to match any.
    property_type: NotRequired[PropertyType | Sequence[PropertyType]]
    # How the project is meant to earn money. Give several values to match any.
    strategy: NotRequired[Strategy | Sequence[Strategy]]
    # The market of the project: its title, one of its cities, or a city and a state. Give several values to match any.
    market: NotRequired[str | Sequence[str]]
    # How `market` was determined. Give several values to match any.
    market_basis: NotRequired[MarketBasis | Sequence[MarketBasis]]
    # A tag, strategy or property type of the project, as a whole value. Give several values to match any.
    tag: NotRequired[str | Sequence[str]]
    # A theme of the project, as a whole value. Give several values to match any.
    theme: NotRequired[str | Sequence[str]]
    # City of the project. Give several values to match any.
    city: NotRequired[str | Sequence[str]]
    # State of the project, two letters in the US. Give several values to match any.
    state: NotRequired[str | Sequence[str]]
    # Postal code of the project. Give several values to match any.
    zip: NotRequired[str | Sequence[str]]
    # Country of the project, normally an ISO 3166-1 code such as US. Give several values to match any.
    country: NotRequired[str | Sequence[str]]
    # Central Index Key (CIK) that the SEC assigns. Give several values to match any.
    cik: NotRequired[str | Sequence[str]]
    # File number of a Form D offering, such as `021-441122`. Give several values to match any.
    form_d_file: NotRequired[str | Sequence[str]]
    # Number that HUD, the US housing department, gives to a low-income project. Give several values to match any.
    hud_id: NotRequired[str | Sequence[str]]
    # Number of dwellings. At least this number.
    units_min: NotRequired[int]
    # Number of dwellings. At most this number.
    units_max: NotRequired[int]
    # Number of dwellings let or sold below market. At least this number.
    affordable_units_min: NotRequired[int]
    # Number of dwellings let or sold below market. At most this number.
    affordable_units_max: NotRequired[int]
    # Floor area in square feet. At least this number.
    square_feet_min: NotRequired[int]
    # Floor area in square feet. At most this number.
    square_feet_max: NotRequired[int]
    # Total amount of the project, in whole US dollars. At least this number.
    total_amount_usd_min: NotRequired[int]
    # Total amount of the project, in whole US dollars. At most this number.
    total_amount_usd_max: NotRequired[int]
    # Amount raised for the project so far, or reported sold in filings, in whole US dollars. At least this number.
    raised_amount_usd_min: NotRequired[int]
    # Amount raised for the project so far, or reported sold in filings, in whole US dollars. At most this number.
    raised_amount_usd_max: NotRequired[int]
    # Date of the project's start, as precisely as known. On this day or later.
    start_date_from: NotRequired[str]
    # Date of the project's start, as precisely as known. On this day or before.
    start_date_to: NotRequired[str]
    # Date of completion, actual or planned. On this day or later.
    completion_date_from: NotRequired[str]
    # Date of completion, actual or planned. On this day or before.
    completion_date_to: NotRequired[str]
    # Date of the first sale of a share. On this day or later.
    first_sale_date_from: NotRequired[str]
    # Date of the first sale of a share. On this day or before.
    first_sale_date_to: NotRequired[str]
    # Id of the record. Give several values to match any.
    id: NotRequired[str | Sequence[str]]
    # Name of the import that brought the record. Give several values to match any.
    source: NotRequired[str | Sequence[str]]
    # What the record is based on. Give several values to match any.
    basis: NotRequired[ProvenanceBasis | Sequence[ProvenanceBasis]]
    # Confidence that the record is right, from 0 to 1. At least this number.
    confidence_min: NotRequired[float]
    # Confidence that the record is right, from 0 to 1. At most this number.
    confidence_max: NotRequired[float]
    # Time when the content last changed, in UTC. On this day or later.
    updated_at_from: NotRequired[str]
    # Time when the content last changed, in UTC. On this day or before.
    updated_at_to: NotRequired[str]
    # Order of the records. A minus sign stands for the descending order; records with the same value are in the order of their ids.
    sort: NotRequired[ProjectSort]
    # Maximum number of records on a page.
    limit: NotRequired[int]
    # Number of records to skip before the first one on the page.
    offset: NotRequired[int]


class ChangesQuery(TypedDict):
    """Parameters of `/changes`."""

    # Maximum number of records on a page.
    limit: NotRequired[int]
    # Number of records to skip before the first one on the page.
    offset: NotRequired[int]


# End of the API's types.


class GpRecordsError(Exception):
    """Base class of errors of a request. Has the id of the request, and never holds the key."""

    #: Id of the request in the service's log. Give it to the operator when you ask about the error.
    request_id: str

    def __init__(self, message: str, request_id: str) -> None:
        super().__init__(f"{message} (request {request_id})")
        self.request_id = request_id


class ProblemError(GpRecordsError):
    """An error answer of the service. `problem` has the members that belong to its `code`."""

    problem: Problem

    def __init__(self, problem: Problem, request_id: str) -> None:
        super().__init__(f"{problem['code']}: {problem['detail']}", request_id)
        self.problem = problem

    @property
    def code(self) -> ProblemCode:
        """Code of the problem. It may be newer than this client: keep a default branch."""
        return cast(ProblemCode, self.problem["code"])

    @property
    def status(self) -> int:
        return cast(int, self.problem["status"])


class NetworkError(GpRecordsError):
    """No complete answer after the last retry: no connection, a timeout, or a lost connection."""


class UnexpectedAnswerError(GpRecordsError):
    """An answer that gp-records does not give, such as a proxy's, or a file that changed while it was read."""

    status: int

    def __init__(self, message: str, request_id: str, status: int) -> None:
        super().__init__(message, request_id)
        self.status = status


class VersionChangedError(GpRecordsError):
    """Error for two pages from different datasets, which therefore do not form one list."""

    from_version: str
    to_version: str

    def __init__(self, message: str, request_id: str, from_version: str, to_version: str) -> None:
        super().__init__(message, request_id)
        self.from_version = from_version
        self.to_version = to_version


class Stopped(Exception):
    """Error raised if `stop` is set before a request, or during the wait for the next try."""


@dataclass(frozen=True)
class CachedAnswer:
    etag: str
    #: Body, decompressed.
    body: bytes


@dataclass(frozen=True)
class Wait:
    seconds: float
    #: Cause of the wait: an error answer, or no complete answer.
    error: GpRecordsError
    #: Number of the try that failed, from 1.
    attempt: int


Record = TypeVar("Record")


@dataclass(frozen=True)
class Page(Generic[Record]):
    """One page of an operation's records, and the facts that come with every answer."""

    data: list[Record]
    pagination: Pagination
    meta: Meta
    request_id: str
    #: Quota left to the account, window by window.
    quota: list[QuotaPolicy]


@dataclass(frozen=True)
class Step:
    """Changes from one dataset to another."""

    #: Members `format`, `from`, `to`, `from_hash`, `to_hash`, `changes` and `counts`, explained in docs/changes.md.
    head: dict[str, Any]
    #: Changes, sorted by kind, then by id.
    changes: list[RecordChange]


@dataclass(frozen=True)
class _Received:
    """An answer with any status. `body` is empty for a file, which is passed on as it arrives."""

    status: int
    headers: dict[str, str]
    body: bytes


OnVersionChange = Literal["fail", "restart"]

# Maximum number of restarts of a listing. Datasets published faster than they are read would restart it for ever.
_RESTARTS_MAX = 10

# Number of changes per request. Up to 100 count as one request, which every quota allows.
_STEP_PART = 100


class Listing(Generic[Record]):
    """All records of a query, in order. Pages are fetched when needed; `limit` is their size, 100 by default."""

    def __init__(
        self,
        fetch_page: Callable[[int], Page[Record]],
        pause: Callable[[int], object],
        on_version_change: OnVersionChange,
    ) -> None:
        self._fetch_page = fetch_page
        self._pause = pause
        self._on_version_change = on_version_change

    def __iter__(self) -> Iterator[Record]:
        for page in self.pages():
            yield from page.data

    def to_list(self) -> list[Record]:
        """Returns every record of one dataset once. A restart drops the records gathered before it."""
        gathered: list[Record] = []
        for page in self.pages():
            if page.pagination["offset"] == 0:
                gathered.clear()
            gathered += page.data
        return gathered

    def pages(self) -> Iterator[Page[Record]]:
        """
        Yields the pages. After a restart, `pagination["offset"]` is 0 again.

        Raises VersionChangedError if the dataset changes and `on_version_change` is "fail", or after 10 restarts.
        """
        version: str | None = None
        restarts = 0
        offset: int | None = 0
        while offset is not None:
            page = self._fetch_page(offset)
            before, version = version, page.meta["dataset_version"]
            if before is not None and before != version:
                if self._on_version_change == "fail" or restarts == _RESTARTS_MAX:
                    times = f", for the {restarts + 1}th time" if restarts > 0 else ""
                    raise VersionChangedError(
                        f"The dataset changed from {before} to {version} between two pages{times}; begin again.",
                        page.request_id,
                        before,
                        version,
                    )
                restarts += 1
                if offset > 0:
                    # Until every server has taken over the dataset, pages may be of either one.
                    if restarts > 1:
                        self._pause(restarts - 1)
                    offset = 0
                    continue
            yield page
            offset = page.pagination["next_offset"]


class Client:
    """
    The operations as methods, which fetch one page or list all records.

    base_url: address of the service, such as `https://records.example.org`. A path is kept.
    key: your API key. It is sent in the header `x-api-key`, to `base_url` only: redirects are refused.
    wait_max_seconds: longest wait for `Retry-After`. An answer that asks for more is raised as an error.
    retries_max: maximum number of retries after a 429, 502, 503, 504 or network error; 0 for none.
    timeout_seconds: longest time for one try, including the body. For a file, longest time without new bytes.
    cache: cache of answers with their ETags, so that unchanged ones are not sent again. A dict will do.
    on_wait: function called before each wait.
    stop: event to stop the client. Once it is set, the next request, or the wait before it, raises Stopped.
    sleep: function that replaces the timer and takes seconds. `stop` does not cut it short.

    Raises ValueError if the address or the key cannot be sent.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        *,
        wait_max_seconds: float = 300,
        retries_max: int = 5,
        timeout_seconds: float = 30,
        cache: MutableMapping[str, CachedAnswer] | None = None,
        on_wait: Callable[[Wait], None] | None = None,
        stop: threading.Event | None = None,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        self._base = _base_of(base_url)
        # http.client's error for a header that it cannot send would show the key.
        if not re.fullmatch(r"[\x21-\x7e]+", key):
            raise ValueError("The key is empty or has a character that a header cannot carry.")
        self._key = key
        self._wait_max_seconds = wait_max_seconds
        self._retries_max = retries_max
        # Python waits modulo 2^32 ms for a socket, and for infinity not at all.
        self._timeout_seconds = min(timeout_seconds, 2_000_000)
        self._cache = cache
        self._on_wait = on_wait
        self._stop = stop or threading.Event()
        self._sleep = sleep or self._stop.wait
        self._opener = urllib.request.build_opener(_RefuseRedirects)

    def __repr__(self) -> str:
        return f"Client({self._base!r})"

    def fetch_gp(self, **query: Unpack[FetchGpQuery]) -> Page[Gp]:
        """Fetches one page of GPs by name, best match first, with their principals and signals."""
        return self._fetch_page("/fetch-gp", query)

    def fetch_principals(self, **query: Unpack[FetchPrincipalsQuery]) -> Page[Principal]:
        """Fetches one page of principals."""
        return self._fetch_page("/fetch-principals", query)

    def fetch_signals(self, **query: Unpack[FetchSignalsQuery]) -> Page[Signal]:
        """Fetches one page of signals, newest first."""
        return self._fetch_page("/fetch-signals", query)

    def fetch_projects(self, **query: Unpack[FetchProjectsQuery]) -> Page[Project]:
        """Fetches one page of projects."""
        return self._fetch_page("/fetch-projects", query)

    def list_gps(self, **query: Unpack[ListGpsQuery]) -> Page[ListedGp]:
        """Fetches one page of GPs by any of their values, without their principals and signals."""
        return self._fetch_page("/list-gps", query)

    def list_principals(self, **query: Unpack[ListPrincipalsQuery]) -> Page[Principal]:
        """Fetches one page of principals by any of their values."""
        return self._fetch_page("/list-principals", query)

    def list_signals(self, **query: Unpack[ListSignalsQuery]) -> Page[Signal]:
        """Fetches one page of signals by any of their values."""
        return self._fetch_page("/list-signals", query)

    def list_projects(self, **query: Unpack[ListProjectsQuery]) -> Page[Project]:
        """Fetches one page of projects by any of their values."""
        return self._fetch_page("/list-projects", query)

    # A dataset may be published between two pages of a listing. Its pages do not continue the earlier ones. The listing
    # then raises VersionChangedError if on_version_change is "fail". It begins again at the first page if it is
    # "restart", so some records come twice. It waits before each restart but the first.

    def gps(
        self, *, on_version_change: OnVersionChange = "fail", **query: Unpack[FetchGpQuery]
    ) -> Listing[Gp]:
        """Lists all GPs that match a name."""
        return self._list("/fetch-gp", query, on_version_change)

    def principals(
        self, *, on_version_change: OnVersionChange = "fail", **query: Unpack[FetchPrincipalsQuery]
    ) -> Listing[Principal]:
        """Lists all principals of a query."""
        return self._list("/fetch-principals", query, on_version_change)

    def signals(
        self, *, on_version_change: OnVersionChange = "fail", **query: Unpack[FetchSignalsQuery]
    ) -> Listing[Signal]:
        """Lists all signals of a query."""
        return self._list("/fetch-signals", query, on_version_change)

    def projects(
        self, *, on_version_change: OnVersionChange = "fail", **query: Unpack[FetchProjectsQuery]
    ) -> Listing[Project]:
        """Lists all projects of a query."""
        return self._list("/fetch-projects", query, on_version_change)

    def all_gps(
        self, *, on_version_change: OnVersionChange = "fail", **query: Unpack[ListGpsQuery]
    ) -> Listing[ListedGp]:
        """Lists all GPs that satisfy the filters of `list_gps`."""
        return self._list("/list-gps", query, on_version_change)

    def all_principals(
        self, *, on_version_change: OnVersionChange = "fail", **query: Unpack[ListPrincipalsQuery]
    ) -> Listing[Principal]:
        """Lists all principals that satisfy the filters of `list_principals`."""
        return self._list("/list-principals", query, on_version_change)

    def all_signals(
        self, *, on_version_change: OnVersionChange = "fail", **query: Unpack[ListSignalsQuery]
    ) -> Listing[Signal]:
        """Lists all signals that satisfy the filters of `list_signals`."""
        return self._list("/list-signals", query, on_version_change)

    def all_projects(
        self, *, on_version_change: OnVersionChange = "fail", **query: Unpack[ListProjectsQuery]
    ) -> Listing[Project]:
        """Lists all projects that satisfy the filters of `list_projects`."""
        return self._list("/list-projects", query, on_version_change)

    def changes(
        self, *, on_version_change: OnVersionChange = "fail", **query: Unpack[ChangesQuery]
    ) -> Listing[PublishedChange]:
        """Lists the publications of datasets, newest first."""
        return self._list("/changes", query, on_version_change)

    def step(self, from_version: str, to_version: str) -> Step:
        """Fetches the changes from one dataset to another. A publication names both: `from` and `version`."""
        path = f"/changes/{_quoted(from_version)}..{_quoted(to_version)}.ndjson"

        def read_part(offset: int) -> tuple[list[Any], _Received]:
            query = {"limit": _STEP_PART, "offset": offset}
            return self._get(path, query, "application/x-ndjson", _parse_lines)

        part, received = read_part(0)
        head, changes = (part[0] if part else {}), part[1:]
        while part and len(changes) < head.get("changes", 0):
            part, _ = read_part(len(changes))
            changes += part
        if [head.get(name) for name in ("from", "to", "changes")] != [
            from_version,
            to_version,
            len(changes),
        ]:
            raise UnexpectedAnswerError(
                f"{path} is not the step that was asked for.", received.headers["x-request-id"], 200
            )
        return Step(head, changes)

    def explain(self, id: str) -> Explanation:
        """Fetches the evidence for a GP, a principal or a project, including the evidence that was refused."""
        data, _ = self._get(f"/explain/{_quoted(id)}", {}, "application/json", _parse_data)
        return cast(Explanation, data)

    def exports(self) -> list[ExportedDataset]:
        """Fetches the datasets that can be downloaded, the served one first."""
        data, _ = self._get("/exports", {}, "application/json", _parse_data)
        return cast(list[ExportedDataset], data)

    def export_file(self, version: str, file: str) -> Iterator[bytes]:
        """
        Yields the bytes of one file, such as `gp.ndjson`, as they arrive. A lost connection resumes at the next byte.
        Check the bytes against the file's `sha256`: `exports` gives it once the file has been requested.
        """
        address = f"{self._base}/exports/{_quoted(version)}/{_quoted(file)}"
        request_id = f"client_{secrets.token_hex(10)}"
        length = 0
        tag: str | None = None
        attempt = number = 1
        while True:
            self._refuse_stopped()
            headers = {"accept": "*/*", "accept-encoding": "identity"}
            if length > 0:
                headers["range"] = f"bytes={length}-"
            request = self._request(address, headers, f"{request_id}.{number}")
            try:
                with self._open(request) as response:
                    received = _Received(response.status, _headers_of(response), b"")
                    received.headers.setdefault("x-request-id", f"{request_id}.{number}")
                    if response.status in (200, 206):
                        # A proxy may weaken the tag of a whole file that it compresses, but not that of a range.
                        etag = received.headers.get("etag", "").removeprefix("W/")
                        if etag == "" or etag != (tag or etag):
                            raise _another_file(address, received)
                        tag = etag
                        # A server that ignores ranges sends the known bytes again.
                        known = length if response.status == 200 else 0
                        for chunk in _chunks_of(response):
                            fresh = chunk[known:]
                            known -= len(chunk) - len(fresh)
                            if fresh:
                                length += len(fresh)
                                # Every new byte is progress: the tries are counted from 1 again.
                                attempt = 1
                                yield fresh
                        return
                    received = replace(received, body=response.read())
                failure = self._refusal(received, address, attempt)
                # The connection was lost after the last byte.
                problem = getattr(failure.error, "problem", {})
                if received.status == 416 and problem.get("bytes") == length:
                    return
            except _LOST as cause:
                failure = _lost(address, request, cause, attempt)
            self._wait_after(failure, attempt)
            attempt += 1
            number += 1

    def _list(
        self, path: str, query: Mapping[str, Any], on_version_change: OnVersionChange
    ) -> Listing[Any]:
        if "offset" in query:
            raise TypeError("A listing begins at offset 0: leave offset out.")
        limit = 100 if query.get("limit") is None else query["limit"]
        return Listing(
            lambda offset: self._fetch_page(path, {**query, "limit": limit, "offset": offset}),
            lambda restarts: self._sleep(_backoff_seconds(restarts)),
            on_version_change,
        )

    def _fetch_page(self, path: str, query: Mapping[str, Any]) -> Page[Any]:
        body, received = self._get_json(path, query)
        return Page(
            data=body["data"],
            pagination=body["pagination"],
            meta=body["meta"],
            request_id=received.headers["x-request-id"],
            quota=_quota_of(received.headers),
        )

    def _get_json(self, path: str, query: Mapping[str, Any]) -> tuple[Any, _Received]:
        page, received = self._get(path, query, "application/json", _parse_page)
        offset = query.get("offset") or 0
        # Following next_offset would never end behind a cache that ignores the query.
        if page["pagination"].get("offset") != int(offset):
            raise UnexpectedAnswerError(
                f"{self._base + path} answered offset={offset} with another page: does a cache in front of it ignore the query?",
                received.headers["x-request-id"],
                200,
            )
        return page, received

    def _get(
        self, path: str, query: Mapping[str, Any], accept: str, read: Callable[[bytes], Any]
    ) -> tuple[Any, _Received]:
        """
        Sends a request, and retries it if that can help.

        Raises ProblemError, NetworkError or UnexpectedAnswerError after the last try, and Stopped at once.
        """
        address = self._base + path + _query_of(query)
        request_id = f"client_{secrets.token_hex(10)}"
        attempt = 1
        while True:
            self._refuse_stopped()
            outcome = self._attempt(address, accept, read, f"{request_id}.{attempt}", attempt)
            if not isinstance(outcome, _Failure):
                return outcome
            self._wait_after(outcome, attempt)
            attempt += 1

    def _refuse_stopped(self) -> None:
        if self._stop.is_set():
            raise Stopped

    def _wait_after(self, failure: _Failure, attempt: int) -> None:
        """Waits before another try. Raises the failed try's error if another would not help or a limit is reached."""
        seconds = failure.wait_seconds
        if seconds is None or attempt > self._retries_max or seconds > self._wait_max_seconds:
            raise failure.error from failure.error.__cause__
        if self._on_wait is not None:
            self._on_wait(Wait(seconds, failure.error, attempt))
        self._sleep(seconds)

    def _attempt(
        self,
        address: str,
        accept: str,
        read: Callable[[bytes], Any],
        request_id: str,
        attempt: int,
    ) -> tuple[Any, _Received] | _Failure:
        kept = self._cache.get(address) if self._cache is not None else None
        headers = {"accept": accept, "accept-encoding": "gzip"}
        if kept is not None:
            headers["if-none-match"] = kept.etag
        request = self._request(address, headers, request_id)
        try:
            received = self._read(request)
        except _LOST as cause:
            return _lost(address, request, cause, attempt)
        received.headers.setdefault("x-request-id", request_id)
        is_kept = received.status == 304 and kept is not None
        if is_kept or received.status == 200:
            body = cast(CachedAnswer, kept).body if is_kept else received.body
            answer = read(body)
            etag = received.headers.get("etag")
            if answer is not None:
                if self._cache is not None and not is_kept and etag is not None:
                    self._cache[address] = CachedAnswer(etag, body)
                return answer, received
        return self._refusal(received, address, attempt)

    def _refusal(self, received: _Received, address: str, attempt: int) -> _Failure:
        """Returns the failure of an answer without the requested content."""
        ours = received.headers["x-request-id"]
        problem = _problem_of(received)
        if problem is not None:
            refusal = ProblemError(problem, ours)
            return _Failure(refusal, _wait_for(problem, received.headers, attempt))
        unexpected = UnexpectedAnswerError(_unexpected(address, received), ours, received.status)
        # A proxy has its own limits and reports them without our problem details.
        if received.status not in (429, 502, 503, 504):
            return _Failure(unexpected, None)
        said = _retry_after_seconds(received.headers)
        return _Failure(unexpected, _backoff_seconds(attempt) if said is None else said)

    def _request(
        self, address: str, headers: Mapping[str, str], request_id: str
    ) -> urllib.request.Request:
        own = {
            "user-agent": f"gp-records-client-python/{__version__}",
            "x-api-key": self._key,
            "x-request-id": request_id,
        }
        return urllib.request.Request(address, headers={**own, **headers})

    def _open(self, request: urllib.request.Request) -> Any:
        """Returns an answer with any status, before its body is read."""
        try:
            return self._opener.open(request, timeout=self._timeout_seconds)
        except urllib.error.HTTPError as error:
            return error

    def _read(self, request: urllib.request.Request) -> _Received:
        deadline = time.monotonic() + self._timeout_seconds
        with self._open(request) as response:
            headers = _headers_of(response)
            chunks = []
            # The connection's timeout limits each read. This one limits the whole body.
            for chunk in _chunks_of(response):
                chunks.append(chunk)
                if time.monotonic() > deadline:
                    raise TimeoutError("timed out")
        body = b"".join(chunks)
        if headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        return _Received(response.status, headers, body)


# Errors of a connection that gave no complete answer.
_LOST = (OSError, EOFError, http.client.HTTPException, zlib.error)


@dataclass(frozen=True)
class _Failure:
    """A failed try. `wait_seconds` is None if another try would not help."""

    error: GpRecordsError
    wait_seconds: float | None


class _RefuseRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Returns None, which refuses the redirect: the key must not be sent elsewhere."""


def _headers_of(response: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in response.headers.items()}


def _chunks_of(response: Any) -> Iterator[bytes]:
    """Yields the parts of a body as they arrive. Raises IncompleteRead if it ends too early."""
    # None without a valid Content-Length, and in chunks; 0 for a 304, whose Content-Length is of another answer.
    said = response.length
    length = 0
    while chunk := response.read1(65536):
        length += len(chunk)
        yield chunk
    # http.client itself does not report a body that ends too early if it is read in parts.
    if said is not None and length != said:
        raise http.client.IncompleteRead(b"", said - length)


def _lost(
    address: str, request: urllib.request.Request, cause: BaseException, attempt: int
) -> _Failure:
    request_id = str(request.get_header("X-request-id"))
    error = NetworkError(f"{address} gave no answer: {_reason_of(cause)}.", request_id)
    error.__cause__ = cause
    return _Failure(error, _backoff_seconds(attempt))


def _another_file(address: str, received: _Received) -> UnexpectedAnswerError:
    """Returns the error for a file that changed since its beginning was read, or that has no ETag."""
    changed = f"{address} changed while it was being read; begin again."
    message = changed if "etag" in received.headers else _unexpected(address, received)
    return UnexpectedAnswerError(message, received.headers["x-request-id"], received.status)


def _quoted(text: str) -> str:
    return urllib.parse.quote(text, safe="")


def _base_of(base_url: str) -> str:
    parts = urllib.parse.urlsplit(base_url.strip())
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("base_url must have no user, password, query or fragment.")
    is_host = re.fullmatch(r"(\[[^\s\[\]]+\]|[^\s:\[\]]+)(:[0-9]+)?", parts.netloc)
    if parts.scheme not in ("http", "https") or not is_host:
        raise ValueError("base_url must begin with https:// or http:// and a host, perhaps with a port.")
    path = urllib.parse.quote(parts.path.rstrip("/"), safe="/%!$&'()*+,;=:@")
    return f"{parts.scheme}://{parts.netloc}{path}"


def _query_of(query: Mapping[str, Any]) -> str:
    pairs = [
        (name, "" if one is None else str(one).lower() if isinstance(one, bool) else one)
        for name, value in query.items()
        if value is not None
        # Without its values a filter would be dropped. The service refuses an empty value.
        for one in ([value] if isinstance(value, (str, bytes)) or not isinstance(value, Iterable) else list(value) or [""])
    ]
    return "?" + urllib.parse.urlencode(pairs) if pairs else ""


def _reason_of(cause: BaseException) -> str:
    inner = getattr(cause, "reason", None)
    return _reason_of(inner) if isinstance(inner, BaseException) else str(cause) or type(cause).__name__


def _parse_page(body: bytes) -> dict[str, Any] | None:
    page = _parse_object(body)
    if page is None or not isinstance(page.get("data"), list):
        return None
    return page if all(isinstance(page.get(name), dict) for name in ("pagination", "meta")) else None


def _parse_object(body: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(body)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _parse_data(body: bytes) -> Any:
    data = (_parse_object(body) or {}).get("data")
    return data if isinstance(data, (dict, list)) else None


def _parse_lines(body: bytes) -> list[dict[str, Any]] | None:
    values = [_parse_object(line) for line in body.split(b"\n") if line.strip()]
    return None if None in values else cast(list[dict[str, Any]], values)


def _problem_of(received: _Received) -> Problem | None:
    content_type = received.headers.get("content-type", "")
    if received.status < 400 or not content_type.startswith("application/problem+json"):
        return None
    problem = _parse_object(received.body) or {}
    is_ours = all(isinstance(problem.get(name), str) for name in ("code", "detail"))
    return problem if is_ours else None


def _wait_for(problem: Problem, headers: Mapping[str, str], attempt: int) -> float | None:
    """Returns the seconds to wait before another try, or None if the same problem would recur."""
    if problem["code"] not in ("quota-exceeded", "unavailable"):
        return None
    # A valid key is never refused for this: the key is wrong and stays wrong.
    if "failed-keys" in problem.get("violated-policies", ()):
        return None
    said = _retry_after_seconds(headers)
    return said if said is not None else float(problem.get("retry_after", _backoff_seconds(attempt)))


def _retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """Returns the seconds of `Retry-After`, or until its date (RFC 9110 §10.2.3). Returns None if it has neither."""
    value = headers.get("retry-after", "")
    if re.fullmatch(r"[0-9]+", value):
        return int(value)
    try:
        until = parsedate_to_datetime(value)
    except ValueError:
        return None
    # The obsolete form without a zone is in UTC, too.
    until = until.replace(tzinfo=until.tzinfo or UTC)
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


def _backoff_seconds(attempt: int) -> float:
    """Returns 0.5, 1, 2, … 30 s for try 1, 2, 3, …, less up to half at random so that clients spread out."""
    return min(30.0, 0.5 * 2.0 ** (attempt - 1)) * (0.5 + random.random() / 2)


def _unexpected(address: str, received: _Received) -> str:
    if 300 <= received.status < 400:
        return (
            f"{address} redirects elsewhere, and the key must not follow: set base_url to the service's own address."
        )
    content_type = received.headers.get("content-type", "no content type")
    return (
        f"{address} answered {received.status} with {content_type}, which gp-records never does: "
        "is base_url the address of the service?"
    )


def _quota_of(headers: Mapping[str, str]) -> list[QuotaPolicy]:
    """Reads quotas such as `"minute";r=57;t=48`, with the numbers of their policies."""
    left = {
        name: (int(remaining), int(reset))
        for name, remaining, reset in re.findall(
            r'"(\w+)";r=(\d+);t=(\d+)', headers.get("ratelimit", "")
        )
    }
    return [
        {
            "name": name,
            "quota": int(quota),
            "window": int(window),
            "remaining": left.get(name, (0, 0))[0],
            "reset": left.get(name, (0, 0))[1],
        }
        for name, quota, window in re.findall(
            r'"(\w+)";q=(\d+);w=(\d+)', headers.get("ratelimit-policy", "")
        )
    ]
