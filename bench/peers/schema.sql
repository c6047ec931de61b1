-- The records as tables, as a team that knows PostgreSQL would lay them out; the services beside this file ask them.
-- The database compares text by its bytes (LC_COLLATE C) and knows letters of all languages (LC_CTYPE C.UTF-8).
-- psql runs this once; "kind TAB json" lines of the records come in on its standard input.
\set ON_ERROR_STOP on
set client_min_messages = warning;

create extension pg_trgm;
create extension unaccent;

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

-- Where PostGraphile does not look.
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

-- For PostGraphile, which makes a field with pages and a total of each function that returns rows of a table. Lists without a filter it
-- makes of the tables themselves.

create function fold(value text) returns text
language sql stable parallel safe
as $$
  select trim(regexp_replace(
    regexp_replace(lower(unaccent(normalize(value, NFKD))), '[\u0300-\u036f''’‘ʼ.]', '', 'g'),
    '[^[:alnum:]]+', ' ', 'g'
  ))
$$;

create function folded(list text[]) returns text[]
language sql stable parallel safe
as $$ select array_agg(fold(one)) from unnest(list) one $$;

create type matching_gp as (gp_id text, rank int);

create function matching_gps(gp_name text, tag text[], theme text[], market text[]) returns setof matching_gp
language plpgsql stable parallel safe
as $$
declare
  query text := fold(gp_name);
  patterns text[] := array(
    select case when length(word) >= 4 then '%' || word || '%' else '% ' || word || '%' end
    from unnest(string_to_array(query, ' ')) word
    order by length(word) desc
  );
  wanted_tags text[] := folded(tag);
  wanted_themes text[] := folded(theme);
  wanted_markets text[] := folded(market);
begin
  if gp_name is null then
    return query
      select g.id, 0 from gps g
      where (wanted_tags is null or g.tag_keys && wanted_tags) and (wanted_themes is null or g.theme_keys && wanted_themes)
        and (wanted_markets is null or g.market_keys && wanted_markets);
  elsif gp_name ~ '^gp_[0-9a-z]{16}$' then
    return query
      select g.id, 0 from gps g
      where (g.id = gp_name or g.former_ids @> array[gp_name])
        and (wanted_tags is null or g.tag_keys && wanted_tags) and (wanted_themes is null or g.theme_keys && wanted_themes)
        and (wanted_markets is null or g.market_keys && wanted_markets);
  else
    return query
      select n.gp_id, min(
        case
          when n.name = query then 0
          when n.name like query || '%' then 1
          when n.padded like '% ' || query || '%' then 2
          when n.name like '%' || query || '%' then 3
          else 4
        end
      )
      from gp_names n
      join gps g on g.id = n.gp_id
      where n.padded like patterns[1] and n.padded like all (patterns)
        and (wanted_tags is null or g.tag_keys && wanted_tags) and (wanted_themes is null or g.theme_keys && wanted_themes)
        and (wanted_markets is null or g.market_keys && wanted_markets)
      group by n.gp_id;
  end if;
end
$$;

create function fetch_gp(gp_name text, tag text[] = null, theme text[] = null, market text[] = null) returns setof gps
language sql stable parallel safe
as $$
  select g.* from matching_gps(gp_name, tag, theme, market) m join gps g on g.id = m.gp_id
  order by m.rank, g.sort_name, g.id
$$;

create function fetch_principals(gp_name text = null, tag text[] = null, theme text[] = null, market text[] = null) returns setof principals
language sql stable parallel safe
as $$
  select r.* from principals r
  where r.id in (
    select l.principal_id from matching_gps(gp_name, tag, theme, market) m join gp_principals l on l.gp_id = m.gp_id
  )
  order by r.sort_name, r.id
$$;

create function fetch_signals(gp_name text) returns setof signals
language sql stable parallel safe
as $$
  select r.* from signals r
  where r.id in (
    select l.signal_id from matching_gps(gp_name, null, null, null) m join gp_signals l on l.gp_id = m.gp_id
  )
  order by r.date desc, r.id
$$;

create function fetch_projects(gp_name text) returns setof projects
language sql stable parallel safe
as $$
  select r.* from projects r
  where r.id in (
    select l.project_id from matching_gps(gp_name, null, null, null) m join gp_projects l on l.gp_id = m.gp_id
  )
  order by r.sort_name, r.id
$$;

vacuum analyze;
