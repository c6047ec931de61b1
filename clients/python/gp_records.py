"""
Client of gp-records: records of real-estate General Partners (GPs), their principals, market signals and projects.

One file of the standard library, for Python 3.11 or newer. It waits where the service says so, tells errors apart by
their code, and lists only pages of one dataset. What each operation means stands in the API's reference.

    client = Client("https://records.example.org", key)
    for signal in client.signals(gp_name="northwind"):
        print(signal["date"], signal["title"])
"""

from __future__ import annotations

import gzip
import hashlib
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
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from email.utils import parsedate_to_datetime
from typing import Any, Generic, Literal, NotRequired, TypedDict, TypeVar, Unpack, cast

__version__ = "0.1.0"

__all__ = [
    "CachedAnswer",
    "Client",
    "GpRecordsError",
    "Listing",
    "Mirror",
    "MirrorUpdate",
    "NetworkError",
    "Page",
    "ProblemError",
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
    """Ids elsewhere; only the keys that are known."""

    cik: NotRequired[list[str]]
    crd: NotRequired[list[str]]
    lei: NotRequired[list[str]]
    sec_number: NotRequired[list[str]]
    form_d_file: NotRequired[list[str]]
    adv_fund: NotRequired[list[str]]
    hud_id: NotRequired[list[str]]
    other: NotRequired[list[str]]


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
]


class Provenance(TypedDict):
    """Where the record comes from and how sure it is."""

    # Name of the import the record came by.
    source: str
    # Why the record is believed.
    #
    # - `stated`: The source states it.
    # - `adv_file_number`: The GP reports the file number of the offering in its Form ADV.
    # - `sponsor_text`: A firm is named in the text of the filing, such as the title of who signed it.
    # - `adv_fund_name`: The GP reports a fund of that name in its Form ADV.
    # - `related_entity`: The filing names the firm among its related persons.
    # - `cluster`: Several filings share people and addresses.
    # - `series_master`: The issuer is a series of the company.
    # - `related_entity_deal`: The filing names a related entity that exists for this deal alone.
    # - `issuer_stem`: The name of the issuer alone points to it.
    # - `named_sponsor`: A public register names the sponsor.
    basis: ProvenanceBasis
    # From 0 to 1.
    confidence: float
    # Where the source says so.
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
    # Stable id.
    id: str
    # Full name.
    name: str
    # First name.
    first_name: str | None
    # Middle name.
    middle_name: str | None
    # Last name.
    last_name: str | None
    # Title as the source writes it.
    title: str | None
    # What the person is to the GP.
    roles: list[Role]
    # City of the office.
    city: str | None
    # State of the office.
    state: str | None
    # Country of the office, ISO 3166 two letters.
    country: str | None
    # Business address for mail.
    email: str | None
    # LinkedIn page.
    linkedin_url: str | None
    # Share owned, in per cent.
    #
    # - `under_5`: Less than 5 %.
    # - `5_10`: 5 % or more, less than 10 %.
    # - `10_25`: 10 % or more, less than 25 %.
    # - `25_50`: 25 % or more, less than 50 %.
    # - `50_75`: 50 % or more, less than 75 %.
    # - `over_75`: 75 % or more.
    ownership_band: OwnershipBand | None
    # Since when, as precisely as known.
    start_date: str | None
    # First time the source named the person.
    first_seen_date: str | None
    # Last time the source named the person.
    last_seen_date: str | None
    # Ids elsewhere; only the keys that are known.
    external_ids: ExternalIds
    # Where the record comes from and how sure it is.
    provenance: Provenance
    # When the content last changed, UTC.
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
    # Stable id.
    id: str
    # What happened.
    #
    # - `new_offering`: An offering of securities was filed for the first time.
    # - `offering_amended`: A filed offering was changed, such as its size or its people.
    # - `capital_raised`: More of an offering was sold since its last filing.
    # - `first_sale`: The first investor bought into an offering.
    # - `fully_subscribed`: Nothing of an offering is left to sell.
    # - `general_solicitation`: An offering is advertised to the public, as Regulation D allows under Rule 506(c).
    # - `new_vehicle`: The GP formed a fund or company that was not known before.
    # - `new_principal`: Somebody appears among the people of the GP for the first time.
    # - `aum_change`: The reported assets under management rose or fell.
    # - `fund_reported`: A fund appears in the GP's own report to its regulator.
    # - `acquisition`: A property or portfolio was bought.
    # - `disposition`: A property or portfolio was sold.
    # - `financing`: A loan or other financing was agreed.
    # - `fund_close`: A fund closed, for the first time, in between or finally.
    # - `leadership_change`: Somebody who leads the GP came, went or changed roles.
    # - `project_announced`: A project was made public.
    # - `permit_issued`: An authority permitted construction.
    # - `construction_started`: Work on the site began.
    # - `project_completed`: A project was finished.
    # - `news`: The GP was in the news for a reason that no other type covers.
    # - `other`: Something else happened.
    type: SignalType
    # One line.
    title: str
    # A paragraph.
    summary: str | None
    # When it happened, as precisely as known.
    date: str
    # When it was published, as precisely as known.
    published_at: str | None
    # Amount, whole US dollars; negative for a decrease.
    amount_usd: int | None
    # What the amount counts.
    #
    # - `offering_total`: The whole offering, sold or not.
    # - `sold_to_date`: All that was sold of an offering so far.
    # - `sold_delta`: What was sold of an offering since its last filing.
    # - `regulatory_aum`: Regulatory assets under management, as Form ADV defines them.
    # - `gross_assets`: The gross assets of a fund.
    # - `price`: The price paid for a property or portfolio.
    # - `loan`: The principal of a loan.
    # - `other`: Some other amount; the title or summary says which.
    amount_basis: AmountBasis | None
    market: str | None
    # Property types concerned.
    property_types: list[PropertyType]
    # Projects concerned.
    project_ids: list[str]
    # Where to read it.
    url: str | None
    # Open vocabulary: facts such as `reg_d_506c`.
    tags: list[str]
    # Open vocabulary: what the business is about.
    themes: list[str]
    # Where the record comes from and how sure it is.
    provenance: Provenance
    # When the content last changed, UTC.
    updated_at: str


class Gp(TypedDict):
    # Stable id.
    id: str
    # Ids this GP had before it turned out to be one with another.
    former_ids: list[str]
    # Name it is known by.
    name: str
    # Name as registered.
    legal_name: str | None
    # Other names; searched too.
    aliases: list[str]
    # What it does.
    description: str | None
    # Its website.
    website: str | None
    # City of the head office.
    hq_city: str | None
    # State of the head office, two letters in the US.
    hq_state: str | None
    # Country of the head office, ISO 3166 two letters.
    hq_country: str | None
    # Year of foundation.
    founded_year: int | None
    # Assets under management, whole US dollars.
    aum_usd: int | None
    # Date of `aum_usd`.
    aum_as_of: str | None
    # Capital raised so far, whole US dollars.
    raised_to_date_usd: int | None
    # How it invests.
    strategies: list[Strategy]
    # What it invests in.
    property_types: list[PropertyType]
    # Open vocabulary: facts such as `reg_d_506c`.
    tags: list[str]
    # Open vocabulary: what the business is about.
    themes: list[str]
    # Metropolitan areas by title, `Austin-Round Rock, TX`.
    markets: list[str]
    # Ids elsewhere; only the keys that are known.
    external_ids: ExternalIds
    # Where the record comes from and how sure it is.
    provenance: Provenance
    # When the content last changed, UTC.
    updated_at: str
    # Its principals by name, at most 100, without `gps`, `tags`, `themes`, `markets`.
    principals: list[GpPrincipal]
    # How many principals it has.
    principals_total: int
    # Its signals, newest first, at most 100, without `gps`.
    signals: list[GpSignal]
    # How many signals it has.
    signals_total: int


class LinkedGp(TypedDict):
    # Id of the GP.
    id: str
    # Name of the GP.
    name: str


class Principal(TypedDict):
    # Stable id.
    id: str
    # Full name.
    name: str
    # First name.
    first_name: str | None
    # Middle name.
    middle_name: str | None
    # Last name.
    last_name: str | None
    # Title as the source writes it.
    title: str | None
    # What the person is to the GP.
    roles: list[Role]
    # City of the office.
    city: str | None
    # State of the office.
    state: str | None
    # Country of the office, ISO 3166 two letters.
    country: str | None
    # Business address for mail.
    email: str | None
    # LinkedIn page.
    linkedin_url: str | None
    # Share owned, in per cent.
    #
    # - `under_5`: Less than 5 %.
    # - `5_10`: 5 % or more, less than 10 %.
    # - `10_25`: 10 % or more, less than 25 %.
    # - `25_50`: 25 % or more, less than 50 %.
    # - `50_75`: 50 % or more, less than 75 %.
    # - `over_75`: 75 % or more.
    ownership_band: OwnershipBand | None
    # Since when, as precisely as known.
    start_date: str | None
    # First time the source named the person.
    first_seen_date: str | None
    # Last time the source named the person.
    last_seen_date: str | None
    # Ids elsewhere; only the keys that are known.
    external_ids: ExternalIds
    # Where the record comes from and how sure it is.
    provenance: Provenance
    # When the content last changed, UTC.
    updated_at: str
    # Open vocabulary: facts such as `reg_d_506c`.
    tags: list[str]
    # Open vocabulary: what the business is about.
    themes: list[str]
    # Metropolitan areas by title, `Austin-Round Rock, TX`.
    markets: list[str]
    # The GPs this record belongs to; none is possible.
    gps: list[LinkedGp]


class Signal(TypedDict):
    # Stable id.
    id: str
    # What happened.
    #
    # - `new_offering`: An offering of securities was filed for the first time.
    # - `offering_amended`: A filed offering was changed, such as its size or its people.
    # - `capital_raised`: More of an offering was sold since its last filing.
    # - `first_sale`: The first investor bought into an offering.
    # - `fully_subscribed`: Nothing of an offering is left to sell.
    # - `general_solicitation`: An offering is advertised to the public, as Regulation D allows under Rule 506(c).
    # - `new_vehicle`: The GP formed a fund or company that was not known before.
    # - `new_principal`: Somebody appears among the people of the GP for the first time.
    # - `aum_change`: The reported assets under management rose or fell.
    # - `fund_reported`: A fund appears in the GP's own report to its regulator.
    # - `acquisition`: A property or portfolio was bought.
    # - `disposition`: A property or portfolio was sold.
    # - `financing`: A loan or other financing was agreed.
    # - `fund_close`: A fund closed, for the first time, in between or finally.
    # - `leadership_change`: Somebody who leads the GP came, went or changed roles.
    # - `project_announced`: A project was made public.
    # - `permit_issued`: An authority permitted construction.
    # - `construction_started`: Work on the site began.
    # - `project_completed`: A project was finished.
    # - `news`: The GP was in the news for a reason that no other type covers.
    # - `other`: Something else happened.
    type: SignalType
    # One line.
    title: str
    # A paragraph.
    summary: str | None
    # When it happened, as precisely as known.
    date: str
    # When it was published, as precisely as known.
    published_at: str | None
    # Amount, whole US dollars; negative for a decrease.
    amount_usd: int | None
    # What the amount counts.
    #
    # - `offering_total`: The whole offering, sold or not.
    # - `sold_to_date`: All that was sold of an offering so far.
    # - `sold_delta`: What was sold of an offering since its last filing.
    # - `regulatory_aum`: Regulatory assets under management, as Form ADV defines them.
    # - `gross_assets`: The gross assets of a fund.
    # - `price`: The price paid for a property or portfolio.
    # - `loan`: The principal of a loan.
    # - `other`: Some other amount; the title or summary says which.
    amount_basis: AmountBasis | None
    market: str | None
    # Property types concerned.
    property_types: list[PropertyType]
    # Projects concerned.
    project_ids: list[str]
    # Where to read it.
    url: str | None
    # Open vocabulary: facts such as `reg_d_506c`.
    tags: list[str]
    # Open vocabulary: what the business is about.
    themes: list[str]
    # Where the record comes from and how sure it is.
    provenance: Provenance
    # When the content last changed, UTC.
    updated_at: str
    # The GPs this record belongs to; none is possible.
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
    # Stable id.
    id: str
    # Name of the project.
    name: str
    # Kind of project.
    #
    # - `property_offering`: Securities are sold to pay for one property.
    # - `acquisition`: A property is bought as it stands.
    # - `development`: Something new is built.
    # - `rehabilitation`: A building is renewed and keeps its use.
    # - `adaptive_reuse`: A building is turned to another use.
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
    # - `residential_other`: Homes of another kind, or of several.
    # - `industrial`: Warehouses, logistics and production.
    # - `cold_storage`: Refrigerated warehouses.
    # - `industrial_outdoor_storage`: Yards for vehicles, containers and material.
    # - `office`: Buildings for business and administration, other than medical ones.
    # - `medical_office`: Practices of physicians, and clinics.
    # - `life_science`: Laboratories, with what belongs to them.
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
    # - `healthcare`: Hospitals and other buildings for care, other than medical practices.
    # - `diversified`: Many property types at once.
    # - `unknown`: The source does not say.
    property_type: PropertyType
    # Where it stands.
    #
    # - `planned`: Announced, and not yet permitted or financed.
    # - `raising`: Its capital is being raised.
    # - `entitled`: Its use of the land is approved, and work has not begun.
    # - `under_construction`: Work on the site is in progress.
    # - `completed`: Construction or renewal is finished.
    # - `closed`: The purchase or the offering is closed.
    # - `on_hold`: Work or planning has stopped for now.
    # - `cancelled`: It was given up.
    # - `unknown`: The source does not say.
    status: ProjectStatus
    # Street and number.
    address: str | None
    # City.
    city: str | None
    # State, two letters in the US.
    state: str | None
    # Postal code.
    zip: str | None
    # Country, ISO 3166 two letters.
    country: str | None
    market: str | None
    # Whose address gave the market.
    #
    # - `property_address`: The market of the property's own address.
    # - `issuer_address`: The market of the issuer's address, since the source names no property; the property may be elsewhere.
    # - `stated`: The market that the source names.
    market_basis: MarketBasis | None
    # Degrees north.
    latitude: float | None
    # Degrees east.
    longitude: float | None
    # Dwellings.
    units: int | None
    # Dwellings let or sold below market.
    affordable_units: int | None
    # Floor area, square feet.
    square_feet: int | None
    # Whole amount, US dollars.
    total_amount_usd: int | None
    # Amount raised, US dollars.
    raised_amount_usd: int | None
    # Start, as precisely as known.
    start_date: str | None
    # Completion, done or planned.
    completion_date: str | None
    # First sale of a share.
    first_sale_date: str | None
    # How it is meant to earn.
    #
    # - `core`: Stable, let property, held for its income with little debt.
    # - `core_plus`: Stable property with some income still to be gained.
    # - `value_add`: Property that is improved, let anew or run better before it is sold.
    # - `opportunistic`: High risk for high return, such as development or turnarounds.
    # - `debt`: Loans and other debt secured by property.
    # - `distressed`: Property or debt in difficulty, bought at a discount.
    # - `development`: New buildings.
    # - `fund_of_funds`: Interests in the funds of others.
    # - `secondaries`: Interests in funds or deals bought from earlier investors.
    # - `co_investment`: Single deals beside another sponsor or fund.
    strategy: Strategy | None
    # Open vocabulary: facts such as `reg_d_506c`.
    tags: list[str]
    # Open vocabulary: what the business is about.
    themes: list[str]
    # Ids elsewhere; only the keys that are known.
    external_ids: ExternalIds
    # Where the record comes from and how sure it is.
    provenance: Provenance
    # When the content last changed, UTC.
    updated_at: str
    # The GPs this record belongs to; none is possible.
    gps: list[LinkedGp]


class Pagination(TypedDict):
    limit: int
    offset: int
    # Records on this page.
    returned: int
    # Records that satisfy the query; exact.
    total: int
    has_more: bool
    next_offset: int | None


HintCode = str | Literal[
    "no_match",
    "unknown_value",
    "no_searchable_character",
    "past_the_end",
    "embedded_list_cut",
]


class Hint(TypedDict):
    code: HintCode
    parameter: str | None
    message: str
    suggestions: list[str]


class Meta(TypedDict):
    api_version: str
    # Pages of one version neither repeat nor miss a record; when it changes, begin again.
    dataset_version: str
    dataset_updated_at: str
    hints: list[Hint]


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
]


class ParameterFault(TypedDict):
    # The parameter as it was sent, at most 50 characters of it.
    parameter: str
    # The fault for programs.
    code: ParameterFaultCode
    # The fault for people.
    detail: str
    # The nearest parameter there is.
    suggestion: NotRequired[str]
    minimum: NotRequired[int]
    maximum: NotRequired[int]
    # Parameters of this operation.
    allowed: NotRequired[list[str]]
    # Paths of the operations that have it.
    allowed_on: NotRequired[list[str]]


class InvalidParametersProblem(TypedDict):
    """One or more query parameters are not valid."""

    # URI reference that names the error.
    type: str
    # The error in one line; the same for every error of this code.
    title: str
    # The HTTP status, as in the status line.
    status: Literal[400]
    # What happened this time, for people.
    detail: str
    # The error for programs; it does not change.
    code: Literal["invalid-parameters"]
    # Id of the request, as in the header `X-Request-Id`. Give it to the operator when you ask.
    request_id: str
    # The faults of the query, in its order, missing parameters last: at most 20 of them.
    errors: list[ParameterFault]
    # How many faults there are; only where they are more than 20.
    errors_total: NotRequired[int]


class MalformedRequestProblem(TypedDict):
    """The request could not be read."""

    # URI reference that names the error.
    type: str
    # The error in one line; the same for every error of this code.
    title: str
    # The HTTP status, as in the status line.
    status: Literal[400]
    # What happened this time, for people.
    detail: str
    # The error for programs; it does not change.
    code: Literal["malformed-request"]
    # Id of the request, as in the header `X-Request-Id`. Give it to the operator when you ask.
    request_id: str


class ApiKeyMissingProblem(TypedDict):
    """No API key was sent."""

    # URI reference that names the error.
    type: str
    # The error in one line; the same for every error of this code.
    title: str
    # The HTTP status, as in the status line.
    status: Literal[401]
    # What happened this time, for people.
    detail: str
    # The error for programs; it does not change.
    code: Literal["api-key-missing"]
    # Id of the request, as in the header `X-Request-Id`. Give it to the operator when you ask.
    request_id: str
    # Where the key belongs.
    header: str
    # Page on which you manage keys; `null` where there is none.
    account_url: str | None


ApiKeyInvalidProblemReason = str | Literal[
    "malformed",
    "checksum",
    "unknown",
]


class ApiKeyInvalidProblem(TypedDict):
    """The API key is not valid."""

    # URI reference that names the error.
    type: str
    # The error in one line; the same for every error of this code.
    title: str
    # The HTTP status, as in the status line.
    status: Literal[401]
    # What happened this time, for people.
    detail: str
    # The error for programs; it does not change.
    code: Literal["api-key-invalid"]
    # Id of the request, as in the header `X-Request-Id`. Give it to the operator when you ask.
    request_id: str
    # Why, for programs.
    reason: ApiKeyInvalidProblemReason


class ApiKeyExpiredProblem(TypedDict):
    """The API key has expired."""

    # URI reference that names the error.
    type: str
    # The error in one line; the same for every error of this code.
    title: str
    # The HTTP status, as in the status line.
    status: Literal[401]
    # What happened this time, for people.
    detail: str
    # The error for programs; it does not change.
    code: Literal["api-key-expired"]
    # Id of the request, as in the header `X-Request-Id`. Give it to the operator when you ask.
    request_id: str
    # The first characters of the key, to tell it from your others.
    key_hint: str
    # When the key expired.
    expired_at: str
    # Page on which you manage keys; `null` where there is none.
    account_url: str | None


class ApiKeyRevokedProblem(TypedDict):
    """The API key was revoked."""

    # URI reference that names the error.
    type: str
    # The error in one line; the same for every error of this code.
    title: str
    # The HTTP status, as in the status line.
    status: Literal[401]
    # What happened this time, for people.
    detail: str
    # The error for programs; it does not change.
    code: Literal["api-key-revoked"]
    # Id of the request, as in the header `X-Request-Id`. Give it to the operator when you ask.
    request_id: str
    # The first characters of the key, to tell it from your others.
    key_hint: str
    # When the key was revoked.
    revoked_at: str
    # Page on which you manage keys; `null` where there is none.
    account_url: str | None


AccessDeniedProblemReason = str | Literal[
    "account_suspended",
    "plan",
    "origin",
]


class AccessDeniedProblem(TypedDict):
    """The key may not do this."""

    # URI reference that names the error.
    type: str
    # The error in one line; the same for every error of this code.
    title: str
    # The HTTP status, as in the status line.
    status: Literal[403]
    # What happened this time, for people.
    detail: str
    # The error for programs; it does not change.
    code: Literal["access-denied"]
    # Id of the request, as in the header `X-Request-Id`. Give it to the operator when you ask.
    request_id: str
    # Why, for programs.
    reason: AccessDeniedProblemReason


class UnknownPathProblem(TypedDict):
    """There is nothing at this path."""

    # URI reference that names the error.
    type: str
    # The error in one line; the same for every error of this code.
    title: str
    # The HTTP status, as in the status line.
    status: Literal[404]
    # What happened this time, for people.
    detail: str
    # The error for programs; it does not change.
    code: Literal["unknown-path"]
    # Id of the request, as in the header `X-Request-Id`. Give it to the operator when you ask.
    request_id: str
    # The nearest path there is, or `null`.
    suggestion: str | None
    # Paths of the operations.
    operations: list[str]
    # On `/changes`: paths of the newest steps that are kept.
    kept: NotRequired[list[str]]


class MethodNotAllowedProblem(TypedDict):
    """This method is not allowed here."""

    # URI reference that names the error.
    type: str
    # The error in one line; the same for every error of this code.
    title: str
    # The HTTP status, as in the status line.
    status: Literal[405]
    # What happened this time, for people.
    detail: str
    # The error for programs; it does not change.
    code: Literal["method-not-allowed"]
    # Id of the request, as in the header `X-Request-Id`. Give it to the operator when you ask.
    request_id: str
    # Methods the path takes.
    allowed: list[str]


class NotAcceptableProblem(TypedDict):
    """None of the accepted formats is available."""

    # URI reference that names the error.
    type: str
    # The error in one line; the same for every error of this code.
    title: str
    # The HTTP status, as in the status line.
    status: Literal[406]
    # What happened this time, for people.
    detail: str
    # The error for programs; it does not change.
    code: Literal["not-acceptable"]
    # Id of the request, as in the header `X-Request-Id`. Give it to the operator when you ask.
    request_id: str
    # Media types the path can answer in.
    available: list[str]


class RequestTimeoutProblem(TypedDict):
    """The request did not arrive in time."""

    # URI reference that names the error.
    type: str
    # The error in one line; the same for every error of this code.
    title: str
    # The HTTP status, as in the status line.
    status: Literal[408]
    # What happened this time, for people.
    detail: str
    # The error for programs; it does not change.
    code: Literal["request-timeout"]
    # Id of the request, as in the header `X-Request-Id`. Give it to the operator when you ask.
    request_id: str


class VersionRetiredProblem(TypedDict):
    """This API version is no longer served."""

    # URI reference that names the error.
    type: str
    # The error in one line; the same for every error of this code.
    title: str
    # The HTTP status, as in the status line.
    status: Literal[410]
    # What happened this time, for people.
    detail: str
    # The error for programs; it does not change.
    code: Literal["version-retired"]
    # Id of the request, as in the header `X-Request-Id`. Give it to the operator when you ask.
    request_id: str
    # Path of the version to use instead.
    successor: str
    # When the version was retired.
    sunset: str


class ContentTooLargeProblem(TypedDict):
    """The request body is too large."""

    # URI reference that names the error.
    type: str
    # The error in one line; the same for every error of this code.
    title: str
    # The HTTP status, as in the status line.
    status: Literal[413]
    # What happened this time, for people.
    detail: str
    # The error for programs; it does not change.
    code: Literal["content-too-large"]
    # Id of the request, as in the header `X-Request-Id`. Give it to the operator when you ask.
    request_id: str
    # The largest size, in bytes.
    maximum: int


class UriTooLongProblem(TypedDict):
    """The request address is too long."""

    # URI reference that names the error.
    type: str
    # The error in one line; the same for every error of this code.
    title: str
    # The HTTP status, as in the status line.
    status: Literal[414]
    # What happened this time, for people.
    detail: str
    # The error for programs; it does not change.
    code: Literal["uri-too-long"]
    # Id of the request, as in the header `X-Request-Id`. Give it to the operator when you ask.
    request_id: str
    # The largest size, in bytes.
    maximum: int


class UnsupportedMediaTypeProblem(TypedDict):
    """The body is of a type that is not read here."""

    # URI reference that names the error.
    type: str
    # The error in one line; the same for every error of this code.
    title: str
    # The HTTP status, as in the status line.
    status: Literal[415]
    # What happened this time, for people.
    detail: str
    # The error for programs; it does not change.
    code: Literal["unsupported-media-type"]
    # Id of the request, as in the header `X-Request-Id`. Give it to the operator when you ask.
    request_id: str
    # Media types the path reads.
    available: list[str]


class RangeNotSatisfiableProblem(TypedDict):
    """The range lies beyond the file."""

    # URI reference that names the error.
    type: str
    # The error in one line; the same for every error of this code.
    title: str
    # The HTTP status, as in the status line.
    status: Literal[416]
    # What happened this time, for people.
    detail: str
    # The error for programs; it does not change.
    code: Literal["range-not-satisfiable"]
    # Id of the request, as in the header `X-Request-Id`. Give it to the operator when you ask.
    request_id: str
    # How many bytes the file has.
    bytes: int


class ExpectationFailedProblem(TypedDict):
    """The expectation cannot be met."""

    # URI reference that names the error.
    type: str
    # The error in one line; the same for every error of this code.
    title: str
    # The HTTP status, as in the status line.
    status: Literal[417]
    # What happened this time, for people.
    detail: str
    # The error for programs; it does not change.
    code: Literal["expectation-failed"]
    # Id of the request, as in the header `X-Request-Id`. Give it to the operator when you ask.
    request_id: str


QuotaName = str | Literal[
    "minute",
    "hour",
    "day",
    "failed-keys",
    "mcp-messages",
]


class QuotaPolicy(TypedDict):
    # Which quota.
    name: QuotaName
    # Requests the window admits.
    quota: int
    # Length of the window in seconds.
    window: int
    # Requests it still admits.
    remaining: int
    # Seconds until some of them return.
    reset: int


# Request cannot be satisfied as assigned quota has been exceeded.
QuotaExceededProblem = TypedDict(
    "QuotaExceededProblem",
    {
        # URI reference that names the error.
        "type": str,
        # The error in one line; the same for every error of this code.
        "title": str,
        # The HTTP status, as in the status line.
        "status": Literal[429],
        # What happened this time, for people.
        "detail": str,
        # The error for programs; it does not change.
        "code": Literal["quota-exceeded"],
        # Id of the request, as in the header `X-Request-Id`. Give it to the operator when you ask.
        "request_id": str,
        # Which quotas are used up: `minute`, `hour`, `day`, `failed-keys` for too many wrong keys from your address, `mcp-messages` for too many to `/mcp` that call no tool.
        "violated-policies": list[QuotaName],
        # Whole seconds until a request is worth trying.
        "retry_after": int,
        # Each quota: `quota` requests in `window` seconds, `remaining` of them left, and `reset` seconds until some return.
        "policies": list[QuotaPolicy],
    },
)


class HeadersTooLargeProblem(TypedDict):
    """The request headers are too large."""

    # URI reference that names the error.
    type: str
    # The error in one line; the same for every error of this code.
    title: str
    # The HTTP status, as in the status line.
    status: Literal[431]
    # What happened this time, for people.
    detail: str
    # The error for programs; it does not change.
    code: Literal["headers-too-large"]
    # Id of the request, as in the header `X-Request-Id`. Give it to the operator when you ask.
    request_id: str
    # The largest size, in bytes.
    maximum: int


class InternalErrorProblem(TypedDict):
    """Something went wrong on our side."""

    # URI reference that names the error.
    type: str
    # The error in one line; the same for every error of this code.
    title: str
    # The HTTP status, as in the status line.
    status: Literal[500]
    # What happened this time, for people.
    detail: str
    # The error for programs; it does not change.
    code: Literal["internal-error"]
    # Id of the request, as in the header `X-Request-Id`. Give it to the operator when you ask.
    request_id: str


UnavailableProblemReason = str | Literal[
    "starting",
    "draining",
    "overloaded",
    "timeout",
    "no_dataset",
    "store_down",
]


class UnavailableProblem(TypedDict):
    """The service cannot answer right now."""

    # URI reference that names the error.
    type: str
    # The error in one line; the same for every error of this code.
    title: str
    # The HTTP status, as in the status line.
    status: Literal[503]
    # What happened this time, for people.
    detail: str
    # The error for programs; it does not change.
    code: Literal["unavailable"]
    # Id of the request, as in the header `X-Request-Id`. Give it to the operator when you ask.
    request_id: str
    # Why, for programs.
    reason: UnavailableProblemReason
    # Whole seconds until a request is worth trying.
    retry_after: int


# An error of the service; `code` tells which.
Problem = (
    InvalidParametersProblem
    | MalformedRequestProblem
    | ApiKeyMissingProblem
    | ApiKeyInvalidProblem
    | ApiKeyExpiredProblem
    | ApiKeyRevokedProblem
    | AccessDeniedProblem
    | UnknownPathProblem
    | MethodNotAllowedProblem
    | NotAcceptableProblem
    | RequestTimeoutProblem
    | VersionRetiredProblem
    | ContentTooLargeProblem
    | UriTooLongProblem
    | UnsupportedMediaTypeProblem
    | RangeNotSatisfiableProblem
    | ExpectationFailedProblem
    | QuotaExceededProblem
    | HeadersTooLargeProblem
    | InternalErrorProblem
    | UnavailableProblem
)


class FetchGpQuery(TypedDict):
    """Parameters of `/fetch-gp`."""

    # Part of a name of the GP: every word must stand in one of its names (name, legal name, alias). A word of fewer than 4 characters must begin a word. The id of a GP means that GP alone.
    gp_name: str
    # A tag, strategy or property type of the GP, as a whole value. Repeated: any of them.
    tag: NotRequired[str | Sequence[str]]
    # A theme of the GP, as a whole value. Repeated: any of them.
    theme: NotRequired[str | Sequence[str]]
    # A market of the GP: its title, one of its cities, or a city and a state. Repeated: any of them.
    market: NotRequired[str | Sequence[str]]
    # How many records a page has at most.
    limit: NotRequired[int]
    # How many records to skip.
    offset: NotRequired[int]


class FetchPrincipalsQuery(TypedDict):
    """Parameters of `/fetch-principals`."""

    # Part of a name of the GP: every word must stand in one of its names (name, legal name, alias). A word of fewer than 4 characters must begin a word. The id of a GP means that GP alone.
    gp_name: NotRequired[str]
    # A tag, strategy or property type of the GP, as a whole value. Repeated: any of them.
    tag: NotRequired[str | Sequence[str]]
    # A theme of the GP, as a whole value. Repeated: any of them.
    theme: NotRequired[str | Sequence[str]]
    # A market of the GP: its title, one of its cities, or a city and a state. Repeated: any of them.
    market: NotRequired[str | Sequence[str]]
    # How many records a page has at most.
    limit: NotRequired[int]
    # How many records to skip.
    offset: NotRequired[int]


class FetchSignalsQuery(TypedDict):
    """Parameters of `/fetch-signals`."""

    # Part of a name of the GP: every word must stand in one of its names (name, legal name, alias). A word of fewer than 4 characters must begin a word. The id of a GP means that GP alone.
    gp_name: NotRequired[str]
    # How many records a page has at most.
    limit: NotRequired[int]
    # How many records to skip.
    offset: NotRequired[int]


class FetchProjectsQuery(TypedDict):
    """Parameters of `/fetch-projects`."""

    # Part of a name of the GP: every word must stand in one of its names (name, legal name, alias). A word of fewer than 4 characters must begin a word. The id of a GP means that GP alone.
    gp_name: NotRequired[str]
    # How many records a page has at most.
    limit: NotRequired[int]
    # How many records to skip.
    offset: NotRequired[int]


# End of the API's types.


class GpRecordsError(Exception):
    """What goes wrong; it says the id of its request and never holds the key."""

    #: Id of the request, as the service logs it: give it to the operator when you ask.
    request_id: str

    def __init__(self, message: str, request_id: str) -> None:
        super().__init__(f"{message} (request {request_id})")
        self.request_id = request_id


class ProblemError(GpRecordsError):
    """
    An error answer of the service. `problem` has the members that belong to its `code`; a code newer than this
    client is possible.
    """

    problem: Problem

    def __init__(self, problem: Problem, request_id: str) -> None:
        super().__init__(f"{problem['code']}: {problem['detail']}", request_id)
        self.problem = problem

    @property
    def code(self) -> str:
        return self.problem["code"]

    @property
    def status(self) -> int:
        return self.problem["status"]


class NetworkError(GpRecordsError):
    """No answer, or not the whole of one, although it was asked again: no connection, time-out, connection lost."""


class UnexpectedAnswerError(GpRecordsError):
    """An answer that is none of the service's: what stands at the address, or before it, is something else."""

    status: int

    def __init__(self, message: str, request_id: str, status: int) -> None:
        super().__init__(message, request_id)
        self.status = status


class VersionChangedError(GpRecordsError):
    """The dataset changed between two pages, so that together they are no list."""

    from_version: str
    to_version: str

    def __init__(self, message: str, request_id: str, from_version: str, to_version: str) -> None:
        super().__init__(message, request_id)
        self.from_version = from_version
        self.to_version = to_version


class Stopped(Exception):
    """The event given as `stop` was set: before a request, or in the wait for the next."""


@dataclass(frozen=True)
class CachedAnswer:
    etag: str
    #: The body as it was sent.
    body: bytes


@dataclass(frozen=True)
class Wait:
    seconds: float
    #: What is waited for: the answer with its code, or the connection.
    error: GpRecordsError
    #: Number of the try that failed, from 1.
    attempt: int


Record = TypeVar("Record")


@dataclass(frozen=True)
class Page(Generic[Record]):
    """One answer of an operation, and what comes with it beside its body."""

    data: list[Record]
    pagination: Pagination
    meta: Meta
    request_id: str
    #: What the account has left, window by window.
    quota: list[QuotaPolicy]


@dataclass(frozen=True)
class _Received:
    """An answer of any status, read to its end."""

    status: int
    headers: dict[str, str]
    body: bytes


OnVersionChange = Literal["fail", "restart"]

# As much as a connection must bring of a file to be worth another try.
_PROGRESS_BYTES = 64 * 1024

# Restarts of one listing: datasets that are published faster than they can be read must not keep it going for ever.
_RESTARTS_MAX = 10


class Listing(Generic[Record]):
    """All records of a query, in order, page by page as they are asked for; `limit` is the size of the pages, 100 by default."""

    def __init__(
        self, fetch_page: Callable[[int], Page[Record]], on_version_change: OnVersionChange
    ) -> None:
        self._fetch_page = fetch_page
        self._on_version_change = on_version_change

    def __iter__(self) -> Iterator[Record]:
        for page in self.pages():
            yield from page.data

    def to_list(self) -> list[Record]:
        """Every record of one dataset, once: what was gathered before a restart is dropped."""
        gathered: list[Record] = []
        for page in self.pages():
            if page.pagination["offset"] == 0:
                gathered.clear()
            gathered += page.data
        return gathered

    def pages(self) -> Iterator[Page[Record]]:
        """
        The pages themselves. After a restart `pagination["offset"]` is 0 again.

        Raises VersionChangedError.
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
                    offset = 0
                    continue
            yield page
            offset = page.pagination["next_offset"]


class Client:
    """
    The operations as methods: one page each, or all pages of one dataset.

    base_url: where the service is, such as `https://records.example.org`; a path is kept.
    key: your API key. It is sent in the header `x-api-key` to `base_url` alone: redirects are refused.
    wait_max_seconds: longest wait for `Retry-After`; where the service says more, its problem is raised at once.
    retries_max: how often one question is asked again after a 429, a 503 or a network error; 0 never.
    timeout_seconds: how long one try may take, its body included.
    cache: keeps answers with their ETags, so that unchanged ones are not sent again. A dict will do.
    on_wait: told before each wait.
    stop: once it is set, the next request, or the wait before it, raises Stopped.
    sleep: in place of a timer.

    Raises ValueError for an address or a key that cannot be sent.
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
        # What http.client says of a header it cannot send would show the key.
        if not re.fullmatch(r"[\x21-\x7e]+", key):
            raise ValueError("The key is empty or holds a character that no header can carry.")
        self._key = key
        self._wait_max_seconds = wait_max_seconds
        self._retries_max = retries_max
        self._timeout_seconds = timeout_seconds
        self._cache = cache
        self._on_wait = on_wait
        self._stop = stop or threading.Event()
        self._sleep = sleep or self._stop.wait
        self._opener = urllib.request.build_opener(_RefuseRedirects)

    def __repr__(self) -> str:
        return f"Client({self._base!r})"

    def fetch_gp(self, **query: Unpack[FetchGpQuery]) -> Page[Gp]:
        """One page of GPs by name, best match first, with their principals and signals."""
        return self._fetch_page("/fetch-gp", query)

    def fetch_principals(self, **query: Unpack[FetchPrincipalsQuery]) -> Page[Principal]:
        """One page of principals."""
        return self._fetch_page("/fetch-principals", query)

    def fetch_signals(self, **query: Unpack[FetchSignalsQuery]) -> Page[Signal]:
        """One page of signals, newest first."""
        return self._fetch_page("/fetch-signals", query)

    def fetch_projects(self, **query: Unpack[FetchProjectsQuery]) -> Page[Project]:
        """One page of projects."""
        return self._fetch_page("/fetch-projects", query)

    # Of the listings: when another dataset is published between two pages, whose pages do not go together with the
    # earlier ones, on_version_change "fail" raises VersionChangedError; "restart" begins again with the first page, so
    # that records come again.

    def gps(
        self, *, on_version_change: OnVersionChange = "fail", **query: Unpack[FetchGpQuery]
    ) -> Listing[Gp]:
        """All GPs that match a name."""
        return self._list("/fetch-gp", query, on_version_change)

    def principals(
        self, *, on_version_change: OnVersionChange = "fail", **query: Unpack[FetchPrincipalsQuery]
    ) -> Listing[Principal]:
        """All principals of a query."""
        return self._list("/fetch-principals", query, on_version_change)

    def signals(
        self, *, on_version_change: OnVersionChange = "fail", **query: Unpack[FetchSignalsQuery]
    ) -> Listing[Signal]:
        """All signals of a query."""
        return self._list("/fetch-signals", query, on_version_change)

    def projects(
        self, *, on_version_change: OnVersionChange = "fail", **query: Unpack[FetchProjectsQuery]
    ) -> Listing[Project]:
        """All projects of a query."""
        return self._list("/fetch-projects", query, on_version_change)

    def mirror(self, saved: Iterable[str] = ()) -> Mirror:
        """A copy of all records; empty, or what `Mirror.save` gave."""
        return Mirror(self, saved)

    def _list(
        self, path: str, query: Mapping[str, Any], on_version_change: OnVersionChange
    ) -> Listing[Any]:
        return Listing(
            lambda offset: self._fetch_page(path, {"limit": 100, **query, "offset": offset}),
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
        # Whoever goes by next_offset would go on for ever where a cache leaves out the query.
        if page["pagination"].get("offset") != int(offset):
            raise UnexpectedAnswerError(
                f"{self._base + path} answered offset={offset} with another page: does a cache before it leave out the query?",
                received.headers["x-request-id"],
                200,
            )
        return page, received

    def _get_lines(self, path: str, query: Mapping[str, Any]) -> list[Any]:
        """The values of an answer in NDJSON."""
        return cast(list[Any], self._get(path, query, "application/x-ndjson", _parse_lines)[0])

    def _get_list(self, path: str) -> tuple[Any, _Received]:
        """An answer in JSON that is no page; all of it is in `data`."""
        return self._get(path, {}, "application/json", _parse_list)

    def _get_file(self, path: str, sink: _RecordSink) -> None:
        """
        A file of any size, from where the sink is. What came of a try that failed is kept, and where that was much the try
        does not count: so a connection may be slow, or break off as often as it likes. Over once the sink has it all, or
        wants no more.
        """
        address = self._base + path
        self._persist(lambda id, attempt: self._attempt_file(address, sink, id, attempt))

    def _get(
        self, path: str, query: Mapping[str, Any], accept: str, read: Callable[[bytes], Any]
    ) -> tuple[Any, _Received]:
        address = self._base + path + _query_of(query)
        outcome = self._persist(lambda id, attempt: self._attempt(address, accept, read, id, attempt))
        return cast(tuple[Any, _Received], outcome)

    def _persist(self, try_once: Callable[[str, int], Any]) -> Any:
        """
        One question: sent, waited for and asked again where that is worth it.

        Raises ProblemError, NetworkError, UnexpectedAnswerError, Stopped.
        """
        request_id = f"client_{secrets.token_hex(10)}"
        attempt = number = 1
        while True:
            if self._stop.is_set():
                raise Stopped
            outcome = try_once(f"{request_id}.{number}", attempt)
            if not isinstance(outcome, _Failure):
                return outcome
            if outcome.has_progress:
                attempt = 1
            seconds = outcome.wait_seconds
            if seconds is None or attempt > self._retries_max or seconds > self._wait_max_seconds:
                raise outcome.error from outcome.error.__cause__
            if self._on_wait is not None:
                self._on_wait(Wait(seconds, outcome.error, attempt))
            self._sleep(seconds)
            attempt += 1
            number += 1

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
        received = self._receive(address, headers, request_id)
        if isinstance(received, NetworkError):
            return _Failure(received, _backoff_seconds(attempt))
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

    def _attempt_file(
        self, address: str, sink: _RecordSink, request_id: str, attempt: int
    ) -> None | _Failure:
        before = sink.bytes_most
        headers = {"accept": "application/x-ndjson", "accept-encoding": "identity"}
        if sink.bytes > 0:
            headers["range"] = f"bytes={sink.bytes}-"
        received = self._receive(address, headers, request_id, sink)
        if isinstance(received, NetworkError):
            has_progress = sink.bytes_most - before >= _PROGRESS_BYTES
            return _Failure(received, _backoff_seconds(1 if has_progress else attempt), has_progress)
        if received.status in (200, 206):
            return None
        return self._refusal(received, address, attempt)

    def _refusal(self, received: _Received, address: str, attempt: int) -> _Failure:
        """Of an answer that is not what was asked for."""
        ours = received.headers["x-request-id"]
        problem = _problem_of(received)
        if problem is not None:
            refusal = ProblemError(problem, ours)
            return _Failure(refusal, _wait_for(problem, received.headers, attempt))
        unexpected = UnexpectedAnswerError(_unexpected(address, received), ours, received.status)
        # A proxy has limits of its own, and says so without a problem of ours.
        if received.status not in (429, 502, 503, 504):
            return _Failure(unexpected, None)
        said = _retry_after_seconds(received.headers)
        return _Failure(unexpected, _backoff_seconds(attempt) if said is None else said)

    def _receive(
        self,
        address: str,
        headers: Mapping[str, str],
        request_id: str,
        sink: _RecordSink | None = None,
    ) -> _Received | NetworkError:
        """The whole answer, or why there is none. The content of a file goes where it belongs as it comes."""
        own = {
            "user-agent": f"gp-records-client-python/{__version__}",
            "x-api-key": self._key,
            "x-request-id": request_id,
        }
        try:
            received = self._read(urllib.request.Request(address, headers={**own, **headers}), sink)
        except (OSError, EOFError, http.client.HTTPException, zlib.error) as cause:
            error = NetworkError(f"{address} gave no answer: {_reason_of(cause)}.", request_id)
            error.__cause__ = cause
            return error
        received.headers.setdefault("x-request-id", request_id)
        return received

    def _read(self, request: urllib.request.Request, sink: _RecordSink | None) -> _Received:
        deadline = time.monotonic() + self._timeout_seconds
        try:
            response = self._opener.open(request, timeout=self._timeout_seconds)
        except urllib.error.HTTPError as error:
            response = error
        with response:
            headers = {name.lower(): value for name, value in response.headers.items()}
            is_content = sink is not None and response.status in (200, 206)
            if is_content and not sink.begin(headers.get("etag"), response.status == 200):
                return _Received(response.status, headers, b"")
            chunks = []
            length = 0
            # Each read has the time-out of its own, and gives what is there; all of them together end here.
            while chunk := response.read1(65536):
                length += len(chunk)
                if not is_content:
                    chunks.append(chunk)
                elif not sink.write(chunk):
                    return _Received(response.status, headers, b"")
                if time.monotonic() > deadline:
                    raise TimeoutError("timed out")
            body = b"".join(chunks)
            said = headers.get("content-length")
            # Read in parts, http.client lets a body pass that ends too early.
            if said is not None and length != int(said):
                raise http.client.IncompleteRead(body, int(said) - length)
        if headers.get("content-encoding") == "gzip" and not is_content:
            body = gzip.decompress(body)
        return _Received(response.status, headers, body)


Kind = Literal["gp", "principal", "signal", "project"]

#: Whether the hash that the service gives of the dataset is that of the copy. `different`: pages were read, and a GP is
#: missing that no record names, and that shares no longer word of its name with one that is named. `unknown`: the service
#: gives none.
Proof = Literal["equal", "different", "unknown"]

# In the order of a step.
_KINDS: tuple[Kind, ...] = ("gp", "principal", "signal", "project")
_PAGED: tuple[Kind, ...] = ("principal", "signal", "project")
_PATHS = {
    "gp": "/fetch-gp",
    "principal": "/fetch-principals",
    "signal": "/fetch-signals",
    "project": "/fetch-projects",
}

# JSON of records as the service writes it, by kind and id.
_Lines = dict[Kind, dict[str, str]]


@dataclass(frozen=True)
class MirrorUpdate:
    #: The dataset the copy was of before; None for the first.
    from_version: str | None
    #: The dataset it is of now.
    version: str
    #: What was read for it: nothing, the steps between the two, the files of an export, or all pages.
    how: Literal["unchanged", "steps", "export", "pages"]
    proof: Proof


@dataclass(frozen=True)
class _Copy:
    version: str
    proof: Proof
    lines: _Lines


class _Draft:
    """What is read so far of a dataset."""

    def __init__(
        self,
        version: str | None = None,
        offsets: dict[Kind, int | None] | None = None,
        how: Literal["export", "pages"] = "export",
    ) -> None:
        #: None before the first page or file.
        self.version = version
        #: Where the next page begins; None where all records of the kind are read. GPs are read from the first.
        self.offsets = offsets or {kind: 0 for kind in _KINDS}
        #: By pages, once there was one.
        self.how = how
        self.lines: _Lines = {kind: {} for kind in _KINDS}
        #: The file that is being read, and its version; it is not saved.
        self.download: tuple[str, _RecordSink] | None = None


@dataclass(frozen=True)
class _Offer:
    """What is offered of the dataset that is served."""

    version: str
    #: Records of each kind.
    records: dict[Kind, int]
    request_id: str


class Mirror:
    """
    A copy of all records in memory: read from an export or page by page, then brought from dataset to dataset by what
    changed.

    A GP is without its lists (`principals`, `signals` and their totals), which repeat other records.
    """

    def __init__(self, client: Client, saved: Iterable[str] = ()) -> None:
        self._client = client
        self._copy: _Copy | None = None
        self._draft = _Draft()
        self._load(saved)

    @property
    def version(self) -> str | None:
        """The dataset that every record here is of; None before the first update is over."""
        return self._copy.version if self._copy is not None else None

    def count(self, kind: Kind) -> int:
        return len(self._copy.lines[kind]) if self._copy is not None else 0

    def get(self, kind: Kind, id: str) -> Any:
        """The record, or None."""
        line = self._copy.lines[kind].get(id) if self._copy is not None else None
        return None if line is None else json.loads(line)

    def records(self, kind: Kind) -> Iterator[Any]:
        """Records in the order of their ids."""
        lines = self._copy.lines[kind] if self._copy is not None else {}
        for id in sorted(lines):
            yield json.loads(lines[id])

    def update(self, on_page: Callable[[str, int], object] | None = None) -> MirrorUpdate:
        """
        Makes it a copy of what the service serves now. Until that is whole the old copy stays; what an update that
        failed had read, the next one goes on from. One update at a time.

        on_page: told after each page, or file of an export, the version and the number of records read so far: a moment to save.

        Raises ProblemError, NetworkError, UnexpectedAnswerError, Stopped; VersionChangedError where datasets are
        published faster than they can be read.
        """
        before = self._copy
        followed = self._follow(before) if before is not None else None
        how: Literal["unchanged", "steps", "export", "pages"] = "steps"
        if followed is not None:
            after = followed
        elif before is not None and self._is_served(before.version):
            after = before
        else:
            after, how = self._read_all(on_page)
        self._copy = after
        from_version = before.version if before is not None else None
        if after.version == from_version:
            how = "unchanged"
        return MirrorUpdate(from_version, after.version, how, after.proof)

    def save(self) -> Iterator[str]:
        """Lines of text from which `client.mirror` makes it again, with what an unfinished update has read."""
        copy, draft = self._copy, self._draft
        head = None if copy is None else {"version": copy.version, "proof": copy.proof}
        unfinished = {"version": draft.version, "offsets": draft.offsets, "how": draft.how}
        yield json.dumps({"format": 1, "copy": head, "draft": unfinished})
        for name, lines in [("copy", copy.lines if copy is not None else {}), ("draft", draft.lines)]:
            for kind, of in lines.items():
                for line in of.values():
                    yield f'{{"of":"{name}","kind":"{kind}","record":{line}}}'

    def _load(self, saved: Iterable[str]) -> None:
        is_head = True
        for line in saved:
            if not line.strip():
                continue
            entry = json.loads(line)
            if is_head:
                if entry.get("format") != 1:
                    raise ValueError("This is not a saved mirror, or one of a later version.")
                if entry["copy"] is not None:
                    self._copy = _Copy(**entry["copy"], lines={kind: {} for kind in _KINDS})
                self._draft = _Draft(**entry["draft"])
            else:
                lines = self._draft.lines if entry["of"] == "draft" else cast(_Copy, self._copy).lines
                lines[entry["kind"]][entry["record"]["id"]] = _line_of(entry["record"])
            is_head = False

    def _read_all(
        self, on_page: Callable[[str, int], object] | None
    ) -> tuple[_Copy, Literal["export", "pages"]]:
        """From the files of an export where the service offers one, else page by page."""
        may_export = True
        restarts = 0
        while True:
            try:
                if may_export:
                    self._read_export(on_page)
                self._read_pages(on_page)
            except VersionChangedError:
                self._draft = _Draft()
                if restarts == _RESTARTS_MAX:
                    raise
                restarts += 1
                continue
            version, lines, how = cast(str, self._draft.version), self._draft.lines, self._draft.how
            publications, _ = self._list_publications(version)
            hash = next((one["hash"] for one in publications if one["version"] == version), None)
            proof: Proof = "unknown"
            if hash is not None:
                proof = "equal" if hash == _hash_of(lines) else "different"
            self._draft = _Draft()
            # An export has every record, so this one cannot be right.
            if how == "export" and proof == "different":
                may_export = False
                continue
            copy = _Copy(version, proof, lines)
            is_behind = bool(publications) and publications[0]["version"] != version
            return (is_behind and self._follow(copy)) or copy, how

    def _read_export(self, on_page: Callable[[str, int], object] | None) -> None:
        """
        Reads what the draft lacks from files, as far as they are to be had.

        Raises VersionChangedError where they are of another dataset.
        """
        draft = self._draft
        missing = [kind for kind in _KINDS if draft.offsets[kind] is not None]
        offer = self._find_offer() if missing else None
        if offer is None:
            return
        draft.version = draft.version or offer.version
        _refuse_other(draft.version, offer.version, offer.request_id)
        for kind in missing:
            lines = self._read_file(offer, kind)
            if lines is None:
                # Another dataset may have been published, whose files are to be had.
                newer = self._find_offer()
                if newer is not None:
                    _refuse_other(draft.version, newer.version, newer.request_id)
                return
            draft.lines[kind] = lines
            draft.offsets[kind] = None
            if on_page is not None:
                on_page(draft.version, sum(len(of) for of in draft.lines.values()))

    def _find_offer(self) -> _Offer | None:
        """None where the service offers no export."""
        try:
            body, received = self._client._get_list("/exports")
            current = next(one for one in body["data"] if one["is_current"] is True)
            counts = {one["kind"]: one["records"] for one in current["files"] if one["format"] == "ndjson"}
            records = {kind: int(counts[kind]) for kind in _KINDS}
            if not re.fullmatch(r"[\w-]{1,100}", current["version"], re.ASCII):
                return None
            return _Offer(current["version"], records, received.headers["x-request-id"])
        except (StopIteration, KeyError, TypeError, ValueError, OverflowError):
            return None
        except GpRecordsError as error:
            _unless_final(error)
            return None

    def _read_file(self, offer: _Offer, kind: Kind) -> dict[str, str] | None:
        """The records of a kind; None where the file is not to be had, or never is what the service says it is."""
        draft = self._draft
        for _ in range(_FILE_TRIES_MAX):
            version, sink = draft.download or ("", None)
            if sink is None or version != offer.version or sink.kind != kind:
                sink = _RecordSink(kind, offer.records[kind])
            draft.download = (offer.version, sink)
            try:
                self._client._get_file(f"/exports/{offer.version}/{kind}.ndjson", sink)
                is_over = True
            except GpRecordsError as error:
                _unless_final(error)
                is_over = False
            draft.download = None
            # A connection may have been lost at the very end, after which there is nothing to ask for.
            lines = sink.finish()
            if lines is not None or not is_over:
                return lines
        return None

    def _read_pages(self, on_page: Callable[[str, int], object] | None) -> None:
        """Reads what the draft lacks."""
        draft = self._draft
        for kind in _PAGED:
            while (offset := draft.offsets[kind]) is not None:
                draft.offsets[kind] = self._read_page(kind, {"offset": offset}, on_page)
        if draft.offsets["gp"] is None:
            return
        missing = _NamedGps(draft.lines)
        while (query := missing.next_query()) is not None:
            next_offset: int | None = 0
            while next_offset is not None:
                gp_query = {"gp_name": query, "offset": next_offset}
                next_offset = self._read_page("gp", gp_query, on_page)
            missing.drop_found()
        draft.offsets["gp"] = None

    def _read_page(
        self, kind: Kind, query: Mapping[str, Any], on_page: Callable[[str, int], object] | None
    ) -> int | None:
        """
        Keeps a page's records and gives the next one's offset.

        Raises VersionChangedError where it is of another dataset than what was read before.
        """
        draft = self._draft
        page = self._client._fetch_page(_PATHS[kind], {**query, "limit": 100})
        version = page.meta["dataset_version"]
        draft.version = draft.version or version
        _refuse_other(draft.version, version, page.request_id)
        draft.how = "pages"
        for record in page.data:
            draft.lines[kind][record["id"]] = _record_line(kind, record)
        if on_page is not None:
            on_page(version, sum(len(of) for of in draft.lines.values()))
        return page.pagination["next_offset"]

    def _follow(self, before: _Copy) -> _Copy | None:
        """The copy after all steps; None where there is no way, or it does not lead to what the service has."""
        publications, quota_min = self._list_publications(before.version)
        steps = _steps_from(before.version, publications)
        # More changes than records cost more than all pages.
        records = sum(len(of) for of in before.lines.values())
        if steps is None or sum(one["changes"] for one in steps) > records:
            return None
        if not steps:
            return before
        lines = {kind: dict(before.lines[kind]) for kind in _KINDS}
        hash = _hash_of(lines)
        # As large a part as ten requests, or the smallest quota, will pay for.
        limit = 100 * min(10, quota_min)
        try:
            for step in steps:
                read = self._read_step(step, hash, limit)
                if read is None:
                    return None
                hash, changes = read
                if not all(_apply(lines, change) for change in changes):
                    return None
        except (KeyError, TypeError, ValueError):
            # What came is no step.
            return None
        if _hash_of(lines) != hash:
            return None
        return _Copy(steps[-1]["version"], "equal", lines)

    def _list_publications(self, version: str) -> tuple[list[dict[str, Any]], int]:
        """
        Publications from the newest back to the one that leads on from `version`, or is it; none where the service
        tells of none. And the smallest quota of the account.
        """
        publications: list[dict[str, Any]] = []
        quota_min = 1
        offset: int | None = 0
        try:
            while offset is not None:
                body, received = self._client._get_json("/changes", {"limit": 100, "offset": offset})
                quota_min = min((one["quota"] for one in _quota_of(received.headers)), default=10)
                publications += body["data"]
                offset = body["pagination"]["next_offset"]
                if any(version in (one["version"], one["from"]) for one in body["data"]):
                    break
        except ProblemError as error:
            # A service or a plan without changes is read page by page.
            if error.code not in ("unknown-path", "access-denied"):
                raise
        return publications, quota_min

    def _read_step(
        self, publication: Mapping[str, Any], from_hash: str, limit: int
    ) -> tuple[str, list[Any]] | None:
        """The hash it leads to and its changes; None where it is gone, or does not begin with what has this hash."""
        # Not as the service names it: what does not begin with a slash would lead the key to another host.
        step = f"/changes/{publication['from']}..{publication['version']}.ndjson"
        try:
            head, *changes = self._client._get_lines(step, {"limit": limit, "offset": 0})
            begins = (head["format"], head["from"], head["to"], head["from_hash"])
            if begins != (1, publication["from"], publication["version"], from_hash):
                return None
            while len(changes) < head["changes"]:
                part = self._client._get_lines(step, {"limit": limit, "offset": len(changes)})
                if not part:
                    return None
                changes += part
            return head["to_hash"], changes
        except ProblemError as error:
            # A step that is listed and cannot be had in all tries is as good as gone.
            if error.code not in ("unknown-path", "unavailable"):
                raise
            return None

    def _is_served(self, version: str) -> bool:
        return self._client.fetch_signals(limit=1).meta["dataset_version"] == version


# A file whose hash is wrong, or that changed while it was read, is read once more.
_FILE_TRIES_MAX = 2
# No record is as long.
_LINE_BYTES_MAX = 64 * 1024 * 1024


class _RecordSink:
    """Where the bytes of a file of records go."""

    def __init__(self, kind: Kind, count: int) -> None:
        self.kind = kind
        self._count = count
        #: The most it ever had: what begins the file again and again gets nowhere.
        self.bytes_most = 0
        self._reset()

    def _reset(self) -> None:
        #: How many it has.
        self.bytes = 0
        self._lines: dict[str, str] = {}
        self._hash = hashlib.sha256()
        #: The beginning of a line.
        self._rest: list[bytes] = []
        self._rest_bytes = 0
        self._tag: str | None = None
        self._is_sound = True

    def begin(self, etag: str | None, is_whole: bool) -> bool:
        """Told of an answer: bytes from the beginning of the file, or those that follow. False where it wants none."""
        if is_whole:
            self._reset()
        # The beginning of the SHA-256; a proxy that compresses makes the tag a weak one.
        found = re.fullmatch(r'(?:W/)?"([0-9a-f]{32})"', etag or "")
        tag = found and found[1]
        if self.bytes == 0:
            self._tag = tag
        self._is_sound = self._is_sound and tag is not None and tag == self._tag
        return self._is_sound

    def write(self, piece: bytes) -> bool:
        """False where it wants no more."""
        self._hash.update(piece)
        self.bytes += len(piece)
        self.bytes_most = max(self.bytes_most, self.bytes)
        end = piece.rfind(b"\n")
        if end == -1:
            self._rest.append(piece)
            self._rest_bytes += len(piece)
        else:
            try:
                self._take(b"".join([*self._rest, piece[:end]]))
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                self._is_sound = False
            self._rest = [piece[end + 1 :]]
            self._rest_bytes = len(self._rest[0])
        fits = self._rest_bytes <= _LINE_BYTES_MAX and len(self._lines) <= self._count
        self._is_sound = self._is_sound and fits
        return self._is_sound

    def _take(self, lines: bytes) -> None:
        for line in lines.split(b"\n"):
            record = json.loads(line)
            if not isinstance(record["id"], str):
                raise TypeError("A record has no id.")
            self._lines[record["id"]] = _record_line(self.kind, record)

    def finish(self) -> dict[str, str] | None:
        """None where it is not the file that its entity tag names."""
        is_whole = self._is_sound and self._rest_bytes == 0 and len(self._lines) == self._count
        return self._lines if is_whole and self._hash.hexdigest()[:32] == self._tag else None


def _unless_final(error: GpRecordsError) -> None:
    """
    Raises the error where the quota is used up or there is no connection. Else pages are read, which say it if there is
    more to say.
    """
    if isinstance(error, NetworkError) or getattr(error, "code", None) == "quota-exceeded":
        raise error


def _refuse_other(from_version: str, to_version: str, request_id: str) -> None:
    if from_version != to_version:
        raise VersionChangedError(
            f"The dataset changed from {from_version} to {to_version} while it was read.",
            request_id,
            from_version,
            to_version,
        )


class _NamedGps:
    """
    The API lists no GPs but by name. Those that records name are found by the words that many of their names have in
    common, a hundred a request, and the rest by their ids, one a request.
    """

    def __init__(self, lines: _Lines) -> None:
        self._found = lines["gp"]
        self._words_of: dict[str, list[str]] = {}
        self._ids_with: dict[str, set[str]] = {}
        for kind in _PAGED:
            for line in lines[kind].values():
                for gp in json.loads(line)["gps"]:
                    if gp["id"] in self._words_of:
                        continue
                    # A word of four letters or more is found wherever it stands in a name.
                    words = [word for word in re.split(r"[\W_]+", gp["name"]) if len(word) >= 4]
                    self._words_of[gp["id"]] = words
                    for word in words:
                        self._ids_with.setdefault(word, set()).add(gp["id"])
        self.drop_found()

    def drop_found(self) -> None:
        for id in [one for one in self._words_of if one in self._found]:
            self._drop(id)

    def _drop(self, id: str) -> None:
        for word in self._words_of.pop(id):
            self._ids_with.get(word, set()).discard(id)

    def next_query(self) -> str | None:
        """The query that finds most of those that are missing; None where none is."""
        best = max(self._ids_with, key=lambda word: len(self._ids_with[word]), default=None)
        if best is not None and len(self._ids_with[best]) > 1:
            # Asked once: what it does not find is found by its id.
            del self._ids_with[best]
            return best
        id = next(iter(self._words_of), None)
        if id is not None:
            self._drop(id)
        return id


def _steps_from(
    version: str, publications: Sequence[dict[str, Any]]
) -> list[dict[str, Any]] | None:
    """Those that lead from `version` to the newest, oldest first; None where none do."""
    if publications and publications[0]["version"] == version:
        return []
    for last, one in enumerate(publications):
        if one["from"] == version:
            steps = list(reversed(publications[: last + 1]))
            return steps if all(step["step"] is not None for step in steps) else None
    return None


def _apply(lines: _Lines, change: Mapping[str, Any]) -> bool:
    """False where the change is of something that is not there."""
    of, id = lines[change["kind"]], change["id"]
    if change["change"] == "added":
        of[id] = _line_of(change["record"])
    elif id not in of:
        return False
    elif change["change"] == "changed":
        # Members keep their places.
        of[id] = _line_of(change.get("record") or {**json.loads(of[id]), **change["after"]})
    else:
        del of[id]
    return True


def _record_line(kind: Kind, record: dict[str, Any]) -> str:
    """A record that the service answered, as a mirror has it: a GP without what it embeds of other records."""
    if kind == "gp":
        for name in ("principals", "principals_total", "signals", "signals_total"):
            record.pop(name, None)
    return _line_of(record)


def _hash_of(lines: _Lines) -> str:
    """SHA-256 of the SHA-256 of every line, by kind and id, in hexadecimal digits."""
    total = hashlib.sha256()
    for kind in _KINDS:
        for id in sorted(lines[kind]):
            total.update(hashlib.sha256(lines[kind][id].encode()).digest())
    return total.hexdigest()


def _line_of(value: Any) -> str:
    """JSON as the service writes it, byte for byte."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    # Python writes 0.00005 as 5e-05.
    return text if re.search(r"\de-\d", text) is None else _plain_numbers(value)


def _plain_numbers(value: Any) -> str:
    if isinstance(value, dict):
        pairs = (f"{json.dumps(name)}:{_plain_numbers(one)}" for name, one in value.items())
        return "{" + ",".join(pairs) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(_plain_numbers, value)) + "]"
    if isinstance(value, float) and "e-" in repr(value):
        digits, exponent = repr(value).split("e-")
        return f"{Decimal(repr(value)):f}" if int(exponent) <= 6 else f"{digits}e-{int(exponent)}"
    return json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True)
class _Failure:
    """What one try came to; `wait_seconds` is None where another would not help."""

    error: GpRecordsError
    wait_seconds: float | None
    #: So much came that the tries are counted anew.
    has_progress: bool = False


class _RefuseRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """Gives no request: the key would go wherever a redirect leads."""


def _base_of(base_url: str) -> str:
    parts = urllib.parse.urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ValueError("base_url must begin with https:// or http://.")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError("base_url must have no user, password, query or fragment.")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def _query_of(query: Mapping[str, Any]) -> str:
    pairs = {name: value for name, value in query.items() if value is not None}
    return "?" + urllib.parse.urlencode(pairs, doseq=True) if pairs else ""


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


def _parse_list(body: bytes) -> dict[str, Any] | None:
    answer = _parse_object(body)
    return answer if answer is not None and isinstance(answer.get("data"), list) else None


def _parse_lines(body: bytes) -> list[dict[str, Any]] | None:
    values = [_parse_object(line) for line in body.split(b"\n") if line.strip()]
    return None if None in values else cast(list[dict[str, Any]], values)


def _problem_of(received: _Received) -> Problem | None:
    content_type = received.headers.get("content-type", "")
    if received.status < 400 or not content_type.startswith("application/problem+json"):
        return None
    problem = _parse_object(received.body)
    return cast(Problem, problem) if problem is not None and "code" in problem else None


def _wait_for(problem: Problem, headers: Mapping[str, str], attempt: int) -> float | None:
    """Seconds after which another try is worth it; None for a problem that would only come again."""
    if problem["code"] != "quota-exceeded" and problem["code"] != "unavailable":
        return None
    # A valid key is never refused for this: the key is wrong, and would still be later.
    if problem["code"] == "quota-exceeded" and "failed-keys" in problem["violated-policies"]:
        return None
    said = _retry_after_seconds(headers)
    return said if said is not None else float(problem.get("retry_after", _backoff_seconds(attempt)))


def _retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """Seconds, or a date (RFC 9110 §10.2.3), as a proxy may write it; None where there is neither."""
    value = headers.get("retry-after", "")
    if re.fullmatch(r"[0-9]+", value):
        return int(value)
    try:
        until = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (until - datetime.now(UTC)).total_seconds())


def _backoff_seconds(attempt: int) -> float:
    """0.5 s, 1 s, 2 s, … 30 s at most; a random part of it is left out, so that many clients do not come back as one."""
    return min(30.0, 0.5 * 2.0 ** (attempt - 1)) * (0.5 + random.random() / 2)


def _unexpected(address: str, received: _Received) -> str:
    if 300 <= received.status < 400:
        return (
            f"{address} redirects elsewhere, where the key must not go: set base_url to where the service is."
        )
    content_type = received.headers.get("content-type", "no content type")
    return (
        f"{address} answered {received.status} with {content_type}, which gp-records does not: "
        "is base_url where the service is?"
    )


def _quota_of(headers: Mapping[str, str]) -> list[QuotaPolicy]:
    """`"minute";r=57;t=48`, with the numbers of the policy beside it."""
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
