-- The records as tables, as a team that knows PostgreSQL would lay them out; the service beside this file asks them.
-- The database compares text by its bytes (LC_COLLATE C) and knows letters of all languages (LC_CTYPE C.UTF-8).
-- psql runs this once; "kind TAB json" lines of the records come in on its standard input.
\set ON_ERROR_STOP on
set client_min_messages = warning;

create extension pg_trgm;

create table gps (
  id text primary key,
  former_ids text[] not null,
  name text not null,
  legal_name text,
  aliases text[] not null,
  description text,
  website text,
  hq_city text,
  hq_state text,
  hq_country text,
  founded_year int,
  aum_usd bigint,
  aum_as_of text,
  raised_to_date_usd bigint,
  strategies text[] not null,
  property_types text[] not null,
  tags text[] not null,
  themes text[] not null,
  markets text[] not null,
  external_ids json not null,
  provenance json not null,
  updated_at text not null,
  -- What is searched and sorted by: folded text, in the order of its bytes.
  sort_name text not null,
  tag_keys text[] not null,
  theme_keys text[] not null,
  market_keys text[] not null
);

-- Each name of a GP, folded; `padded` begins with a space, so that ' word' finds the beginning of a word.
create table gp_names (
  gp_id text not null references gps,
  place int not null,
  name text not null,
  padded text not null,
  primary key (gp_id, place)
);

create table principals (
  id text primary key,
  name text not null,
  first_name text,
  middle_name text,
  last_name text,
  title text,
  roles text[] not null,
  city text,
  state text,
  country text,
  email text,
  linkedin_url text,
  ownership_band text,
  start_date text,
  first_seen_date text,
  last_seen_date text,
  external_ids json not null,
  provenance json not null,
  updated_at text not null,
  tags text[] not null,
  themes text[] not null,
  markets text[] not null,
  sort_name text not null
);

create table signals (
  id text primary key,
  type text not null,
  title text not null,
  summary text,
  date text not null,
  published_at text,
  amount_usd bigint,
  amount_basis text,
  market text,
  property_types text[] not null,
  project_ids text[] not null,
  url text,
  tags text[] not null,
  themes text[] not null,
  provenance json not null,
  updated_at text not null
);

create table projects (
  id text primary key,
  name text not null,
  type text not null,
  property_type text not null,
  status text not null,
  address text,
  city text,
  state text,
  zip text,
  country text,
  market text,
  market_basis text,
  latitude double precision,
  longitude double precision,
  units bigint,
  affordable_units bigint,
  square_feet bigint,
  total_amount_usd bigint,
  raised_amount_usd bigint,
  start_date text,
  completion_date text,
  first_sale_date text,
  strategy text,
  tags text[] not null,
  themes text[] not null,
  external_ids json not null,
  provenance json not null,
  updated_at text not null,
  sort_name text not null
);

-- `position` is the order of display inside a GP, `gp_place` the order of the GPs in the record.
create table gp_principals (
  gp_id text not null references gps,
  position int not null,
  principal_id text not null references principals,
  gp_place int not null,
  primary key (gp_id, position)
);
create table gp_signals (
  gp_id text not null references gps,
  position int not null,
  signal_id text not null references signals,
  gp_place int not null,
  primary key (gp_id, position)
);
create table gp_projects (
  gp_id text not null references gps,
  position int not null,
  project_id text not null references projects,
  gp_place int not null,
  primary key (gp_id, position)
);

-- What is no record.
create schema private;
create table private.api_keys (
  digest bytea primary key,
  account int not null
);
-- A row for each request, of the service that does the same work.
create table private.requests (
  at timestamptz not null,
  account int not null,
  id text not null,
  route text not null,
  status smallint not null,
  milliseconds real not null,
  bytes int not null,
  query text not null
);
create index on private.requests (account, at);

create temporary table staged (kind text not null, record jsonb not null);
\copy staged from pstdin

insert into gps select r.* from staged, jsonb_populate_record(null::gps, record) r where kind = 'gp';
insert into principals select r.* from staged, jsonb_populate_record(null::principals, record) r where kind = 'principal';
insert into signals select r.* from staged, jsonb_populate_record(null::signals, record) r where kind = 'signal';
insert into projects select r.* from staged, jsonb_populate_record(null::projects, record) r where kind = 'project';

insert into gp_names
select record->>'id', place, name, ' ' || name
from staged, jsonb_array_elements_text(record->'names') with ordinality names (name, place)
where kind = 'gp';

insert into gp_principals
select gp->>'id', row_number() over (partition by gp->>'id' order by p.sort_name, p.id), p.id, place
from staged
join principals p on p.id = record->>'id', jsonb_array_elements(record->'gps') with ordinality linked (gp, place)
where kind = 'principal';
insert into gp_signals
select gp->>'id', row_number() over (partition by gp->>'id' order by s.date desc, s.id), s.id, place
from staged
join signals s on s.id = record->>'id', jsonb_array_elements(record->'gps') with ordinality linked (gp, place)
where kind = 'signal';
insert into gp_projects
select gp->>'id', row_number() over (partition by gp->>'id' order by p.sort_name, p.id), p.id, place
from staged
join projects p on p.id = record->>'id', jsonb_array_elements(record->'gps') with ordinality linked (gp, place)
where kind = 'project';

insert into private.api_keys
select sha256(convert_to(record->>'key', 'UTF8')), (record->>'account')::int from staged where kind = 'key';

create index on gp_names using gin (padded gin_trgm_ops);
create index on gps using gin (former_ids);
create index on gps using gin (tag_keys);
create index on gps using gin (theme_keys);
create index on gps using gin (market_keys);
create index on principals (sort_name, id);
create index on signals (date desc, id);
create index on projects (sort_name, id);
create index on gp_principals (principal_id, gp_place);
create index on gp_signals (signal_id, gp_place);
create index on gp_projects (project_id, gp_place);

vacuum analyze;
