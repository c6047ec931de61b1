/** The PostgreSQL tables of shared datasets, and of the instances that serve them. */

export const datasetTables = `
  create table dataset (
    version text collate "C" primary key,
    hash text not null,
    sha256 text not null,
    bytes bigint not null,
    records jsonb not null,
    built_at timestamptz not null,
    built_from text collate "C",
    -- added: by an import that is about to publish it; nobody else treats it as a dataset before.
    status text not null check (status in ('added', 'staged', 'published')),
    published_at timestamptz,
    published_after text collate "C",
    pinned_at timestamptz,
    check ((status = 'published') = (published_at is not null))
  );
  create table dataset_part (
    version text collate "C" not null references dataset on delete cascade,
    number integer not null,
    -- 1 MiB of the file, or the rest in the last part; zstd with a checksum.
    bytes bytea not null,
    primary key (version, number)
  );
  -- It is compressed already. Another attempt would take as long as everything else.
  alter table dataset_part alter column bytes set storage external;
  create table dataset_state (
    is_only boolean primary key default true check (is_only),
    current text collate "C" references dataset,
    -- Raised by each change of a row of dataset.
    change bigint not null default 0
  );
  insert into dataset_state default values;
  create table instance (
    id text primary key,
    host text not null,
    pid integer not null,
    started_at timestamptz not null default now(),
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
    -- Like the parts of a dataset.
    bytes bytea not null,
    primary key (name, number)
  );
  alter table dataset_step_part alter column bytes set storage external;
  create table dataset_publication (
    number bigint generated always as identity primary key,
    version text collate "C" not null,
    published_at timestamptz not null,
    -- Version that was current before, and the step from there.
    previous text collate "C",
    step text collate "C" references dataset_step,
    -- Content of the step. Its members keep their order.
    facts json,
    -- Hash of the version's records.
    hash text
  );
`;

/** Returns SQL for a time as RFC 3339 text, to the second in UTC. */
export const timeText = (expression: string, name: string): string =>
  `to_char(${expression} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as ${name}`;
