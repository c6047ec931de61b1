/** The PostgreSQL tables of datasets that several machines share, and of the machines that serve them. */

export const datasetTables = `
  create table dataset (
    version text collate "C" primary key,
    -- Format and fold, such as 3.1: what a program has to know to read the file.
    format text not null,
    hash text not null,
    sha256 text not null,
    bytes bigint not null,
    records jsonb not null,
    built_at timestamptz not null,
    built_from text collate "C",
    -- added: by an import that is about to publish it, and is no dataset to anybody else until then.
    status text not null check (status in ('added', 'staged', 'published')),
    published_at timestamptz,
    published_after text collate "C",
    pinned_at timestamptz,
    -- Who brought it, then who published it last.
    publisher text not null,
    check ((status = 'published') = (published_at is not null))
  );
  create table dataset_part (
    version text collate "C" not null references dataset on delete cascade,
    number integer not null,
    -- A MiB of the file, the last one what is left; zstd with a checksum.
    bytes bytea not null,
    primary key (version, number)
  );
  -- Compressed already: to try it again would take as long as everything else.
  alter table dataset_part alter column bytes set storage external;
  create table dataset_state (
    is_only boolean primary key default true check (is_only),
    current text collate "C" references dataset,
    -- Raised by whatever changes a row of dataset.
    change bigint not null default 0
  );
  insert into dataset_state default values;
  create table instance (
    id text primary key,
    host text not null,
    pid integer not null,
    started_at timestamptz not null,
    seen_at timestamptz not null,
    program text not null,
    formats text[] not null,
    served text collate "C"
  );

  -- Publications, and the steps between them, outlive the datasets.
  create table dataset_step (
    -- FROM..TO
    name text collate "C" primary key,
    sha256 text not null,
    bytes bigint not null
  );
  create table dataset_step_part (
    name text collate "C" not null references dataset_step on delete cascade,
    number integer not null,
    -- As those of a dataset.
    bytes bytea not null,
    primary key (name, number)
  );
  alter table dataset_step_part alter column bytes set storage external;
  create table dataset_publication (
    number bigint generated always as identity primary key,
    version text collate "C" not null,
    published_at timestamptz not null,
    -- The version that was current before, and the step from there.
    previous text collate "C",
    step text collate "C" references dataset_step,
    -- What the step has.
    facts jsonb,
    -- Of the records of the version.
    hash text
  );
`;

/** SQL for a time as RFC 3339, to the second in UTC. */
export const timeText = (expression: string, name: string): string =>
  `to_char(${expression} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as ${name}`;
